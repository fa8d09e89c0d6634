// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>

#include "bench/gemm/linear_spec.h"
#include "bench/gemm/spec.h"
#include "bench/runner/plan.h"
#include "reports/error.h"

namespace assay {
namespace {

TEST(GemmSpec, ReadsWhatAnIdSays) {
  const auto spec = parse_gemm_id("gemm/bf16/4096x11008x4096/sustained");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->precision, Precision::kBf16);
  EXPECT_EQ(spec->m, 4096);
  EXPECT_EQ(spec->n, 11008);
  EXPECT_EQ(spec->k, 4096);
  EXPECT_EQ(spec->power, Power::kSustained);
  EXPECT_EQ(spec->batch, 1);
  EXPECT_TRUE(spec->w_k_contiguous && spec->x_k_contiguous);
  EXPECT_DOUBLE_EQ(spec->operations(), 2.0 * 4096 * 11008 * 4096);
  EXPECT_DOUBLE_EQ(spec->bytes(), 2.0 * (4096.0 * 4096 + 11008.0 * 4096 + 4096.0 * 11008));
}

TEST(GemmSpec, AnIdAndItsSpecAreOneAndTheSame) {
  for (const char* id :
       {"gemm/fp64/256x256x256/burst", "gemm/fp32/8192x8192x8192+nn/sustained",
        "gemm/tf32/100x200x300+nt/burst", "gemm/fp16/1x4096x4096+tt/burst",
        "gemm/bf16/512x512x128+batch=64/burst", "gemm/bf16/512x512x128+pointers=1/burst",
        "gemm/fp8_e4m3/64x1024x1024+bias/burst", "gemm/fp8_e4m3_full/16x16x16+rowwise/burst",
        "gemm/fp8_e4m3/64x1024x1024+bias+rowwise/burst", "gemm/fp8_e5m2/1x32x32/sustained",
        "gemm/fp64/64x64x64+nn+float_data/burst", "gemm/int8/4096x4096x4096+sparse/sustained",
        "gemm/int8/1x4x8/burst"}) {
    const auto spec = parse_gemm_id(id);
    ASSERT_TRUE(spec) << id;
    EXPECT_EQ(id_of(*spec), id);
  }
}

TEST(GemmSpec, SizesAreCountedIn64Bits) {
  const auto spec = parse_gemm_id("gemm/bf16/65536x65536x65536/burst");
  EXPECT_DOUBLE_EQ(spec->operations(), 2.0 * 65536.0 * 65536.0 * 65536.0);
  EXPECT_DOUBLE_EQ(spec->bytes(), 3 * 2 * 65536.0 * 65536.0);
}

TEST(GemmSpec, ASparseProductCountsAsTheDenseOneAndReadsHalfTheWeights) {
  const auto sparse = parse_gemm_id("gemm/bf16/256x512x1024+sparse/burst");
  EXPECT_DOUBLE_EQ(sparse->operations(), 2.0 * 256 * 512 * 1024);
  EXPECT_DOUBLE_EQ(sparse->bytes(),
                   2.0 * 256 * 1024 + 512.0 * 1024 * (1 + 1.0 / 8) + 2.0 * 256 * 512);
  EXPECT_DOUBLE_EQ(parse_gemm_id("gemm/int8/64x64x64+sparse/burst")->bytes(),
                   64.0 * 64 * (1 + 0.5 + 1.0 / 8 + 4));
  EXPECT_NE(why_not(*sparse, 75), "");
}

TEST(GemmSpec, WhatBelongsToOthersIsLeftToThem) {
  EXPECT_FALSE(parse_gemm_id("gemm/ceiling/bf16/burst"));
  EXPECT_FALSE(parse_gemm_id("gemm/linear_fp8/64x1024x1024+cast/burst"));
  EXPECT_FALSE(parse_gemm_id("memory/read/4GiB/burst"));
}

TEST(GemmSpec, RefusesWhatCannotBeAndSaysWhy) {
  const std::pair<const char*, const char*> wrong[] = {
      {"gemm/bf17/256x256x256/burst", "no precision 'bf17'; there are: fp64"},
      {"gemm/bf16/256x256/burst", "expected <m>x<n>x<k>"},
      {"gemm/fp16/1x1x1+batch=4294967297/burst", "at most 2^31 - 1"},
      {"gemm/fp16/1099511627776x1099511627776x1/burst", "2^62 bytes"},
      {"gemm/bf16/256x256x0/burst", "'0': expected a whole number from 1 to 2^40"},
      {"gemm/bf16/-1x256x256/burst", "'-1'"},
      {"gemm/bf16/256x256x99999999999999999999/burst", "expected a whole number"},
      {"gemm/bf16/256x256x256", "expected gemm/<precision>"},
      {"gemm/bf16/256x256x256/warm", "expected burst or sustained"},
      {"gemm/bf16/256x256x256+gelu/burst", "no variant 'gelu'"},
      {"gemm/bf16/256x256x256+batch/burst", "expected batch=B"},
      {"gemm/bf16/256x256x256+batch=1/burst", "write it gemm/bf16/256x256x256/burst"},
      {"gemm/bf16/256x256x256+bias+nn/burst", "write it gemm/bf16/256x256x256+nn+bias/burst"},
      {"gemm/bf16/0256x256x256/burst", "write it gemm/bf16/256x256x256/burst"},
      {"gemm/fp8_e4m3/256x256x256+nn/burst", "takes layout tn only"},
      {"gemm/int8/256x256x256+tt/burst", "takes layout tn only"},
      {"gemm/fp8_e4m3/256x250x256/burst", "multiples of 16"},
      {"gemm/int8/256x256x254/burst", "multiples of 4"},
      {"gemm/bf16/256x256x256+rowwise/burst", "rowwise scales belong to FP8"},
      {"gemm/int8/256x256x256+bias/burst", "no bias"},
      {"gemm/fp32/256x256x256+float_data/burst", "float_data belongs to fp64"},
      {"gemm/fp64/256x256x256+sparse/burst", "sparse products: fp16"},
      {"gemm/fp32/256x256x256+sparse/burst", "sparse products: fp16"},
      {"gemm/fp8_e5m2/256x256x256+sparse/burst", "sparse products: fp16"},
      {"gemm/fp8_e4m3_full/256x256x256+sparse/burst", "sparse products: fp16"},
      {"gemm/bf16/256x256x256+nn+sparse/burst", "sparse excludes"},
      {"gemm/bf16/256x256x256+batch=2+sparse/burst", "sparse excludes"},
      {"gemm/bf16/256x16x256+sparse/burst", "sparse needs m"},
      {"gemm/fp8_e4m3/256x256x96+sparse/burst", "sparse needs m"},
      {"gemm/bf16/256x256x256+bias+sparse/burst", "sparse excludes"},
      {"gemm/bf16/1x256x256+sparse/burst", "sparse needs m"}};
  for (const auto& [id, why] : wrong) {
    try {
      (void)parse_gemm_id(id);
      ADD_FAILURE() << id << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(id), std::string::npos) << error.what();
    }
  }
}

