// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <math_constants.h>

#include "kernels/counter_random.h"
#include "kernels/element.cuh"
#include "kernels/gemm_check.h"

namespace assay {
namespace {

constexpr int kThreads = 256;
constexpr int kTile = 64;  // rows and column blocks of a tile of A x Y
constexpr int kDepth = 16;
constexpr std::int64_t kMostBlocks = 65535;  // of a grid, in y and z

// Of a matrix of `columns` columns of `length` elements, as strides say.
struct Lines {
  std::int64_t length;
  std::int64_t columns;
  GemmStrides strides;
};

__device__ double sign_of(std::uint64_t seed, std::int64_t column) {
  return random_sign(seed, static_cast<std::uint64_t>(column));
}

__device__ double scale_of(const GemmScale& scale, std::int64_t line) {
  return scale.values == nullptr ? 1.0 : static_cast<double>(scale.values[line * scale.stride]);
}

// out[product][block][i] = sum over the block's columns j of
// sign(j) * (scale(j) * matrix[j][i] - offset[i]). Serves B s (length k) and D s (length m).
template <class T>
__global__ void __launch_bounds__(kThreads)
    signed_column_sums(const T* matrix, Lines lines, GemmScale scale, const T* offset,
                       std::uint64_t seed, double* out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= lines.length) return;
  const std::int64_t block = blockIdx.y;
  const std::int64_t product = blockIdx.z;
  const std::int64_t first = block * kGemmCheckColumns;
  const std::int64_t end = min(first + kGemmCheckColumns, lines.columns);
  matrix += product * lines.strides.batch + i * lines.strides.depth;
  const double zero_point = offset == nullptr ? 0.0 : to_double(offset[i]);
  double sum = 0;
  for (std::int64_t j = first; j < end; ++j) {
    const double value = scale_of(scale, j) * to_double(matrix[j * lines.strides.line]);
    sum += sign_of(seed, j) * (value - zero_point);
  }
  out[(product * gridDim.y + block) * lines.length + i] = sum;
}

// out[product][block][i] = scale(i) * sum over k of a[i][k] * y[product][block][k], in tiles of
// kTile x kTile, 4 x 4 a thread.
template <class T>
__global__ void __launch_bounds__(kThreads)
    rows_times_vectors(const T* a, Lines lines, GemmScale scale, const double* y,
                       std::int64_t blocks, double* out) {
  __shared__ double tile_a[kDepth][kTile + 1];
  __shared__ double tile_y[kDepth][kTile + 1];
  const std::int64_t m = lines.columns;  // a row of A is a column of its transpose
  const std::int64_t k = lines.length;
  const std::int64_t row0 = static_cast<std::int64_t>(blockIdx.x) * kTile;
  const std::int64_t block0 = static_cast<std::int64_t>(blockIdx.y) * kTile;
  const std::int64_t product = blockIdx.z;
  a += product * lines.strides.batch;
  y += product * blocks * k;
  const int tx = static_cast<int>(threadIdx.x) % 16;
  const int ty = static_cast<int>(threadIdx.x) / 16;
  // Neighbouring threads read neighbouring elements, whichever way A lies.
  const bool along_depth = lines.strides.depth == 1;
  double sum[4][4] = {};
  for (std::int64_t k0 = 0; k0 < k; k0 += kDepth) {
    for (int e = static_cast<int>(threadIdx.x); e < kTile * kDepth; e += kThreads) {
      const int r = along_depth ? e / kDepth : e % kTile;
      const int d = along_depth ? e % kDepth : e / kTile;
      const bool inside = row0 + r < m && k0 + d < k;
      tile_a[d][r] =
          inside ? to_double(a[(row0 + r) * lines.strides.line + (k0 + d) * lines.strides.depth])
                 : 0.0;
      const int block = e / kDepth;
      const int depth = e % kDepth;
      tile_y[depth][block] =
          block0 + block < blocks && k0 + depth < k ? y[(block0 + block) * k + k0 + depth] : 0.0;
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
      const std::int64_t row = row0 + tx + 16 * i;
      const std::int64_t block = block0 + ty + 16 * j;
      if (row >= m || block >= blocks) continue;
      out[(product * blocks + block) * m + row] = scale_of(scale, row) * sum[i][j];
    }
  }
}

// One block: the largest |found - expected| and its place. NaN counts as infinite.
__global__ void __launch_bounds__(1024)
    largest_residual(const double* found, const double* expected, std::int64_t count,
                     std::int64_t m, std::int64_t blocks, GemmCheckResult* result) {
  __shared__ double values[1024];
  __shared__ std::int64_t places[1024];
  double largest = -1;
  std::int64_t place = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) {
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
  for (int t = 1; t < 1024; ++t) {
    if (values[t] > largest) {
      largest = values[t];
      place = places[t];
    }
  }
  *result = {largest, place % m, place / m % blocks, place / m / blocks};
}

unsigned blocks_for(std::int64_t count, int each) {
  return static_cast<unsigned>((count + each - 1) / each);
}

cudaError_t column_sums(ElementType type, const void* matrix, const Lines& lines,
                        std::int64_t batch, const GemmScale& scale, const void* offset,
                        std::uint64_t seed, double* out, cudaStream_t stream) {
  const dim3 grid(blocks_for(lines.length, kThreads),
                  static_cast<unsigned>(gemm_check_blocks(lines.columns)),
                  static_cast<unsigned>(batch));
  return with_element(type, [&](auto zero) {
    using T = decltype(zero);
    signed_column_sums<<<grid, kThreads, 0, stream>>>(static_cast<const T*>(matrix), lines, scale,
                                                      static_cast<const T*>(offset), seed, out);
    return cudaGetLastError();
  });
}

cudaError_t products(const GemmProblem& p, const double* y, double* out, cudaStream_t stream) {
  const std::int64_t blocks = gemm_check_blocks(p.n);
  const dim3 grid(blocks_for(p.m, kTile), blocks_for(blocks, kTile),
                  static_cast<unsigned>(p.batch));
  return with_element(p.a_type, [&](auto zero) {
    rows_times_vectors<<<grid, kThreads, 0, stream>>>(static_cast<const decltype(zero)*>(p.a),
                                                      Lines{p.k, p.m, p.a_strides}, p.a_scale, y,
                                                      blocks, out);
    return cudaGetLastError();
  });
}

}  // namespace

