// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The precisions of the GEMM family: what they mean, and the layout rules of each.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kernels/element.h"

namespace assay {

enum class Precision {
  kFp64,         // IEEE; the FP64 tensor cores where the card has them
  kFp32,         // IEEE: FP32 inputs, products and sums; never TF32
  kTf32,         // FP32 inputs rounded to 10 bits of mantissa, FP32 sums
  kFp16,         // FP16 inputs and output, FP32 sums
  kBf16,         // BF16 inputs and output, FP32 sums
  kFp8E4M3,      // E4M3 inputs, BF16 output, fast accumulation (about 14 bits on Hopper)
  kFp8E4M3Full,  // the same, sums promoted to FP32 as they go
  kFp8E5M2,      // E5M2 x E4M3 (a gradient by a weight), BF16 output, sums in FP32
  kInt8,         // INT8 inputs, INT32 sums and output: exact
};

struct PrecisionInfo {
  Precision precision;
  const char* name;  // in ids
  const char* pipe;  // of configs/gpus
  ElementType x;     // of the activations
  ElementType w;     // of the weights
  ElementType d;     // of the output, and of a bias
  int least_capability;
  // Both operands with k contiguous, and nothing else (FP8 before compute capability 10.0, INT8).
  bool k_contiguous_only;
  // n and k are multiples of it: leading dimensions of 16 bytes, 4 for INT8's 32-bit loads.
  std::int64_t alignment;

  [[nodiscard]] bool is_fp8() const { return w == ElementType::kFp8E4M3; }
};

[[nodiscard]] std::span<const PrecisionInfo> precisions();
[[nodiscard]] const PrecisionInfo& info_of(Precision precision);
// Whether 2:4 products are offered: FP16, BF16, E4M3 and INT8.
[[nodiscard]] bool has_sparse(Precision precision);
// What fills the inputs, as a record's data says it.
[[nodiscard]] const char* input_fill(Precision precision);
// Null: there is none of that name.
[[nodiscard]] const PrecisionInfo* find_precision(std::string_view name);

}  // namespace assay
