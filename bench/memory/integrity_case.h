// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// All patterns and steps of kernels/integrity.h over one large buffer a launch. An error that any
// launch sees stays in the report until the case ends. The card's own ECC counters stand beside it:
// they are read round each load (telemetry.deltas).
#pragma once

#include "bench/harness/cuda/cuda_case.h"
#include "bench/memory/integrity_spec.h"
#include "kernels/integrity.h"

namespace assay {

class IntegrityCase : public CudaCase {
 public:
  // Throws Skip where `bytes`, a multiple of 16, do not fit into what is free.
  IntegrityCase(std::int64_t bytes, cudaStream_t stream);

  [[nodiscard]] int slots() const override { return 1; }
  void launch(int slot) override;
  [[nodiscard]] int kernels_per_launch() const override {
    return kIntegrityPatterns * kIntegritySteps + 1;
  }
  // Forgets which steps were run, not what they found.
  void poison(int slot) override;
  [[nodiscard]] Verification verify(int slot, int attempt) override;
  // Each launch has another random pattern.
  [[nodiscard]] std::vector<std::uint64_t> hash_outputs(const std::vector<int>&) override {
    return {};
  }

  // For tests, which plant faults between the steps.
  [[nodiscard]] IntegrityBuffer buffer() const { return {memory_.data(), memory_.bytes() / 8}; }
  void run_step(IntegrityPattern pattern, IntegrityStep step);
  void begin();  // of a launch

 protected:
  [[nodiscard]] const DeviceBuffer& output(int) const override { return report_; }

 private:
  DeviceBuffer memory_;
  DeviceBuffer report_;
  std::uint64_t launches_ = 0;
};

}  // namespace assay
