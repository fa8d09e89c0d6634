// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A product with 2:4 weights as a case. Its weights are those of the dense case, pruned; pruning
// and compression come before anything is timed, and are reported as preparation(). The check
// multiplies by the pruned weights, which lie dense beside the compressed ones, so a mistake of the
// compression shows too.
#pragma once

#include <vector>

#include "bench/gemm/cusparselt.h"
#include "bench/gemm/product_check.h"
#include "bench/harness/cuda/cuda_case.h"
#include "bench/harness/cuda/device.h"

namespace assay {

class SparseGemmCase : public CudaCase {
 public:
  SparseGemmCase(const GemmSpec& spec, const CudaDevice& device, cudaStream_t stream);

  [[nodiscard]] int slots() const override { return static_cast<int>(sets_.size()); }
  void launch(int slot) override;
  [[nodiscard]] Verification verify(int slot, int attempt) override;
  [[nodiscard]] Json algorithm() const override { return gemm_.algorithm(); }
  [[nodiscard]] std::vector<Json> candidates() const override { return gemm_.candidates(); }
  void choose(const Json& algorithm) override { gemm_.choose(algorithm); }
  [[nodiscard]] Json preparation() const override;

 protected:
  [[nodiscard]] const DeviceBuffer& output(int slot) const override { return set(slot).d; }
  [[nodiscard]] const DeviceBuffer& pruned(int slot) const { return set(slot).pruned; }

 private:
  struct Buffers {
    DeviceBuffer x;
    DeviceBuffer pruned;  // W as the check reads it
    DeviceBuffer compressed;
    DeviceBuffer d;
  };
  [[nodiscard]] Buffers make_set(std::uint64_t index);
  void make_weights(Buffers& set, std::uint64_t seed);
  [[nodiscard]] const Buffers& set(int slot) const { return sets_[static_cast<std::size_t>(slot)]; }

  GemmSpec spec_;
  SparseLtGemm gemm_;
  ProductCheck check_;
  // Of the last set: the first one also loads the library's kernels.
  double prune_s_ = 0;
  double compress_s_ = 0;
  std::vector<Buffers> sets_;
};

}  // namespace assay
