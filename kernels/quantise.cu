// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <math_constants.h>

#include <algorithm>
#include <cfloat>

#include "kernels/quantise.h"

namespace assay {
namespace {

constexpr int kThreads = 256;
constexpr int kTile = 64;   // rows and columns of a block's tile
constexpr int kVector = 8;  // elements that a thread reads at once: 16 bytes
constexpr int kChunk = 16;  // elements that it writes at once, transposed: 16 bytes
constexpr int kPad = 4;     // bytes, against bank conflicts
constexpr int kMostMatrices = 4;

static_assert(kTile * kTile / kChunk == kThreads);

template <__nv_fp8_interpretation_t kKind>
__device__ std::uint8_t to_fp8(float value, float scale) {
  return __nv_cvt_float_to_fp8(value * scale, __NV_SATFINITE, kKind);
}

// Largest of the block, valid in thread 0. Values are not negative.
__device__ float block_max(float value) {
  __shared__ float of_warp[32];
  for (int step = 16; step > 0; step /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFFU, value, step));
  }
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) of_warp[warp] = value;
  __syncthreads();
  if (warp != 0) return value;
  value = threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0.0F;
  for (int step = 16; step > 0; step /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFFU, value, step));
  }
  return value;
}

// Floats that are not negative are ordered as their bits are.
__device__ void raise_to(float* largest, float value) {
  atomicMax(reinterpret_cast<int*>(largest), __float_as_int(value));
}

struct Shape {
  std::int64_t rows;
  std::int64_t columns;
};

template <__nv_fp8_interpretation_t kKind>
__global__ void __launch_bounds__(kThreads)
    quantise_tiles(const __nv_bfloat16* in, std::uint8_t* out, std::uint8_t* transposed,
                   Shape shape, Fp8Scaling* scaling) {
  __shared__ std::uint8_t tile[kTile][kTile + kPad];
  const std::int64_t across = (shape.columns + kTile - 1) / kTile;
  const std::int64_t row0 = blockIdx.x / across * kTile;
  const std::int64_t column0 = blockIdx.x % across * kTile;
  const float scale = scaling->scale;
  float largest = 0;
  for (int v = static_cast<int>(threadIdx.x); v < kTile * kTile / kVector; v += kThreads) {
    const int r = v / (kTile / kVector);
    const int c = v % (kTile / kVector) * kVector;
    if (row0 + r >= shape.rows || column0 + c >= shape.columns) continue;
    const std::int64_t at = (row0 + r) * shape.columns + column0 + c;
    const uint4 loaded = *reinterpret_cast<const uint4*>(in + at);
    const auto* const values = reinterpret_cast<const __nv_bfloat16*>(&loaded);
    alignas(8) std::uint8_t codes[kVector];
    for (int i = 0; i < kVector; ++i) {
      const auto value = static_cast<float>(values[i]);
      largest = fmaxf(largest, fabsf(value));
      codes[i] = to_fp8<kKind>(value, scale);
      tile[r][c + i] = codes[i];
    }
    *reinterpret_cast<uint2*>(out + at) = *reinterpret_cast<const uint2*>(codes);
  }
  __syncthreads();
  const int c = static_cast<int>(threadIdx.x) / (kTile / kChunk);
  const int r = static_cast<int>(threadIdx.x) % (kTile / kChunk) * kChunk;
  if (row0 + r < shape.rows && column0 + c < shape.columns) {
    alignas(16) std::uint8_t codes[kChunk];
    for (int i = 0; i < kChunk; ++i) codes[i] = tile[r + i][c];
    *reinterpret_cast<uint4*>(transposed + (column0 + c) * shape.rows + row0 + r) =
        *reinterpret_cast<const uint4*>(codes);
  }
  largest = block_max(largest);
  if (threadIdx.x == 0) raise_to(&scaling->history[0], largest);
}

struct Maxima {
  float of[kMostMatrices];
};

// A block a matrix, a thread an entry of its history.
__global__ void __launch_bounds__(kAmaxHistory) next_scales(Fp8Scaling* scaling, Maxima maxima) {
  Fp8Scaling& mine = scaling[blockIdx.x];
  const auto t = threadIdx.x;
  const float entry = mine.history[t];
  const float amax = block_max(entry);
  __syncthreads();  // every entry is read before one is moved
  if (t == 0) {
    mine.history[kAmaxHistory - 1] = entry;
    mine.history[0] = 0;
    if (amax > 0 && amax < CUDART_INF_F) {
      mine.scale = fminf(maxima.of[blockIdx.x] / amax, FLT_MAX);
      mine.inverse_scale = 1.0F / mine.scale;
    }
  } else if (t > 1) {
    mine.history[t - 1] = entry;
  }
}

