// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A pointer chase (kernels/chase.h) that goes on where the last launch on its chain ended. Checked
// by where it ends: the host knows the order in which the nodes follow each other.
//
//   class LatencyCase : public ChaseCase {     // owns the memory of the nodes, wherever that lies
//     LatencyCase(...) : ChaseCase(nodes, loads, stream) { add_chain(buffer_.data()); }
//   };
#pragma once

#include <cstdint>
#include <vector>

#include "bench/harness/cuda/cuda_case.h"
#include "kernels/random_order.h"

namespace assay {

class ChaseCase : public CudaCase {
 public:
  // Of a launch: `loads`, a multiple of 16.
  ChaseCase(std::int64_t nodes, std::int64_t loads, cudaStream_t stream)
      : CudaCase(stream), loads_(loads), order_(nodes) {}

  [[nodiscard]] int slots() const override { return static_cast<int>(chains_.size()); }
  void launch(int slot) override;
  [[nodiscard]] Verification verify(int slot, int attempt) override;
  // Each launch ends elsewhere.
  [[nodiscard]] std::vector<std::uint64_t> hash_outputs(const std::vector<int>&) override {
    return {};
  }

 protected:
  // A buffer set; the device writes the nodes, kChaseSpacing bytes each.
  void add_chain(void* nodes);
  [[nodiscard]] const DeviceBuffer& output(int slot) const override {
    return chains_[static_cast<std::size_t>(slot)].end;
  }

 private:
  struct Chain {
    void* nodes = nullptr;
    DeviceBuffer end;
    std::int64_t place = 0;  // in the order, after what was launched
  };

  std::int64_t loads_;
  RandomOrder order_;
  std::vector<Chain> chains_;
};

}  // namespace assay
