// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/sampler.h"

#include <fmt/format.h>

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

// From the first reading of the energy counter to the last. The driver advances it every 0.1 s: in
// a shorter window it may stand still, which is no energy of 0, and in one not much longer either
// end is off by up to that much.
void add_energy(Telemetry& telemetry, const std::vector<SensorReading>& readings) {
  const SensorReading* first = nullptr;
  const SensorReading* last = nullptr;
  for (const SensorReading& reading : readings) {
    if (!reading.energy_j) continue;
    if (first == nullptr) first = &reading;
    last = &reading;
  }
  if (first == nullptr) {
    telemetry.unknown.emplace("energy_j", "the counter was not read");
    return;
  }
  const double seconds = last->at_s - first->at_s;
  const double joules = *last->energy_j - *first->energy_j;
  if (joules < 0) {
    telemetry.unknown["energy_j"] = "the counter went down in the window";
  } else if (seconds < kLeastEnergy_s) {
    telemetry.unknown["energy_j"] = fmt::format(
        "the counter was read over {:.2f} s, less than {:g} s", seconds, kLeastEnergy_s);
  } else if (joules == 0) {
    telemetry.unknown["energy_j"] = "the counter did not move in the window";
  } else {
    telemetry.energy_j = joules;
    telemetry.energy_s = seconds;
  }
}

}  // namespace

Telemetry summarise(const std::vector<SensorReading>& readings) {
  Telemetry telemetry;
  telemetry.samples = static_cast<int>(readings.size());
  telemetry.sm_clock_mhz = range_of(readings, &SensorReading::sm_clock_mhz);
  telemetry.memory_clock_mhz = range_of(readings, &SensorReading::memory_clock_mhz);
  telemetry.power_w = range_of(readings, &SensorReading::power_w);
  telemetry.temperature_c = range_of(readings, &SensorReading::temperature_c);
  telemetry.utilisation_pct = range_of(readings, &SensorReading::utilisation_pct);
  telemetry.memory_used_bytes = range_of(readings, &SensorReading::memory_used_bytes);
  telemetry.pcie_generation = range_of(readings, &SensorReading::pcie_generation);
  telemetry.pcie_width = range_of(readings, &SensorReading::pcie_width);
  for (const SensorReading& reading : readings) {
    for (const std::string& reason : reading.event_reasons) telemetry.event_reasons[reason] += 1;
    for (const auto& [quantity, why] : reading.unknown) telemetry.unknown.emplace(quantity, why);
  }
  for (auto& [reason, share] : telemetry.event_reasons) share /= telemetry.samples;
  add_energy(telemetry, readings);
  return telemetry;
}

TelemetrySampler::TelemetrySampler(Sensor& sensor, const Clock& clock, double period_s)
    : sensor_(sensor), clock_(clock), thread_([this, period_s](const std::stop_token& stop) {
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock lock(mutex);
        do {
          read_now();
          wake.wait_for(lock, stop, std::chrono::duration<double>(period_s), [] { return false; });
        } while (!stop.stop_requested());
      }) {}

void TelemetrySampler::read_now() {
  const std::scoped_lock lock(mutex_);
  const double at_s = clock_.now_s();
  readings_.push_back(sensor_.read());
  readings_.back().at_s = at_s;
}

TelemetrySampler::~TelemetrySampler() = default;

std::optional<SensorReading> TelemetrySampler::latest() const {
  const std::scoped_lock lock(mutex_);
  if (readings_.empty()) return std::nullopt;
  return readings_.back();
}

std::optional<double> TelemetrySampler::mean_sm_clock_mhz(const Window& window) const {
  const std::scoped_lock lock(mutex_);
  std::vector<SensorReading> inside;
  for (const SensorReading& reading : readings_) {
    if (window.holds(reading.at_s)) inside.push_back(reading);
  }
  const std::optional<Range> range = range_of(inside, &SensorReading::sm_clock_mhz);
  return range ? std::optional(range->mean) : std::nullopt;
}

Telemetry TelemetrySampler::stop(const std::vector<Window>& windows) {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  std::vector<SensorReading> inside;
  for (const SensorReading& reading : readings_) {
    const bool timed = std::any_of(windows.begin(), windows.end(), [&](const Window& window) {
      return window.holds(reading.at_s);
    });
    if (timed) inside.push_back(reading);
  }
  return summarise(inside);
}

}  // namespace assay
