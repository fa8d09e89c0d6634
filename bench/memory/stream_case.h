// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// One stream over device memory (spec.h says which), each element of its result checked.
#pragma once

#include <array>
#include <vector>

#include "bench/harness/cuda/cuda_case.h"
#include "bench/memory/spec.h"
#include "kernels/stream.h"

namespace assay {

inline constexpr std::uint64_t kMemorySeed = 20261130;

class StreamCase : public CudaCase {
 public:
  // Throws Skip where `slots` sets of buffers do not fit into what is free.
  StreamCase(const MemorySpec& spec, int slots, cudaStream_t stream);

  [[nodiscard]] int slots() const override { return static_cast<int>(sets_.size()); }
  void launch(int slot) override;
  [[nodiscard]] int kernels_per_launch() const override {
    return spec_.op == StreamOp::kDot ? 2 : 1;
  }
  [[nodiscard]] Verification verify(int slot, int attempt) override;

 protected:
  [[nodiscard]] const DeviceBuffer& output(int slot) const override { return set(slot).out; }

 private:
  struct Buffers {
    std::array<DeviceBuffer, 2> in;
    DeviceBuffer out;  // of reductions: the sums
  };
  [[nodiscard]] const Buffers& set(int slot) const { return sets_[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] Buffers made(int slot) const;
  [[nodiscard]] void* tensor(const DeviceBuffer& buffer) const;  // from its offset on
  [[nodiscard]] void* result(int slot) const;

  MemorySpec spec_;
  StreamShape shape_;
  DeviceBuffer mismatches_;
  std::vector<Buffers> sets_;
};

// Throws Skip with what is needed and what is free.
void require_free_memory(std::int64_t bytes);

}  // namespace assay
