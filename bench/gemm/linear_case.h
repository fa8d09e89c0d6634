// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The FP8 linear layer of linear_spec.h as a case. One launch is forward and backward, once. The
// data are the same in every launch, so the amax of the history, and with it every scale, stands
// still after the first; a launch finds the scales that training has from its second step on.
//
// Checked: every quantised byte and every transposed one, the amax and the scales, exactly; then
// the three products against the quantised operands.
#pragma once

#include <array>
#include <vector>

#include "bench/gemm/cublaslt.h"
#include "bench/gemm/linear_spec.h"
#include "bench/gemm/product_check.h"
#include "bench/harness/cuda/cuda_case.h"
#include "bench/harness/cuda/device.h"
#include "kernels/quantise.h"

namespace assay {

class LinearFp8Case : public CudaCase {
 public:
  LinearFp8Case(const LinearSpec& spec, const CudaDevice& device, cudaStream_t stream);

  [[nodiscard]] int slots() const override { return static_cast<int>(sets_.size()); }
  void launch(int slot) override;
  // Quantising three matrices and the scales; a product may be two kernels (split-K).
  [[nodiscard]] int kernels_per_launch() const override { return spec_.cast ? 10 : 6; }
  [[nodiscard]] Verification verify(int slot, int attempt) override;
  [[nodiscard]] Json algorithm() const override;

 protected:
  struct Set {
    std::array<DeviceBuffer, 3> bf16;  // X, W, dY
    DeviceBuffer scaling;              // a Fp8Scaling of each
    DeviceBuffer quantised;            // +gemm: what is computed once
    DeviceBuffer out;                  // Y, dX, dW; +cast: and what is quantised
    // Where in these; X, W, dY and Y, dX, dW.
    std::array<QuantiseProblem, 3> casts;
    std::array<GemmOperands, 3> products;
  };
  [[nodiscard]] const Set& set(int slot) const { return sets_[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] const DeviceBuffer& output(int slot) const override { return set(slot).out; }

 private:
  [[nodiscard]] Set make_set(std::uint64_t index) const;
  void place(Set& set) const;
  void quantise(const Set& set, std::size_t which) const;
  void update_scales(const Set& set) const;
  void multiply(const Set& set, std::size_t which);
  // What is wrong with a quantised operand or its scale; empty if nothing is.
  [[nodiscard]] std::string cast_fault(const Set& set, std::size_t which) const;

  LinearSpec spec_;
  std::array<GemmSpec, 3> specs_;
  std::array<LtGemm, 3> gemms_;
  ProductCheck check_;
  DeviceBuffer cast_result_;
  std::vector<Set> sets_;
};

}  // namespace assay
