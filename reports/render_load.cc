// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/render_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace assay {
namespace {

struct Counter {
  std::optional<std::int64_t> GpuHealth::* health;  // round the whole run
  const char* delta;                                // round each case
};

// By the reading that saw more: a counter may fail in between, or gain between two cases.
std::optional<std::int64_t> gain_of(const Report& report, const GpuInventory& gpu,
                                    const Counter& counter) {
  std::optional<std::int64_t> gain =
      counter_gain(gpu.before.*counter.health, gpu.after.*counter.health);
  std::int64_t cases = 0;
  bool counted = false;
  bool whole = true;
  for (const Record& record : report.records) {
    if (record.device.uuid != gpu.uuid) continue;
    const auto delta = record.telemetry.deltas.find(counter.delta);
    const bool known = delta != record.telemetry.deltas.end();
    counted = counted || known;
    whole = whole && known && !record.telemetry.unknown.contains(counter.delta);
    if (known) cases += delta->second;
  }
  // A part of the cases that counted nothing says nothing of the others.
  if (counted && (whole || cases > 0)) gain = std::max(gain.value_or(cases), cases);
  return gain;
}

std::string total_text(const Report& report, std::initializer_list<Counter> counters) {
  std::int64_t sum = 0;
  bool all = true;
  for (const GpuInventory& gpu : report.inventory.gpus) {
    for (const Counter& counter : counters) {
      const auto gain = gain_of(report, gpu, counter);
      all = all && gain;
      sum += gain.value_or(0);
    }
  }
  if (all) return fmt::format("{:+}", sum);
  return sum > 0 ? fmt::format("{:+} or more", sum) : "not read";
}

std::string xid_text(const Inventory& inventory) {
  std::size_t count = 0;
  bool all = true;
  for (const GpuInventory& gpu : inventory.gpus) {
    all = all && gpu.xids && !gpu.unreadable.contains("xids");
    if (gpu.xids) count += gpu.xids->size();
  }
  if (all) return std::to_string(count);
  return count > 0 ? fmt::format("{} or more", count) : "not read";
}

// The share of the load under the power cap by the card's own counter, else of the samples.
struct Capped {
  double share = 0;
  bool of_time = false;
};

Capped capped_share(const Telemetry& telemetry) {
  const auto counted = telemetry.deltas.find("power_cap_ns");
  if (counted != telemetry.deltas.end() && telemetry.load_s.value_or(0) > 0 &&
      !telemetry.unknown.contains("power_cap_ns")) {
    const double share = static_cast<double>(counted->second) * 1e-9 / *telemetry.load_s;
    return {std::min(1.0, share), true};
  }
  const auto seen = telemetry.event_reasons.find("sw_power_cap");
  return {seen == telemetry.event_reasons.end() ? 0 : seen->second, false};
}

std::string power_text(const Report& report) {
  std::optional<Capped> most;
  for (const Record& record : report.records) {
    if (record.device.is_host() || record.conditions.power != Power::kSustained ||
        record.telemetry.samples == 0) {
      continue;
    }
    const Capped capped = capped_share(record.telemetry);
    if (!most || capped.share > most->share) most = capped;
  }
  if (!most) return {};
  std::string text = fmt::format("; power cap in up to {:.0f} % of the {}", 100 * most->share,
                                 most->of_time ? "time" : "samples");
  const auto& gpus = report.inventory.gpus;
  const bool at_default = std::ranges::all_of(gpus, [](const GpuInventory& gpu) {
    return gpu.power_limit_w && gpu.power_limit_w == gpu.power_limit_default_w;
  });
  if (at_default && most->share > 0 && !gpus.empty()) {
    text += fmt::format(" (normal at {:.0f} W)", *gpus.front().power_limit_w);
  }
  return text;
}

}  // namespace

std::string counters_text(const Report& report) {
  using H = GpuHealth;
  return fmt::format(
      "Xid {}  ECC {}  remap {}  PCIe replay {}  NVLink {}", xid_text(report.inventory),
      total_text(report, {{&H::ecc_corrected_volatile, "ecc_corrected"},
                          {&H::ecc_uncorrected_volatile, "ecc_uncorrected"}}),
      total_text(report, {{&H::remapped_rows_corrected, "remapped_rows_corrected"},
                          {&H::remapped_rows_uncorrected, "remapped_rows_uncorrected"}}),
      total_text(report, {{&H::pcie_replays, "pcie_replays"}}),
      total_text(report, {{&H::nvlink_replays, "nvlink_replays"},
                          {&H::nvlink_recoveries, "nvlink_recoveries"},
                          {&H::nvlink_crc_errors, "nvlink_crc_errors"}}));
}

std::string heat_and_power_text(const Report& report) {
  std::optional<double> hottest;
  for (const Record& record : report.records) {
    const auto& temperature = record.telemetry.temperature_c;
    if (record.device.is_host() || !temperature) continue;
    hottest = std::max(hottest.value_or(temperature->max), temperature->max);
  }
  std::optional<double> slowdown;
  for (const GpuInventory& gpu : report.inventory.gpus) {
    if (!gpu.slowdown_temperature_c) continue;
    slowdown =
        std::min(slowdown.value_or(*gpu.slowdown_temperature_c), *gpu.slowdown_temperature_c);
  }
  std::string text = hottest ? fmt::format("hottest {:.0f} C", *hottest) : "temperature not read";
  if (hottest && slowdown) text += fmt::format(", {:.0f} C below slowdown", *slowdown - *hottest);
  return text + power_text(report);
}

}  // namespace assay
