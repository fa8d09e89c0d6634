// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/link.h"
#include "kernels/mismatch.cuh"
#include "kernels/pattern.h"

namespace assay {
namespace {

constexpr int kThreads = 256;  // of the read and the checks
constexpr int kLoads = 4;
constexpr std::int64_t kVectorBytes = sizeof(uint4);
static_assert(32 * kLoads * kVectorBytes == kLinkSumBytes);

__device__ std::int64_t global_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__global__ void __launch_bounds__(kLinkCopyThreads)
    copy_kernel(const unsigned char* __restrict__ source, unsigned char* __restrict__ destination,
                std::int64_t bytes) {
  const std::int64_t vectors = bytes / kVectorBytes;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const auto* const in = reinterpret_cast<const uint4*>(source);
  auto* const out = reinterpret_cast<uint4*>(destination);
  std::int64_t i = global_thread();
  for (; i + (kLoads - 1) * stride < vectors; i += kLoads * stride) {
    uint4 loaded[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) loaded[k] = in[i + k * stride];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) out[i + k * stride] = loaded[k];
  }
  for (; i < vectors; i += stride) out[i] = in[i];
  const std::int64_t tail = vectors * kVectorBytes + global_thread();
  if (tail < bytes) destination[tail] = source[tail];
}

// What of a word lies within `bytes`.
__device__ std::uint32_t word_mask(std::int64_t word, std::int64_t bytes) {
  const std::int64_t inside = bytes - 4 * word;
  if (inside >= 4) return 0xFFFFFFFFU;
  return inside <= 0 ? 0U : (1U << (8 * inside)) - 1U;
}

// The sum of the words of one vector, of which only those within `bytes` are touched.
__device__ std::uint32_t vector_sum(const unsigned char* source, std::int64_t vector,
                                    std::int64_t bytes) {
  const std::int64_t begin = vector * kVectorBytes;
  if (begin + kVectorBytes <= bytes) {
    const uint4 v = reinterpret_cast<const uint4*>(source)[vector];
    return v.x + v.y + v.z + v.w;
  }
  std::uint32_t sum = 0;
  for (std::int64_t at = begin; at < bytes; ++at) {
    sum += static_cast<std::uint32_t>(source[at]) << (8 * (at % 4));
  }
  return sum;
}

__device__ std::int64_t first_vector_of_warp() {
  return global_thread() / 32 * (32 * kLoads) + threadIdx.x % 32;
}

__device__ void store_warp_sum(std::uint32_t sum, std::uint32_t* sums, std::int64_t bytes) {
  sum = __reduce_add_sync(0xFFFFFFFFU, sum);
  const std::int64_t warp = global_thread() / 32;
  if (threadIdx.x % 32 == 0 && warp * kLinkSumBytes < bytes) sums[warp] = sum;
}

__global__ void __launch_bounds__(kThreads)
    read_kernel(const unsigned char* __restrict__ source, std::uint32_t* __restrict__ sums,
                std::int64_t bytes) {
  const std::int64_t first = first_vector_of_warp();
  std::uint32_t partial[kLoads];
#pragma unroll
  for (int k = 0; k < kLoads; ++k) partial[k] = vector_sum(source, first + 32 * k, bytes);
  store_warp_sum(partial[0] + partial[1] + partial[2] + partial[3], sums, bytes);
}

__global__ void __launch_bounds__(kThreads)
    check_copy_kernel(const std::uint32_t* data, std::int64_t bytes, std::int64_t words,
                      std::uint32_t seed, MismatchReport* report) {
  const std::int64_t i = global_thread();
  if (i >= words) return;
  const std::uint32_t inside = word_mask(i, bytes);
  const std::uint32_t expected = (pattern_word(seed, i) & inside) | (kLinkPoison & ~inside);
  report_if(data[i] != expected, i, report);
}

__global__ void __launch_bounds__(kThreads)
    check_sums_kernel(const std::uint32_t* sums, std::int64_t bytes, std::uint32_t seed,
                      MismatchReport* report) {
  constexpr std::int64_t kWords = kLinkSumBytes / 4;
  const std::int64_t i = global_thread();
  if (i * kLinkSumBytes >= bytes) return;
  std::uint32_t sum = 0;
  for (std::int64_t word = i * kWords; word < (i + 1) * kWords; ++word) {
    sum += pattern_word(seed, word) & word_mask(word, bytes);
  }
  report_if(sums[i] != sum, i, report);
}

unsigned blocks_of(std::int64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

}  // namespace

cudaError_t link_copy(const void* source, void* destination, std::int64_t bytes, int blocks,
                      cudaStream_t stream) {
  const std::int64_t needed = bytes / (kVectorBytes * kLinkCopyThreads) + 1;
  copy_kernel<<<static_cast<unsigned>(std::min<std::int64_t>(needed, blocks)), kLinkCopyThreads, 0,
                stream>>>(static_cast<const unsigned char*>(source),
                          static_cast<unsigned char*>(destination), bytes);
  return cudaGetLastError();
}

cudaError_t link_read(const void* source, std::uint32_t* sums, std::int64_t bytes,
                      cudaStream_t stream) {
  read_kernel<<<blocks_of(32 * link_sums(bytes)), kThreads, 0, stream>>>(
      static_cast<const unsigned char*>(source), sums, bytes);
  return cudaGetLastError();
}

cudaError_t check_link_copy(const void* data, std::int64_t bytes, std::int64_t capacity,
                            std::uint64_t seed, MismatchReport* report, cudaStream_t stream) {
  const std::int64_t words = capacity / 4;
  if (const cudaError_t error = reset_mismatches(report, stream); error != cudaSuccess)
    return error;
  check_copy_kernel<<<blocks_of(words), kThreads, 0, stream>>>(
      static_cast<const std::uint32_t*>(data), bytes, words, pattern_seed(seed), report);
  return cudaGetLastError();
}

cudaError_t check_link_sums(const std::uint32_t* sums, std::int64_t bytes, std::uint64_t seed,
                            MismatchReport* report, cudaStream_t stream) {
  if (const cudaError_t error = reset_mismatches(report, stream); error != cudaSuccess)
    return error;
  check_sums_kernel<<<blocks_of(link_sums(bytes)), kThreads, 0, stream>>>(
      sums, bytes, pattern_seed(seed), report);
  return cudaGetLastError();
}

}  // namespace assay
