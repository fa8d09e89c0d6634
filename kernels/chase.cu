// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/chase.h"

namespace assay {
namespace {

constexpr int kThreads = 256;
constexpr int kUnrolled = 16;

// Not by a pointer of C++: the compiler cannot know that what it holds is global memory, and a
// generic load takes longer.
__device__ std::uint64_t followed(std::uint64_t node) {
  std::uint64_t next;
  asm volatile("ld.global.u64 %0, [%1];" : "=l"(next) : "l"(node) : "memory");
  return next;
}

__global__ void __launch_bounds__(kThreads)
    build_kernel(std::uint64_t base, RandomOrder order, std::int64_t nodes) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= nodes) return;
  const std::int64_t next = order(i + 1 < nodes ? i + 1 : 0);
  *reinterpret_cast<std::uint64_t*>(base + order(i) * kChaseSpacing) = base + next * kChaseSpacing;
}

__global__ void chase_kernel(std::uint64_t node, std::int64_t loads, std::uint64_t* end) {
  for (std::int64_t i = 0; i < loads; i += kUnrolled) {
#pragma unroll
    for (int k = 0; k < kUnrolled; ++k) node = followed(node);
  }
  *end = node;
}

}  // namespace

cudaError_t chase_build(void* buffer, const RandomOrder& order, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((order.count() - 1) / kThreads + 1);
  build_kernel<<<blocks, kThreads, 0, stream>>>(chase_node(buffer, 0), order, order.count());
  return cudaGetLastError();
}

cudaError_t chase_run(const void* buffer, std::int64_t start, std::int64_t loads,
                      std::uint64_t* end, cudaStream_t stream) {
  if (loads < 1 || loads % kUnrolled != 0) return cudaErrorInvalidValue;
  chase_kernel<<<1, 1, 0, stream>>>(chase_node(buffer, start), loads, end);
  return cudaGetLastError();
}

}  // namespace assay
