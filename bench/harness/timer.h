// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// How launches become times. `gated` (cuda/gated_timer.h) serves asynchronous work on one stream;
// `step` serves work that synchronises by itself (NCCL, LibTorch) or runs on the host.
//
//   timer.begin_case("gemm/bf16/...");
//   timer.run(20, launch);                                  // warm-up: not timed
//   timer.start_clock();
//   std::vector<double> seconds = timer.sample(10, 4, launch);   // 10 samples of 4 launches
//   std::optional<double> mhz = timer.clock_mhz();          // over what ran in between
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/clock.h"

namespace assay {

using LaunchFunction = std::function<void(int launch)>;  // called with 0, 1, 2, ...

class Timer {
 public:
  virtual ~Timer() = default;
  [[nodiscard]] virtual const char* name() const = 0;

  // Names what is launched from now on, for profilers, and puts the device into its usual state.
  virtual void begin_case(const std::string& id) { (void)id; }
  // For the rest of the process: launches may be run one by one (by a profiler that replays them).
  virtual void start_profiling() {}

  // The most launches of one call of sample().
  [[nodiscard]] virtual int capacity() const { return std::numeric_limits<int>::max(); }
  // Launches `samples` x `per_sample` times without a gap between samples, waits for the end, and
  // gives the seconds a launch of each sample (its mean). Errors of the launches are thrown here.
  [[nodiscard]] virtual std::vector<double> sample(int samples, int per_sample,
                                                   const LaunchFunction& launch) = 0;
  // Launches and waits for the end, for warm-up.
  virtual void run(int launches, const LaunchFunction& launch) {
    (void)sample(1, launches, launch);
  }
  // Waits for everything launched; throws what went wrong meanwhile.
  virtual void wait() = 0;

  // The mean clock of the processors since start_clock(), from their own cycle counters; null
  // where the device has none or under 1 ms, which would be too coarse.
  virtual void start_clock() {}
  [[nodiscard]] virtual std::optional<double> clock_mhz() { return std::nullopt; }
};

// Wall time around launches that return when their work is done.
class StepTimer : public Timer {
 public:
  explicit StepTimer(const Clock& clock) : clock_(clock) {}
  [[nodiscard]] const char* name() const override { return "step"; }
  [[nodiscard]] std::vector<double> sample(int samples, int per_sample,
                                           const LaunchFunction& launch) override;
  void wait() override {}

 private:
  const Clock& clock_;
};

}  // namespace assay