cudaError_t check_gemm(const GemmProblem& p, std::uint64_t seed, void* workspace,
                       GemmCheckResult* result, cudaStream_t stream) {
  const std::int64_t blocks = gemm_check_blocks(p.n);
  if (p.m <= 0 || p.n <= 0 || p.k <= 0 || p.batch <= 0 || blocks > kMostBlocks ||
      p.batch > kMostBlocks || p.m >= std::int64_t{1} << 37) {
    return cudaErrorInvalidValue;
  }
  auto* const y = static_cast<double*>(workspace);
  double* const found = y + p.batch * blocks * p.k;
  double* const expected = found + p.batch * blocks * p.m;
  const Lines b{p.k, p.n, p.b_strides};
  const Lines d{p.m, p.n, {.line = p.m, .depth = 1, .batch = p.m * p.n}};
  cudaError_t error = column_sums(p.b_type, p.b, b, p.batch, p.b_scale, nullptr, seed, y, stream);
  if (error == cudaSuccess) {
    error = column_sums(p.d_type, p.d, d, p.batch, GemmScale{}, p.bias, seed, found, stream);
  }
  if (error == cudaSuccess) error = products(p, y, expected, stream);
  if (error != cudaSuccess) return error;
  largest_residual<<<1, 1024, 0, stream>>>(found, expected, p.batch * blocks * p.m, p.m, blocks,
                                           result);
  return cudaGetLastError();
}

}  // namespace assay
