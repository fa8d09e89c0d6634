// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Two copies at once, as one launch on a stream: events of that stream enclose both.
//
//   BothWays both(stream);
//   both.run([&](cudaStream_t s) { there(s); }, [&](cudaStream_t s) { back(s); });
#pragma once

#include "bench/harness/cuda/handles.h"

namespace assay {

class BothWays {
 public:
  explicit BothWays(cudaStream_t stream)
      : stream_(stream), other_(make_stream()), started_(make_event()), ended_(make_event()) {}

  // `second` is queued on a stream of its own, which waits for what came before `first` and is
  // waited for after it. Events may be used again at once: a wait is for the record before it.
  template <class First, class Second>
  void run(const First& first, const Second& second) {
    check_cuda(cudaEventRecord(started_.get(), stream_), "cudaEventRecord");
    check_cuda(cudaStreamWaitEvent(other_.get(), started_.get(), 0), "cudaStreamWaitEvent");
    first(stream_);
    second(other_.get());
    check_cuda(cudaEventRecord(ended_.get(), other_.get()), "cudaEventRecord");
    check_cuda(cudaStreamWaitEvent(stream_, ended_.get(), 0), "cudaStreamWaitEvent");
  }

 private:
  cudaStream_t stream_;
  CudaStream other_;
  CudaEvent started_;
  CudaEvent ended_;
};

}  // namespace assay
