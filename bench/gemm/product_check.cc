// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/product_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay {

Verification ProductCheck::operator()(const GemmProblem& problem, double tolerance,
                                      std::uint64_t seed, const std::string& what) {
  const std::int64_t bytes =
      gemm_check_workspace_bytes(problem.m, problem.n, problem.k, problem.batch);
  if (workspace_.bytes() < bytes) workspace_ = DeviceBuffer(bytes);
  auto* const device_result = result_.as<GemmCheckResult>();
  check_cuda(check_gemm(problem, seed, workspace_.data(), device_result, stream_), "check_gemm");
  const auto found = read_back<GemmCheckResult>(device_result, stream_);

  Verification result;
  result.method = fmt::format("blocked Freivalds in FP64: largest |D s - A (B s)| over {} columns",
                              kGemmCheckColumns);
  result.tolerance = tolerance;
  // An infinite residual (an element that is NaN) has no place in JSON: null, and said in words.
  if (std::isfinite(found.largest_residual)) result.error = found.largest_residual;
  if (found.largest_residual <= tolerance) {
    result.status = VerificationStatus::kVerified;
    return result;
  }
  result.status = VerificationStatus::kWrong;
  const std::int64_t first = found.column_block * kGemmCheckColumns;
  const std::int64_t last = std::min(first + kGemmCheckColumns, problem.n) - 1;
  result.detail = fmt::format("{}{}, rows {}-{}, column {}: off by {:.4g}, tolerance {:.4g}", what,
                              problem.batch > 1 ? fmt::format(", product {}", found.product) : "",
                              first, last, found.row, found.largest_residual, tolerance);
  return result;
}

}  // namespace assay
