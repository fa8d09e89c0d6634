// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Every precision and variant through cuBLASLt, and one wrong element planted into its output.
#include "bench/gemm/gemm_case.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>

#include "bench/gemm/tolerance.h"
#include "tests/device/gpu_test.h"

namespace assay {
namespace {

class Probe : public GemmCase {
 public:
  using GemmCase::GemmCase;
  using GemmCase::output;
};

class GemmCaseTest : public GpuTest {
 protected:
  // Element `index` of D, off by one standard deviation of an element (an integer by 1).
  void plant(const Probe& probe, const GemmSpec& spec, std::int64_t index) const {
    const auto place = static_cast<std::size_t>(index);
    const double off = gemm_element_sd(spec.k);
    switch (info_of(spec.precision).d) {
      case ElementType::kFp64:
        return change<double>(probe, place, [&](double value) { return value + off; });
      case ElementType::kFp32:
        return change<float>(probe, place,
                             [&](float value) { return value + static_cast<float>(off); });
      case ElementType::kFp16:
        return change<__half>(probe, place, [&](__half value) {
          return __half(static_cast<float>(value) + static_cast<float>(off));
        });
      case ElementType::kBf16:
        return change<__nv_bfloat16>(probe, place, [&](__nv_bfloat16 value) {
          return __nv_bfloat16(static_cast<float>(value) + static_cast<float>(off));
        });
      case ElementType::kInt32:
        return change<std::int32_t>(probe, place, [](std::int32_t value) { return value + 1; });
      default:
        FAIL() << "no output has this type";
    }
  }

  // Right as computed, wrong with one element planted, right again once computed anew.
  void expect_found(const std::string& id, std::int64_t row, std::int64_t column) {
    SCOPED_TRACE(id);
    const GemmSpec spec = *parse_gemm_id(id);
    if (const std::string why = why_not(spec, device_.compute_capability); !why.empty()) {
      GTEST_LOG_(INFO) << id << ": " << why;
      return;
    }
    Probe probe(spec, device_, stream());
    probe.poison(0);
    EXPECT_EQ(probe.verify(0, 0).status, VerificationStatus::kWrong) << "nothing was written";
    probe.launch(0);
    const Verification sound = probe.verify(0, 1);
    EXPECT_EQ(sound.status, VerificationStatus::kVerified) << sound.detail;
    if (*sound.tolerance > 0) {
      GTEST_LOG_(INFO) << id << ": " << *sound.error / *sound.tolerance << " of the tolerance";
      RecordProperty(info_of(spec.precision).name, std::to_string(*sound.error / *sound.tolerance));
    }
    plant(probe, spec, row * spec.n + column);
    const Verification wrong = probe.verify(0, 2);
    EXPECT_EQ(wrong.status, VerificationStatus::kWrong) << "the planted element was missed";
    EXPECT_NE(wrong.detail.find(fmt_place(row, column)), std::string::npos) << wrong.detail;
    probe.launch(0);
    EXPECT_EQ(probe.verify(0, 3).status, VerificationStatus::kVerified);
  }

 private:
  template <class T, class Change>
  void change(const Probe& probe, std::size_t place, const Change& to) const {
    T* const data = probe.output(0).as<T>();
    upload<T>(data, place, to(download<T>(data + place, 1)[0]));
  }
  static std::string fmt_place(std::int64_t row, std::int64_t column) {
    const std::int64_t first = row / kGemmCheckColumns * kGemmCheckColumns;
    return "rows " + std::to_string(first) + "-" + std::to_string(first + kGemmCheckColumns - 1) +
           ", column " + std::to_string(column);
  }
};

TEST_F(GemmCaseTest, OneWrongElementIsFoundInEachPrecisionAt256) {
  for (const PrecisionInfo& info : precisions()) {
    expect_found(std::string("gemm/") + info.name + "/256x256x256/burst", 255, 7);
  }
}

TEST_F(GemmCaseTest, OneWrongElementIsFoundInEachPrecisionAt16384) {
  for (const PrecisionInfo& info : precisions()) {
    expect_found(std::string("gemm/") + info.name + "/16384x16384x16384/burst", 12345, 16383);
  }
}

TEST_F(GemmCaseTest, EveryLayoutBatchAndEpilogueIsRightAndChecked) {
  for (const char* id :
       {"gemm/bf16/192x256x320+nn/burst", "gemm/bf16/192x256x320+nt/burst",
        "gemm/bf16/192x256x320+tt/burst", "gemm/fp32/192x256x320+nn/burst",
        "gemm/fp64/192x256x320+tt/burst", "gemm/tf32/192x256x320+nt/burst",
        "gemm/bf16/128x256x64+batch=5/burst", "gemm/fp8_e4m3/128x256x64+batch=5/burst",
        "gemm/bf16/128x256x64+pointers=5/burst", "gemm/bf16/192x256x320+bias/burst",
        "gemm/fp16/192x256x320+bias/burst", "gemm/fp8_e4m3/192x256x320+bias/burst",
        "gemm/fp8_e4m3/192x256x320+rowwise/burst"}) {
    try {
      expect_found(id, 65, 130);
    } catch (const Skip& skip) {
      ADD_FAILURE() << id << ": " << skip.what();
    }
  }
}

// Skinny, deep and odd shapes: of a language model's decoding, of DeepBench, and none of a tile.
TEST_F(GemmCaseTest, AwkwardShapesAreRightAndChecked) {
  for (const char* id : {"gemm/bf16/1x4096x4096/burst", "gemm/fp8_e4m3/1x4096x4096/burst",
                         "gemm/int8/16x4096x4096/burst", "gemm/bf16/35x8448x2560/burst",
                         "gemm/fp32/7x13x5/burst", "gemm/fp16/3x24x1000000/burst"}) {
    SCOPED_TRACE(id);
    const GemmSpec spec = *parse_gemm_id(id);
    Probe probe(spec, device_, stream());
    probe.poison(0);
    probe.launch(0);
    const Verification sound = probe.verify(0, 1);
    EXPECT_EQ(sound.status, VerificationStatus::kVerified) << sound.detail;
    plant(probe, spec, spec.m * spec.n - 1);
    EXPECT_EQ(probe.verify(0, 2).status, VerificationStatus::kWrong);
  }
}

TEST_F(GemmCaseTest, AChosenAlgorithmIsTheOneThatRuns) {
  Probe probe(*parse_gemm_id("gemm/bf16/4096x4096x4096/burst"), device_, stream());
  LtGemm gemm(*parse_gemm_id("gemm/bf16/4096x4096x4096/burst"));
  const std::vector<Json> candidates = gemm.candidates();
  ASSERT_GT(candidates.size(), 2U);
  EXPECT_EQ(candidates.front().at("state"), gemm.algorithm().at("state"));
  gemm.choose(candidates.back());
  EXPECT_EQ(gemm.algorithm().at("state"), candidates.back().at("state"));
  EXPECT_EQ(gemm.algorithm().at("tile"), candidates.back().at("tile"));
}

TEST_F(GemmCaseTest, AnAlgorithmThatCannotRunIsRefused) {
  LtGemm gemm(*parse_gemm_id("gemm/bf16/4096x4096x4096/burst"));
  Json algorithm = gemm.algorithm();
  algorithm["state"] = std::string(128, 'f');
  EXPECT_THROW(gemm.choose(algorithm), std::runtime_error);
  algorithm["state"] = "xyz";
  EXPECT_THROW(gemm.choose(algorithm), std::runtime_error);
}

}  // namespace
}  // namespace assay
