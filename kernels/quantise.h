// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// From BF16 to FP8 with delayed scaling: a matrix is scaled by what its largest elements were in
// the launches before, and its own largest is noted for those after.
//
//   quantise_transpose(problem, stream);            // out, its transpose, history[0] = max(..,
//   amax)
//   ...products with 1 / scale...
//   update_scaling(&scaling, types, 3, stream);     // scale for the next, from the whole history
//
// Asynchronous; nothing is thrown, the launch's error is returned.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/element.h"

namespace assay {

inline constexpr int kAmaxHistory = 1024;

// Of one matrix, in device memory. history[0] collects the launch that runs now and is 0 before it;
// the last entry is that of the launch before, and so on downwards.
// Libraries that take a scale by its address may want it on 16 bytes.
struct Fp8Scaling {
  alignas(16) float scale;          // what the BF16 values are multiplied by
  alignas(16) float inverse_scale;  // what a product multiplies by to undo it
  alignas(16) float history[kAmaxHistory];
};

[[nodiscard]] constexpr float fp8_max(ElementType type) {
  return type == ElementType::kFp8E4M3 ? 448.0F : 57344.0F;
}

struct QuantiseProblem {
  std::int64_t rows = 0;  // multiples of 16
  std::int64_t columns = 0;
  ElementType type = ElementType::kFp8E4M3;  // or kFp8E5M2
  const void* in = nullptr;                  // BF16, row-major
  void* out = nullptr;                       // FP8, as `in` lies
  void* transposed = nullptr;                // FP8, [columns, rows]
  Fp8Scaling* scaling = nullptr;
};

// out = FP8(in x scale), to nearest even, saturating; its transpose; and history[0] raised to the
// largest |in|. Refuses (cudaErrorInvalidValue) sizes that are not multiples of 16 and other types.
[[nodiscard]] cudaError_t quantise_transpose(const QuantiseProblem& problem, cudaStream_t stream);

// For `count` matrices (at most 4) whose scalings follow each other: scale = the type's largest
// value / the largest of the history, unless that is 0; then the history moves on by one launch.
[[nodiscard]] cudaError_t update_scaling(Fp8Scaling* scaling, const ElementType* types, int count,
                                         cudaStream_t stream);

// What a quantised matrix should be, made element by element and without tiles.
struct QuantiseCheckResult {
  std::uint64_t wrong;        // elements of `out` or of its transpose that differ
  std::uint64_t first_wrong;  // its place in `in`; ~0: none
  float amax;                 // of `in`
};

// Counts what differs from FP8(in x scale), with the scale that the largest |in| gives: that of a
// matrix which is the same in every launch. `result` in device memory.
[[nodiscard]] cudaError_t check_quantised(const QuantiseProblem& problem,
                                          QuantiseCheckResult* result, cudaStream_t stream);

}  // namespace assay
