// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A buffer that every launch reads again and again.
#pragma once

#include "bench/harness/cuda/cuda_case.h"
#include "bench/harness/cuda/device.h"
#include "bench/memory/l2_spec.h"
#include "kernels/reread.h"

namespace assay {

// Every thread that the device holds at once, so many accesses that starting them costs less than
// a hundredth; a buffer that is larger than these is read whole.
[[nodiscard]] RereadShape reread_shape(const L2Spec& spec, const CudaDevice& device);

class L2Case : public CudaCase {
 public:
  // Throws Skip where the buffer does not fit into what is free.
  L2Case(const L2Spec& spec, const RereadShape& shape, cudaStream_t stream);

  [[nodiscard]] int slots() const override { return 1; }
  void launch(int slot) override;
  [[nodiscard]] Verification verify(int slot, int attempt) override;

  [[nodiscard]] void* buffer() const { return buffer_.data(); }  // for tests, which plant faults

 protected:
  [[nodiscard]] const DeviceBuffer& output(int) const override { return sums_; }

 private:
  RereadShape shape_;
  DeviceBuffer buffer_, sums_, mismatches_;
};

}  // namespace assay
