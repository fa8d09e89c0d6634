// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Which product a case computes, and its id:
//
//   gemm/<precision>/<m>x<n>x<k>[+variant].../<sustained|burst>
//   gemm/bf16/8192x8192x8192/sustained       gemm/fp8_e4m3/1x8192x4096+bias/burst
//
//   D[m,n] = X[m,k] W[k,n]   row-major, as frameworks count: m tokens, n and k features.
//
// Variants, in this order: a layout (nn nt tt; none is tn), batch=B or pointers=B, bias, rowwise,
// sparse, float_data. The layout is named as BLAS does, W first: t is W kept as [n,k], k
// contiguous, as a linear layer keeps its weights (X W^T); n is W as [k,n]. Second letter X: n is
// [m,k], t is [k,m]. So "tn", the default, has k contiguous in both, which FP8 demands; "nn" is a @
// b of two row-major matrices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bench/gemm/precision.h"
#include "reports/json.h"
#include "reports/record.h"

namespace assay {

struct GemmSpec {
  Precision precision = Precision::kBf16;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool w_k_contiguous = true;  // BLAS: W transposed
  bool x_k_contiguous = true;  // BLAS: X not transposed
  std::int64_t batch = 1;      // products at once, each with operands of its own
  bool pointers = false;       // found by an array of pointers, not by a stride
  bool bias = false;           // D + bias[n], in the epilogue
  bool rowwise = false;        // FP8: a scale for each row of X and of W, not one for each matrix
  bool sparse = false;         // W has two zeros in each four along k (2:4)
  // FP64 inputs that FP32 could hold, as a generator of single precision gives them: fewer bits
  // toggle, and the card draws less power than for data of 53 bits.
  bool float_data = false;
  Power power = Power::kSustained;

  bool operator==(const GemmSpec&) const = default;

  [[nodiscard]] double operations() const;  // of the dense product, also for sparse
  // Operands and output once each; of sparse weights the half that is kept, and 2 bits of place for
  // each of these.
  [[nodiscard]] double bytes() const;
};

[[nodiscard]] std::string id_of(const GemmSpec& spec);

// {"precision", "m", "n", "k", "layout": "tn", ...}: what the id says, as fields.
[[nodiscard]] Json parameters_of(const GemmSpec& spec);

// Null where the id is none of this family's products ("gemm/ceiling/..."). Throws Error(kUsage)
// for one that is but cannot be: an unknown precision or variant, a size that is 0 or above 2^40,
// variants that exclude each other. The canonical id alone is taken: id_of(*parse_gemm_id(id)) ==
// id.
[[nodiscard]] std::optional<GemmSpec> parse_gemm_id(std::string_view id);

// Null for what is no whole number from 1 to 2^40.
[[nodiscard]] std::optional<std::int64_t> parse_gemm_size(std::string_view text);

// Why the device cannot run it; empty if it can. 90: compute capability 9.0.
[[nodiscard]] std::string why_not(const GemmSpec& spec, int compute_capability);

}  // namespace assay
