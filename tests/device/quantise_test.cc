// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Quantising held against a reference on the host that knows FP8 by its 256 values alone; the
// history of delayed scaling; and that the check sees one wrong byte.
#include "kernels/quantise.h"

#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/fill.h"
#include "tests/device/gpu_test.h"

namespace assay {
namespace {

double fp8_value(std::uint8_t code, ElementType type) {
  if (type == ElementType::kFp8E4M3) {
    __nv_fp8_e4m3 value;
    value.__x = code;
    return static_cast<float>(value);
  }
  __nv_fp8_e5m2 value;
  value.__x = code;
  return static_cast<float>(value);
}

// The code of the finite value that is nearest to `value`; of two that are alike the even one.
std::uint8_t nearest_code(float value, ElementType type) {
  const int sign = std::signbit(value) ? 0x80 : 0;
  const double size = std::abs(static_cast<double>(value));
  int best = 0;
  double best_distance = size;
  for (int code = 1; code < 0x80; ++code) {
    const double candidate = fp8_value(static_cast<std::uint8_t>(code), type);
    if (!std::isfinite(candidate)) continue;
    const double distance = std::abs(candidate - size);
    if (distance < best_distance || (distance == best_distance && code % 2 == 0)) {
      best = code;
      best_distance = distance;
    }
  }
  return static_cast<std::uint8_t>(sign | best);
}

class QuantiseTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    scaling_ = DeviceBuffer(sizeof(Fp8Scaling));
    check_cuda(cudaMemset(scaling_.data(), 0, sizeof(Fp8Scaling)), "cudaMemset");
  }

  void make(std::int64_t rows, std::int64_t columns, ElementType type) {
    const std::int64_t count = rows * columns;
    in_ = DeviceBuffer(2 * count);
    out_ = DeviceBuffer(count);
    transposed_ = DeviceBuffer(count);
    check_cuda(fill_normal(ElementType::kBf16, in_.data(), count, 7, stream()), "fill_normal");
    problem_ = {rows,
                columns,
                type,
                in_.data(),
                out_.data(),
                transposed_.data(),
                scaling_.as<Fp8Scaling>()};
  }
  void set_scale(float scale) { upload<float>(&problem_.scaling->scale, 0, scale); }
  [[nodiscard]] Fp8Scaling scaling() const { return download<Fp8Scaling>(scaling_.data(), 1)[0]; }
  void quantise() { check_cuda(quantise_transpose(problem_, stream()), "quantise_transpose"); }
  void update() {
    check_cuda(update_scaling(problem_.scaling, &problem_.type, 1, stream()), "update_scaling");
  }
  [[nodiscard]] QuantiseCheckResult checked() const {
    const DeviceBuffer result(sizeof(QuantiseCheckResult));
    check_cuda(check_quantised(problem_, result.as<QuantiseCheckResult>(), stream()),
               "check_quantised");
    return download<QuantiseCheckResult>(result.data(), 1)[0];
  }

  // Every byte, of both copies, and the amax.
  void expect_right(float scale) const {
    const auto count = static_cast<std::size_t>(problem_.rows * problem_.columns);
    const auto in = download<__nv_bfloat16>(in_.data(), count);
    const auto out = download<std::uint8_t>(out_.data(), count);
    const auto transposed = download<std::uint8_t>(transposed_.data(), count);
    const auto columns = static_cast<std::size_t>(problem_.columns);
    const auto rows = static_cast<std::size_t>(problem_.rows);
    float amax = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = static_cast<float>(in[i]);
      amax = std::max(amax, std::abs(value));
      const std::uint8_t expected = nearest_code(value * scale, problem_.type);
      ASSERT_EQ(out[i], expected) << "element " << i << ": " << value << " x " << scale;
      ASSERT_EQ(transposed[i % columns * rows + i / columns], expected) << "element " << i;
    }
    EXPECT_EQ(scaling().history[0], amax);
  }

  DeviceBuffer scaling_;
  DeviceBuffer in_;
  DeviceBuffer out_;
  DeviceBuffer transposed_;
  QuantiseProblem problem_;
};

