// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The timer for asynchronous work on one stream. A gate holds the stream back until all launches
// of a call and the events between its samples are queued; then it opens, and the device runs
// through them without waiting for the host: what is timed is the card, not the launching.
//
//   host    | queue gate, event, launches, event, launches, event | open | wait for the last event
//   device  |         held by the gate ...                               | sample 1 | sample 2 |
//
// A launch that waits for the stream, or queues more than the stream holds, would wait for the gate
// and the gate for it: the gate then gives up after kGateTimeout_s and sample() throws, with the
// stream drained. Event resolution is about 0.5 us; the harness batches shorter launches.
#pragma once

#include <string>
#include <vector>

#include "bench/harness/cuda/handles.h"
#include "bench/harness/timer.h"
#include "kernels/gate.h"

namespace assay {

inline constexpr double kGateTimeout_s = 2.0;

class GatedTimer : public Timer {
 public:
  GatedTimer(cudaStream_t stream, int sm_count);

  [[nodiscard]] const char* name() const override { return gated_ ? "gated" : "events"; }
  // Names the ranges of the samples (NVTX, domain "assay") and gives back the L2 that an earlier
  // case may have set aside.
  void begin_case(const std::string& id) override;
  void start_profiling() override { gated_ = false; }

  // A stream holds 1024 operations and more on today's drivers; a launch may be three of them.
  [[nodiscard]] int capacity() const override { return 200; }
  [[nodiscard]] std::vector<double> sample(int samples, int per_sample,
                                           const LaunchFunction& launch) override;
  void run(int launches, const LaunchFunction& launch) override;
  void wait() override;

  void start_clock() override;
  [[nodiscard]] std::optional<double> clock_mhz() override;

 private:
  void queue(int samples, int per_sample, const LaunchFunction& launch);
  void shut_gate();
  void open_gate();
  void refuse_if_timed_out() const;

  cudaStream_t stream_;
  bool gated_ = true;
  std::string id_;
  PinnedBuffer gate_;
  std::uint32_t ticket_ = 0;
  std::vector<CudaEvent> events_;  // kept, since creating one costs more than recording it
  int sm_count_;
  DeviceBuffer stamps_;  // start, then end: sm_count each
};

}  // namespace assay
