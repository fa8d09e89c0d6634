// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A linear layer in FP8, forward and backward, as training with delayed scaling runs it; and its
// id:
//
//   gemm/linear_fp8/<tokens>x<in>x<out>+<gemm|cast>/<sustained|burst>
//   gemm/linear_fp8/64x1024x1024+cast/burst
//
//   Y  = X W^T     [tokens, out]   E4M3 x E4M3, fast accumulation
//   dX = dY W      [tokens, in]    E5M2 x E4M3, sums in FP32
//   dW = dY^T X    [out, in]       E5M2 x E4M3, sums in FP32
//
// Outputs are BF16. FP8 products take operands with k contiguous alone, so each of X, W and dY is
// needed as it lies and transposed. +gemm: the three products, of operands that are FP8 already.
// +cast: quantising X, W and dY with their transposes and new scales (kernels/quantise.h) as well.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "bench/gemm/spec.h"

namespace assay {

struct LinearSpec {
  std::int64_t tokens = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;
  bool cast = false;
  Power power = Power::kSustained;

  bool operator==(const LinearSpec&) const = default;

  // Y, dX, dW.
  [[nodiscard]] std::array<GemmSpec, 3> products() const;
  [[nodiscard]] double operations() const;  // of the products: 3 x 2 x tokens x in x out
  // Operands and outputs of the products once each; with the cast also BF16 read, FP8 written
  // twice.
  [[nodiscard]] double bytes() const;
};

[[nodiscard]] std::string id_of(const LinearSpec& spec);
[[nodiscard]] Json parameters_of(const LinearSpec& spec);

// Null for another id; throws Error(kUsage) as parse_gemm_id does, also for sizes that are not
// multiples of 16.
[[nodiscard]] std::optional<LinearSpec> parse_linear_id(std::string_view id);

}  // namespace assay
