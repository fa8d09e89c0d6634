// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Base of the tests that need a GPU: skipped, with the reason, where there is none.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "bench/harness/case.h"
#include "bench/harness/cuda/device.h"
#include "bench/harness/cuda/handles.h"

namespace assay {

class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = open_cuda_device();
      stream_ = make_stream();
    } catch (const Skip& skip) {
      GTEST_SKIP() << skip.what();
    }
  }
  [[nodiscard]] cudaStream_t stream() const { return stream_->get(); }

  template <class T>
  [[nodiscard]] std::vector<T> download(const void* data, std::size_t count) const {
    std::vector<T> host(count);
    check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    check_cuda(cudaMemcpy(host.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost),
               "cudaMemcpy");
    return host;
  }
  template <class T>
  void upload(void* data, std::size_t index, T value) const {
    check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    check_cuda(cudaMemcpy(static_cast<T*>(data) + index, &value, sizeof(T), cudaMemcpyHostToDevice),
               "cudaMemcpy");
  }

  CudaDevice device_;
  std::optional<CudaStream> stream_;
};

}  // namespace assay
