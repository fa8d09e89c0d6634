// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The check against products made on the host, and against planted errors.
#include "kernels/gemm_check.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <limits>

#include "kernels/counter_random.h"
#include "kernels/fill.h"
#include "tests/device/gpu_test.h"

namespace assay {
namespace {

// Different in each direction, so that a mix-up of m, n and k shows; 192 / 64 = 3 column blocks are
// less than a tile of the check.
constexpr int kM = 128;
constexpr int kN = 192;
constexpr int kK = 256;

class GemmCheck : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    a_ = DeviceBuffer(4LL * kM * kK);
    b_ = DeviceBuffer(4LL * kN * kK);
    d_ = DeviceBuffer(4LL * kM * kN);
    workspace_ = DeviceBuffer(gemm_check_workspace_bytes(kM, kN, kK, 1));
    result_ = DeviceBuffer(sizeof(GemmCheckResult));
  }

  // Fills A and B, and D with their product computed on the host.
  template <class T>
  void make_product(ElementType type) {
    check_cuda(fill_uniform(type, a_.data(), kM * kK, 1, stream()), "fill_uniform");
    check_cuda(fill_uniform(type, b_.data(), kN * kK, 2, stream()), "fill_uniform");
    const auto a = download<T>(a_.data(), kM * kK);
    const auto b = download<T>(b_.data(), kN * kK);
    product_.resize(static_cast<std::size_t>(kM) * kN);
    for (std::size_t j = 0; j < kN; ++j) {
      for (std::size_t i = 0; i < kM; ++i) {
        double sum = 0;
        for (std::size_t k = 0; k < kK; ++k) {
          sum += static_cast<double>(static_cast<float>(a[i * kK + k])) *
                 static_cast<double>(static_cast<float>(b[j * kK + k]));
        }
        product_[j * kM + i] = static_cast<float>(sum);
      }
    }
    check_cuda(cudaMemcpy(d_.data(), product_.data(), product_.size() * 4, cudaMemcpyHostToDevice),
               "cudaMemcpy");
    problem_ = {};
    problem_.m = kM;
    problem_.n = kN;
    problem_.k = kK;
    problem_.a_type = problem_.b_type = type;
    problem_.a = a_.data();
    problem_.b = b_.data();
    problem_.d = d_.data();
    problem_.a_strides.line = problem_.b_strides.line = kK;
  }

  GemmCheckResult checked(std::uint64_t seed) {
    check_cuda(
        check_gemm(problem_, seed, workspace_.data(), result_.as<GemmCheckResult>(), stream()),
        "check_gemm");
    return download<GemmCheckResult>(result_.data(), 1)[0];
  }

  DeviceBuffer a_, b_, d_, workspace_, result_;
  std::vector<float> product_;
  GemmProblem problem_;
};

TEST_F(GemmCheck, PassesTheExactProductOfEveryType) {
  make_product<float>(ElementType::kFp32);
  EXPECT_LT(checked(1).largest_residual, 1e-4);
  make_product<__nv_bfloat16>(ElementType::kBf16);
  EXPECT_LT(checked(2).largest_residual, 1e-4);
  make_product<__nv_fp8_e4m3>(ElementType::kFp8E4M3);
  EXPECT_LT(checked(3).largest_residual, 1e-4);
  make_product<__nv_fp8_e5m2>(ElementType::kFp8E5M2);
  EXPECT_LT(checked(4).largest_residual, 1e-4);
  make_product<__half>(ElementType::kFp16);
  EXPECT_LT(checked(5).largest_residual, 1e-4);
}

