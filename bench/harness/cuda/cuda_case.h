// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What cases on one stream with one output buffer a slot have in common: poison and hash.
//
//   class CopyCase : public CudaCase {
//     explicit CopyCase(cudaStream_t stream) : CudaCase(stream) { ... }
//     void launch(int slot) override { check_cuda(stream_copy(..., stream()), "stream_copy"); }
//     const DeviceBuffer& output(int slot) const override { return sets_[slot].out; }
//     ...
//   };
#pragma once

#include <vector>

#include "bench/harness/case.h"
#include "bench/harness/cuda/handles.h"

namespace assay {

class CudaCase : public Case {
 public:
  explicit CudaCase(cudaStream_t stream) : stream_(stream) {}
  // 0xFF over the slot's output: NaN in every floating-point format, and no likely integer.
  void poison(int slot) override;
  [[nodiscard]] std::vector<std::uint64_t> hash_outputs(const std::vector<int>& slots) override;

 protected:
  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] virtual const DeviceBuffer& output(int slot) const = 0;

 private:
  cudaStream_t stream_;
  DeviceBuffer hashes_;
};

}  // namespace assay
