// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "reports/faults.h"
#include "reports/format_text.h"

namespace assay {
namespace {

// A slowdown for less of a row than this is a warning: one reading of 5 ms drains no node.
constexpr double kFaultyShare = 0.05;

double share_of(const Record& record, std::initializer_list<const char*> reasons) {
  double share = 0;
  for (const char* reason : reasons) {
    const auto found = record.telemetry.event_reasons.find(reason);
    if (found != record.telemetry.event_reasons.end()) share = std::max(share, found->second);
  }
  return share;
}

std::int64_t gain_of(const Record& record, const char* counter) {
  const auto found = record.telemetry.deltas.find(counter);
  return found == record.telemetry.deltas.end() ? 0 : found->second;
}

// What the records of one GPU show of one cause.
struct LoadFinding {
  double worst = 0;           // share of a row's samples, or of its load
  double counted_s = 0;       // by the card's own counter
  bool without_span = false;  // counted in a load of unknown length
  std::vector<std::string> ids;
  std::optional<double> hottest_c;

  [[nodiscard]] bool any() const { return !ids.empty(); }
};

class LoadFaults {
 public:
  explicit LoadFaults(const Report& report) : report_(report) {}

  std::vector<Fault> find() && {
    for (const GpuInventory& gpu : report_.inventory.gpus) {
      check_xids(gpu);
      check_brake(gpu);
      check_other_slowdown(gpu);
      check_thermal(gpu);
      check_clock(gpu);
      check_links(gpu);
    }
    return std::move(faults_);
  }

 private:
  Fault& add(std::string_view code, const GpuInventory& gpu, std::string title,
             std::vector<std::string> evidence) {
    Fault fault = make_fault(code, &gpu, std::move(title));
    fault.confirmed_runs = static_cast<int>(evidence.size());
    fault.evidence = std::move(evidence);
    faults_.push_back(std::move(fault));
    return faults_.back();
  }

  [[nodiscard]] LoadFinding find_slowdown(const GpuInventory& gpu,
                                          std::initializer_list<const char*> reasons,
                                          const char* counter) const;
  void check_xids(const GpuInventory& gpu);
  void check_brake(const GpuInventory& gpu);
  void check_other_slowdown(const GpuInventory& gpu);
  void check_thermal(const GpuInventory& gpu);
  void check_clock(const GpuInventory& gpu);
  void check_links(const GpuInventory& gpu);

