// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/block_sum.cuh"
#include "kernels/mismatch.cuh"
#include "kernels/pattern.h"
#include "kernels/reread.h"

namespace assay {
namespace {

// The vectors of one thread, one access after the other.
class Walk {
 public:
  __device__ explicit Walk(std::int64_t vectors)
      : vectors_(vectors), stride_(std::int64_t{gridDim.x} * blockDim.x % vectors) {
    at_ = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) % vectors;
  }
  __device__ std::int64_t next() {
    const std::int64_t now = at_;
    at_ += stride_;
    if (at_ >= vectors_) at_ -= vectors_;
    return now;
  }

 private:
  std::int64_t vectors_;
  std::int64_t stride_;
  std::int64_t at_;
};

__global__ void __launch_bounds__(kRereadThreads)
    reread_kernel(const uint4* __restrict__ buffer, std::int64_t vectors, std::int64_t steps,
                  std::uint32_t* __restrict__ sums) {
  Walk walk(vectors);
  std::uint32_t sum = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    uint4 loaded[kRereadLoads];
#pragma unroll
    for (int k = 0; k < kRereadLoads; ++k) loaded[k] = __ldcg(buffer + walk.next());
#pragma unroll
    for (int k = 0; k < kRereadLoads; ++k) {
      sum += loaded[k].x + loaded[k].y + loaded[k].z + loaded[k].w;
    }
  }
  sum = block_sum<kRereadThreads>(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(kRereadThreads)
    check_kernel(const std::uint32_t* sums, std::int64_t vectors, std::int64_t accesses,
                 std::uint32_t folded, MismatchReport* report) {
  Walk walk(vectors);
  std::uint32_t sum = 0;
  for (std::int64_t i = 0; i < accesses; ++i) {
    const std::int64_t word = 4 * walk.next();
    for (int k = 0; k < 4; ++k) sum += pattern_word(folded, word + k);
  }
  sum = block_sum<kRereadThreads>(sum);
  if (threadIdx.x == 0) report_if(sums[blockIdx.x] != sum, blockIdx.x, report);
}

}  // namespace

cudaError_t reread(const RereadShape& shape, const void* buffer, std::uint32_t* sums,
                   cudaStream_t stream) {
  reread_kernel<<<static_cast<unsigned>(shape.blocks), kRereadThreads, 0, stream>>>(
      static_cast<const uint4*>(buffer), shape.vectors, shape.steps, sums);
  return cudaGetLastError();
}

cudaError_t reread_check(const RereadShape& shape, const std::uint32_t* sums, std::uint64_t seed,
                         MismatchReport* report, cudaStream_t stream) {
  if (const cudaError_t error = reset_mismatches(report, stream); error != cudaSuccess) {
    return error;
  }
  check_kernel<<<static_cast<unsigned>(shape.blocks), kRereadThreads, 0, stream>>>(
      sums, shape.vectors, shape.steps * kRereadLoads, pattern_seed(seed), report);
  return cudaGetLastError();
}

}  // namespace assay
