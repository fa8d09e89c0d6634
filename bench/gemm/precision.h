// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The precisions of the GEMM family.
#pragma once

namespace assay {

enum class Precision {
  kFp32,     // IEEE: FP32 inputs, products and sums; never TF32
  kTf32,     // FP32 inputs rounded to 10 bits of mantissa, FP32 sums
  kBf16,     // BF16 inputs and output, FP32 sums
  kFp8E4M3,  // E4M3 inputs, BF16 output, fast accumulation (about 14 bits on Hopper)
};

}  // namespace assay
