// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The timer for asynchronous work on one stream: an event between samples, all queued ahead, so
// that the samples follow each other without a gap. Resolution about 0.5 us.
#pragma once

#include <vector>

#include "bench/harness/cuda/handles.h"
#include "bench/harness/timer.h"

namespace assay {

class EventTimer : public Timer {
 public:
  explicit EventTimer(cudaStream_t stream) : stream_(stream) {}
  [[nodiscard]] const char* name() const override { return "events"; }
  [[nodiscard]] std::vector<double> sample(int samples, int per_sample,
                                           const LaunchFunction& launch) override;
  void wait() override;

 private:
  cudaStream_t stream_;
  std::vector<CudaEvent> events_;  // kept, since creating one costs more than recording it
};

}  // namespace assay
