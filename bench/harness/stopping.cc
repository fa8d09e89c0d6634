// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/stopping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/statistics.h"

namespace assay {

double relative_half_width(std::vector<double> samples) {
  const auto n = static_cast<double>(samples.size());
  if (samples.size() < 6) return std::numeric_limits<double>::infinity();
  std::sort(samples.begin(), samples.end());
  // Ranks n/2 -+ 0.98 sqrt(n): the normal approximation of the binomial.
  const double reach = 0.98 * std::sqrt(n);
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(n / 2 - reach)));
  const auto high =
      std::min(samples.size() - 1, static_cast<std::size_t>(std::ceil(n / 2 + reach)));
  return (samples[high] - samples[low]) / 2 / median(samples);
}

std::string StoppingRule::text() const {
  return fmt::format(
      "{} samples x {} launches, more until the median's half-width is {:g} %, at most {} or {:g} "
      "s",
      samples, per_sample, 100 * half_width, max_samples, cap_s);
}

std::optional<std::string> StoppingRule::reached(const std::vector<double>& taken,
                                                 double elapsed_s) const {
  const auto count = static_cast<int>(taken.size());
  if (count >= samples) {
    const double now = relative_half_width(taken);
    if (now <= half_width) {
      return fmt::format("{} samples, half-width {:.2g} %", count, 100 * now);
    }
    if (count >= max_samples) return fmt::format("the most samples allowed, {}", count);
  }
  if (elapsed_s >= cap_s && count > 0) return "wall-time cap";
  return std::nullopt;
}

void Settling::add(double at_s, std::optional<double> clock_mhz, std::optional<double> power_w) {
  readings_.push_back({at_s, clock_mhz, power_w});
  while (readings_.front().at_s < at_s - 2 * rule_.spell_s) readings_.pop_front();
}

Settling::Change Settling::change(std::optional<double> Reading::* quantity, double at_s) const {
  std::vector<double> before;
  std::vector<double> after;
  for (const Reading& reading : readings_) {
    if (!(reading.*quantity)) continue;
    (reading.at_s < at_s - rule_.spell_s ? before : after).push_back(*(reading.*quantity));
  }
  if (before.empty() || after.empty()) return {};
  return {true, moments(after).mean / moments(before).mean - 1};
}

std::optional<std::string> Settling::reached(double at_s) const {
  const Change clock = change(&Reading::clock_mhz, at_s);
  const Change power = change(&Reading::power_w, at_s);
  const bool any = std::any_of(readings_.begin(), readings_.end(), [](const Reading& reading) {
    return reading.clock_mhz || reading.power_w;
  });
  if (!any) {
    if (at_s < rule_.blind_s) return std::nullopt;
    return fmt::format("declared {:g} s: neither clock nor power is readable", rule_.blind_s);
  }
  const bool steady = (clock.known || power.known) &&
                      (!clock.known || std::abs(clock.relative) <= rule_.clock_tolerance) &&
                      (!power.known || std::abs(power.relative) <= rule_.power_tolerance);
  if (steady && at_s >= rule_.least_s) {
    return fmt::format("steady: clock {}, power {} over {:g} s",
                       clock.known ? fmt::format("{:+.1f} %", 100 * clock.relative) : "unread",
                       power.known ? fmt::format("{:+.1f} %", 100 * power.relative) : "unread",
                       rule_.spell_s);
  }
  if (at_s >= rule_.most_s) return fmt::format("not steady after {:g} s", rule_.most_s);
  return std::nullopt;
}

}  // namespace assay
