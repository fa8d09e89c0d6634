// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reports/faults.h"
#include "reports/format_text.h"
#include "reports/judge.h"
#include "reports/render.h"
#include "reports/render_findings.h"
#include "reports/render_topology.h"
#include "reports/text.h"

namespace assay {
namespace {

// Text inside a table or a line: what Markdown or HTML would read as markup is escaped.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '|':
      case '*':
      case '_':
      case '`':
      case '[':
      case ']':
      case '\\':
        out += '\\';
        out += c;
        break;
      case '<':
        out += "&lt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '\n':
      case '\r':
        out += ' ';
        break;
      default:
        out += c;
    }
  }
  return out;
}

// An id or a token, as code. Ids hold no backtick and no bar; a device name might.
std::string code(std::string_view text) {
  std::string safe(text);
  std::replace(safe.begin(), safe.end(), '`', '\'');
  std::replace(safe.begin(), safe.end(), '|', '/');
  return "`" + safe + "`";
}

std::string row(const std::vector<std::string>& cells) {
  return "| " + join(cells, " | ") + " |\n";
}

std::string table_head(const std::vector<std::string>& cells) {
  return row(cells) + row(std::vector<std::string>(cells.size(), "---"));
}

std::string share(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : "";
}

void add_summary(std::string& out, const Report& report) {
  const HostInventory& host = report.inventory.host;
  if (report.verdict) {
    out += fmt::format("# assay {}: {}\n\n**{}** (exit {})\n\n", plain(report.suite),
                       to_string(report.verdict->status), plain(report.verdict->summary),
                       report.verdict->exit_code);
  } else {
    out += fmt::format("# assay {}: measured, not judged\n\n", plain(report.suite));
  }
  out += table_head({"what", "value"});
  const auto add = [&](const char* what, const std::string& value) {
    if (!value.empty()) out += row({what, plain(value)});
  };
  add("program",
      fmt::format("assay {} {} --suite {}", report.version, report.command, report.suite));
  add("started", report.started);
  add("duration", fmt::format("{:.0f} s", report.duration_s));
  add("complete", report.complete ? "yes" : "no");
  add("host", fmt::format("{}, {}, {}", host.host_name, host.os, host.kernel));
  add("processor", fmt::format("{}, {}", host.cpu_model, counted(host.cpus, "CPU")));
  add("environment", fmt::format("{}, {}", host.virtualisation, host.root ? "root" : "not root"));
  add("driver", report.inventory.driver.value_or("not loaded"));
  add("CUDA of the driver", report.inventory.cuda_driver.value_or(""));
  for (const GpuInventory& gpu : report.inventory.gpus) {
    add("GPU", fmt::format("{}: {}, S/N {}, bus {}, VBIOS {}, {}", gpu.index, gpu.name,
                           gpu.serial.value_or("unread"), gpu.bus_id.value_or("unread"),
                           gpu.vbios.value_or("unread"), gpu.uuid));
  }
  for (const std::string& line : topology_lines(report)) add("links", line);
  out += '\n';
}

void add_faults(std::string& out, const Report& report) {
  if (report.faults.empty()) return;
  out += "## Faults\n\n";
  for (const Fault& fault : report.faults) {
    out += fmt::format("### {} ({}, owner: {})\n\n{}\n\n", plain(fault.code),
                       to_string(fault.severity), plain(fault.owner), plain(fault.title));
    if (!fault.effect.empty()) out += "Effect: " + plain(fault.effect) + "\n\n";
    int number = 0;
    for (const std::string& action : fault.actions) {
      out += fmt::format("{}. {}\n", ++number, plain(action));
    }
    if (number > 0) out += '\n';
    for (const auto& [label, ids] :
         {std::pair("Evidence", &fault.evidence), std::pair("Explains", &fault.explains)}) {
      if (ids->empty()) continue;
      std::vector<std::string> codes;
      for (const std::string& id : *ids) codes.push_back(code(id));
      out += fmt::format("{}: {}\n\n", label, join(codes, ", "));
    }
  }
}

