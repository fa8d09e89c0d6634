// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/node/counters.h"

#include <fmt/format.h>

#include <optional>

namespace assay {
namespace {

// The driver advances its time counters in steps of 0.1 s. thermal_slowdown_ns is the sum of two
// causes that may hold at once.
constexpr double kStep_s = 0.5;
constexpr double kCausesAtOnce = 2;

// Why the gain of a counter is not known; empty if it is.
std::string doubt(const std::string& name, std::int64_t before, std::int64_t after,
                  std::optional<double> elapsed_s) {
  if (after < before) return fmt::format("went down from {} to {}", before, after);
  const double gain_s = static_cast<double>(after - before) * 1e-9;
  if (name.ends_with("_ns") && elapsed_s && gain_s > kCausesAtOnce * *elapsed_s + kStep_s) {
    return fmt::format("implausible: +{} ns in {:.3f} s", after - before, *elapsed_s);
  }
  return {};
}

}  // namespace

void add_deltas(Telemetry& telemetry, const CounterReading& before, const CounterReading& after) {
  if (before.at_s > 0 && after.at_s >= before.at_s) telemetry.load_s = after.at_s - before.at_s;
  for (const auto& [name, value] : after.values) {
    const auto earlier = before.values.find(name);
    if (earlier == before.values.end()) {
      const auto why = before.unknown.find(name);
      telemetry.unknown[name] =
          "before the load: " + (why == before.unknown.end() ? "not read" : why->second);
      continue;
    }
    const std::string why = doubt(name, earlier->second, value, telemetry.load_s);
    if (why.empty()) {
      telemetry.deltas[name] = value - earlier->second;
    } else {
      telemetry.unknown[name] = why;
    }
  }
  for (const auto& [name, value] : before.values) {
    if (after.values.contains(name)) continue;
    const auto why = after.unknown.find(name);
    telemetry.unknown[name] =
        "after the load: " + (why == after.unknown.end() ? "not read" : why->second);
  }
  for (const auto& [name, why] : after.unknown) telemetry.unknown.emplace(name, why);
  for (const auto& [name, why] : before.unknown) telemetry.unknown.emplace(name, why);
}

}  // namespace assay
