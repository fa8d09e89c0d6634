// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A dense product as a case: buffers, launch, check.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/gemm/cublaslt.h"
#include "bench/gemm/product_check.h"
#include "bench/harness/cuda/cuda_case.h"
#include "bench/harness/cuda/device.h"

namespace assay {

inline constexpr std::uint64_t kGemmSeed = 20261130;  // of all data of the family
inline constexpr std::uint64_t kGemmSeedsPerSet = 8;  // x has the first, w the second

// `count` elements of an operand on the device, as input_fill() says.
[[nodiscard]] DeviceBuffer gemm_input(ElementType type, std::int64_t count, std::uint64_t seed,
                                      cudaStream_t stream);

class GemmCase : public CudaCase {
 public:
  GemmCase(const GemmSpec& spec, const CudaDevice& device, cudaStream_t stream);

  [[nodiscard]] int slots() const override { return static_cast<int>(sets_.size()); }
  void launch(int slot) override;
  [[nodiscard]] Verification verify(int slot, int attempt) override;
  [[nodiscard]] Json algorithm() const override { return gemm_.algorithm(); }
  [[nodiscard]] std::vector<Json> candidates() const override { return gemm_.candidates(); }
  void choose(const Json& algorithm) override { gemm_.choose(algorithm); }

 protected:
  [[nodiscard]] const DeviceBuffer& output(int slot) const override { return set(slot).d; }

 private:
  struct Buffers {
    DeviceBuffer x;
    DeviceBuffer w;
    DeviceBuffer d;
    DeviceBuffer bias;
    DeviceBuffer x_scale;
    DeviceBuffer w_scale;
    DeviceBuffer pointers;  // of x, then of w, then of d
  };
  [[nodiscard]] Buffers make_set(std::uint64_t index) const;
  [[nodiscard]] DeviceBuffer make_pointers(const Buffers& buffers) const;
  [[nodiscard]] const Buffers& set(int slot) const { return sets_[static_cast<std::size_t>(slot)]; }

  GemmSpec spec_;
  PrecisionInfo info_;
  LtGemm gemm_;
  ProductCheck check_;
  std::vector<Buffers> sets_;
};

// The problem of kernels/gemm_check.h: D^T = W^T X^T, column-major.
[[nodiscard]] GemmProblem problem_of(const GemmSpec& spec, const GemmOperands& operands);

}  // namespace assay
