// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "reports/format_text.h"
#include "reports/judge.h"
#include "reports/judge_rows.h"
#include "reports/merge.h"
#include "reports/peers.h"

namespace assay {
namespace {

// Clocks and timers are read with this error; anything beyond it did not happen.
constexpr double kPlausibleShare = 1.01;
// A card's own highest clock that lies further above the data sheet's is a reading that cannot be:
// believed, it would let any figure pass.
constexpr double kHighestOfSheet = 1.1;
// Of bench/gemm/ceiling_case.h: kernels that issue nothing but matrix instructions or
// multiply-adds.
constexpr std::string_view kCeilingPrefix = "gemm/ceiling/";

void add_reason(Limit& limit, const std::string& reason) {
  if (!limit.reason.empty()) limit.reason += "; ";
  limit.reason += reason;
}

std::string why_unknown(const Record& record, const std::string& quantity) {
  const auto found = record.telemetry.unknown.find(quantity);
  return found == record.telemetry.unknown.end() ? quantity + " was not sampled"
                                                 : quantity + ": " + found->second;
}

// Transfers on both edges of the clock: MHz x 2 x bits / 8 is 1e6 bytes a second.
double dram_peak_gb_per_s(double clock_mhz, int bus_bits) {
  return 2 * clock_mhz * bus_bits / 8 / 1e3;
}

Limit dram_limit(const GpuSpec& spec, const GpuInventory* gpu, const Record& record) {
  Limit limit;
  limit.datasheet = spec.dram_gb_per_s;
  limit.highest = spec.dram_gb_per_s;
  if (gpu == nullptr || !gpu->memory_bus_bits) {
    add_reason(limit, "bus width unread: the data sheet alone");
    return limit;
  }
  if (gpu->memory_clock_max_mhz) {
    const double peak = dram_peak_gb_per_s(*gpu->memory_clock_max_mhz, *gpu->memory_bus_bits);
    if (peak <= kHighestOfSheet * spec.dram_gb_per_s) {
      limit.highest = std::max(spec.dram_gb_per_s, peak);
    } else {
      add_reason(limit, fmt::format("implausible: {} MHz memory clock at most on {} bits",
                                    *gpu->memory_clock_max_mhz, *gpu->memory_bus_bits));
    }
  } else {
    add_reason(limit, "highest memory clock unread: the data sheet alone");
  }
  if (const auto& clock = record.telemetry.memory_clock_mhz; clock && clock->mean > 0) {
    limit.clock_mhz = clock->mean;
    limit.at_clock = dram_peak_gb_per_s(clock->mean, *gpu->memory_bus_bits);
  } else {
    add_reason(limit, why_unknown(record, "memory_clock_mhz"));
  }
  return limit;
}

Limit compute_limit(const GpuSpec& spec, const GpuInventory* gpu, const Record& record) {
  Limit limit;
  const std::string& pipe = record.work.pipe;
  if (const auto sheet = spec.datasheet_tflops.find(pipe); sheet != spec.datasheet_tflops.end()) {
    limit.datasheet = sheet->second;
  } else {
    add_reason(limit, fmt::format("{} has no data-sheet figure for '{}'", spec.sku, pipe));
  }
  const auto rate = spec.ops_per_clock_per_sm.find(pipe);
  if (rate == spec.ops_per_clock_per_sm.end()) {
    add_reason(limit, fmt::format("{} has no rate for pipe '{}'", spec.sku, pipe));
    return limit;
  }
  const auto tflops_at = [&](double mhz) { return spec.sm_count * rate->second * mhz / 1e6; };
  const double reported = gpu != nullptr ? gpu->sm_clock_max_mhz.value_or(0) : 0;
  const bool believed = reported <= kHighestOfSheet * spec.max_clock_mhz;
  limit.highest = tflops_at(believed ? std::max(spec.max_clock_mhz, reported) : spec.max_clock_mhz);
  if (!believed) add_reason(limit, fmt::format("implausible: {} MHz SM clock at most", reported));
  // The processors count their own cycles over the timed windows; NVML reads now and then.
  std::optional<double> clock_mhz = record.sm_clock_mhz;
  if (!clock_mhz && record.telemetry.sm_clock_mhz) clock_mhz = record.telemetry.sm_clock_mhz->mean;
  if (clock_mhz && *clock_mhz > 0) {
    limit.clock_mhz = clock_mhz;
    limit.at_clock = tflops_at(*clock_mhz);
  } else {
    add_reason(limit, why_unknown(record, "sm_clock_mhz"));
  }
  return limit;
}

// GB/s of one lane one way, after the line code; 0 for a generation that is not known.
double lane_gb_per_s(double generation) {
  constexpr std::array<double, 6> kGigatransfers = {2.5, 5, 8, 16, 32, 64};
  if (!(generation >= 1 && generation < kGigatransfers.size() + 1)) return 0;
  const auto index = static_cast<std::size_t>(generation) - 1;
  const double code = index < 2 ? 8.0 / 10 : index < 5 ? 128.0 / 130 : 242.0 / 256;
  return kGigatransfers[index] * code / 8;
}

double ways_of(std::string_view pipe) { return pipe == kPcieBoth || pipe == kPeerBoth ? 2 : 1; }

// Before the headers of its packets, which take about an eighth.
Limit pcie_limit(const GpuSpec& spec, const GpuInventory* gpu, const Record& record) {
  const double ways = ways_of(record.work.pipe);
  Limit limit;
  limit.datasheet = limit.highest = ways * spec.pcie_gb_per_s;
  if (gpu != nullptr && gpu->pcie_generation_max && gpu->pcie_width_max) {
    const double most = ways * lane_gb_per_s(*gpu->pcie_generation_max) * *gpu->pcie_width_max;
    if (most <= kHighestOfSheet * *limit.datasheet) {
      limit.highest = std::max(*limit.datasheet, most);
    } else {
      add_reason(limit, fmt::format("implausible: PCIe generation {} x{} at most",
                                    *gpu->pcie_generation_max, *gpu->pcie_width_max));
    }
  }
  const Telemetry& telemetry = record.telemetry;
  if (telemetry.pcie_generation && telemetry.pcie_width) {
    const double now =
        ways * lane_gb_per_s(telemetry.pcie_generation->max) * telemetry.pcie_width->max;
    if (now > 0) limit.at_clock = now;
  } else {
    add_reason(limit, why_unknown(record, "pcie_generation"));
  }
  return limit;
}

// Of the links between the two GPUs; of PCIe for a pair that has none.
Limit peer_limit(const Report& report, const GpuSpec& spec, const GpuInventory* gpu,
                 const Record& record) {
  const GpuPeer* pair = find_peer(report.inventory, record.device.uuid, peer_uuid(record));
  const std::optional<bool> nvlink = pair != nullptr ? on_nvlink(*pair) : std::nullopt;
  if (nvlink == false || spec.nvlink_links == 0) return pcie_limit(spec, gpu, record);
  const double ways = ways_of(record.work.pipe);
  const double one = ways * nvlink_gb_per_s(spec);
  Limit limit;
  if (!nvlink) {
    limit.highest = std::max(one * spec.nvlink_links, ways * spec.pcie_gb_per_s);
    limit.reason = "what joins the two GPUs is not known";
    return limit;
  }
  limit.datasheet = limit.highest = one * full_nvlinks(report, *pair, spec);
  if (pair->nvlinks) {
    limit.at_clock = one * *pair->nvlinks;
  } else {
    limit.reason = "the number of NVLinks between the two GPUs is not known";
  }
  return limit;
}

Limit limit_of(const Report& report, const Record& record, const Metric& metric) {
  Limit limit;
  const std::string& pipe = record.work.pipe;
  if (record.device.is_host() || pipe == "host_memory") {
    limit.reason = "no limit is known for the host";
    return limit;
  }
  if (record.work.loads) {
    limit.reason = "no limit is known for a latency";
    return limit;
  }
  if (pipe == "l2") {
    limit.reason = "no limit is known for the L2";
    return limit;
  }
  if (pipe == "c2c") {
    limit.reason = "no limit is known for NVLink-C2C";
    return limit;
  }
  const GpuSpec* spec = find_spec(report, record.device.sku);
  if (spec == nullptr) {
    limit.reason = fmt::format("no data for \"{}\" in configs/gpus", record.device.name);
    return limit;
  }
  const char* unit = pipe == "dram" || is_pcie(pipe) || is_peer(pipe) ? "GB/s" : "TFLOPS";
  if (metric.unit != unit) {
    limit.reason =
        fmt::format("the limit of pipe '{}' is in {}, the metric in {}", pipe, unit, metric.unit);
    return limit;
  }
  const GpuInventory* gpu = find_gpu(report, record.device.uuid);
  limit = pipe == "dram"  ? dram_limit(*spec, gpu, record)
          : is_pcie(pipe) ? pcie_limit(*spec, gpu, record)
          : is_peer(pipe) ? peer_limit(report, *spec, gpu, record)
                          : compute_limit(*spec, gpu, record);
  if (limit.datasheet) limit.share_of_datasheet = metric.value / *limit.datasheet;
  if (limit.at_clock) limit.share_at_clock = metric.value / *limit.at_clock;
  return limit;
}

bool is_wrong(const Record& record) {
  const Verification& check = record.verification;
  if (check.status == VerificationStatus::kWrong || record.wrong_runs >= 2) return true;
  // A binary that says "verified" beside an error out of tolerance is not believed.
  return check.error && check.tolerance && !(*check.error <= *check.tolerance);
}

// Why a run value cannot be real; empty if each can.
std::string implausible(const Metric& metric, const Limit& limit) {
  for (const double value : metric.values) {
    if (!std::isfinite(value) || !(value > 0)) {
      return fmt::format("a run gave {} {}: the measurement broke", value, metric.unit);
    }
    if (limit.highest && !(value <= kPlausibleShare * *limit.highest)) {
      return fmt::format(
          "a run gave {} {}, above {} x {}, the most that the card can do: check work, timer and "
          "cache",
          figure(value), metric.unit, kPlausibleShare, figure(*limit.highest));
    }
  }
  return {};
}

void derive(const Report& report, Record& record) {
  for (auto& [name, metric] : record.metrics) close_metric(metric);
  const Metric* metric = primary_metric(record);
  record.limit = metric != nullptr ? limit_of(report, record, *metric) : Limit{};
  if (metric == nullptr) record.limit.reason = "not measured";
  record.judged.warnings.clear();
  if (const std::string why = why_no_burst(record); !why.empty()) {
    record.judged.warnings.push_back(why);
  }
  if (record.status != RecordStatus::kOk && record.status != RecordStatus::kInvalid) return;

  if (is_wrong(record)) {
    record.status = RecordStatus::kInvalid;
    if (record.message.empty()) record.message = "wrong result: " + record.verification.detail;
    return;
  }
  const std::string why = metric != nullptr ? implausible(*metric, record.limit) : std::string();
  record.status = why.empty() ? RecordStatus::kOk : RecordStatus::kInvalid;
  record.message = why;
}

bool is_ceiling(const Record& record) { return record.id.starts_with(kCeilingPrefix); }

// The highest that this card reached on the record's pipe; null if no ceiling can be believed.
const Record* ceiling_of(const Report& report, const Record& record) {
  const Record* highest = nullptr;
  for (const Record& other : report.records) {
    if (!is_ceiling(other) || other.device.uuid != record.device.uuid ||
        other.work.pipe != record.work.pipe || other.conditions != record.conditions ||
        other.status != RecordStatus::kOk ||
        other.verification.status != VerificationStatus::kVerified) {
      continue;
    }
    const Metric* metric = primary_metric(other);
    if (metric == nullptr || metric->values.empty()) continue;
    if (highest == nullptr || metric->value > primary_metric(*highest)->value) highest = &other;
  }
  return highest;
}

// After the status of every record is settled: a ceiling that cannot be real is none.
void add_ceiling(const Report& report, Record& record) {
  const Metric* metric = primary_metric(record);
  if (metric == nullptr || metric->values.empty() || record.work.operations <= 0 ||
      is_ceiling(record)) {
    return;
  }
  const Record* ceiling = ceiling_of(report, record);
  if (ceiling == nullptr) return;
  record.limit.ceiling = primary_metric(*ceiling)->value;
  record.limit.ceiling_id = ceiling->id;
  record.limit.share_of_ceiling = metric->value / *record.limit.ceiling;
}

}  // namespace

std::string why_no_burst(const Record& record) {
  const Limit& limit = record.limit;
  const auto& granted = record.telemetry.sm_clock_mhz;
  if (record.conditions.power != Power::kBurst || record.work.operations <= 0 || !granted ||
      !limit.at_clock || !limit.highest) {
    return {};
  }
  const double highest_mhz = *limit.clock_mhz * *limit.highest / *limit.at_clock;
  if (granted->mean >= kBurstClockShare * highest_mhz) return {};
  return fmt::format("not at full clock: {:.0f} MHz on average, a burst needs {} of {:.0f}",
                     granted->mean, kBurstClockShare, highest_mhz);
}

void derive_limits(Report& report) {
  for (Record& record : report.records) derive(report, record);
  for (Record& record : report.records) add_ceiling(report, record);
  report.l2_knees = l2_knees(report.records);
}

}  // namespace assay
