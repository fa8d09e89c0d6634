// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// 2:4 products through cuSPARSELt, their pruning held against our own reading of the weights, and
// one wrong element planted; without the library, the reason of the skip.
#include <gmock/gmock.h>

#include <algorithm>

#include "bench/gemm/cases.h"
#include "bench/gemm/spec.h"
#include "tests/device/gpu_test.h"

#if ASSAY_CUSPARSELT
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <array>
#include <cmath>

#include "bench/gemm/gemm_case.h"
#include "bench/gemm/sparse_case.h"
#include "bench/gemm/tolerance.h"
#include "kernels/element.h"
#endif

namespace assay {
namespace {

class SparseCaseTest : public GpuTest {};

TEST_F(SparseCaseTest, TheSparseSquaresAreListed) {
  const std::vector<CaseEntry> entries = gemm_cases(device_, stream());
  for (const char* precision : {"fp16", "bf16", "fp8_e4m3", "int8"}) {
    const std::string id = std::string("gemm/") + precision + "/8192x8192x8192+sparse/sustained";
    const auto found =
        std::ranges::find(entries, id, [](const CaseEntry& entry) { return entry.info.id; });
    ASSERT_NE(found, entries.end()) << id;
    EXPECT_DOUBLE_EQ(found->info.work.operations, 2.0 * 8192 * 8192 * 8192);
    EXPECT_THAT(found->info.work.pipe, testing::EndsWith("_sparse"));
  }
}

#if !ASSAY_CUSPARSELT

TEST_F(SparseCaseTest, WithoutTheLibraryTheReasonSaysHowToGetIt) {
  const auto entry = gemm_case("gemm/bf16/256x256x256+sparse/burst", device_, stream());
  ASSERT_TRUE(entry && entry->skip);
  EXPECT_THAT(*entry->skip, testing::HasSubstr("ASSAY_WITH=cusparselt ./assay"));
}

#else

class Probe : public SparseGemmCase {
 public:
  using SparseGemmCase::output;
  using SparseGemmCase::pruned;
  using SparseGemmCase::SparseGemmCase;
};

class SparseProductTest : public SparseCaseTest {
 protected:
  [[nodiscard]] bool runs_here(const GemmSpec& spec) const {
    const std::string why = why_not(spec, device_.compute_capability);
    if (!why.empty()) GTEST_LOG_(INFO) << id_of(spec) << ": " << why;
    return why.empty();
  }

  // Right as computed, wrong with element (row, column) of D off by one standard deviation (an
  // integer by 1), right again once computed anew.
  template <class T>
  void expect_found(const std::string& id, std::int64_t row, std::int64_t column) {
    SCOPED_TRACE(id);
    const GemmSpec spec = *parse_gemm_id(id);
    if (!runs_here(spec)) return;
    Probe probe(spec, device_, stream());
    probe.poison(0);
    EXPECT_EQ(probe.verify(0, 0).status, VerificationStatus::kWrong) << "nothing was written";
    for (int slot = 0; slot < probe.slots(); ++slot) probe.launch(slot);
    for (int slot = 0; slot < probe.slots(); ++slot) {
      const Verification sound = probe.verify(slot, 1);
      EXPECT_EQ(sound.status, VerificationStatus::kVerified) << sound.detail;
    }
    T* const element = probe.output(0).as<T>() + row * spec.n + column;
    const double off = std::is_integral_v<T> ? 1 : gemm_element_sd(spec.k);
    upload<T>(
        element, 0,
        static_cast<T>(static_cast<float>(download<T>(element, 1)[0]) + static_cast<float>(off)));
    EXPECT_EQ(probe.verify(0, 2).status, VerificationStatus::kWrong)
        << "the planted element was missed";
    probe.launch(0);
    EXPECT_EQ(probe.verify(0, 3).status, VerificationStatus::kVerified);
    expect_reported(spec, probe.algorithm(), probe.preparation());
  }

  static void expect_reported(const GemmSpec& spec, const Json& algorithm,
                              const Json& preparation) {
    GTEST_LOG_(INFO) << algorithm.dump() << preparation.dump();
    EXPECT_THAT(algorithm.at("library").get<std::string>(), testing::StartsWith("cuSPARSELt 0."));
    EXPECT_TRUE(algorithm.at("id").is_number_integer());
    EXPECT_GT(preparation.at("prune_s").get<double>(), 0);
    EXPECT_GT(preparation.at("compress_s").get<double>(), 0);
    const auto dense =
        static_cast<double>(spec.n * spec.k * element_bytes(info_of(spec.precision).w));
    EXPECT_GE(preparation.at("compressed_bytes").get<double>(), dense / 2);
    EXPECT_LT(preparation.at("compressed_bytes").get<double>(), dense);
  }