  const Report& report_;
  std::vector<Fault> faults_;
};

LoadFinding LoadFaults::find_slowdown(const GpuInventory& gpu,
                                      std::initializer_list<const char*> reasons,
                                      const char* counter) const {
  LoadFinding finding;
  for (const Record& record : report_.records) {
    if (record.device.uuid != gpu.uuid) continue;
    double share = share_of(record, reasons);
    const double gain_s = static_cast<double>(gain_of(record, counter)) * 1e-9;
    if (share > 0 || gain_s > 0) finding.ids.push_back(record.id);
    if (gain_s > 0) {
      finding.counted_s += gain_s;
      const double span_s = record.telemetry.load_s.value_or(0);
      finding.without_span = finding.without_span || span_s <= 0;
      if (span_s > 0) share = std::max(share, std::min(1.0, gain_s / span_s));
    }
    finding.worst = std::max(finding.worst, share);
    if (const auto& temperature = record.telemetry.temperature_c) {
      finding.hottest_c = std::max(finding.hottest_c.value_or(temperature->max), temperature->max);
    }
  }
  return finding;
}

// "in up to 25 % of a row; 1.2 s in all"
std::string extent(const LoadFinding& finding) {
  std::string text;
  if (finding.worst > 0) {
    text = fmt::format("in up to {:.0f} % of the samples", std::max(1.0, 100 * finding.worst));
  }
  if (finding.counted_s > 0) {
    text +=
        fmt::format("{}{:.3g} s by its own counter", text.empty() ? "" : ", ", finding.counted_s);
  }
  return text;
}

void LoadFaults::check_brake(const GpuInventory& gpu) {
  LoadFinding brake = find_slowdown(gpu, {"hw_power_brake_slowdown"}, "power_brake_ns");
  if (!brake.any()) return;
  add("PWR-02", gpu, fmt::format("{}: power brake {}", name_of(gpu), extent(brake)),
      std::move(brake.ids));
}

// The bit is set together with that of its cause, where the card knows one.
void LoadFaults::check_other_slowdown(const GpuInventory& gpu) {
  LoadFinding other = find_slowdown(gpu, {"hw_slowdown"}, "");
  if (other.worst < kFaultyShare ||
      find_slowdown(gpu, {"hw_power_brake_slowdown"}, "power_brake_ns").any() ||
      find_slowdown(gpu, {"hw_thermal_slowdown"}, "").any()) {
    return;
  }
  add("CLK-01", gpu,
      fmt::format("{}: hardware slowdown without a named cause {}", name_of(gpu), extent(other)),
      std::move(other.ids));
}

void LoadFaults::check_thermal(const GpuInventory& gpu) {
  LoadFinding thermal =
      find_slowdown(gpu, {"hw_thermal_slowdown", "sw_thermal_slowdown"}, "thermal_slowdown_ns");
  if (!thermal.any()) return;
  std::string title = fmt::format("{}: thermal slowdown {}", name_of(gpu), extent(thermal));
  if (thermal.hottest_c) title += fmt::format("; hottest {:.0f} C", *thermal.hottest_c);
  if (gpu.slowdown_temperature_c) {
    title += fmt::format("; slowdown at {:.0f} C", *gpu.slowdown_temperature_c);
  }
  Fault& fault = add("THM-01", gpu, std::move(title), std::move(thermal.ids));
  if (thermal.worst < kFaultyShare) fault.severity = Severity::kWarn;
}

// Whether something that the card names holds its clock.
bool is_explained(const Record& record) {
  return share_of(record, {"sw_power_cap", "hw_slowdown", "sync_boost", "sw_thermal_slowdown",
                           "hw_thermal_slowdown", "hw_power_brake_slowdown"}) > 0 ||
         std::ranges::any_of(
             std::initializer_list<const char*>{"power_cap_ns", "thermal_slowdown_ns",
                                                "power_brake_ns", "sync_boost_ns"},
             [&](const char* counter) { return gain_of(record, counter) > 0; });
}

// The clock that the driver granted a compute row, where it can show a clock that is held: the
// highest of all runs, so that each of them was below. The processors' own clock is no evidence: it
// lies below under any heavy load (docs/METHOD.md, Clocks).
std::optional<double> clock_of(const Record& record) {
  const Telemetry& telemetry = record.telemetry;
  if (record.work.operations <= 0 || record.runs == 0 || record.status != RecordStatus::kOk ||
      record.conditions.clocks == Clocks::kLocked) {
    return std::nullopt;
  }
  // Reasons that nobody read explain nothing and excuse nothing: that stays unknown.
  if (telemetry.samples == 0 || telemetry.unknown.contains("event_reasons")) return std::nullopt;
  if (!telemetry.sm_clock_mhz) return std::nullopt;
  return telemetry.sm_clock_mhz->max;
}

// The highest clock that a loaded card of this kind reaches: what NVML says, but no more than its
// data sheet (gaming and workstation cards declare what none of them ever reaches).
struct FullClock {
  double mhz = 0;
  bool known = false;  // there is a data sheet
};
std::optional<FullClock> full_clock(const Report& report, const GpuInventory& gpu) {
  if (!gpu.sm_clock_max_mhz) return std::nullopt;
  for (const GpuSpec& spec : report.limits) {
    if (gpu.sku == spec.sku) {
      return FullClock{std::min<double>(*gpu.sm_clock_max_mhz, spec.max_clock_mhz), true};
    }
  }
  return FullClock{static_cast<double>(*gpu.sm_clock_max_mhz), false};
}

void LoadFaults::check_clock(const GpuInventory& gpu) {
  const std::optional<FullClock> full = full_clock(report_, gpu);
  if (!full) return;
  double highest = 0;
  bool by_setting = false;
  std::vector<std::string> ids;
  for (const Record& record : report_.records) {
    if (record.device.uuid != gpu.uuid) continue;
    const std::optional<double> clock = clock_of(record);
    if (!clock || *clock >= kBurstClockShare * full->mhz || is_explained(record)) {
      continue;
    }
    highest = std::max(highest, *clock);
    by_setting = by_setting || share_of(record, {"applications_clocks_setting"}) > 0;
    ids.push_back(record.id);
  }
  if (ids.empty()) return;
  const char* cause =
      by_setting ? "by the application clocks that are set" : "and the card names no reason";
  Fault& fault = add("CLK-01", gpu,
                     fmt::format("{}: clock held at {:.0f} of {:.0f} MHz under load, {}",
                                 name_of(gpu), highest, full->mhz, cause),
                     std::move(ids));
  if (!full->known) {
    fault.severity = Severity::kWarn;
    fault.confidence = "suspected";
  }
  const std::string part = gpu.bus_id.value_or(std::to_string(gpu.index));
  fault.actions.front() = fmt::format("nvidia-smi -i {} {}", part, by_setting ? "-rac" : "-rgc");
}

void LoadFaults::check_links(const GpuInventory& gpu) {
  struct LinkError {
    const char* counter;
    const char* name;
    std::optional<std::int64_t> GpuHealth::* health;
  };
  static constexpr LinkError kErrors[] = {
      {"nvlink_replays", "replays", &GpuHealth::nvlink_replays},
      {"nvlink_recoveries", "recoveries", &GpuHealth::nvlink_recoveries},
      {"nvlink_crc_errors", "CRC errors", &GpuHealth::nvlink_crc_errors}};
  std::vector<std::string> gains;
  std::vector<std::string> evidence;
  for (const LinkError& error : kErrors) {
    // Round the whole run and round each case: the larger, for either may miss some.
    std::int64_t sum = 0;
    for (const Record& record : report_.records) {
      const std::int64_t gain = record.device.uuid == gpu.uuid ? gain_of(record, error.counter) : 0;
      sum += gain;
      if (gain > 0 && std::ranges::find(evidence, record.id) == evidence.end()) {
        evidence.push_back(record.id);
      }
    }
    const auto whole = counter_gain(gpu.before.*error.health, gpu.after.*error.health).value_or(0);
    const std::int64_t most = std::max(sum, whole);
    if (most > 0) gains.push_back(fmt::format("{} +{}", error.name, most));
  }
  if (gains.empty()) return;
  if (evidence.empty()) {
    evidence.push_back(
        fmt::format("inventory.gpus[{}].after", &gpu - report_.inventory.gpus.data()));
  }
  add("NVL-03", gpu, fmt::format("{}: NVLink {} during load", name_of(gpu), join(gains, ", ")),
      std::move(evidence));
}

// What an Xid says, by NVIDIA's catalogue (https://docs.nvidia.com/deploy/xid-errors).
struct XidKind {
  int xid;
  const char* code;
  Severity severity;
  const char* meaning;
};
constexpr XidKind kXids[] = {
    // Of the program that ran, ours or another's: never the card's fault by itself.
    {13, "", Severity::kWarn, "exception in a program's kernel"},
    {31, "", Severity::kWarn, "memory fault of a program"},
    {43, "", Severity::kWarn, "a program's channel was reset"},
    {45, "", Severity::kWarn, "a program was stopped"},
    {48, "MEM-01", Severity::kFail, "double-bit ECC error"},
    {63, "MEM-02", Severity::kFail, "a row remap was recorded"},
    {64, "MEM-03", Severity::kFail, "a row remap could not be recorded"},
    // Errors that the link mended are a warning; one that the driver reports is not.
    {74, "NVL-03", Severity::kFail, "NVLink error"},
    {79, "GPU-03", Severity::kFail, "the GPU has fallen off the bus"},
    {94, "MEM-01", Severity::kFail, "contained uncorrectable memory error"},
    {95, "MEM-01", Severity::kFail, "uncontained uncorrectable memory error"},
};

void LoadFaults::check_xids(const GpuInventory& gpu) {
  if (!gpu.xids) return;
  std::map<int, std::pair<int, std::string>> found;  // xid -> how often, the first time
  for (const XidEvent& event : *gpu.xids) {
    auto& [count, first] = found.try_emplace(event.xid, 0, event.time).first->second;
    ++count;
  }
  for (const auto& [xid, seen] : found) {
    const auto kind = std::ranges::find(kXids, xid, &XidKind::xid);
    const bool known = kind != std::end(kXids);
    const bool named = known && *kind->code != '\0';
    Fault& fault =
        add(named ? kind->code : kAnyXid, gpu,
            fmt::format("{}: Xid {}{} during the run, first at {}{}", name_of(gpu), xid,
                        known ? fmt::format(" ({})", kind->meaning) : "", seen.second,
                        seen.first > 1 ? fmt::format(", {} times", seen.first) : ""),
            {fmt::format("inventory.gpus[{}].xids", &gpu - report_.inventory.gpus.data())});
    if (!named) fault.code = fmt::format("XID-{:02}", xid);
    fault.severity = known ? kind->severity : Severity::kFail;
    fault.confirmed_runs = seen.first;
    if (fault.severity == Severity::kWarn) {
      fault.owner = "operator";
      fault.actions = {"it belongs to the program that ran; it says nothing of the card alone",
                       "rerun assay accept; take it up with a card that repeats it"};
    }
  }
}

}  // namespace

std::vector<Fault> check_load(const Report& report) { return LoadFaults(report).find(); }

}  // namespace assay
