// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Processors that read page-locked host memory where it lies: at rate, and one load after another.
#pragma once

#include <optional>
#include <vector>

#include "bench/harness/cuda/chase_case.h"
#include "bench/harness/cuda/cuda_case.h"
#include "bench/harness/cuda/device.h"
#include "bench/links/copy_case.h"
#include "kernels/link.h"

namespace assay {

// Reads each word once and keeps a sum of each 2 KiB.
class ZeroCopyCase : public CudaCase {
 public:
  ZeroCopyCase(const LinkSpec& spec, const CudaDevice& device, std::optional<int> node,
               cudaStream_t stream);

  [[nodiscard]] int slots() const override { return static_cast<int>(sums_.size()); }
  void launch(int slot) override;
  [[nodiscard]] Verification verify(int slot, int attempt) override;
  [[nodiscard]] Json preparation() const override { return host_.facts(); }

  [[nodiscard]] unsigned char* source(int slot) const;  // for tests, which plant faults

 protected:
  [[nodiscard]] const DeviceBuffer& output(int slot) const override {
    return sums_[static_cast<std::size_t>(slot)];
  }

 private:
  std::int64_t bytes_;
  std::int64_t capacity_;
  LinkedMemory host_;
  std::vector<DeviceBuffer> sums_;
  DeviceBuffer mismatches_;
};

// A chain through kChaseLoads cache lines of host memory, each read once a launch.
class HostChaseCase : public ChaseCase {
 public:
  HostChaseCase(const LinkSpec& spec, std::optional<int> node, cudaStream_t stream);

  [[nodiscard]] Json preparation() const override { return host_.facts(); }

  [[nodiscard]] unsigned char* nodes() const { return host_.data(); }  // likewise

 private:
  LinkedMemory host_;
};

}  // namespace assay
