// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/sampler.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <stop_token>

namespace assay {
namespace {

std::optional<Range> range_of(const std::vector<SensorReading>& readings,
                              std::optional<double> SensorReading::* quantity) {
  std::optional<Range> range;
  int count = 0;
  for (const SensorReading& reading : readings) {
    const std::optional<double>& value = reading.*quantity;
    if (!value) continue;
    ++count;
    if (!range) {
      range = Range{*value, *value, *value};
      continue;
    }
    range->min = std::min(range->min, *value);
    range->max = std::max(range->max, *value);
    range->mean += (*value - range->mean) / count;
  }
  return range;
}

}  // namespace

Telemetry summarise(const std::vector<SensorReading>& readings) {
  Telemetry telemetry;
  telemetry.samples = static_cast<int>(readings.size());
  telemetry.sm_clock_mhz = range_of(readings, &SensorReading::sm_clock_mhz);
  telemetry.memory_clock_mhz = range_of(readings, &SensorReading::memory_clock_mhz);
  telemetry.power_w = range_of(readings, &SensorReading::power_w);
  telemetry.temperature_c = range_of(readings, &SensorReading::temperature_c);
  for (const SensorReading& reading : readings) {
    for (const std::string& reason : reading.event_reasons) telemetry.event_reasons[reason] += 1;
    for (const auto& [quantity, why] : reading.unknown) telemetry.unknown.emplace(quantity, why);
  }
  for (auto& [reason, share] : telemetry.event_reasons) share /= telemetry.samples;
  return telemetry;
}

TelemetrySampler::TelemetrySampler(Sensor& sensor, double period_s)
    : thread_([this, &sensor, period_s](const std::stop_token& stop) {
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock lock(mutex);
        do {
          readings_.push_back(sensor.read());
          wake.wait_for(lock, stop, std::chrono::duration<double>(period_s), [] { return false; });
        } while (!stop.stop_requested());
      }) {}

TelemetrySampler::~TelemetrySampler() = default;

Telemetry TelemetrySampler::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  return summarise(readings_);
}

}  // namespace assay
