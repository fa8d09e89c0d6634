// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The sum over a block of kThreads, in thread 0.
#pragma once

#include <cstdint>
#include <type_traits>

namespace assay {

// In lane 0.
template <class Sum>
__device__ Sum warp_sum(Sum value) {
  constexpr unsigned kAll = 0xFFFFFFFFU;
  if constexpr (std::is_same_v<Sum, std::uint32_t>) {
    return __reduce_add_sync(kAll, value);
  } else {
    for (int distance = 16; distance > 0; distance /= 2) {
      value += __shfl_down_sync(kAll, value, distance);
    }
    return value;
  }
}

template <int kThreads, class Sum>
__device__ Sum block_sum(Sum value) {
  static_assert(kThreads % 32 == 0 && kThreads <= 1024);
  __shared__ Sum warp_sums[kThreads / 32];
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 32) return 0;
  return warp_sum(threadIdx.x < kThreads / 32 ? warp_sums[threadIdx.x] : Sum{0});
}

}  // namespace assay
