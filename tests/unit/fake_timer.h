// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A timer and a sensor whose readings a test sets.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/timer.h"
#include "bench/node/sensor.h"
#include "tests/unit/fake_clock.h"

namespace assay {

class FakeTimer : public Timer {
 public:
  explicit FakeTimer(FakeClock& clock) : clock_(clock) {}
  [[nodiscard]] const char* name() const override { return "fake"; }
  [[nodiscard]] std::vector<double> sample(int samples, int per_sample,
                                           const LaunchFunction& launch) override {
    largest_call = std::max(largest_call, samples * per_sample);
    return ungated(samples, per_sample, launch);
  }
  void run(int launches, const LaunchFunction& launch) override {
    (void)ungated(1, launches, launch);
  }
  std::vector<double> ungated(int samples, int per_sample, const LaunchFunction& launch) {
    for (int i = 0; i < samples * per_sample; ++i) launch(i);
    clock_.advance(samples * per_sample * (launch_s + untimed_s));
    return std::vector<double>(static_cast<std::size_t>(samples), gives.value_or(launch_s));
  }
  void wait() override {}
  void begin_case(const std::string& id) override { began = id; }
  [[nodiscard]] int capacity() const override { return most_launches; }
  [[nodiscard]] std::optional<double> clock_mhz() override { return mhz(); }
  std::string began;
  int most_launches = 200;
  int largest_call = 0;
  std::function<std::optional<double>()> mhz = [] { return 1500.0; };
  double launch_s = 0.001;
  std::optional<double> gives;  // instead of launch_s
  double untimed_s = 0;         // wall time a launch that no event sees

 private:
  FakeClock& clock_;
};

class FakeSensor : public Sensor {
 public:
  [[nodiscard]] SensorReading read() override {
    SensorReading reading;
    if (lost) {
      reading.unknown["sm_clock_mhz"] = "GPU is lost";
      return reading;
    }
    reading.sm_clock_mhz = mhz.load();
    reading.unknown["power_w"] = "nvmlDeviceGetPowerUsage: Not Supported";
    if (energy_j) reading.energy_j = energy_j();
    return reading;
  }
  [[nodiscard]] CounterReading counters() override {
    CounterReading reading;
    reading.at_s = 10.0 * ++reads;
    reading.values["pcie_replays"] = 5 * reads;
    return reading;
  }
  std::atomic<double> mhz = 1500;
  std::function<double()> energy_j;  // set before the case runs; none: no such counter
  int reads = 0;
  std::atomic<bool> lost = false;
};

}  // namespace assay
