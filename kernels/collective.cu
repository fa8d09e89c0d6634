// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>

#include "kernels/collective.h"
#include "kernels/element.cuh"
#include "kernels/mismatch.cuh"

namespace assay {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 1 << 20;  // then a thread takes more than one element

// An element as it lies in memory: comparing numbers would take NaN for wrong and -0 for 0.
template <std::size_t bytes>
using Bits = std::conditional_t<
    bytes == 8, std::uint64_t,
    std::conditional_t<bytes == 4, std::uint32_t,
                       std::conditional_t<bytes == 2, std::uint16_t, std::uint8_t>>>;

// Exact: the type holds the number.
template <class T>
__device__ Bits<sizeof(T)> bits_of_number(int number) {
  T value;
  if constexpr (std::is_arithmetic_v<T>) {
    value = static_cast<T>(number);
  } else {
    value = T(static_cast<float>(number));
  }
  Bits<sizeof(T)> bits;
  memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    fill_kernel(RankValues values, int rank, Bits<sizeof(T)>* input, std::int64_t elements) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < elements; i += stride) {
    input[i] = values.kind == ValueKind::kBits ? static_cast<Bits<sizeof(T)>>(values.bits(rank, i))
                                               : bits_of_number<T>(values.addend(rank, i));
  }
}

template <class T>
__device__ Bits<sizeof(T)> expected(const RankValues& values, const CollectiveLayout& layout,
                                    std::int64_t i) {
  if (i >= layout.elements) return static_cast<Bits<sizeof(T)>>(~0ULL);
  const std::int64_t place = layout.offset + i % layout.block;
  if (values.kind != ValueKind::kBits) return bits_of_number<T>(values.sum(place));
  const int source = layout.source + static_cast<int>(i / layout.block);
  return static_cast<Bits<sizeof(T)>>(values.bits(source, place));
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    check_kernel(RankValues values, CollectiveLayout layout, const Bits<sizeof(T)>* output,
                 std::int64_t all, MismatchReport* report) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < all; i += stride) report_if(output[i] != expected<T>(values, layout, i), i, report);
}

unsigned blocks_of(std::int64_t threads) {
  return static_cast<unsigned>(std::min((threads + kThreads - 1) / kThreads, kMostBlocks));
}

}  // namespace

cudaError_t collective_fill(ElementType type, const RankValues& values, int rank, void* input,
                            std::int64_t elements, cudaStream_t stream) {
  if (elements == 0) return cudaSuccess;
  return with_element(type, [&](auto zero) {
    using T = decltype(zero);
    fill_kernel<T><<<blocks_of(elements), kThreads, 0, stream>>>(
        values, rank, static_cast<Bits<sizeof(T)>*>(input), elements);
    return cudaGetLastError();
  });
}

cudaError_t check_collective(ElementType type, const RankValues& values,
                             const CollectiveLayout& layout, const void* output,
                             std::int64_t capacity, MismatchReport* report, cudaStream_t stream) {
  if (const cudaError_t error = reset_mismatches(report, stream); error != cudaSuccess)
    return error;
  const std::int64_t all = capacity / element_bytes(type);
  if (all == 0) return cudaSuccess;
  return with_element(type, [&](auto zero) {
    using T = decltype(zero);
    check_kernel<T><<<blocks_of(all), kThreads, 0, stream>>>(
        values, layout, static_cast<const Bits<sizeof(T)>*>(output), all, report);
    return cudaGetLastError();
  });
}

}  // namespace assay
