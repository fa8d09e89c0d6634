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
  const double tolerance = gemm_tolerance(Precision::kBf16, kDepth, kColumns);
  EXPECT_LT(largest, tolerance);
  EXPECT_GT(largest, 0.3 * tolerance);
}

TEST(GemmTolerance, AWrongElementStandsOut) {
  for (const int k : {4096, 8192}) {
    const double sigma = std::sqrt(k) / 3;
    EXPECT_LT(gemm_tolerance(Precision::kFp32, k, kColumns), 0.001 * sigma) << "fp32, k = " << k;
    EXPECT_LT(gemm_tolerance(Precision::kTf32, k, kColumns), 0.07 * sigma) << "tf32, k = " << k;
    EXPECT_LT(gemm_tolerance(Precision::kBf16, k, kColumns), 0.13 * sigma) << "bf16, k = " << k;
    EXPECT_LT(gemm_tolerance(Precision::kFp8E4M3, k, kColumns), 0.26 * sigma) << "fp8, k = " << k;
  }
}

}  // namespace
}  // namespace assay
