// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A 64-bit hash of device memory, to tell whether two outputs are the same bit for bit. The sum
// over all words of a mix of word and place: the order of the additions does not matter, so that
// the hash is the same on every card, and a single changed bit changes it. No cryptography.
//
//   hash_bytes(buffer, bytes, hash_on_device, stream);   // reads at memory speed
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace assay {

// `data` is aligned to 16 bytes; a tail that is no whole word counts as if filled up with zeros.
[[nodiscard]] cudaError_t hash_bytes(const void* data, std::int64_t bytes, std::uint64_t* hash,
                                     cudaStream_t stream);

// The same on the host. `first_word` is the place of data[0] in the whole, in words of 8 bytes: the
// hashes of pieces add up to that of the whole.
[[nodiscard]] std::uint64_t hash_bytes_on_host(const void* data, std::int64_t bytes,
                                               std::int64_t first_word = 0);

}  // namespace assay
