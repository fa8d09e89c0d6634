// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The gated timer, but for launches that wait for their end, as copies of pageable memory do: a
// gate would hold them for ever, and they are timed step by step by the host's clock.
//
//   LinkTimer timer(gated, clock, [](const std::string& id) { return ...; });
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/timer.h"

namespace assay {

class LinkTimer : public Timer {
 public:
  // `waits` says of a case, by its id, whether its launches wait.
  LinkTimer(Timer& gated, const Clock& clock, std::function<bool(const std::string&)> waits)
      : gated_(gated), step_(clock), waits_(std::move(waits)), current_(&gated) {}

  [[nodiscard]] const char* name() const override { return current_->name(); }
  void begin_case(const std::string& id) override {
    gated_.begin_case(id);
    current_ = waits_(id) ? static_cast<Timer*>(&step_) : &gated_;
  }
  void start_profiling() override { gated_.start_profiling(); }
  [[nodiscard]] int capacity() const override { return gated_.capacity(); }
  [[nodiscard]] std::vector<double> sample(int samples, int per_sample,
                                           const LaunchFunction& launch) override {
    // What was queued before (a poisoned output) is not part of the first step.
    if (current_ == &step_) gated_.wait();
    return current_->sample(samples, per_sample, launch);
  }
  void run(int launches, const LaunchFunction& launch) override { current_->run(launches, launch); }
  void wait() override { gated_.wait(); }
  void start_clock() override { gated_.start_clock(); }
  [[nodiscard]] std::optional<double> clock_mhz() override { return gated_.clock_mhz(); }

 private:
  Timer& gated_;
  StepTimer step_;
  std::function<bool(const std::string&)> waits_;
  Timer* current_;
};

}  // namespace assay
