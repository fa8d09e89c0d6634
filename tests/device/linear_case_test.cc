// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The FP8 linear layer, and what its check must see: a wrong element in each product, a wrong byte
// in each quantised operand, an amax and a scale that are not those of the data.
#include "bench/gemm/linear_case.h"

#include <cuda_bf16.h>
#include <gmock/gmock.h>

#include <cmath>

#include "bench/gemm/cases.h"
#include "bench/gemm/tolerance.h"
#include "tests/device/gpu_test.h"

namespace assay {
namespace {

class Probe : public LinearFp8Case {
 public:
  using LinearFp8Case::LinearFp8Case;
  using LinearFp8Case::set;
  using LinearFp8Case::Set;
};

class LinearCaseTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && device_.compute_capability < 89) {
      GTEST_SKIP() << "FP8 needs compute capability 8.9";
    }
  }
  [[nodiscard]] Probe probe(const char* layer) {
    return Probe(*parse_linear_id(std::string("gemm/linear_fp8/") + layer + "/burst"), device_,
                 stream());
  }
  void expect_wrong(Probe& probe, const char* what) {
    const Verification found = probe.verify(0, 5);
    EXPECT_EQ(found.status, VerificationStatus::kWrong) << what << " was missed";
    EXPECT_THAT(found.detail, testing::HasSubstr(what));
  }
  void expect_sound(Probe& probe) {
    probe.poison(0);
    probe.launch(0);
    const Verification found = probe.verify(0, 6);
    EXPECT_EQ(found.status, VerificationStatus::kVerified) << found.detail;
    if (found.error) {
      GTEST_LOG_(INFO) << *found.error / *found.tolerance << " of the tolerance";
    }
  }
};

TEST_F(LinearCaseTest, LayersOfAnyShapeAreRightAndRepeatToTheBit) {
  for (const char* layer :
       {"64x1024x1024+gemm", "64x1024x1024+cast", "16x48x80+cast", "2048x512x1024+cast"}) {
    SCOPED_TRACE(layer);
    Probe probe = this->probe(layer);
    std::vector<int> slots;
    for (int slot = 0; slot < probe.slots(); ++slot) {
      probe.poison(slot);
      probe.launch(slot);
      EXPECT_EQ(probe.verify(slot, 0).status, VerificationStatus::kVerified);
      slots.push_back(slot);
    }
    const auto hashes = probe.hash_outputs(slots);
    for (int again = 0; again < 3; ++again) probe.launch(0);
    EXPECT_EQ(probe.hash_outputs({0})[0], hashes[0]);
    expect_sound(probe);
  }
}

TEST_F(LinearCaseTest, OneWrongElementInEachProductIsFound) {
  for (const char* layer : {"64x1024x1024+gemm", "64x1024x1024+cast"}) {
    SCOPED_TRACE(layer);
    Probe probe = this->probe(layer);
    probe.poison(0);
    EXPECT_EQ(probe.verify(0, 0).status, VerificationStatus::kWrong) << "nothing was written";
    expect_sound(probe);
    const std::array<std::pair<const char*, std::int64_t>, 3> products = {
        {{"Y, ", 1024}, {"dX, ", 1024}, {"dW, ", 64}}};  // with their depth
    for (std::size_t i = 0; i < 3; ++i) {
      auto* const element = static_cast<__nv_bfloat16*>(probe.set(0).products[i].d) + 1030;
      const auto right = download<__nv_bfloat16>(element, 1)[0];
      const auto off = static_cast<float>(gemm_element_sd(products[i].second));
      upload<__nv_bfloat16>(element, 0, __nv_bfloat16(static_cast<float>(right) + off));
      expect_wrong(probe, products[i].first);
      upload<__nv_bfloat16>(element, 0, right);
    }
    expect_sound(probe);
  }
}

TEST_F(LinearCaseTest, OneWrongQuantisedByteIsFound) {
  Probe probe = this->probe("64x1024x1024+cast");
  expect_sound(probe);
  for (const QuantiseProblem& cast : probe.set(0).casts) {
    for (void* const copy : {cast.out, cast.transposed}) {
      // In its last place: far too little to show in a product.
      const auto right = download<std::uint8_t>(static_cast<std::uint8_t*>(copy) + 77, 1)[0];
      upload<std::uint8_t>(copy, 77, right ^ 1U);
      expect_wrong(probe, "1 elements differ");
      upload<std::uint8_t>(copy, 77, right);
    }
  }
  expect_sound(probe);
}

TEST_F(LinearCaseTest, AStaleAmaxAndAWrongScaleAreFound) {
  Probe probe = this->probe("64x1024x1024+cast");
  expect_sound(probe);
  const std::array names = {"amax of X", "amax of W", "amax of dY"};
  for (std::size_t i = 0; i < 3; ++i) {
    Fp8Scaling* const scaling = probe.set(0).casts[i].scaling;
    const float right = download<float>(&scaling->history[kAmaxHistory - 1], 1)[0];
    upload<float>(&scaling->history[kAmaxHistory - 1], 0, std::nextafter(right, 0.0F));
    expect_wrong(probe, names[i]);
    upload<float>(&scaling->history[kAmaxHistory - 1], 0, right);
  }
  Fp8Scaling* const scaling = probe.set(0).casts[1].scaling;
  const float scale = download<float>(&scaling->scale, 1)[0];
  upload<float>(&scaling->scale, 0, std::nextafter(scale, 1e9F));
  expect_wrong(probe, "scale of W");
}

// What an earlier step held in the history keeps its hold: the layer is then quantised by another
// scale than its own data give, and says so.
TEST_F(LinearCaseTest, ALargerAmaxOfAnEarlierLaunchIsNotThisOnes) {
  Probe probe = this->probe("64x1024x1024+cast");
  upload<float>(&probe.set(0).casts[0].scaling->history[10], 0, 4.0F);
  probe.launch(0);
  expect_wrong(probe, "scale of X");
}

TEST_F(LinearCaseTest, CasesAreListedAndMadeFromTheirId) {
  const auto entry = gemm_case("gemm/linear_fp8/128x256x512+cast/sustained", device_, stream());
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->info.work.pipe, "fp8");
  EXPECT_DOUBLE_EQ(entry->info.work.operations, 6.0 * 128 * 256 * 512);
  EXPECT_FALSE(entry->skip);
  std::vector<std::string> ids;
  for (const CaseEntry& one : gemm_cases(device_, stream())) ids.push_back(one.info.id);
  EXPECT_THAT(ids, testing::IsSupersetOf({"gemm/linear_fp8/64x1024x1024+gemm/burst",
                                          "gemm/linear_fp8/64x1024x1024+cast/burst"}));
  CudaDevice older = device_;
  older.compute_capability = 80;
  const auto skipped = gemm_case("gemm/linear_fp8/128x256x512+cast/burst", older, stream());
  EXPECT_THAT(skipped->skip.value_or(""), testing::HasSubstr("8.9"));
}

}  // namespace
}  // namespace assay
