// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A pointer chase (kernels/chase.h) that goes on where the last launch on its buffer ended. Checked
// by where it ends: the host knows the order in which the nodes follow each other.
#pragma once

#include <vector>

#include "bench/harness/cuda/cuda_case.h"
#include "bench/memory/latency_spec.h"
#include "kernels/random_order.h"

namespace assay {

class LatencyCase : public CudaCase {
 public:
  // Throws Skip where the buffers do not fit into what is free.
  LatencyCase(const LatencySpec& spec, int slots, cudaStream_t stream);

  [[nodiscard]] int slots() const override { return static_cast<int>(chains_.size()); }
  void launch(int slot) override;
  [[nodiscard]] Verification verify(int slot, int attempt) override;
  // Each launch ends elsewhere.
  [[nodiscard]] std::vector<std::uint64_t> hash_outputs(const std::vector<int>&) override {
    return {};
  }

 protected:
  [[nodiscard]] const DeviceBuffer& output(int slot) const override {
    return chains_[static_cast<std::size_t>(slot)].end;
  }

 private:
  struct Chain {
    DeviceBuffer nodes;
    DeviceBuffer end;
    std::int64_t place = 0;  // in the order, after what was launched
  };

  LatencySpec spec_;
  RandomOrder order_;
  std::vector<Chain> chains_;
};

}  // namespace assay