TEST_F(GemmCheck, FindsOneWrongElementAnywhereAndItsPlace) {
  make_product<__nv_bfloat16>(ElementType::kBf16);
  for (const int column : {0, 63, 64, kN - 1}) {
    for (const int row : {0, 77, kM - 1}) {
      const auto place = static_cast<std::size_t>(column * kM + row);
      upload<float>(d_.data(), place, product_[place] + 0.5F);
      const GemmCheckResult found = checked(static_cast<std::uint64_t>(place));
      EXPECT_NEAR(found.largest_residual, 0.5, 1e-3);
      EXPECT_EQ(found.row, row);
      EXPECT_EQ(found.column_block, column / kGemmCheckColumns);
      upload<float>(d_.data(), place, product_[place]);
    }
  }
}

TEST_F(GemmCheck, TwoErrorsThatCancelUnderOneSeedShowUnderOthers) {
  make_product<float>(ElementType::kFp32);
  upload<float>(d_.data(), 5 * kM + 3, product_[5 * kM + 3] + 1.0F);
  upload<float>(d_.data(), 6 * kM + 3, product_[6 * kM + 3] + 1.0F);
  int seen = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) seen += checked(seed).largest_residual > 0.5;
  EXPECT_GT(seen, 5);
  EXPECT_LT(seen, 35);
}

TEST_F(GemmCheck, WhatIsNotANumberIsInfinitelyWrong) {
  make_product<float>(ElementType::kFp32);
  upload<float>(d_.data(), 1000, std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(std::isinf(checked(1).largest_residual));
  upload<float>(d_.data(), 1000, std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isinf(checked(1).largest_residual));
}

// A scale or a bias that the check is not told of is an error that it finds.
TEST_F(GemmCheck, ScalesAndBiasArePartOfTheProduct) {
  make_product<__nv_bfloat16>(ElementType::kBf16);
  std::vector<float> a_scale(kM), b_scale(kN), bias(kM);
  for (std::size_t i = 0; i < kM; ++i) {
    a_scale[i] = 0.5F + random_uniform(5, i) / 4;
    bias[i] = random_uniform(6, i);
  }
  for (std::size_t j = 0; j < kN; ++j) b_scale[j] = 0.5F + random_uniform(7, j) / 4;
  for (std::size_t j = 0; j < kN; ++j) {
    for (std::size_t i = 0; i < kM; ++i) {
      float& element = product_[j * kM + i];
      element = element * a_scale[i] * b_scale[j] + bias[i];
    }
  }
  check_cuda(cudaMemcpy(d_.data(), product_.data(), product_.size() * 4, cudaMemcpyHostToDevice),
             "cudaMemcpy");
  const DeviceBuffer scales(4LL * (kM + kN + kM));
  float* const on_device = scales.as<float>();
  check_cuda(cudaMemcpy(on_device, a_scale.data(), 4LL * kM, cudaMemcpyHostToDevice), "copy");
  check_cuda(cudaMemcpy(on_device + kM, b_scale.data(), 4LL * kN, cudaMemcpyHostToDevice), "copy");
  check_cuda(cudaMemcpy(on_device + kM + kN, bias.data(), 4LL * kM, cudaMemcpyHostToDevice),
             "copy");
  problem_.a_scale = {on_device, 1};
  problem_.b_scale = {on_device + kM, 1};
  problem_.bias = on_device + kM + kN;
  EXPECT_LT(checked(1).largest_residual, 1e-3);
  problem_.bias = nullptr;
  EXPECT_GT(checked(1).largest_residual, 0.1);
  problem_.bias = on_device + kM + kN;
  problem_.b_scale = {on_device + kM, 0};
  EXPECT_GT(checked(1).largest_residual, 0.1);
}

TEST_F(GemmCheck, RefusesWhatIsNoProduct) {
  make_product<float>(ElementType::kFp32);
  for (std::int64_t GemmProblem::* size :
       {&GemmProblem::m, &GemmProblem::n, &GemmProblem::k, &GemmProblem::batch}) {
    GemmProblem problem = problem_;
    problem.*size = 0;
    EXPECT_EQ(check_gemm(problem, 1, workspace_.data(), result_.as<GemmCheckResult>(), stream()),
              cudaErrorInvalidValue);
  }
}

}  // namespace
}  // namespace assay
