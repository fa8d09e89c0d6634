// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "bench/gemm/tolerance.h"

namespace assay {
namespace {

constexpr int kColumns = 64;  // of the check

double tolerance_of(Precision precision, std::int64_t k) {
  return gemm_tolerance(precision, k, kColumns, gemm_element_sd(k));
}

// BF16 keeps 8 bits of significand: rounding to nearest even on the upper half of the word.
float to_bf16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  bits += 0x7FFFU + ((bits >> 16) & 1U);
  bits &= 0xFFFF0000U;
  std::memcpy(&value, &bits, sizeof(bits));
  return value;
}

// Residuals of column blocks of an exact product rounded to BF16: all inside, and not by orders of
// magnitude, or the check would miss real errors.
TEST(GemmTolerance, FitsTheRoundingOfBf16) {
  std::mt19937_64 random(7);
  constexpr int kDepth = 4096;
  std::normal_distribution<double> element(0, std::sqrt(kDepth) / 3);
  double largest = 0;
  for (int block = 0; block < 200'000; ++block) {
    double residual = 0;
    for (int column = 0; column < kColumns; ++column) {
      const double exact = element(random);
      const double rounded = to_bf16(static_cast<float>(exact));
      residual += (random() & 1U) != 0 ? rounded - exact : exact - rounded;
    }
    largest = std::max(largest, std::fabs(residual));
  }
  const double tolerance = tolerance_of(Precision::kBf16, kDepth);
  EXPECT_LT(largest, tolerance);
  EXPECT_GT(largest, 0.3 * tolerance);
}

TEST(GemmTolerance, AWrongElementStandsOut) {
  for (const int k : {4096, 8192}) {
    const double sigma = std::sqrt(k) / 3;
    EXPECT_LT(tolerance_of(Precision::kFp32, k), 0.001 * sigma) << "fp32, k = " << k;
    EXPECT_LT(tolerance_of(Precision::kTf32, k), 0.07 * sigma) << "tf32, k = " << k;
    EXPECT_LT(tolerance_of(Precision::kBf16, k), 0.13 * sigma) << "bf16, k = " << k;
    EXPECT_LT(tolerance_of(Precision::kFp8E4M3, k), 0.26 * sigma) << "fp8, k = " << k;
    EXPECT_LT(tolerance_of(Precision::kFp8E4M3Full, k), 0.15 * sigma) << "fp8 full, k = " << k;
    EXPECT_LT(tolerance_of(Precision::kFp8E5M2, k), 0.15 * sigma) << "fp8 e5m2, k = " << k;
    EXPECT_LT(tolerance_of(Precision::kFp16, k), 0.02 * sigma) << "fp16, k = " << k;
    EXPECT_LT(tolerance_of(Precision::kFp64, k), 1e-11 * sigma) << "fp64, k = " << k;
  }
}

TEST(GemmTolerance, IntegersAreExact) { EXPECT_EQ(tolerance_of(Precision::kInt8, 16384), 0); }

// The check and the product both round: a difference of two FP64 sums of the same terms, in other
// orders, stays inside.
TEST(GemmTolerance, FitsTheRoundingOfFp64) {
  std::mt19937_64 random(7);
  constexpr int kDepth = 1024;
  std::uniform_real_distribution<double> element(-1, 1);
  double largest = 0;
  for (int block = 0; block < 200; ++block) {
    double found = 0;
    std::vector<double> products(kDepth * kColumns);
    for (int column = 0; column < kColumns; ++column) {
      double sum = 0;
      for (int i = 0; i < kDepth; ++i) {
        double& product = products[static_cast<std::size_t>(column * kDepth + i)];
        product = element(random) * element(random);
        sum += product;
      }
      found += sum;
    }
    double expected = 0;
    for (int i = 0; i < kDepth; ++i) {
      double row = 0;
      for (int column = 0; column < kColumns; ++column) {
        row += products[static_cast<std::size_t>(column * kDepth + i)];
      }
      expected += row;
    }
    largest = std::max(largest, std::fabs(found - expected));
  }
  EXPECT_LT(largest, tolerance_of(Precision::kFp64, kDepth));
  EXPECT_GT(largest, 0.01 * tolerance_of(Precision::kFp64, kDepth));
}

}  // namespace
}  // namespace assay
