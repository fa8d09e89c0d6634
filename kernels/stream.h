// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Streaming kernels over device memory, one 16-byte access a thread and tensor (on an H200 more
// loads a thread are slower: 4070-4150 against 4270-4293 GB/s for copy), and their exact checks.
//
//   Source pattern: word i of a buffer is pattern_word(seed, i).
//   read   sums the 4 words of each thread over a block of 256 threads and stores one sum a block
//          (4 bytes written for 4096 read)
//   write  stores the pattern
//   copy   b = a
//   triad  a = b + s * c in FP32, one fused multiply-add, so that the result is one exact value
//
// All sizes in bytes, multiples of kBlockBytes. Asynchronous on `stream`; the launch's error is
// returned. The checks make the expected value again from the seed; nothing is compared with
// something that was itself read from the memory under test.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace assay {

inline constexpr std::int64_t kStreamBlockBytes = 4096;
inline constexpr float kTriadScalar = 0.4F;

// What a check found. Lives in device memory; `reset` it before a check.
struct MismatchReport {
  unsigned long long count;
  unsigned long long first;  // index of the first wrong word (read: of the first wrong block)
};
[[nodiscard]] cudaError_t reset_mismatches(MismatchReport* report, cudaStream_t stream);

[[nodiscard]] cudaError_t stream_read(const void* source, std::uint32_t* block_sums,
                                      std::int64_t bytes, cudaStream_t stream);
[[nodiscard]] cudaError_t stream_write(void* destination, std::int64_t bytes, std::uint64_t seed,
                                       cudaStream_t stream);
[[nodiscard]] cudaError_t stream_copy(const void* source, void* destination, std::int64_t bytes,
                                      cudaStream_t stream);
[[nodiscard]] cudaError_t stream_triad(const float* b, const float* c, float* a, std::int64_t bytes,
                                       cudaStream_t stream);

// `seed` made the source by stream_write; b and c of the triad come from fill_uniform.
[[nodiscard]] cudaError_t check_block_sums(const std::uint32_t* block_sums, std::int64_t bytes,
                                           std::uint64_t seed, MismatchReport* report,
                                           cudaStream_t stream);
[[nodiscard]] cudaError_t check_pattern(const void* data, std::int64_t bytes, std::uint64_t seed,
                                        MismatchReport* report, cudaStream_t stream);
[[nodiscard]] cudaError_t check_triad(const float* a, std::int64_t bytes, std::uint64_t seed_b,
                                      std::uint64_t seed_c, MismatchReport* report,
                                      cudaStream_t stream);

}  // namespace assay