__global__ void __launch_bounds__(kThreads)
    find_amax(const __nv_bfloat16* in, std::int64_t count, QuantiseCheckResult* result) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
  float largest = 0;
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (; i < count; i += stride) largest = fmaxf(largest, fabsf(static_cast<float>(in[i])));
  raise_to(&result->amax, largest);
}

template <__nv_fp8_interpretation_t kKind>
__global__ void __launch_bounds__(kThreads)
    count_wrong(const __nv_bfloat16* in, const std::uint8_t* out, const std::uint8_t* transposed,
                Shape shape, float largest_code, QuantiseCheckResult* result) {
  const std::int64_t count = shape.rows * shape.columns;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
  const float scale = largest_code / result->amax;
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (; i < count; i += stride) {
    const std::uint8_t expected = to_fp8<kKind>(static_cast<float>(in[i]), scale);
    const std::int64_t mirrored = i % shape.columns * shape.rows + i / shape.columns;
    if (out[i] == expected && transposed[mirrored] == expected) continue;
    atomicAdd(reinterpret_cast<unsigned long long*>(&result->wrong), 1ULL);
    atomicMin(reinterpret_cast<unsigned long long*>(&result->first_wrong),
              static_cast<unsigned long long>(i));
  }
}

bool refused(const QuantiseProblem& p) {
  return p.rows <= 0 || p.columns <= 0 || p.rows % kChunk != 0 || p.columns % kChunk != 0 ||
         (p.type != ElementType::kFp8E4M3 && p.type != ElementType::kFp8E5M2);
}

unsigned grid_for(std::int64_t count) {
  constexpr std::int64_t kMostBlocks = 1 << 14;
  return static_cast<unsigned>(std::min((count + kThreads - 1) / kThreads, kMostBlocks));
}

}  // namespace

cudaError_t quantise_transpose(const QuantiseProblem& p, cudaStream_t stream) {
  if (refused(p)) return cudaErrorInvalidValue;
  const std::int64_t tiles = ((p.rows + kTile - 1) / kTile) * ((p.columns + kTile - 1) / kTile);
  if (tiles > INT32_MAX) return cudaErrorInvalidValue;
  auto* const kernel =
      p.type == ElementType::kFp8E4M3 ? quantise_tiles<__NV_E4M3> : quantise_tiles<__NV_E5M2>;
  kernel<<<static_cast<unsigned>(tiles), kThreads, 0, stream>>>(
      static_cast<const __nv_bfloat16*>(p.in), static_cast<std::uint8_t*>(p.out),
      static_cast<std::uint8_t*>(p.transposed), Shape{p.rows, p.columns}, p.scaling);
  return cudaGetLastError();
}

cudaError_t update_scaling(Fp8Scaling* scaling, const ElementType* types, int count,
                           cudaStream_t stream) {
  if (count < 1 || count > kMostMatrices) return cudaErrorInvalidValue;
  Maxima maxima{};
  for (int i = 0; i < count; ++i) maxima.of[i] = fp8_max(types[i]);
  next_scales<<<static_cast<unsigned>(count), kAmaxHistory, 0, stream>>>(scaling, maxima);
  return cudaGetLastError();
}

cudaError_t check_quantised(const QuantiseProblem& p, QuantiseCheckResult* result,
                            cudaStream_t stream) {
  if (refused(p)) return cudaErrorInvalidValue;
  const std::int64_t count = p.rows * p.columns;
  cudaError_t error = cudaMemsetAsync(result, 0, sizeof(*result), stream);
  if (error == cudaSuccess) {
    error = cudaMemsetAsync(&result->first_wrong, 0xFF, sizeof(result->first_wrong), stream);
  }
  if (error != cudaSuccess) return error;
  const auto* const in = static_cast<const __nv_bfloat16*>(p.in);
  find_amax<<<grid_for(count), kThreads, 0, stream>>>(in, count, result);
  auto* const kernel =
      p.type == ElementType::kFp8E4M3 ? count_wrong<__NV_E4M3> : count_wrong<__NV_E5M2>;
  kernel<<<grid_for(count), kThreads, 0, stream>>>(
      in, static_cast<const std::uint8_t*>(p.out), static_cast<const std::uint8_t*>(p.transposed),
      Shape{p.rows, p.columns}, fp8_max(p.type), result);
  return cudaGetLastError();
}

}  // namespace assay
