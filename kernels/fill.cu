// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <algorithm>

#include "kernels/counter_random.h"
#include "kernels/fill.h"

namespace assay {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMaxBlocks = 1 << 16;

template <class T>
__global__ void fill_uniform_kernel(T* data, std::int64_t count, std::uint64_t seed) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < count; i += stride) data[i] = T(random_uniform(seed, static_cast<std::uint64_t>(i)));
}

template <class T>
cudaError_t launch(void* data, std::int64_t count, std::uint64_t seed, cudaStream_t stream) {
  const std::int64_t blocks = std::min((count + kThreads - 1) / kThreads, kMaxBlocks);
  fill_uniform_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(static_cast<T*>(data),
                                                                              count, seed);
  return cudaGetLastError();
}

}  // namespace

cudaError_t fill_uniform(ElementType type, void* data, std::int64_t count, std::uint64_t seed,
                         cudaStream_t stream) {
  switch (type) {
    case ElementType::kFp32:
      return launch<float>(data, count, seed, stream);
    case ElementType::kBf16:
      return launch<__nv_bfloat16>(data, count, seed, stream);
    case ElementType::kFp8E4M3:
      return launch<__nv_fp8_e4m3>(data, count, seed, stream);
  }
  return cudaErrorInvalidValue;
}

}  // namespace assay
