// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Reads a sensor on a thread of its own while a window is timed.
//
//   TelemetrySampler sampler(sensor, 0.01);
//   ... timed window ...
//   Telemetry telemetry = sampler.stop();
#pragma once

#include <mutex>
#include <thread>
#include <vector>

#include "bench/node/sensor.h"
#include "reports/record.h"

namespace assay {

// Ranges over the readings; a quantity that no reading had is null with its reason.
[[nodiscard]] Telemetry summarise(const std::vector<SensorReading>& readings);

class TelemetrySampler {
 public:
  TelemetrySampler(Sensor& sensor, double period_s);
  ~TelemetrySampler();
  // The thread holds a reference to this object.
  TelemetrySampler(const TelemetrySampler&) = delete;
  TelemetrySampler& operator=(const TelemetrySampler&) = delete;

  // Ends the thread; at least one reading is taken, however short the window.
  [[nodiscard]] Telemetry stop();

 private:
  std::vector<SensorReading> readings_;  // of the thread until it has been joined
  std::jthread thread_;
};

}  // namespace assay