TEST(GemmSpec, SaysWhichCardsCannotRunIt) {
  EXPECT_EQ(why_not(*parse_gemm_id("gemm/bf16/256x256x256/burst"), 80), "");
  EXPECT_EQ(why_not(*parse_gemm_id("gemm/fp8_e4m3/256x256x256/burst"), 80),
            "fp8_e4m3 needs compute capability 8.9, the device has 8.0");
  EXPECT_EQ(why_not(*parse_gemm_id("gemm/fp8_e4m3/256x256x256/burst"), 90), "");
  EXPECT_NE(why_not(*parse_gemm_id("gemm/fp8_e4m3/256x256x256+rowwise/burst"), 89), "");
}

TEST(GemmSpec, ParametersSayWhatTheIdSays) {
  const Json fields = parameters_of(*parse_gemm_id("gemm/fp8_e4m3/64x1024x512+rowwise/burst"));
  EXPECT_EQ(fields.at("precision"), "fp8_e4m3");
  EXPECT_EQ(fields.at("layout"), "TN");
  EXPECT_EQ(fields.at("fast_accumulation"), true);
  EXPECT_EQ(fields.at("scales"), "rowwise");
  EXPECT_EQ(parameters_of(*parse_gemm_id("gemm/fp64/8x8x8+nt/burst")).at("layout"), "NT");
}

// A slip in a suite would only be found on a GPU.
TEST(GemmSpec, MakesEveryProductOfTheShippedSuites) {
  int products = 0;
  for (const Suite& suite :
       load_all_suites(std::filesystem::path(ASSAY_SOURCE_DIR) / "configs/suites")) {
    for (const SuiteProcess& process : suite.processes) {
      for (const std::string& id : process.cases) {
        if (!id.starts_with("gemm/") || id.starts_with("gemm/ceiling/")) continue;
        ++products;
        EXPECT_NO_THROW(EXPECT_TRUE(parse_linear_id(id) || parse_gemm_id(id)) << id) << id;
      }
    }
  }
  EXPECT_GT(products, 200);
}

}  // namespace
}  // namespace assay