TEST_F(QuantiseTest, EveryByteIsTheNearestOfBothTypesAndSaturates) {
  for (const ElementType type : {ElementType::kFp8E4M3, ElementType::kFp8E5M2}) {
    // Tiles whole and cut; scales that reach subnormals, the usual range and far beyond the
    // largest.
    for (const auto& [rows, columns] : {std::pair{64, 64}, {16, 48}, {208, 80}, {80, 336}}) {
      for (const float scale : {0.001F, 1.0F, 97.3F, 1e6F}) {
        SCOPED_TRACE(testing::Message() << rows << "x" << columns << " scale " << scale);
        make(rows, columns, type);
        set_scale(scale);
        upload<float>(&problem_.scaling->history[0], 0, 0.0F);
        quantise();
        expect_right(scale);
      }
    }
  }
}

TEST_F(QuantiseTest, TheScaleFollowsTheLargestOfTheHistory) {
  make(64, 64, ElementType::kFp8E5M2);
  set_scale(1);
  upload<float>(&problem_.scaling->history[3], 0, 8.0F);  // larger than any of the data
  quantise();
  const float amax = scaling().history[0];
  ASSERT_GT(amax, 0);
  ASSERT_LT(amax, 8);
  update();
  Fp8Scaling found = scaling();
  EXPECT_EQ(found.scale, 57344.0F / 8);
  EXPECT_EQ(found.inverse_scale, 8 / 57344.0F);
  EXPECT_EQ(found.history[0], 0);
  EXPECT_EQ(found.history[kAmaxHistory - 1], amax);
  EXPECT_EQ(found.history[2], 8);
  update();  // it is at 1, then moves out
  EXPECT_EQ(scaling().history[1], 8);
  update();
  EXPECT_EQ(scaling().scale, 57344.0F / 8);
  update();
  found = scaling();
  EXPECT_EQ(found.scale, 57344.0F / amax);
  EXPECT_EQ(found.history[kAmaxHistory - 4], amax);
}

TEST_F(QuantiseTest, AMatrixOfZerosKeepsItsScale) {
  make(16, 16, ElementType::kFp8E4M3);
  check_cuda(cudaMemset(in_.data(), 0, 512), "cudaMemset");
  set_scale(3);
  quantise();
  update();
  EXPECT_EQ(scaling().scale, 3);
}

TEST_F(QuantiseTest, OneWrongByteInEitherCopyIsFound) {
  make(208, 80, ElementType::kFp8E4M3);
  for (int pass = 0; pass < 2; ++pass) {
    if (pass == 0) set_scale(1);
    quantise();
    update();
  }
  const QuantiseCheckResult sound = checked();
  EXPECT_EQ(sound.wrong, 0U);
  EXPECT_EQ(sound.first_wrong, ~0ULL);
  EXPECT_EQ(sound.amax, scaling().history[kAmaxHistory - 1]);
  const auto byte = download<std::uint8_t>(out_.as<std::uint8_t>() + 81, 1)[0];
  upload<std::uint8_t>(out_.data(), 81, byte ^ 1U);
  EXPECT_EQ(checked().wrong, 1U);
  EXPECT_EQ(checked().first_wrong, 81U);
  upload<std::uint8_t>(out_.data(), 81, byte);
  EXPECT_EQ(checked().wrong, 0U);
  const auto other = download<std::uint8_t>(transposed_.as<std::uint8_t>() + 209, 1)[0];
  upload<std::uint8_t>(transposed_.data(), 209, other ^ 1U);  // column 1, row 1
  EXPECT_EQ(checked().first_wrong, 81U);
}

TEST_F(QuantiseTest, SizesThatAreNoMultiplesAndOtherTypesAreRefused) {
  make(16, 16, ElementType::kFp8E4M3);
  problem_.rows = 8;
  EXPECT_EQ(quantise_transpose(problem_, stream()), cudaErrorInvalidValue);
  problem_.rows = 16;
  problem_.type = ElementType::kBf16;
  EXPECT_EQ(quantise_transpose(problem_, stream()), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace assay