  // Of each four along k two are kept as they were, none smaller than one that was dropped.
  template <class T>
  void expect_pruned(const std::string& id) {
    SCOPED_TRACE(id);
    const GemmSpec spec = *parse_gemm_id(id);
    if (!runs_here(spec)) return;
    const Probe probe(spec, device_, stream());
    const std::int64_t count = spec.n * spec.k;
    const DeviceBuffer original =
        gemm_input(info_of(spec.precision).w, count, kGemmSeed + 1, stream());
    const auto before = download<T>(original.data(), static_cast<std::size_t>(count));
    const auto after = download<T>(probe.pruned(0).data(), static_cast<std::size_t>(count));
    std::int64_t kept = 0;
    for (std::size_t first = 0; first < before.size(); first += 4) {
      std::array<float, 4> sizes{};
      float kept_sum = 0;
      int nonzero = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        const auto was = static_cast<float>(before[first + i]);
        const auto is = static_cast<float>(after[first + i]);
        ASSERT_TRUE(is == 0 || is == was) << "element " << first + i << ": " << was << " to " << is;
        sizes[i] = std::abs(was);
        kept_sum += std::abs(is);
        if (is != 0) ++nonzero;
      }
      ASSERT_LE(nonzero, 2) << "elements from " << first;
      kept += nonzero;
      std::ranges::sort(sizes, std::greater<>());
      // Not INT8, in which -128 has no size of its type.
      if constexpr (!std::is_integral_v<T>) {
        ASSERT_FLOAT_EQ(kept_sum, sizes[0] + sizes[1]) << "elements from " << first;
      }
    }
    EXPECT_GT(kept, count * 49 / 100);
  }
};

TEST_F(SparseProductTest, OneWrongElementIsFoundInEachPrecision) {
  for (const char* size : {"256x256x256", "1024x2048x4096"}) {
    const auto id = [&](const char* precision) {
      return std::string("gemm/") + precision + "/" + size + "+sparse/burst";
    };
    expect_found<__half>(id("fp16"), 255, 7);
    expect_found<__nv_bfloat16>(id("bf16"), 255, 7);
    expect_found<__nv_bfloat16>(id("fp8_e4m3"), 255, 7);
    expect_found<std::int32_t>(id("int8"), 255, 7);
  }
}

TEST_F(SparseProductTest, PruningKeepsTheLargerTwoOfEachFour) {
  expect_pruned<__half>("gemm/fp16/64x256x512+sparse/burst");
  expect_pruned<__nv_bfloat16>("gemm/bf16/64x256x512+sparse/burst");
  expect_pruned<__nv_fp8_e4m3>("gemm/fp8_e4m3/64x256x512+sparse/burst");
  expect_pruned<std::int8_t>("gemm/int8/64x256x512+sparse/burst");
}

// Weights that were compressed for the default serve the others; those that the library does not
// run it refuses.
TEST_F(SparseProductTest, AnotherAlgorithmGivesTheSameProduct) {
  for (const char* id :
       {"gemm/bf16/512x512x512+sparse/burst", "gemm/fp8_e4m3/512x512x512+sparse/burst"}) {
    SCOPED_TRACE(id);
    const GemmSpec spec = *parse_gemm_id(id);
    if (!runs_here(spec)) continue;
    Probe probe(spec, device_, stream());
    const std::vector<Json> candidates = probe.candidates();
    ASSERT_GT(candidates.size(), 4U);
    EXPECT_EQ(candidates.front()["id"], probe.algorithm()["id"]) << "the default comes first";
    int right = 0;
    for (const Json& candidate : candidates) {
      try {
        probe.choose(candidate);
        probe.poison(0);
        probe.launch(0);
      } catch (const std::runtime_error& refused) {
        GTEST_LOG_(INFO) << candidate.dump() << ": " << refused.what();
        continue;
      }
      EXPECT_EQ(probe.algorithm()["id"], candidate["id"]);
      const Verification found = probe.verify(0, 0);
      if (found.status == VerificationStatus::kVerified) ++right;
      if (right == 0) FAIL() << "the default is wrong: " << found.detail;
    }
    EXPECT_GE(right, 2) << "of " << candidates.size();
    probe.choose(candidates.front());
    EXPECT_THROW(probe.choose({{"id", 1 << 20}}), std::runtime_error);
  }
}

TEST_F(SparseProductTest, DenseWeightsAreNotTakenForPruned) {
  const GemmSpec spec = *parse_gemm_id("gemm/bf16/256x256x256+sparse/burst");
  SparseLtGemm gemm(spec);
  const DeviceBuffer w = gemm_input(ElementType::kBf16, spec.n * spec.k, kGemmSeed, stream());
  EXPECT_FALSE(gemm.is_pruned(w.data(), stream()));
}

// The check reads the pruned weights: a value changed there, but not in the compressed ones, shows.
TEST_F(SparseProductTest, CompressedWeightsThatAreNotThePrunedOnesAreFound) {
  Probe probe(*parse_gemm_id("gemm/bf16/256x256x256+sparse/burst"), device_, stream());
  probe.launch(0);
  auto* const pruned = probe.pruned(0).as<__nv_bfloat16>();
  upload<__nv_bfloat16>(pruned, 5, __nv_bfloat16(8.0F));
  EXPECT_EQ(probe.verify(0, 0).status, VerificationStatus::kWrong);
}

#endif

}  // namespace
}  // namespace assay
