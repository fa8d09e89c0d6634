// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// How far the residual of kernels/gemm_check.h may lie from zero on a sound card.
//
// Inputs are uniform in [-1, 1): variance 1/3. An element of the product is a sum of k products, of
// s.d. sigma = sqrt(k) / 3. Let e be the r.m.s. error of an element relative to sigma:
//
//   fp64           2^-53 sqrt(2 k): one rounding of the running sum a step, in a random walk;
//   twice,
//                  since the check, in FP64 itself, errs as much as what it checks
//   fp32           2^-24 sqrt(k): the same, with an exact check
//   tf32           2^-10: both inputs lose up to 2^-10 of themselves (2^-11 on average if cut off)
//   fp16           2^-12: the output is rounded by up to 2^-11 of itself; over a Gaussian element
//                  half a unit in the last place has an r.m.s. of 2^-12 sigma at most. And 2^-28 k:
//                  the tensor cores cut the running sum towards zero every 16 products, by 2^-24
//   bf16           2^-9 likewise, beside which the rest does not count
//   fp8_e4m3       that of the BF16 output, and 2^-13 sqrt(k / 32): fast accumulation cuts the sum
//   to
//                  13 bits of fraction after every 32 products, in a random walk
//   fp8_e4m3_full, that of the BF16 output, and 2^-12: sums of 128 products, each in four such
//   fp8_e5m2       cuts, are added in FP32
//   int8           0: every sum is exact, in the product and in the check
//
// The signs of a column block are random, so its error has s.d. e sigma sqrt(columns). Allowed is
// kSigmas of that: of the 10^6 residuals of an 8192^3 check the largest is expected at 4.9 s.d.,
// and a Gaussian one exceeds 8 once in 10^9 checks. A single wrong element shows once it is off by
// kSigmas e sqrt(columns) sigma (bf16: 0.13 sigma). A record says how much of it its largest
// residual took.
#pragma once

#include "bench/gemm/precision.h"

namespace assay {

inline constexpr double kSigmas = 8;

// Of an element of a product of uniform inputs of depth k.
[[nodiscard]] double gemm_element_sd(std::int64_t k);

// Largest sound |D s - A (B s)| where an element of D has s.d. `element_sd`, at a depth of k and in
// blocks of `columns` (kGemmCheckColumns).
[[nodiscard]] double gemm_tolerance(Precision precision, std::int64_t k, int columns,
                                    double element_sd);

// The same for sums that stay in the tensor cores' own registers (kernels/ceiling.h), FP32 but for
// FP64 and INT8: without the rounding of a 16-bit output, 2^-24 k for FP16 and BF16 (each of k
// additions cuts at most a unit in the last place) and 2^-13 sqrt(k / 32) for FP8.
[[nodiscard]] double ceiling_tolerance(Precision precision, std::int64_t depth, int columns);

}  // namespace assay
