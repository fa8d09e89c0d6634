// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/counter_random.h"
#include "kernels/pattern.h"
#include "kernels/stream.h"

namespace assay {
namespace {

constexpr int kThreads = 256;  // of write, copy, triad and the checks
constexpr std::int64_t kBlockBytes = kThreads * sizeof(uint4);
constexpr int kReadThreads = 512;
constexpr int kReadLoads = 4;
static_assert(kReadThreads * kReadLoads * sizeof(uint4) == kReadBlockBytes);
static_assert(kReadBlockBytes % kBlockBytes == 0);

__device__ std::int64_t global_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
}

__device__ uint4 pattern_vector(std::uint32_t seed, std::int64_t vector) {
  const std::int64_t word = vector * 4;
  return make_uint4(pattern_word(seed, word), pattern_word(seed, word + 1),
                    pattern_word(seed, word + 2), pattern_word(seed, word + 3));
}

__device__ std::uint32_t word_sum(uint4 v) { return v.x + v.y + v.z + v.w; }

// The sum over a block of kReadThreads, in thread 0.
__device__ std::uint32_t block_sum(std::uint32_t value) {
  constexpr unsigned kAll = 0xFFFFFFFFU;
  __shared__ std::uint32_t warp_sums[kReadThreads / 32];
  const std::uint32_t warp_sum = __reduce_add_sync(kAll, value);
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = warp_sum;
  __syncthreads();
  if (threadIdx.x >= 32) return 0;
  return __reduce_add_sync(kAll, threadIdx.x < kReadThreads / 32 ? warp_sums[threadIdx.x] : 0U);
}

// Index of this thread's first vector in a block of kReadThreads x kReadLoads.
__device__ std::int64_t first_vector() {
  return static_cast<std::int64_t>(blockIdx.x) * kReadThreads * kReadLoads + threadIdx.x;
}

__global__ void __launch_bounds__(kReadThreads)
    read_kernel(const uint4* __restrict__ source, std::uint32_t* __restrict__ block_sums) {
  const std::int64_t first = first_vector();
  uint4 loaded[kReadLoads];
#pragma unroll
  for (int i = 0; i < kReadLoads; ++i) loaded[i] = source[first + i * kReadThreads];
  std::uint32_t sum = 0;
#pragma unroll
  for (int i = 0; i < kReadLoads; ++i) sum += word_sum(loaded[i]);
  sum = block_sum(sum);
  if (threadIdx.x == 0) block_sums[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(kThreads)
    write_kernel(uint4* __restrict__ destination, std::uint32_t seed) {
  const std::int64_t i = global_thread();
  destination[i] = pattern_vector(seed, i);
}

__global__ void __launch_bounds__(kThreads)
    copy_kernel(const uint4* __restrict__ source, uint4* __restrict__ destination) {
  const std::int64_t i = global_thread();
  destination[i] = source[i];
}

__device__ float triad(float b, float c) { return fmaf(kTriadScalar, c, b); }

__global__ void __launch_bounds__(kThreads)
    triad_kernel(const float4* __restrict__ b, const float4* __restrict__ c,
                 float4* __restrict__ a) {
  const std::int64_t i = global_thread();
  const float4 x = b[i];
  const float4 y = c[i];
  a[i] = make_float4(triad(x.x, y.x), triad(x.y, y.y), triad(x.z, y.z), triad(x.w, y.w));
}

__device__ void report_if(bool wrong, std::int64_t index, MismatchReport* report) {
  if (!wrong) return;
  atomicAdd(&report->count, 1ULL);
  atomicMin(&report->first, static_cast<unsigned long long>(index));
}

__global__ void reset_kernel(MismatchReport* report) { *report = {0, ~0ULL}; }

__global__ void __launch_bounds__(kReadThreads)
    check_sums_kernel(const std::uint32_t* block_sums, std::uint32_t seed, MismatchReport* report) {
  std::uint32_t sum = 0;
  for (int i = 0; i < kReadLoads; ++i) {
    sum += word_sum(pattern_vector(seed, first_vector() + i * kReadThreads));
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) report_if(block_sums[blockIdx.x] != sum, blockIdx.x, report);
}

__global__ void __launch_bounds__(kThreads)
    check_pattern_kernel(const uint4* data, std::uint32_t seed, MismatchReport* report) {
  const std::int64_t i = global_thread();
  const uint4 expected = pattern_vector(seed, i);
  const uint4 found = data[i];
  report_if(found.x != expected.x, 4 * i, report);
  report_if(found.y != expected.y, 4 * i + 1, report);
  report_if(found.z != expected.z, 4 * i + 2, report);
  report_if(found.w != expected.w, 4 * i + 3, report);
}

__global__ void __launch_bounds__(kThreads)
    check_triad_kernel(const float* a, std::uint64_t seed_b, std::uint64_t seed_c,
                       MismatchReport* report) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kThreads * 4;
  for (int k = 0; k < 4; ++k) {
    const std::int64_t i = first + k * kThreads + threadIdx.x;
    const auto index = static_cast<std::uint64_t>(i);
    const float expected = triad(random_uniform(seed_b, index), random_uniform(seed_c, index));
    report_if(__float_as_uint(a[i]) != __float_as_uint(expected), i, report);
  }
}

unsigned blocks_of(std::int64_t bytes) { return static_cast<unsigned>(bytes / kBlockBytes); }

unsigned read_blocks_of(std::int64_t bytes) {
  return static_cast<unsigned>(bytes / kReadBlockBytes);
}

}  // namespace

cudaError_t reset_mismatches(MismatchReport* report, cudaStream_t stream) {
  reset_kernel<<<1, 1, 0, stream>>>(report);
  return cudaGetLastError();
}

cudaError_t stream_read(const void* source, std::uint32_t* block_sums, std::int64_t bytes,
                        cudaStream_t stream) {
  read_kernel<<<read_blocks_of(bytes), kReadThreads, 0, stream>>>(static_cast<const uint4*>(source),
                                                                  block_sums);
  return cudaGetLastError();
}

cudaError_t stream_write(void* destination, std::int64_t bytes, std::uint64_t seed,
                         cudaStream_t stream) {
  write_kernel<<<blocks_of(bytes), kThreads, 0, stream>>>(static_cast<uint4*>(destination),
                                                          pattern_seed(seed));
  return cudaGetLastError();
}

cudaError_t stream_copy(const void* source, void* destination, std::int64_t bytes,
                        cudaStream_t stream) {
  copy_kernel<<<blocks_of(bytes), kThreads, 0, stream>>>(static_cast<const uint4*>(source),
                                                         static_cast<uint4*>(destination));
  return cudaGetLastError();
}

cudaError_t stream_triad(const float* b, const float* c, float* a, std::int64_t bytes,
                         cudaStream_t stream) {
  triad_kernel<<<blocks_of(bytes), kThreads, 0, stream>>>(reinterpret_cast<const float4*>(b),
                                                          reinterpret_cast<const float4*>(c),
                                                          reinterpret_cast<float4*>(a));
  return cudaGetLastError();
}

cudaError_t check_block_sums(const std::uint32_t* block_sums, std::int64_t bytes,
                             std::uint64_t seed, MismatchReport* report, cudaStream_t stream) {
  check_sums_kernel<<<read_blocks_of(bytes), kReadThreads, 0, stream>>>(block_sums,
                                                                        pattern_seed(seed), report);
  return cudaGetLastError();
}

cudaError_t check_pattern(const void* data, std::int64_t bytes, std::uint64_t seed,
                          MismatchReport* report, cudaStream_t stream) {
  check_pattern_kernel<<<blocks_of(bytes), kThreads, 0, stream>>>(static_cast<const uint4*>(data),
                                                                  pattern_seed(seed), report);
  return cudaGetLastError();
}

cudaError_t check_triad(const float* a, std::int64_t bytes, std::uint64_t seed_b,
                        std::uint64_t seed_c, MismatchReport* report, cudaStream_t stream) {
  check_triad_kernel<<<blocks_of(bytes), kThreads, 0, stream>>>(a, seed_b, seed_c, report);
  return cudaGetLastError();
}

}  // namespace assay
