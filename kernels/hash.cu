// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "kernels/counter_random.h"
#include "kernels/hash.h"

namespace assay {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMaxBlocks = 1 << 14;
constexpr std::int64_t kWordBytes = 8;

// A bijection of the word for each place: two outputs that differ in one word never collide.
ASSAY_HOST_DEVICE std::uint64_t mixed(std::uint64_t word, std::int64_t place) {
  return random_bits(word ^ static_cast<std::uint64_t>(place) * 0xD6E8FEB86659FD93ULL, 0);
}

__device__ std::uint64_t warp_sum(std::uint64_t value) {
  constexpr unsigned kAll = 0xFFFFFFFFU;
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_down_sync(kAll, value, distance);
  }
  return value;
}

__global__ void __launch_bounds__(kThreads)
    hash_kernel(const unsigned char* __restrict__ data, std::int64_t bytes,
                unsigned long long* hash) {
  const std::int64_t pairs = bytes / (2 * kWordBytes);
  const auto* const vectors = reinterpret_cast<const ulonglong2*>(data);
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  std::uint64_t sum = 0;
  for (std::int64_t i = first; i < pairs; i += stride) {
    const ulonglong2 pair = vectors[i];
    sum += mixed(pair.x, 2 * i) + mixed(pair.y, 2 * i + 1);
  }
  if (first == 0) {  // what is left: less than two words
    for (std::int64_t word = 2 * pairs; word * kWordBytes < bytes; ++word) {
      std::uint64_t value = 0;
      for (std::int64_t k = 0; k < kWordBytes && word * kWordBytes + k < bytes; ++k) {
        value |= static_cast<std::uint64_t>(data[word * kWordBytes + k]) << (8 * k);
      }
      sum += mixed(value, word);
    }
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) atomicAdd(hash, static_cast<unsigned long long>(sum));
}

}  // namespace

cudaError_t hash_bytes(const void* data, std::int64_t bytes, std::uint64_t* hash,
                       cudaStream_t stream) {
  const cudaError_t error = cudaMemsetAsync(hash, 0, sizeof(*hash), stream);
  if (error != cudaSuccess) return error;
  const std::int64_t wanted = bytes / (2 * kWordBytes * kThreads) + 1;
  const auto blocks = static_cast<unsigned>(std::min(wanted, kMaxBlocks));
  hash_kernel<<<blocks, kThreads, 0, stream>>>(static_cast<const unsigned char*>(data), bytes,
                                               reinterpret_cast<unsigned long long*>(hash));
  return cudaGetLastError();
}

std::uint64_t hash_bytes_on_host(const void* data, std::int64_t bytes, std::int64_t first_word) {
  std::uint64_t sum = 0;
  for (std::int64_t word = 0; word * kWordBytes < bytes; ++word) {
    const std::int64_t begin = word * kWordBytes;
    std::uint64_t value = 0;
    std::memcpy(&value, static_cast<const char*>(data) + begin,
                static_cast<std::size_t>(std::min(kWordBytes, bytes - begin)));
    sum += mixed(value, first_word + word);
  }
  return sum;
}

}  // namespace assay
