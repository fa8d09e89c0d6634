// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What the arithmetic pipes of this very card can do: kernels that issue nothing but matrix
// instructions, or fused multiply-adds, on operands that are in place. At one clock no product of a
// library can be faster; under a power limit one whose data draw less may be.
//
// A tensor ceiling is a product of its own, so that it can be checked as one: block b computes
// rows b*rows..b*rows+rows-1 of D = A x B^T, A [blocks*rows, depth], B [columns, depth], D
// [blocks*rows, columns], all row-major; and it does so `rounds` times over, from the start each
// time, with the operands in shared memory (wgmma) or registers (mma.sync).
//
//   const CeilingShape shape = tensor_ceiling_shape(TensorPath::kWgmma, ElementType::kBf16);
//   tensor_ceiling(TensorPath::kWgmma, ElementType::kBf16, a, b, d, sm_count, 2000, stream);
//
// Inputs: FP64 (mma.sync alone), FP32 (as TF32), FP16, BF16, E4M3 (wgmma alone), INT8. Output:
// FP64, INT32 for INT8, else FP32. Anything else is cudaErrorInvalidValue.
//
// Sources: PTX ISA 9.0, sections on wgmma and mma; "Dissecting the NVIDIA Hopper Architecture
// through Microbenchmarking" (arXiv 2501.12084) for what wgmma needs to run at full rate.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "kernels/element.h"

namespace assay {

enum class TensorPath {
  kWgmma,  // warpgroup instructions; compute capability 9.0 alone
  kMma,    // warp instructions; 8.0 and later
};

// Of a block.
struct CeilingShape {
  int rows = 0;
  int columns = 0;
  int depth = 0;

  [[nodiscard]] constexpr double operations() const {  // of a round
    return 2.0 * rows * columns * depth;
  }
};

// All zero where the path does not take the type.
[[nodiscard]] CeilingShape tensor_ceiling_shape(TensorPath path, ElementType input);

[[nodiscard]] cudaError_t tensor_ceiling(TensorPath path, ElementType input, const void* a,
                                         const void* b, void* d, int blocks, int rounds,
                                         cudaStream_t stream);

// Chains of fused multiply-adds, x <- x * -0.99999 + 0.75, `rounds` each, from starts that a lane
// and a chain determine: each of the kFmaThreads threads of a block runs kFmaChains of them and
// writes what they end in to out[block][chain][thread].
inline constexpr int kFmaThreads = 1024;
inline constexpr int kFmaChains = 8;
inline constexpr int kFmaLanes = 32;

// FP32 or FP64; `rounds` is a multiple of 16.
[[nodiscard]] cudaError_t fma_ceiling(ElementType type, void* out, int blocks, int rounds,
                                      cudaStream_t stream);

// What chain c of a thread on lane l ends in, at [c * kFmaLanes + l]: to the bit, since IEEE 754
// leaves no choice.
template <class T>
[[nodiscard]] std::vector<T> fma_expected(int rounds);

}  // namespace assay
