// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// How far the residual of kernels/gemm_check.h may lie from zero on a sound card.
//
// Inputs are uniform in [-1, 1): variance 1/3. An element of the product is a sum of k products, of
// s.d. sigma = sqrt(k) / 3. Let e be the r.m.s. error of an element relative to sigma:
//
//   fp32      2^-24 sqrt(k): one rounding of the running sum a step, in a random walk
//   tf32      2^-10: both inputs lose up to 2^-10 of themselves (2^-11 on average if cut off)
//   bf16      2^-9: the output is rounded by up to 2^-9 of itself (r.m.s. about half of it)
//   fp8_e4m3  2^-9 for the BF16 output and 2^-13 a step of 32 products for the running sum that fast
//             accumulation cuts to 13 bits of fraction, all in one direction
//
// The signs of a column block are random, so its error has s.d. e sigma sqrt(64) at most. Allowed is
// kSigmas of that: of some 10^6 residuals a Gaussian one exceeds 8 s.d. once in 10^9 checks, while a
// single wrong element shows once it is off by kSigmas e sqrt(64) sigma (bf16: 0.13 sigma).
#pragma once

#include "bench/gemm/precision.h"

namespace assay {

inline constexpr double kSigmas = 8;

// Largest sound |D s - A (B s)| for a depth of k.
[[nodiscard]] double gemm_tolerance(Precision precision, int k);

}  // namespace assay
