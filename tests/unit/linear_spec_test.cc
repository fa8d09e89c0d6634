// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/linear_spec.h"

#include <gtest/gtest.h>

#include "reports/error.h"

namespace assay {
namespace {

TEST(LinearSpec, ReadsWhatAnIdSays) {
  const auto spec = parse_linear_id("gemm/linear_fp8/64x1024x2048+cast/burst");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->tokens, 64);
  EXPECT_EQ(spec->in, 1024);
  EXPECT_EQ(spec->out, 2048);
  EXPECT_TRUE(spec->cast);
  EXPECT_EQ(spec->power, Power::kBurst);
  for (const char* id :
       {"gemm/linear_fp8/64x1024x1024+gemm/burst", "gemm/linear_fp8/16x16x16+cast/sustained"}) {
    EXPECT_EQ(id_of(*parse_linear_id(id)), id);
  }
}

TEST(LinearSpec, ForwardIsFastAndBackwardIsNot) {
  const auto [y, dx, dw] = parse_linear_id("gemm/linear_fp8/64x1024x2048+gemm/burst")->products();
  EXPECT_EQ(id_of(y), "gemm/fp8_e4m3/64x2048x1024/burst");
  EXPECT_EQ(id_of(dx), "gemm/fp8_e5m2/64x1024x2048/burst");
  EXPECT_EQ(id_of(dw), "gemm/fp8_e5m2/2048x1024x64/burst");
}

TEST(LinearSpec, TheCastAddsBytesAndNoOperations) {
  const auto alone = parse_linear_id("gemm/linear_fp8/64x1024x2048+gemm/burst");
  const auto cast = parse_linear_id("gemm/linear_fp8/64x1024x2048+cast/burst");
  EXPECT_DOUBLE_EQ(alone->operations(), 3 * 2.0 * 64 * 1024 * 2048);
  EXPECT_DOUBLE_EQ(cast->operations(), alone->operations());
  const double elements = 64.0 * 1024 + 1024.0 * 2048 + 64.0 * 2048;
  // Each matrix is an operand of two products and, as large, the output of one.
  EXPECT_DOUBLE_EQ(alone->bytes(), (2 + 2) * elements);
  EXPECT_DOUBLE_EQ(cast->bytes() - alone->bytes(), (2 + 1 + 1) * elements);
}

TEST(LinearSpec, RefusesWhatCannotBeAndSaysWhy) {
  const std::pair<const char*, const char*> wrong[] = {
      {"gemm/linear_fp8/64x1024x1024/burst", "expected <tokens>x<in>x<out>+<gemm|cast>"},
      {"gemm/linear_fp8/64x1024x1024+both/burst", "expected <tokens>"},
      {"gemm/linear_fp8/64x1024x1024+gemm+cast/burst", "expected <tokens>"},
      {"gemm/linear_fp8/64x1024+gemm/burst", "expected <tokens>"},
      {"gemm/linear_fp8/64x1024x1024+gemm/warm", "expected <tokens>"},
      {"gemm/linear_fp8/64x1024x1024+gemm", "expected <tokens>"},
      {"gemm/linear_fp8/8x1024x1024+gemm/burst", "'8': expected a multiple of 16"},
      {"gemm/linear_fp8/64x1000x1024+gemm/burst", "'1000': expected a multiple of 16"},
      {"gemm/linear_fp8/64x1024x0+gemm/burst", "'0': expected a multiple of 16"},
      {"gemm/linear_fp8/064x1024x1024+gemm/burst",
       "write it gemm/linear_fp8/64x1024x1024+gemm/burst"}};
  for (const auto& [id, why] : wrong) {
    try {
      (void)parse_linear_id(id);
      ADD_FAILURE() << id << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(id), std::string::npos) << error.what();
    }
  }
  EXPECT_FALSE(parse_linear_id("gemm/fp8_e4m3/64x1024x1024/burst"));
}

}  // namespace
}  // namespace assay
