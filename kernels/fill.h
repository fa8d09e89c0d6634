// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Seeded data made on the device.
//
//   fill_uniform(ElementType::kBf16, buffer, count, seed, stream);   // asynchronous
//
// Element i is a function of (seed, i) by counter_random.h, rounded to the type (to nearest even;
// FP8 saturating, so that no NaN code appears). Throws nothing: returns the launch's error.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/element.h"

namespace assay {

// Uniform in [-1, 1): FP64 on a grid of 2^-52, the others of 2^-23; INT8: each of the 256 values
// alike. INT32 is refused: no input has that type.
[[nodiscard]] cudaError_t fill_uniform(ElementType type, void* data, std::int64_t count,
                                       std::uint64_t seed, cudaStream_t stream);

// FP64 on the grid of 2^-23: what FP32 holds exactly.
[[nodiscard]] cudaError_t fill_uniform_on_fp32_grid(double* data, std::int64_t count,
                                                    std::uint64_t seed, cudaStream_t stream);

// Normal, mean 0 and variance 1; floating-point types only.
[[nodiscard]] cudaError_t fill_normal(ElementType type, void* data, std::int64_t count,
                                      std::uint64_t seed, cudaStream_t stream);

}  // namespace assay
