// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/render_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "reports/fastest.h"
#include "reports/format_text.h"
#include "reports/statistics.h"
#include "reports/text.h"

namespace assay {
namespace {

constexpr const char* kBase = "fp32";  // what a precision is compared with

// Cards whose fastest row has one id.
struct Cards {
  std::vector<double> tflops;
  std::vector<double> times_base;  // of the cards that measured it
  std::vector<std::string> indices;
};

std::string fastest_text(const std::string& id, const Cards& cards, bool name_cards) {
  const auto [low, high] = std::ranges::minmax(cards.tflops);
  const std::string range = figure(low) == figure(high)
                                ? figure(low)
                                : fmt::format("{} to {}", figure(low), figure_like(high, low));
  std::string text = fmt::format("measured as correct: {}, {} TF/s ({})",
                                 precision_title(split(id, '/')[1]), range, id);
  if (!cards.times_base.empty()) {
    const double times = median(cards.times_base);
    text += fmt::format(", {:.{}f}x {}", times, times < 9.95 ? 1 : 0, precision_title(kBase));
  }
  if (name_cards) text += ", GPU " + join(cards.indices, " ");
  return text;
}

}  // namespace

std::vector<std::string> fastest_lines(const Report& report) {
  std::map<std::string, Cards> by_id;
  std::set<std::string> seen;
  for (const Record& record : report.records) {
    if (record.device.is_host() || !seen.insert(record.device.uuid).second) continue;
    const PrecisionRows group = comparable_precisions(report, record.device.uuid);
    const Record* fastest = group.fastest();
    if (fastest == nullptr) continue;
    Cards& cards = by_id[fastest->id];
    cards.tflops.push_back(primary_metric(*fastest)->value);
    cards.indices.push_back(record.device.index ? std::to_string(*record.device.index)
                                                : record.device.uuid);
    const auto base = group.rows.find(kBase);
    if (base == group.rows.end() || base->second == fastest) continue;
    cards.times_base.push_back(cards.tflops.back() / primary_metric(*base->second)->value);
  }
  std::vector<std::string> lines;
  for (const auto& [id, cards] : by_id) lines.push_back(fastest_text(id, cards, seen.size() > 1));
  return lines;
}

std::vector<std::string> l2_knee_lines(const Report& report) {
  std::vector<std::string> lines;
  for (const L2Knee& knee : report.l2_knees) {
    const GpuInventory* gpu = find_gpu(report, knee.uuid);
    std::string line = gpu != nullptr && report.l2_knees.size() > 1 ? name_of(*gpu) + ": " : "";
    if (knee.bytes) {
      line +=
          fmt::format("{:.1f} MB: up to there {} GB/s, of memory {}; between {:.1f} and {:.1f} MB",
                      *knee.bytes / 1e6, figure(*knee.l2_gb_per_s), figure(*knee.dram_gb_per_s),
                      static_cast<double>(*knee.above_bytes) / 1e6,
                      static_cast<double>(*knee.below_bytes) / 1e6);
    } else {
      line += "not found: " + knee.reason;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string checks_text(const Report& report) {
  std::map<std::string, std::pair<double, double>> seconds;  // by family: checks, busy
  for (const Json& row : report.benchmarks) {
    const Json ours = member_of(row, "assay");
    const Json check_s = member_of(ours, "check_s");
    const Json busy_s = member_of(ours, "busy_s");
    if (!check_s.is_number() || !busy_s.is_number()) continue;
    auto& [checks, busy] = seconds[split(text_of(ours, "id"), '/').front()];
    checks += check_s.get<double>();
    busy += busy_s.get<double>();
  }
  std::vector<std::string> parts;
  for (const auto& [family, time] : seconds) {
    if (!(time.second > 0)) continue;
    parts.push_back(fmt::format("{:.1f} % of {}'s {:.1f} s", 100 * time.first / time.second, family,
                                time.second));
  }
  return parts.empty() ? "" : "took " + join(parts, ", ");
}

}  // namespace assay
