// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "reports/ab.h"
#include "reports/text.h"

namespace assay {
namespace {

// ln time -> per cent of time: 0.02956 -> 3.00.
double per_cent(double ln_difference) { return 100 * std::expm1(ln_difference); }

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  std::ranges::replace(text, '_', ' ');
  return text;
}

// Regression and improvement shout, so that they are found in a long table.
std::string verdict_text(ComparedStatus status) {
  const std::string word = to_string(status);
  const bool quiet =
      status == ComparedStatus::kUnchanged || status == ComparedStatus::kInconclusive;
  return quiet ? word : upper(word);
}

std::map<std::string, int> counts_of(const AbResult& result) {
  std::map<std::string, int> counts;
  for (const AbRow& row : result.rows) ++counts[to_string(row.status)];
  return counts;
}

std::string summary_of(const AbResult& result) {
  const auto counts = counts_of(result);
  std::vector<std::string> parts;
  for (const auto& [status, name] : enum_names(ComparedStatus{})) {
    if (const auto found = counts.find(name); found != counts.end()) {
      parts.push_back(fmt::format("{} {}", found->second, name));
    }
  }
  std::string text = parts.empty() ? "no rows" : join(parts, ", ");
  if (!result.complete) text += "; INCOMPLETE";
  return text;
}

// Of the sitting: what a row's own columns cannot say.
std::string order_text(const AbResult& result) {
  const std::string block = result.mirrored ? "BAAB" : "ABBA";
  return fmt::format(
      "{} {} ... (A base, B candidate; coin: {}), after one conditioning run a side "
      "that is not judged",
      block, block, result.mirrored ? "mirrored" : "not mirrored");
}

std::string plan_text(const AbResult& result) {
  if (result.plan.looks.empty()) return "not known: the conditioning runs did not end";
  return fmt::format(
      "m = {}: every row of either conditioning run, fixed before the first judged run",
      result.plan.m);
}

std::string looks_text(const LookPlan& plan) {
  const Look& first = plan.looks.front();
  if (plan.looks.size() == 1) {
    return fmt::format("n = {} a side; a = {:g} for the report, 0.05 for a row", first.runs,
                       first.level);
  }
  return fmt::format(
      "n = {} a side, undecided rows n = {}; at each a = {:g} for the report, {:g} "
      "for a row",
      first.runs, plan.looks.back().runs, first.level, 0.05 * first.fraction);
}

using Line = std::vector<std::string>;

Line cells_of(const AbRow& row) {
  const Comparison& c = row.comparison;
  const std::string verdict = verdict_text(row.status);
  if (row.look == 0) return {row.key.id, "-", "-", "-", "-", "-", "-", verdict};
  // The bound that stands between this row and its verdict, on the side of its sign.
  const std::string report = c.difference >= 0 ? fmt::format(">= {:+.2f}", per_cent(c.report_low))
                                               : fmt::format("<= {:+.2f}", per_cent(c.report_high));
  return {row.key.id,
          fmt::format("{:+.2f}", per_cent(c.difference)),
          report,
          fmt::format("{:+.2f}..{:+.2f}", per_cent(c.row_low), per_cent(c.row_high)),
          fmt::format("{}", c.runs),
          fmt::format("{:.2f}/{:.2f}", 100 * c.base_sd, 100 * c.candidate_sd),
          fmt::format("{:.1f}", 100 * c.detectable),
          verdict};
}

std::string table_of(const AbResult& result) {
  std::vector<Line> lines = {
      {"time a launch", "change %", "report %", "row %", "n", "s % base/cand", "D90 %", ""}};
  for (const AbRow& row : result.rows) lines.push_back(cells_of(row));
  std::vector<std::size_t> widths(lines.front().size(), 0);
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const Line& line : lines) {
    std::string out = fmt::format("{:<{}}", line.front(), widths.front());
    for (std::size_t i = 1; i + 1 < line.size(); ++i) {
      out += fmt::format("  {:>{}}", line[i], widths[i]);
    }
    out += "  " + line.back();
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  }
  return text;
}

