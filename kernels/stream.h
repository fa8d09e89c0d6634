// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Streaming kernels over device memory and their exact checks. The shapes are the fastest found on
// an H200: copy, write and triad with one 16-byte access a thread and tensor (more loads a thread
// copy at 4070-4150 instead of 4280 GB/s), read with four loads a thread in blocks of 512 (4604
// GB/s; one load in blocks of 256 gives 4400, since each block ends in a reduction).
//
//   read   sums the words of each kReadBlockBytes and stores that one sum (4 bytes written)
//   write  stores the pattern
//   copy   b = a
//   triad  a = b + s * c in FP32, one fused multiply-add, so that the result is one exact value
//
// All sizes in bytes, multiples of kReadBlockBytes. Asynchronous on `stream`; the launch's error is
// returned. The checks make the expected value again from the seed; nothing is compared with
// something that was itself read from the memory under test.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace assay {

inline constexpr std::int64_t kReadBlockBytes = 32768;
inline constexpr float kTriadScalar = 0.4F;

// What a check found. Lives in device memory; `reset` it before a check.
struct MismatchReport {
  unsigned long long count;
  unsigned long long first;  // index of the first wrong word (read: of the first wrong block)
};
[[nodiscard]] cudaError_t reset_mismatches(MismatchReport* report, cudaStream_t stream);

// `block_sums`: one 32-bit sum for each kReadBlockBytes.
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
