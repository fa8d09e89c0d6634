// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// How far the residual of kernels/gemm_check.h may lie from zero on a sound card.
//
// Inputs are uniform in [-1, 1): variance 1/3. An element of the product is a sum of k products, of
// s.d. sigma = sqrt(k) / 3. Let e be the r.m.s. error of an element relative to sigma:
//
//   fp32      2^-24 sqrt(k): one rounding of the running sum a step, in a random walk
//   tf32      2^-10: both inputs lose up to 2^-10 of themselves (2^-11 on average if cut off)
//   bf16      2^-9: the output is rounded by up to 2^-9 of itself; over a Gaussian element half an
//             unit in the last place has an r.m.s. of 2^-9 sigma at most
//   fp8_e4m3  that of the BF16 output, and 2^-13 sqrt(k / 32): fast accumulation cuts the sum to
//             13 bits of fraction after every 32 products, in a random walk
//
// The signs of a column block are random, so its error has s.d. e sigma sqrt(columns). Allowed is
// kSigmas of that: of the 10^6 residuals of an 8192^3 check the largest is expected at 4.9 s.d.,
// and a Gaussian one exceeds 8 once in 10^9 checks. A single wrong element shows once it is off by
// kSigmas e sqrt(columns) sigma (bf16: 0.13 sigma). On an H200 the largest residuals were 0.20
// (fp32), 0.18 (tf32), 0.60 (bf16) and 0.43 (fp8_e4m3) of the tolerance.
#pragma once

#include "bench/gemm/precision.h"

namespace assay {

inline constexpr double kSigmas = 8;

// Largest sound |D s - A (B s)| for a depth of k and blocks of `columns` (kGemmCheckColumns).
[[nodiscard]] double gemm_tolerance(Precision precision, int k, int columns);

}  // namespace assay