// Reasons, warnings and weak rows, one line each.
std::vector<std::string> remarks_of(const AbResult& result) {
  std::vector<std::string> remarks;
  for (const AbRow& row : result.rows) {
    const auto say = [&](const std::string& what) {
      if (!what.empty()) remarks.push_back(row.key.id + ": " + what);
    };
    say(row.reason);
    for (const std::string& warning : row.warnings) say(warning);
    if (row.look > 0 && row.status != ComparedStatus::kRegression) say(weakness(row.comparison));
  }
  for (const AbRun& run : result.runs) {
    if (run.unreadable > 0) {
      remarks.push_back(
          fmt::format("run {} of the {}: {} of its output begin an object and are not "
                      "readable",
                      run.number, to_string(run.side), counted(run.unreadable, "line")));
    }
    if (run.replaced) {
      remarks.push_back(fmt::format("run {} of the {} had an invalid row and was run again",
                                    run.number, to_string(run.side)));
    }
  }
  return remarks;
}

Json row_json(const AbRow& row) {
  Json json = Json::object();
  json["id"] = row.key.id;
  json["device"] = row.key.device ? Json(*row.key.device) : Json(nullptr);
  json["status"] = to_string(row.status);
  json["reason"] = row.reason;
  json["warnings"] = row.warnings;
  json["look"] = row.look;
  const Comparison& c = row.comparison;
  const auto number = [&](double value) { return row.look > 0 ? Json(value) : Json(nullptr); };
  json["runs"] = c.runs;
  json["change_pct"] = number(per_cent(c.difference));
  json["report_low_pct"] = number(per_cent(c.report_low));
  json["report_high_pct"] = number(per_cent(c.report_high));
  json["row_low_pct"] = number(per_cent(c.row_low));
  json["row_high_pct"] = number(per_cent(c.row_high));
  json["base_sd_pct"] = number(100 * c.base_sd);
  json["candidate_sd_pct"] = number(100 * c.candidate_sd);
  json["rank_u"] = row.look > 0 ? Json(c.rank_u) : Json(nullptr);
  json["rank_p"] = number(c.slower_p);
  json["detectable_pct"] = number(100 * c.detectable);
  json["weakness"] = weakness(c);
  return json;
}

constexpr const char* kUnverified = "error rate not verified on this machine";

}  // namespace

std::string render_ab(const AbResult& result, const std::string& where) {
  std::string text =
      fmt::format("assay {} ab   {}   {:.0f} s   {}\n", result.version, result.started,
                  result.duration_s, counted(result.runs.size(), "run"));
  text += fmt::format("{}   {}   exit {}\n\n", upper(result.verdict), summary_of(result),
                      result.exit_code);
  if (!result.rows.empty()) text += table_of(result) + "\n";
  const auto line = [&](const char* title, const std::string& what) {
    text += fmt::format("{:<10} {}\n", title, one_line(what));
  };
  line("base", result.base);
  line("candidate", result.candidate);
  line("order", order_text(result));
  line("rows", plan_text(result));
  if (!result.plan.looks.empty()) line("looks", looks_text(result.plan));
  line("change",
       "of the time, + is slower; REGRESSION: report > 0, the row's low end > +1 %, and "
       "the ranks agree; unchanged: its high end < +3 %");
  line("D90", "a loss of this size is found in 90 % of such sittings");
  for (const std::string& remark : remarks_of(result)) line("note", remark);
  if (!result.failure.empty()) line("broken", result.failure);
  line("promise", kUnverified);
  line("raw data", where);
  return plain_lines(std::move(text));
}

Json render_ab_rows_json(const AbResult& result) {
  Json rows = Json::array();
  for (const AbRow& row : result.rows) rows.push_back(row_json(row));
  Json counts = Json::object();
  for (const auto& [status, name] : enum_names(ComparedStatus{})) counts[name] = 0;
  for (const auto& [name, count] : counts_of(result)) counts[name] = count;
  Json json = Json::object();
  json["verdict"] = result.verdict;
  json["exit_code"] = result.exit_code;
  json["summary"] = summary_of(result);
  json["rows"] = std::move(rows);
  json["counts"] = std::move(counts);
  json["complete"] = result.complete;
  json["failure"] = result.failure;
  json["mirrored"] = result.mirrored;
  json["plan"] = to_json_value(result.plan);
  json["runs"] = result.runs.size();
  json["error_rate"] = kUnverified;
  return json;
}

}  // namespace assay
