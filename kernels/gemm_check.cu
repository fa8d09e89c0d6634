// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <math_constants.h>

#include "kernels/counter_random.h"
#include "kernels/gemm_check.h"

namespace assay {
namespace {

constexpr int kThreads = 256;
constexpr int kTile = 64;  // rows and column blocks of a tile of A x Y
constexpr int kDepth = 16;

template <class T>
__device__ double to_double(T value) {
  return static_cast<double>(static_cast<float>(value));
}

// out[block][i] = sum over the block's columns j of sign(j) * matrix[j][i]; `length` elements a
// column. Serves B s (length k) and D s (length m).
template <class T>
__global__ void __launch_bounds__(kThreads)
    signed_column_sums(const T* matrix, std::int64_t length, std::uint64_t seed, double* out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= length) return;
  const std::int64_t block = blockIdx.y;
  double sum = 0;
  for (int c = 0; c < kGemmCheckColumns; ++c) {
    const std::int64_t j = block * kGemmCheckColumns + c;
    sum += random_sign(seed, static_cast<std::uint64_t>(j)) * to_double(matrix[j * length + i]);
  }
  out[block * length + i] = sum;
}

// out[block][i] = sum over k of a[i][k] * y[block][k], in tiles of kTile x kTile, 4 x 4 a thread.
template <class T>
__global__ void __launch_bounds__(kThreads)
    rows_times_vectors(const T* a, const double* y, int m, int k, int blocks, double* out) {
  __shared__ double tile_a[kDepth][kTile + 1];
  __shared__ double tile_y[kDepth][kTile + 1];
  const int row0 = static_cast<int>(blockIdx.x) * kTile;
  const int block0 = static_cast<int>(blockIdx.y) * kTile;
  const int tx = static_cast<int>(threadIdx.x) % 16;
  const int ty = static_cast<int>(threadIdx.x) / 16;
  double sum[4][4] = {};
  for (int k0 = 0; k0 < k; k0 += kDepth) {
    for (int e = static_cast<int>(threadIdx.x); e < kTile * kDepth; e += kThreads) {
      const int r = e / kDepth;
      const int d = e % kDepth;
      const std::int64_t column = k0 + d;
      tile_a[d][r] = to_double(a[static_cast<std::int64_t>(row0 + r) * k + column]);
      tile_y[d][r] =
          block0 + r < blocks ? y[static_cast<std::int64_t>(block0 + r) * k + column] : 0.0;
    }
    __syncthreads();
    for (int d = 0; d < kDepth; ++d) {
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
          sum[i][j] += tile_a[d][tx + 16 * i] * tile_y[d][ty + 16 * j];
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const int block = block0 + ty + 16 * j;
      if (block < blocks)
        out[static_cast<std::int64_t>(block) * m + row0 + tx + 16 * i] = sum[i][j];
    }
  }
}

// One block: the largest |found - expected| and its place. NaN counts as infinite.
__global__ void __launch_bounds__(kThreads)
    largest_residual(const double* found, const double* expected, std::int64_t count, int m,
                     GemmCheckResult* result) {
  __shared__ double values[kThreads];
  __shared__ std::int64_t places[kThreads];
  double largest = -1;
  std::int64_t place = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += kThreads) {
    double residual = fabs(found[i] - expected[i]);
    if (!(residual < CUDART_INF)) residual = CUDART_INF;
    if (residual > largest) {
      largest = residual;
      place = i;
    }
  }
  values[threadIdx.x] = largest;
  places[threadIdx.x] = place;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int t = 1; t < kThreads; ++t) {
    if (values[t] > largest) {
      largest = values[t];
      place = places[t];
    }
  }
  *result = {largest, static_cast<int>(place % m), static_cast<int>(place / m)};
}

unsigned blocks_for(std::int64_t count, int each) {
  return static_cast<unsigned>((count + each - 1) / each);
}

template <class T>
void column_sums(const void* matrix, std::int64_t length, int blocks, std::uint64_t seed,
                 double* out, cudaStream_t stream) {
  signed_column_sums<<<dim3(blocks_for(length, kThreads), static_cast<unsigned>(blocks)), kThreads,
                       0, stream>>>(static_cast<const T*>(matrix), length, seed, out);
}

void column_sums(ElementType type, const void* matrix, std::int64_t length, int blocks,
                 std::uint64_t seed, double* out, cudaStream_t stream) {
  switch (type) {
    case ElementType::kFp32:
      return column_sums<float>(matrix, length, blocks, seed, out, stream);
    case ElementType::kBf16:
      return column_sums<__nv_bfloat16>(matrix, length, blocks, seed, out, stream);
    case ElementType::kFp8E4M3:
      return column_sums<__nv_fp8_e4m3>(matrix, length, blocks, seed, out, stream);
  }
}

template <class T>
void products(const GemmProblem& p, const double* y, int blocks, double* out, cudaStream_t stream) {
  rows_times_vectors<<<dim3(blocks_for(p.m, kTile), blocks_for(blocks, kTile)), kThreads, 0,
                       stream>>>(static_cast<const T*>(p.a), y, p.m, p.k, blocks, out);
}

}  // namespace

cudaError_t check_gemm(const GemmProblem& p, std::uint64_t seed, void* workspace,
                       GemmCheckResult* result, cudaStream_t stream) {
  if (p.m % kTile != 0 || p.n % kGemmCheckColumns != 0 || p.k % kDepth != 0 || p.m <= 0 ||
      p.n <= 0 || p.k <= 0) {
    return cudaErrorInvalidValue;
  }
  const int blocks = p.n / kGemmCheckColumns;
  auto* const y = static_cast<double*>(workspace);
  double* const found = y + static_cast<std::int64_t>(blocks) * p.k;
  double* const expected = found + static_cast<std::int64_t>(blocks) * p.m;
  column_sums(p.input, p.b, p.k, blocks, seed, y, stream);
  column_sums(p.output, p.d, p.m, blocks, seed, found, stream);
  switch (p.input) {
    case ElementType::kFp32:
      products<float>(p, y, blocks, expected, stream);
      break;
    case ElementType::kBf16:
      products<__nv_bfloat16>(p, y, blocks, expected, stream);
      break;
    case ElementType::kFp8E4M3:
      products<__nv_fp8_e4m3>(p, y, blocks, expected, stream);
      break;
  }
  const std::int64_t count = static_cast<std::int64_t>(blocks) * p.m;
  largest_residual<<<1, kThreads, 0, stream>>>(found, expected, count, p.m, result);
  return cudaGetLastError();
}

}  // namespace assay
