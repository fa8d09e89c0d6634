// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A probabilistic check of D = A x B in FP64 that costs a 64th of the product's operations.
//
// After Freivalds (1977): for a vector s of random signs, D s = A (B s). One vector over all
// columns would drown one wrong element in the rounding of its whole row, so the columns are cut
// into blocks of kGemmCheckColumns, each with signs of its own: every element of D is covered, and
// an element stands out against the rounding of 64, not of thousands. A fresh `seed` a check makes
// errors that cancel in one check show in the next. INT8 products are checked exactly.
//
// Any shape, any strides, batches: D is n columns of m contiguous elements (column-major, as BLAS
// counts), A and B lie as their strides say. Scales and a bias are part of the check:
//
//   D(i,j) = a_scale(i) b_scale(j) sum_k A(i,k) B(k,j) + bias(i)
//
//   GemmCheckResult result;   // largest |D s - A (B s)| over rows and column blocks, and where
//   check_gemm(problem, seed, workspace, &result_on_device, stream);
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/element.h"

namespace assay {

inline constexpr int kGemmCheckColumns = 64;

// In elements: from one row of A (column of B) to the next, from one k to the next, from one
// product of a batch to the next.
struct GemmStrides {
  std::int64_t line = 0;
  std::int64_t depth = 1;
  std::int64_t batch = 0;
};

// One factor for all lines (stride 0) or one a line (stride 1); null: none.
struct GemmScale {
  const float* values = nullptr;
  int stride = 0;
};

struct GemmProblem {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;  // products whose D follow each other
  ElementType a_type = ElementType::kFp32;
  ElementType b_type = ElementType::kFp32;
  ElementType d_type = ElementType::kFp32;
  const void* a = nullptr;
  const void* b = nullptr;
  const void* d = nullptr;
  GemmStrides a_strides;
  GemmStrides b_strides;
  GemmScale a_scale;
  GemmScale b_scale;
  const void* bias = nullptr;  // m elements of d_type, the same for all of the batch; null: none
};

// In device memory. A residual that is not a number counts as infinite.
struct GemmCheckResult {
  double largest_residual;
  std::int64_t row;
  std::int64_t column_block;  // the first column is kGemmCheckColumns times it
  std::int64_t product;       // of the batch
};

[[nodiscard]] constexpr std::int64_t gemm_check_blocks(std::int64_t n) {
  return (n + kGemmCheckColumns - 1) / kGemmCheckColumns;
}

[[nodiscard]] constexpr std::int64_t gemm_check_workspace_bytes(std::int64_t m, std::int64_t n,
                                                                std::int64_t k,
                                                                std::int64_t batch) {
  return 8 * batch * gemm_check_blocks(n) * (k + 2 * m);
}

// Refuses (cudaErrorInvalidValue) an empty problem and one that a grid cannot hold: m of more than
// 2^37 or n, batch of more than 2^16 blocks.
[[nodiscard]] cudaError_t check_gemm(const GemmProblem& problem, std::uint64_t seed,
                                     void* workspace, GemmCheckResult* result, cudaStream_t stream);

}  // namespace assay
