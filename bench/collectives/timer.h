// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Time of collective operations: that of the host around a batch of launches and the wait for the
// stream's end, as nccl-tests takes it. A gate would hold back this rank's part only while the
// others' wait for it on the device.
//
//   StreamStepTimer timer(gated, clock, [&] { group.wait(stream); });
//
// Each call of sample() begins with one launch that is not timed. Of a sum or a gather no rank
// leaves it before all have come, so that all begin the first sample together, and each later one
// because they ended the one before together. Of a broadcast or a ring of sends ranks may run ahead
// of each other by what the library buffers; the group's time is the slowest rank's.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/timer.h"

namespace assay {

class StreamStepTimer : public Timer {
 public:
  // `device` serves what is not time: names, the device's clock. `wait` returns when the stream is
  // empty, and throws if it does not become so.
  StreamStepTimer(Timer& device, const Clock& clock, std::function<void()> wait)
      : device_(device), clock_(clock), wait_(std::move(wait)) {}

  [[nodiscard]] const char* name() const override { return "step"; }
  void begin_case(const std::string& id) override { device_.begin_case(id); }
  void start_profiling() override { device_.start_profiling(); }
  [[nodiscard]] int capacity() const override { return device_.capacity(); }
  [[nodiscard]] std::vector<double> sample(int samples, int per_sample,
                                           const LaunchFunction& launch) override {
    int next = 0;
    launch(next++);
    wait_();
    std::vector<double> seconds;
    seconds.reserve(static_cast<std::size_t>(samples));
    for (int s = 0; s < samples; ++s) {
      const double start = clock_.now_s();
      for (int i = 0; i < per_sample; ++i) launch(next++);
      wait_();
      seconds.push_back((clock_.now_s() - start) / per_sample);
    }
    return seconds;
  }
  void run(int launches, const LaunchFunction& launch) override {
    for (int i = 0; i < launches; ++i) launch(i);
    wait_();
  }
  void wait() override { wait_(); }
  void start_clock() override { device_.start_clock(); }
  [[nodiscard]] std::optional<double> clock_mhz() override { return device_.clock_mhz(); }

 private:
  Timer& device_;
  const Clock& clock_;
  std::function<void()> wait_;
};

}  // namespace assay
