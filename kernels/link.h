// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Kernels over a link to other memory: page-locked host memory, or that of a peer. Each takes any
// byte count; all pointers are aligned to 16 bytes. Asynchronous on `stream`; the launch's error is
// returned.
//
//   link_copy(host, device, bytes, 2 * sm_count, stream);
//   check_link_copy(device, bytes, capacity, seed, report, stream);
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/mismatch.h"

namespace assay {

inline constexpr int kLinkCopyThreads = 512;
inline constexpr std::int64_t kLinkSumBytes = 2048;  // summed by one warp of link_read
inline constexpr std::uint32_t kLinkPoison = 0xFFFFFFFFU;

// By the processors, 16 bytes an access and four accesses of a thread in flight, in `blocks` of
// kLinkCopyThreads: so few that two of these kernels run side by side.
[[nodiscard]] cudaError_t link_copy(const void* source, void* destination, std::int64_t bytes,
                                    int blocks, cudaStream_t stream);

// Stores the sum of the words of each kLinkSumBytes; what a last word lacks counts as 0.
[[nodiscard]] cudaError_t link_read(const void* source, std::uint32_t* sums, std::int64_t bytes,
                                    cudaStream_t stream);
[[nodiscard]] constexpr std::int64_t link_sums(std::int64_t bytes) {
  return (bytes + kLinkSumBytes - 1) / kLinkSumBytes;
}

// The first `bytes` must be that of pattern.h, and the others up to `capacity`, a
// multiple of 16, still kLinkPoison: a copy that is short or long by one byte is seen. In words.
[[nodiscard]] cudaError_t check_link_copy(const void* data, std::int64_t bytes,
                                          std::int64_t capacity, std::uint64_t seed,
                                          MismatchReport* report, cudaStream_t stream);
[[nodiscard]] cudaError_t check_link_sums(const std::uint32_t* sums, std::int64_t bytes,
                                          std::uint64_t seed, MismatchReport* report,
                                          cudaStream_t stream);

}  // namespace assay