std::string device_text(const Record& record) {
  if (record.device.is_host()) return "host";
  return record.device.index ? fmt::format("GPU {}", *record.device.index)
                             : code(record.device.uuid);
}

std::vector<std::string> cells_of(const Report& report, const Record& record) {
  std::vector<std::string> cells = {code(record.id), device_text(record)};
  const Metric* metric = primary_metric(record);
  if (metric == nullptr || metric->values.empty()) {
    cells.insert(cells.end(), 3, "");
  } else {
    const std::string range =
        metric->ci_low && metric->ci_high
            ? fmt::format("{}..{}", figure_like(*metric->ci_low, metric->value),
                          figure_like(*metric->ci_high, metric->value))
            : std::string();
    cells.push_back(figure(metric->value) + " " + unit_text(metric->unit));
    cells.push_back(range);
    cells.push_back(std::to_string(metric->values.size()));
  }
  cells.push_back(record.judged.floor ? figure(*record.judged.floor) : "");
  cells.push_back(share(record.limit.share_of_datasheet));
  cells.push_back(share(record.limit.share_at_clock));
  cells.push_back(share(record.limit.share_of_ceiling));
  const JudgedStatus status = shown_status(report, record);
  const bool failed_for_information =
      status == JudgedStatus::kInfo && record.status != RecordStatus::kOk;
  cells.push_back(to_string(status));
  cells.push_back(plain(failed_for_information ? failure_text(record) : shown_reason(record)));
  return cells;
}

void add_records(std::string& out, const Report& report) {
  const std::vector<MissingRow> missing =
      report.verdict ? missing_rows(report) : std::vector<MissingRow>();
  if (report.records.empty() && missing.empty()) return;
  out += "## Measurements\n\n";
  out += table_head({"id", "device", "median", "range", "runs", "floor", "of data sheet",
                     "of limit at clock", "of ceiling", "judged", "why"});
  for (const Record& record : report.records) out += row(cells_of(report, record));
  for (const MissingRow& gap : missing) {
    out += row(
        {code(gap.id), code(gap.uuid), "", "", "", "", "", "", "", "not_measured", "no record"});
  }
  out += '\n';
}

void add_notes(std::string& out, const Report& report) {
  std::vector<std::string> lines;
  for (const std::string& line : fastest_lines(report)) {
    lines.push_back("fastest precision " + line);
  }
  for (const std::string& line : l2_knee_lines(report)) lines.push_back("L2 knee " + line);
  if (const std::string checks = checks_text(report); !checks.empty()) {
    lines.push_back("checks " + checks);
  }
  if (report.verdict) {
    for (const UnjudgedGpu& gpu : unjudged_gpus(report)) lines.push_back(gpu.reason);
    for (const std::string& line : not_checked(report)) lines.push_back("not judged: " + line);
  }
  lines.insert(lines.end(), report.notes.begin(), report.notes.end());
  for (const Record& record : report.records) {
    for (const std::string& warning : shown_warnings(record)) {
      lines.push_back(record.id + ": " + warning);
    }
  }
  if (lines.empty()) return;
  out += "## Notes\n\n";
  for (const std::string& line : lines) out += "- " + plain(line) + "\n";
  out += '\n';
}

void add_targets(std::string& out, const Report& report) {
  if (report.targets.empty()) return;
  out += "## Floors\n\n";
  out += table_head({"SKU", "id", "floor", "usual", "cards", "date", "source"});
  for (const TargetSet& set : report.targets) {
    for (const Target& target : set.targets) {
      out += row({plain(set.sku), code(target.id), figure(target.floor), figure(target.usual),
                  fmt::format("{}{}", target.cards, target.provisional() ? " (provisional)" : ""),
                  plain(target.date), plain(target.source)});
    }
  }
  out += '\n';
}

}  // namespace

std::string render_markdown(const Report& report) {
  std::string out;
  add_summary(out, report);
  add_faults(out, report);
  add_records(out, report);
  add_notes(out, report);
  add_targets(out, report);
  while (out.ends_with("\n\n")) out.pop_back();
  return plain_lines(std::move(out));
}

}  // namespace assay
