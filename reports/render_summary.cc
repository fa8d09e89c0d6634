// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "reports/faults.h"
#include "reports/format_text.h"
#include "reports/judge.h"
#include "reports/render.h"
#include "reports/render_findings.h"
#include "reports/render_load.h"
#include "reports/render_topology.h"
#include "reports/text.h"

namespace assay {
namespace {

constexpr int kLabelWidth = 18;
constexpr int kTitleWidth = 28;
constexpr int kShareWidth = 17;
constexpr int kExitColumn = 78;

bool on_gpu(const Record& record) { return !record.device.is_host(); }

// Lines of one label: it stands before the first.
void add_block(std::string& out, std::string_view label, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    out += fmt::format("{:<{}}{}\n", label, kLabelWidth, one_line(line));
    label = "";
  }
}

std::string verdict_word(JudgedStatus status) {
  switch (status) {
    case JudgedStatus::kPass:
      return "PASS";
    case JudgedStatus::kFail:
      return "FAIL";
    case JudgedStatus::kInconclusive:
      return "INCONCLUSIVE";
    case JudgedStatus::kNotMeasured:
    case JudgedStatus::kInfo:
      break;
  }
  return "NOT JUDGED";
}

std::string or_unread(const std::optional<std::string>& value) { return value.value_or("unread"); }

void add_header(std::string& out, const Report& report) {
  const HostInventory& host = report.inventory.host;
  out += fmt::format("assay {} {} --suite {}   {}   {:.0f} s   {}, {}\n", report.version,
                     report.command, report.suite, report.started, report.duration_s,
                     host.root ? "root" : "not root", host.virtualisation);
  if (!report.verdict) {
    out += "MEASURED   no verdict was asked for; assay judge gives one\n\n";
    return;
  }
  const std::string line =
      fmt::format("{}   {}", verdict_word(report.verdict->status), report.verdict->summary);
  out += fmt::format("{:<{}} exit {}\n\n", line, kExitColumn, report.verdict->exit_code);
}

// "a", or "a / b" of a pair.
template <class T>
std::string both(const std::optional<T>& one, const FaultScope* peer,
                 std::optional<T> FaultScope::* field) {
  const auto text = [](const std::optional<T>& value) {
    return value ? fmt::format("{}", *value) : std::string("unread");
  };
  return peer != nullptr ? text(one) + " / " + text(peer->*field) : text(one);
}

std::string scope_text(const Fault& fault) {
  const FaultScope& scope = fault.scope;
  const FaultScope* peer = fault.peer ? &*fault.peer : nullptr;
  std::string text;
  if (scope.gpu) text += fmt::format("  GPU {}", *scope.gpu);
  if (peer != nullptr && peer->gpu) text += fmt::format(" <-> GPU {}", *peer->gpu);
  if (scope.serial) text += "  S/N " + both(scope.serial, peer, &FaultScope::serial);
  if (scope.module_id) {
    text += fmt::format("  module{} {}", peer != nullptr ? "s" : "",
                        both(scope.module_id, peer, &FaultScope::module_id));
  }
  if (scope.bus_id) text += "  bus " + short_bus_id(*scope.bus_id);
  if (scope.bus_id && peer != nullptr) text += " / " + short_bus_id(or_unread(peer->bus_id));
  if (text.empty() && scope.uuid) text = "  " + *scope.uuid;
  return text;
}

void add_faults(std::string& out, const Report& report) {
  int number = 0;
  for (const Fault& fault : report.faults) {
    std::string kind;
    if (fault.severity == Severity::kWarn) kind = "  (warning)";
    if (fault.severity == Severity::kNotJudged) kind = "  (not judged)";
    out += fmt::format("[{}] {}{}{}   owner: {}\n    {}\n", ++number, fault.code, scope_text(fault),
                       kind, fault.owner, fault.title);
    if (!fault.effect.empty()) out += "    " + fault.effect + "\n";
    for (std::size_t i = 0; i < fault.actions.size(); ++i) {
      out += fmt::format("    {} {} {}\n", i == 0 ? "Do:" : "   ", i + 1, fault.actions[i]);
    }
    if (!fault.explains.empty()) {
      out += fmt::format("    Explains: {} (not counted again)\n", join(fault.explains, ", "));
    }
  }
  if (number > 0) out += '\n';
}

void add_gpus(std::string& out, const Report& report) {
  const Inventory& inventory = report.inventory;
  for (const GpuInventory& gpu : inventory.gpus) {
    const std::string module =
        gpu.module_id ? fmt::format("  module {}", *gpu.module_id) : std::string();
    out += fmt::format("{:<8}{}  S/N {}{}  bus {}  VBIOS {}  driver {}\n",
                       fmt::format("GPU {}", gpu.index), gpu.name, or_unread(gpu.serial), module,
                       short_bus_id(or_unread(gpu.bus_id)), or_unread(gpu.vbios),
                       or_unread(inventory.driver));
  }
  if (!inventory.gpus.empty()) out += '\n';
}

std::string mark_of(const Record& record) {
  if (record.status == RecordStatus::kInvalid) return "INVALID";
  switch (record.judged.status) {
    case JudgedStatus::kFail:
      return "FAIL";
    case JudgedStatus::kInconclusive:
      return "undecided";
    default:
      return "";
  }
}

// "0.82 at 1500 MHz" for compute, "0.88 PCIe 5 x16" for the link as it was under the load; for
// memory, whose clock is fixed, the share of the data sheet.
std::string share_text(const Record& record) {
  const Limit& limit = record.limit;
  const Telemetry& telemetry = record.telemetry;
  if (is_pcie(record.work.pipe) && limit.share_at_clock && telemetry.pcie_generation &&
      telemetry.pcie_width) {
    return fmt::format("{:.2f} PCIe {:.0f} x{:.0f}", *limit.share_at_clock,
                       telemetry.pcie_generation->max, telemetry.pcie_width->max);
  }
  if (record.work.pipe != "dram" && limit.share_at_clock && limit.clock_mhz) {
    return fmt::format("{:.2f} at {:.0f} MHz", *limit.share_at_clock, *limit.clock_mhz);
  }
  if (limit.share_of_datasheet) return fmt::format("{:.2f}", *limit.share_of_datasheet);
  return "-";
}

// Beside the share of the limit, where a ceiling ran: "0.82 at 1500 MHz 0.93".
std::string with_ceiling(std::string_view of_limit, std::string_view of_ceiling) {
  return fmt::format("{:<{}} {:<11}", of_limit, kShareWidth, of_ceiling);
}

std::string range_text(const Metric& metric) {
  if (!metric.ci_low || !metric.ci_high) return fmt::format("({})", metric.values.size());
  return fmt::format("{}..{} ({})", figure_like(*metric.ci_low, metric.value),
                     figure_like(*metric.ci_high, metric.value), metric.values.size());
}

std::string floor_text(const Record& record, const Metric& metric) {
  return record.judged.floor ? figure_like(*record.judged.floor, metric.value) : "-";
}

// Of the column of titles: what most reports need, or more for a longer one.
int title_width(const std::vector<std::string>& titles) {
  int width = kTitleWidth;
  for (const std::string& title : titles)
    width = std::max(width, static_cast<int>(title.size()) + 1);
  return width;
}

std::string table_line(int width, std::string_view title, std::string_view measured,
                       std::string_view range, std::string_view floor, std::string_view share,
                       std::string_view mark) {
  std::string line = fmt::format("{:<{}}{:>11}  {:>16}  {:>7}   {:<{}}{}", title, width, measured,
                                 range, floor, share, kShareWidth, mark);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

void add_one_gpu(std::string& out, const Report& report, const std::string& uuid) {
  const bool ceilings = std::ranges::any_of(report.records, [&](const Record& record) {
    return record.device.uuid == uuid && record.limit.share_of_ceiling;
  });
  std::vector<std::string> titles;
  for (const Record& record : report.records) {
    if (record.device.uuid == uuid) titles.push_back(case_title(record.id));
  }
  const int width = title_width(titles);
  std::string rows;
  for (const Record& record : report.records) {
    const Metric* metric = primary_metric(record);
    const std::optional<double>& of_ceiling = record.limit.share_of_ceiling;
    if (record.device.uuid != uuid || metric == nullptr || metric->values.empty()) continue;
    rows +=
        table_line(width, case_title(record.id),
                   figure(metric->value) + " " + fmt::format("{:<4}", unit_text(metric->unit)),
                   range_text(*metric), floor_text(record, *metric),
                   ceilings ? with_ceiling(share_text(record),
                                           of_ceiling ? fmt::format("{:.2f}", *of_ceiling) : "-")
                            : share_text(record),
                   mark_of(record));
  }
  if (rows.empty()) return;
  out += table_line(width, "", "measured", "range (runs)", "floor",
                    ceilings ? with_ceiling("of limit", "of ceiling") : "of limit", "") +
         rows + '\n';
}

// One column a GPU; "*" failed, "?" undecided or invalid.
std::string cell_of(const Record& record) {
  const Metric* metric = primary_metric(record);
  if (metric == nullptr || metric->values.empty()) return "- ";
  const std::string mark = mark_of(record);
  return figure(metric->value) + (mark.empty() ? " " : mark == "FAIL" ? "*" : "?");
}

void add_gpu_matrix(std::string& out, const Report& report,
                    const std::vector<const GpuInventory*>& gpus) {
  std::vector<std::string> ids;
  for (const Record& record : report.records) {
    const bool here = std::any_of(gpus.begin(), gpus.end(), [&](const GpuInventory* gpu) {
      return gpu->uuid == record.device.uuid;
    });
    if (here && primary_metric(record) != nullptr &&
        std::find(ids.begin(), ids.end(), record.id) == ids.end()) {
      ids.push_back(record.id);
    }
  }
  if (ids.empty()) return;
  std::vector<std::string> titles;
  for (const std::string& id : ids) titles.push_back(case_title(id));
  const int width = title_width(titles);
  std::string head = fmt::format("{:<{}}", "GPU", width + 5);
  for (const GpuInventory* gpu : gpus) head += fmt::format("{:>7} ", gpu->index);
  out += head + "   floor\n";
  for (const std::string& id : ids) {
    std::string cells;
    std::string floor = "-";
    std::string unit;
    for (const GpuInventory* gpu : gpus) {
      const Record* found = find_record(report, id, gpu->uuid);
      cells += fmt::format("{:>8}", found != nullptr ? cell_of(*found) : "- ");
      if (found == nullptr || primary_metric(*found) == nullptr) continue;
      floor = floor_text(*found, *primary_metric(*found));
      unit = unit_text(primary_metric(*found)->unit);
    }
    out += fmt::format("{:<{}}{:<5}{}{:>8}\n", case_title(id), width, unit, cells, floor);
  }
  out += "* below the floor  ? undecided; of limit: see the report\n\n";
}

// GPUs of one SKU share floors, so they share a table.
void add_measurements(std::string& out, const Report& report) {
  std::vector<std::pair<std::string, std::vector<const GpuInventory*>>> groups;
  for (const GpuInventory& gpu : report.inventory.gpus) {
    const std::string key = gpu.sku.value_or(gpu.name);
    if (groups.empty() || groups.back().first != key) groups.push_back({key, {}});
    groups.back().second.push_back(&gpu);
  }
  for (const auto& [key, gpus] : groups) {
    if (gpus.size() == 1) {
      add_one_gpu(out, report, gpus.front()->uuid);
    } else {
      add_gpu_matrix(out, report, gpus);
    }
  }
  // Devices that NVML does not know: measuring works without it.
  std::set<std::string> known;
  for (const GpuInventory& gpu : report.inventory.gpus) known.insert(gpu.uuid);
  for (const Record& record : report.records) {
    if (on_gpu(record) && known.insert(record.device.uuid).second) {
      out += fmt::format("{}  {}\n", record.device.name, record.device.uuid);
      add_one_gpu(out, report, record.device.uuid);
    }
  }
}

void add_host(std::string& out, const Report& report) {
  std::string rows;
  for (const Record& record : report.records) {
    if (on_gpu(record)) continue;
    const Metric* metric = primary_metric(record);
    if (record.status == RecordStatus::kOk && metric != nullptr && !metric->values.empty()) {
      rows += fmt::format("  {}  {} {}  {}\n", record.id, figure(metric->value),
                          unit_text(metric->unit), range_text(*metric));
    } else {
      rows += fmt::format("  {}  {}: {}\n", record.id, to_string(record.status), record.message);
    }
  }
  if (!rows.empty()) {
    out += "host, for information only, never part of a GPU verdict\n" + rows + '\n';
  }
}

void add_verified(std::string& out, const Report& report) {
  int measured = 0;
  int identical = 0;
  std::vector<std::string> open;
  for (const Record& record : report.records) {
    if (!on_gpu(record) || primary_metric(record) == nullptr) continue;
    ++measured;
    if (record.verification.hash) identical += record.verification.repetitions;
    if (record.verification.status != VerificationStatus::kVerified) {
      open.push_back(record.id + " " + to_string(record.verification.status));
    } else if (record.wrong_runs > 0) {
      open.push_back(record.id + " wrong in " + counted(record.wrong_runs, "run"));
    }
  }
  if (measured == 0) return;
  const auto sound = measured - static_cast<int>(open.size());
  std::string text = open.empty() ? fmt::format("all {}", measured)
                                  : fmt::format("{} of {}; {}", sound, measured, join(open, ", "));
  if (identical > 0) text += fmt::format("; {} bit-identical", counted(identical, "repetition"));
  add_block(out, "results verified", {text});
}

void add_load(std::string& out, const Report& report) {
  const bool loaded = std::any_of(report.records.begin(), report.records.end(), on_gpu);
  if (!loaded || report.inventory.gpus.empty()) return;
  std::vector<std::string> lines = {counters_text(report), heat_and_power_text(report)};
  if (report.busy_s && report.idle_s) {
    lines.push_back(fmt::format("GPU busy {:.0f} s, at rest as declared {:.0f} s, of {:.0f} s",
                                *report.busy_s, *report.idle_s, report.duration_s));
  }
  add_block(out, "during load", lines);
}

// What a card may lose and still meet its floors, and where the floors come from.
void add_floors(std::string& out, const Report& report) {
  if (!report.verdict) return;
  std::vector<std::pair<std::string, double>> blind;  // group, share; in the order of the records
  std::map<std::string, std::pair<int, int>> cards;   // of the targets used, by SKU: fewest, most
  for (const Record& record : report.records) {
    const Target* target = target_of(report, record);
    if (target == nullptr) continue;
    const std::string family = split(record.id, '/').front();
    const std::string group = family == "gemm" ? "GEMM" : family == "memory" ? "DRAM" : family;
    const double share = target->usual > 0 ? 1 - target->floor / target->usual : 0;
    const auto found = std::find_if(blind.begin(), blind.end(),
                                    [&](const auto& entry) { return entry.first == group; });
    if (found == blind.end()) {
      blind.emplace_back(group, share);
    } else {
      found->second = std::max(found->second, share);
    }
    const auto at = cards.try_emplace(*record.device.sku, target->cards, target->cards).first;
    at->second.first = std::min(at->second.first, target->cards);
    at->second.second = std::max(at->second.second, target->cards);
  }
  if (blind.empty()) return;
  std::vector<std::string> parts;
  for (const auto& [group, share] : blind) {
    parts.push_back(
        fmt::format("{:.1f} %{} in {}", 100 * share, parts.empty() ? " slow" : "", group));
  }
  add_block(out, "blind spot",
            {fmt::format("a card up to {} would still pass", join(parts, ", "))});
  std::vector<std::string> floors;
  for (const TargetSet& set : report.targets) {
    const auto used = cards.find(set.sku);
    if (used == cards.end()) continue;
    const auto [fewest, most] = used->second;
    const std::string from =
        fewest == most ? counted(fewest, "card") : fmt::format("{} to {} cards", fewest, most);
    floors.push_back(fmt::format("{} {}, from {}{}", set.file, set.date, from,
                                 fewest < kCardsForFinalFloor ? ": PROVISIONAL" : ""));
    floors.insert(floors.end(), set.warnings.begin(), set.warnings.end());
  }
  add_block(out, "floors", floors);
}

void add_warnings(std::string& out, const Report& report) {
  std::vector<std::string> lines;
  for (const Record& record : report.records) {
    for (const std::string& warning : shown_warnings(record)) {
      const std::string gpu = record.device.index && report.inventory.gpus.size() > 1
                                  ? fmt::format("GPU {} ", *record.device.index)
                                  : std::string();
      lines.push_back(fmt::format("{}{}: {}", gpu, case_title(record.id), warning));
    }
  }
  add_block(out, "warnings", lines);
}

std::string gpu_label(const Report& report, const std::string& uuid) {
  if (report.inventory.gpus.size() <= 1) return {};
  const GpuInventory* gpu = find_gpu(report, uuid);
  return gpu != nullptr ? fmt::format("GPU {} ", gpu->index) : uuid + " ";
}

void add_not_judged(std::string& out, const Report& report) {
  std::vector<std::string> lines;
  if (!report.complete) lines.emplace_back("the run was cut off before its end");
  if (report.verdict) {
    for (const UnjudgedGpu& gpu : unjudged_gpus(report)) lines.push_back(gpu.reason);
    for (const MissingRow& row : missing_rows(report)) {
      lines.push_back(gpu_label(report, row.uuid) + case_title(row.id) + ": not measured");
    }
  }
  for (const Record& record : report.records) {
    if (!on_gpu(record)) continue;
    const std::string title = gpu_label(report, record.device.uuid) + case_title(record.id) + ": ";
    const JudgedStatus status = shown_status(report, record);
    if (status == JudgedStatus::kInconclusive || status == JudgedStatus::kNotMeasured) {
      lines.push_back(title + shown_reason(record));
    } else if (status == JudgedStatus::kInfo && record.status != RecordStatus::kOk) {
      lines.push_back(title + failure_text(record));
    }
  }
  if (report.verdict) {
    for (std::string& line : not_checked(report)) lines.push_back(std::move(line));
  }
  lines.insert(lines.end(), report.notes.begin(), report.notes.end());
  add_block(out, "not judged", lines);
}

}  // namespace

std::string render_summary(const Report& report, const std::string& report_path) {
  std::string out;
  add_header(out, report);
  add_faults(out, report);
  add_gpus(out, report);
  add_measurements(out, report);
  add_host(out, report);
  add_verified(out, report);
  if (const std::string checks = checks_text(report); !checks.empty()) {
    add_block(out, "checks", {checks});
  }
  add_block(out, "links", topology_lines(report));
  add_block(out, "fastest precision", fastest_lines(report));
  add_block(out, "L2 knee", l2_knee_lines(report));
  add_load(out, report);
  add_floors(out, report);
  add_warnings(out, report);
  add_not_judged(out, report);
  add_block(out, "report", {report_path});
  return plain_lines(std::move(out));
}

}  // namespace assay
