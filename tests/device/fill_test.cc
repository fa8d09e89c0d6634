// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fill.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>

#include "kernels/counter_random.h"
#include "tests/device/gpu_test.h"

namespace assay {
namespace {

constexpr std::int64_t kCount = 1 << 20;

class Fill : public GpuTest {};

TEST_F(Fill, MakesOnTheDeviceWhatTheHostMakes) {
  const DeviceBuffer buffer(4 * kCount);
  check_cuda(fill_uniform(ElementType::kFp32, buffer.data(), kCount, 7, stream()), "fill_uniform");
  const auto values = download<float>(buffer.data(), kCount);
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], random_uniform(7, i)) << i;
}

template <class T>
void expect_uniform(const std::vector<T>& values, double tolerance) {
  std::vector<int> bins(16);
  double squares = 0;
  for (const T value : values) {
    const double x = static_cast<double>(static_cast<float>(value));
    ASSERT_TRUE(std::fabs(x) <= 1) << "also no NaN";
    ++bins[static_cast<std::size_t>(std::min((x + 1) * 8, 15.0))];
    squares += x * x;
  }
  EXPECT_NEAR(squares / static_cast<double>(values.size()), 1.0 / 3, 0.01);
  for (const int count : bins) EXPECT_NEAR(count, kCount / 16.0, tolerance * kCount / 16.0);
}

TEST_F(Fill, IsUniformInEveryType) {
  const DeviceBuffer buffer(4 * kCount);
  check_cuda(fill_uniform(ElementType::kBf16, buffer.data(), kCount, 7, stream()), "fill_uniform");
  expect_uniform(download<__nv_bfloat16>(buffer.data(), kCount), 0.03);
  check_cuda(fill_uniform(ElementType::kFp8E4M3, buffer.data(), kCount, 7, stream()),
             "fill_uniform");
  // The coarse grid of FP8 moves whole steps over the edges of the bins.
  expect_uniform(download<__nv_fp8_e4m3>(buffer.data(), kCount), 0.6);
  check_cuda(fill_uniform(ElementType::kFp16, buffer.data(), kCount, 7, stream()), "fill_uniform");
  expect_uniform(download<__half>(buffer.data(), kCount), 0.03);
}

TEST_F(Fill, GivesFp64AllItsBits) {
  const DeviceBuffer buffer(8 * kCount);
  check_cuda(fill_uniform(ElementType::kFp64, buffer.data(), kCount, 7, stream()), "fill_uniform");
  int finer_than_fp32 = 0;
  const auto values = download<double>(buffer.data(), kCount);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(values[i], random_uniform_double(7, i));
    finer_than_fp32 += static_cast<double>(static_cast<float>(values[i])) != values[i];
  }
  EXPECT_GT(finer_than_fp32, kCount / 2);
  check_cuda(fill_uniform_on_fp32_grid(buffer.as<double>(), kCount, 7, stream()), "fill");
  const auto coarse = download<double>(buffer.data(), kCount);
  for (std::size_t i = 0; i < coarse.size(); ++i) {
    ASSERT_EQ(coarse[i], static_cast<double>(random_uniform(7, i)));
  }
}

TEST_F(Fill, MakesEachInt8Alike) {
  const DeviceBuffer buffer(kCount);
  check_cuda(fill_uniform(ElementType::kInt8, buffer.data(), kCount, 7, stream()), "fill_uniform");
  std::vector<int> bins(256);
  for (const std::int8_t value : download<std::int8_t>(buffer.data(), kCount)) ++bins[value + 128U];
  for (const int count : bins) EXPECT_NEAR(count, kCount / 256.0, 0.1 * kCount / 256.0);
  EXPECT_EQ(fill_uniform(ElementType::kInt32, buffer.data(), 4, 7, stream()),
            cudaErrorInvalidValue);
}

TEST_F(Fill, IsNormalWhereAskedFor) {
  const DeviceBuffer buffer(4 * kCount);
  check_cuda(fill_normal(ElementType::kFp32, buffer.data(), kCount, 7, stream()), "fill_normal");
  double sum = 0;
  double squares = 0;
  int beyond = 0;  // two standard deviations: 4.55 % of a normal
  for (const float value : download<float>(buffer.data(), kCount)) {
    ASSERT_TRUE(std::isfinite(value));
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
    beyond += std::fabs(value) > 2;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.005);
  EXPECT_NEAR(squares / kCount, 1, 0.01);
  EXPECT_NEAR(static_cast<double>(beyond) / kCount, 0.0455, 0.002);
  EXPECT_EQ(fill_normal(ElementType::kInt8, buffer.data(), 4, 7, stream()), cudaErrorInvalidValue);
}

TEST_F(Fill, AnotherSeedIsOtherData) {
  const DeviceBuffer a(4 * 1024);
  const DeviceBuffer b(4 * 1024);
  check_cuda(fill_uniform(ElementType::kFp32, a.data(), 1024, 7, stream()), "fill_uniform");
  check_cuda(fill_uniform(ElementType::kFp32, b.data(), 1024, 8, stream()), "fill_uniform");
  EXPECT_NE(download<float>(a.data(), 1024), download<float>(b.data(), 1024));
}

}  // namespace
}  // namespace assay
