// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A probabilistic check of D = A x B in FP64 that costs a hundredth of the product.
//
// After Freivalds (1977): for a vector s of random signs, D s = A (B s). One vector over all
// columns would drown one wrong element in the rounding of its whole row, so the columns are cut
// into blocks of kGemmCheckColumns, each with signs of its own: every element of D is covered, and
// an element stands out against the rounding of 64, not of thousands. A fresh `seed` a check makes
// errors that cancel in one check show in the next.
//
// Layout ("TN", what cuBLASLt takes for FP8): A is m rows of k elements, B is n columns of k
// elements, D is n columns of m elements; all contiguous. n and k are multiples of 64, m of 64.
//
//   GemmCheckResult result;   // largest |D s - A (B s)| over rows and column blocks, and where
//   check_gemm(problem, seed, workspace, &result_on_device, stream);
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/fill.h"

namespace assay {

inline constexpr int kGemmCheckColumns = 64;

struct GemmProblem {
  int m = 0;
  int n = 0;
  int k = 0;
  ElementType input = ElementType::kFp32;   // of A and B
  ElementType output = ElementType::kFp32;  // of D
  const void* a = nullptr;
  const void* b = nullptr;
  const void* d = nullptr;
};

// In device memory. A residual that is not a number counts as infinite.
struct GemmCheckResult {
  double largest_residual;
  int row;
  int column_block;
};

[[nodiscard]] constexpr std::int64_t gemm_check_workspace_bytes(int m, int n, int k) {
  const std::int64_t blocks = n / kGemmCheckColumns;
  return 8 * (blocks * k + 2 * blocks * m);
}

[[nodiscard]] cudaError_t check_gemm(const GemmProblem& problem, std::uint64_t seed,
                                     void* workspace, GemmCheckResult* result, cudaStream_t stream);

}  // namespace assay
