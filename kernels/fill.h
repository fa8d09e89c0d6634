// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Seeded data made on the device.
//
//   fill_uniform(ElementType::kBf16, buffer, count, seed, stream);   // asynchronous
//
// Element i is random_uniform(seed, i) of counter_random.h, rounded to the type (to nearest even;
// FP8 saturating, so that no NaN code appears). Throws nothing: returns the launch's error.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace assay {

enum class ElementType { kFp32, kBf16, kFp8E4M3 };

[[nodiscard]] constexpr std::int64_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::kFp32:
      return 4;
    case ElementType::kBf16:
      return 2;
    case ElementType::kFp8E4M3:
      return 1;
  }
  return 0;
}

[[nodiscard]] cudaError_t fill_uniform(ElementType type, void* data, std::int64_t count,
                                       std::uint64_t seed, cudaStream_t stream);

}  // namespace assay
