// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/cuda/event_timer.h"

namespace assay {

std::vector<double> EventTimer::sample(int samples, int per_sample, const LaunchFunction& launch) {
  const auto count = static_cast<std::size_t>(samples);
  while (events_.size() < count + 1) events_.push_back(make_event());
  check_cuda(cudaEventRecord(events_[0].get(), stream_), "cudaEventRecord");
  int next = 0;
  for (std::size_t s = 0; s < count; ++s) {
    for (int i = 0; i < per_sample; ++i) launch(next++);
    check_cuda(cudaEventRecord(events_[s + 1].get(), stream_), "cudaEventRecord");
  }
  check_cuda(cudaEventSynchronize(events_[count].get()), "cudaEventSynchronize");
  std::vector<double> seconds(count);
  for (std::size_t s = 0; s < count; ++s) {
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, events_[s].get(), events_[s + 1].get()),
               "cudaEventElapsedTime");
    seconds[s] = static_cast<double>(ms) * 1e-3 / per_sample;
  }
  return seconds;
}

void EventTimer::wait() { check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

}  // namespace assay
