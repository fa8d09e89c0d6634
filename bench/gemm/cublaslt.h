// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The product of a GemmSpec through cuBLASLt. Its matrices are column-major: it is given the
// transposed product, D^T = W^T X^T, with W first. The algorithm is the first that the library
// offers for a workspace of fixed size, so that the choice does not depend on free memory, or one
// that choose() was given.
//
//   LtGemm gemm(spec);                     // throws Skip with the library's status if it has none
//   gemm.run({.x = x, .w = w, .d = d}, stream);
#pragma once

#include <cublasLt.h>

#include <memory>
#include <vector>

#include "bench/gemm/spec.h"
#include "bench/harness/cuda/handles.h"
#include "reports/json.h"

namespace assay {

[[nodiscard]] std::string cublaslt_version();  // "13.1.0"

// In device memory. With GemmSpec::pointers, x, w and d are arrays of `batch` pointers.
struct GemmOperands {
  const void* x = nullptr;
  const void* w = nullptr;
  void* d = nullptr;
  const void* bias = nullptr;      // n elements of the output's type
  const float* x_scale = nullptr;  // FP8: one, or m of them (rowwise)
  const float* w_scale = nullptr;  // FP8: one, or n of them
};

class LtGemm {
 public:
  explicit LtGemm(const GemmSpec& spec);
  ~LtGemm();
  // The descriptors point at buffers of this object.
  LtGemm(const LtGemm&) = delete;
  LtGemm& operator=(const LtGemm&) = delete;

  void run(const GemmOperands& operands, cudaStream_t stream);

  // What is used now: {"library", "id", "tile", "stages", "split_k", "workspace_bytes", "state",
  // ...}; `state` is the library's own text of it, valid for that version alone.
  [[nodiscard]] Json algorithm() const;
  // All that the library offers, the one that it thinks fastest first.
  [[nodiscard]] std::vector<Json> candidates() const;
  // Throws std::runtime_error if the library does not run it for this product.
  void choose(const Json& algorithm);

 private:
  struct Handles;
  [[nodiscard]] std::vector<cublasLtMatmulHeuristicResult_t> offered(int most) const;

  std::unique_ptr<Handles> handles_;
  DeviceBuffer workspace_;
  cublasLtMatmulHeuristicResult_t choice_{};
};

}  // namespace assay
