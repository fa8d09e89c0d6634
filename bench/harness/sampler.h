// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Reads a sensor on a thread of its own while a case runs, and keeps what falls into the windows
// that were timed.
//
//   TelemetrySampler sampler(sensor, clock, 0.005);
//   ... warm-up, rests, timed windows ...
//   Telemetry telemetry = sampler.stop(windows);
#pragma once

#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "bench/harness/clock.h"
#include "bench/node/sensor.h"
#include "reports/record.h"

namespace assay {

// Energy over less time than this is unknown: its counter advances every 0.1 s.
inline constexpr double kLeastEnergy_s = 0.5;

// Ranges over the readings, in the order in which they were made; a quantity that no reading had is
// null with its reason.
[[nodiscard]] Telemetry summarise(const std::vector<SensorReading>& readings);

// In the harness's clock.
struct Window {
  double begin_s = 0;
  double end_s = 0;
  [[nodiscard]] bool holds(double at_s) const { return begin_s <= at_s && at_s <= end_s; }
};

class TelemetrySampler {
 public:
  // `clock` is read from the thread.
  TelemetrySampler(Sensor& sensor, const Clock& clock, double period_s);
  ~TelemetrySampler();
  // The thread holds a reference to this object.
  TelemetrySampler(const TelemetrySampler&) = delete;
  TelemetrySampler& operator=(const TelemetrySampler&) = delete;

  // One more reading, now: a window shorter than the period has one at its end.
  void read_now();
  [[nodiscard]] std::optional<SensorReading> latest() const;
  // Of the readings in the window; null if it has none with a clock.
  [[nodiscard]] std::optional<double> mean_sm_clock_mhz(const Window& window) const;

  // Ends the thread.
  [[nodiscard]] Telemetry stop(const std::vector<Window>& windows);

 private:
  Sensor& sensor_;
  const Clock& clock_;
  mutable std::mutex mutex_;  // of the readings and the sensor
  std::vector<SensorReading> readings_;
  std::jthread thread_;
};

}  // namespace assay
