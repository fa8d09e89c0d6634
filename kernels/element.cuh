// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// From an ElementType to the type that holds it.
//
//   return with_element(type, [&](auto zero) { return launch<decltype(zero)>(data, ...); });
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/element.h"

namespace assay {

// Calls `use` with a value of the type and returns its error.
template <class Use>
cudaError_t with_element(ElementType type, const Use& use) {
  switch (type) {
    case ElementType::kFp64:
      return use(double{});
    case ElementType::kFp32:
      return use(float{});
    case ElementType::kFp16:
      return use(__half{});
    case ElementType::kBf16:
      return use(__nv_bfloat16{});
    case ElementType::kFp8E4M3:
      return use(__nv_fp8_e4m3{});
    case ElementType::kFp8E5M2:
      return use(__nv_fp8_e5m2{});
    case ElementType::kInt8:
      return use(std::int8_t{});
    case ElementType::kInt32:
      return use(std::int32_t{});
  }
  return cudaErrorInvalidValue;
}

// Exact for every type.
template <class T>
__device__ double to_double(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(value);
  } else {
    return static_cast<double>(static_cast<float>(value));
  }
}

}  // namespace assay
