// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// How launches become times. `events` (cuda/event_timer.h) serves asynchronous work on one stream;
// `step` serves work that synchronises by itself or runs on the host.
#pragma once

#include <functional>
#include <vector>

#include "bench/harness/clock.h"

namespace assay {

using LaunchFunction = std::function<void(int launch)>;  // called with 0, 1, 2, ...

class Timer {
 public:
  virtual ~Timer() = default;
  [[nodiscard]] virtual const char* name() const = 0;

  // Launches `samples` x `per_sample` times without a gap between samples, waits for the end, and
  // gives the seconds a launch of each sample (its mean). Errors of the launches are thrown here.
  [[nodiscard]] virtual std::vector<double> sample(int samples, int per_sample,
                                                   const LaunchFunction& launch) = 0;
  // Waits for everything launched; throws what went wrong meanwhile.
  virtual void wait() = 0;
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
