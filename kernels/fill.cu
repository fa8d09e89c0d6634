// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/counter_random.h"
#include "kernels/element.cuh"
#include "kernels/fill.h"

namespace assay {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMaxBlocks = 1 << 16;

template <class T>
struct Uniform {
  static __device__ T make(std::uint64_t seed, std::uint64_t i) {
    return T(random_uniform(seed, i));
  }
};
template <>
struct Uniform<double> {
  static __device__ double make(std::uint64_t seed, std::uint64_t i) {
    return random_uniform_double(seed, i);
  }
};
template <>
struct Uniform<std::int8_t> {
  static __device__ std::int8_t make(std::uint64_t seed, std::uint64_t i) {
    return random_int8(seed, i);
  }
};

template <class T>
struct Normal {
  static __device__ T make(std::uint64_t seed, std::uint64_t i) {
    return T(random_normal(seed, i));
  }
};

template <class T, class Distribution>
__global__ void fill_kernel(T* data, std::int64_t count, std::uint64_t seed) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < count; i += stride) data[i] = Distribution::make(seed, static_cast<std::uint64_t>(i));
}

template <class T, class Distribution>
cudaError_t launch(void* data, std::int64_t count, std::uint64_t seed, cudaStream_t stream) {
  const std::int64_t blocks = std::min((count + kThreads - 1) / kThreads, kMaxBlocks);
  fill_kernel<T, Distribution>
      <<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(static_cast<T*>(data), count, seed);
  return cudaGetLastError();
}

}  // namespace

cudaError_t fill_uniform(ElementType type, void* data, std::int64_t count, std::uint64_t seed,
                         cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return with_element(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, std::int32_t>) {
      return cudaErrorInvalidValue;
    } else {
      return launch<T, Uniform<T>>(data, count, seed, stream);
    }
  });
}

cudaError_t fill_uniform_on_fp32_grid(double* data, std::int64_t count, std::uint64_t seed,
                                      cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return launch<double, Uniform<float>>(data, count, seed, stream);
}

cudaError_t fill_normal(ElementType type, void* data, std::int64_t count, std::uint64_t seed,
                        cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return with_element(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      return cudaErrorInvalidValue;
    } else {
      return launch<T, Normal<T>>(data, count, seed, stream);
    }
  });
}

}  // namespace assay
