// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

#include "reports/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <utility>

#include "reports/error.h"
#include "reports/record.h"
#include "reports/strict_yaml.h"
#include "reports/text.h"

namespace assay {
namespace {

// docs/METHOD.md, Verdicts: a floor outside these shares of the data sheet is a slip of unit or of
// dtype, or gates nothing.
constexpr double kLowestShare = 0.25;
constexpr double kHighestShare = 1.00;
// A floor nearer to the usual figure stops sound cards.
constexpr double kRunDeviations = 2.5;
constexpr double kChipDeviations = 3.0;

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const auto part = [&](std::size_t begin, std::size_t length) {
    unsigned value = 0;
    const char* first = text.data() + begin;
    const auto [end, error] = std::from_chars(first, first + length, value);
    return error == std::errc() && end == first + length ? std::optional(value) : std::nullopt;
  };
  const auto year = part(0, 4);
  const auto month = part(5, 2);
  const auto day = part(8, 2);
  return year && month && day &&
         std::chrono::year_month_day(std::chrono::year(static_cast<int>(*year)),
                                     std::chrono::month(*month), std::chrono::day(*day))
             .ok();
}

struct FloorLimit {
  const char* metric = nullptr;  // that the pipe is rated in
  double value = 0;              // data sheet, in the metric's unit
};

FloorLimit limit_of(const StrictYaml& row, const std::string& pipe, const GpuSpec& spec) {
  if (pipe == "dram") return {"gb_per_s", spec.dram_gb_per_s};
  if (is_pcie(pipe)) return {"gb_per_s", (pipe == kPcieBoth ? 2 : 1) * spec.pcie_gb_per_s};
  if (is_peer(pipe)) {
    const double one_way = spec.nvlink_links > 0 ? spec.nvlink_gb_per_s / 2 : spec.pcie_gb_per_s;
    return {"gb_per_s", (pipe == kPeerBoth ? 2 : 1) * one_way};
  }
  if (const auto reason = spec.unsupported.find(pipe); reason != spec.unsupported.end()) {
    row.refuse("pipe", fmt::format("pipe: {} has no {} ({}); remove this target", spec.sku, pipe,
                                   reason->second));
  }
  const auto sheet = spec.datasheet_tflops.find(pipe);
  if (sheet == spec.datasheet_tflops.end()) {
    row.refuse("pipe", fmt::format("pipe: {} has no '{}'; give dram or a pipe of its file in "
                                   "configs/gpus",
                                   spec.sku, pipe));
  }
  return {"tflops", sheet->second};
}

void check_id(const StrictYaml& row, const std::string& id) {
  const std::vector<std::string> parts = split(id, '/');
  const bool has_power = std::ranges::any_of(
      parts, [](const std::string& part) { return part == "burst" || part == "sustained"; });
  if (parts.size() < 3 || std::ranges::find(parts, "") != parts.end() || !has_power) {
    row.refuse("id", fmt::format("id: '{}' is no id of a record (family/parameters/conditions, "
                                 "with burst or sustained)",
                                 id));
  }
}

void check_floor(const StrictYaml& row, const Target& target, const GpuSpec& spec,
                 std::vector<std::string>& warnings) {
  if (target.floor <= 0) row.refuse("floor", "floor: must be above 0");
  if (target.floor > target.usual) {
    row.refuse("floor",
               fmt::format("floor: {} is above the usual figure {}; a sound card would fail",
                           target.floor, target.usual));
  }
  const FloorLimit limit = limit_of(row, target.pipe, spec);
  if (target.metric != limit.metric) {
    row.refuse("metric", fmt::format("metric: '{}' does not fit pipe {}; expected '{}'",
                                     target.metric, target.pipe, limit.metric));
  }
  const double share = target.floor / limit.value;
  if (share < kLowestShare || share > kHighestShare) {
    row.refuse("floor",
               fmt::format("floor: {} is {:.2f} of the data sheet's {}; expected {:.2f} to {:.2f}: "
                           "check unit, dtype and sparsity",
                           target.floor, share, limit.value, kLowestShare, kHighestShare));
  }
  const double distance_pct = 100 * (1 - target.floor / target.usual);
  const double needed_pct =
      kRunDeviations * target.run_sd_pct + kChipDeviations * target.chip_sd_pct;
  if (distance_pct < needed_pct) {
    warnings.push_back(fmt::format(
        "floor of {} is {:.1f} % below the usual figure, nearer than {} run s.d. + {} chip s.d. "
        "({:.1f} %): expect INCONCLUSIVE",
        target.id, distance_pct, kRunDeviations, kChipDeviations, needed_pct));
  }
}

Target read_target(StrictYaml& row, const GpuSpec& spec, std::vector<std::string>& warnings) {
  Target target;
  target.id = row.text("id");
  target.metric = row.text("metric");
  target.pipe = row.text("pipe");
  target.floor = row.number("floor");
  target.usual = row.number("usual");
  target.run_sd_pct = row.number("run_sd_pct");
  target.chip_sd_pct = row.number("chip_sd_pct");
  target.cards = row.integer("cards");
  target.source = row.text("source");
  target.date = row.text("date");
  if (row.has("best")) target.best = row.number("best");
  row.finish();
  check_id(row, target.id);
  for (const auto& [key, value] :
       {std::pair("run_sd_pct", target.run_sd_pct), std::pair("chip_sd_pct", target.chip_sd_pct)}) {
    if (value < 0 || value > 50) row.refuse(key, fmt::format("{}: expected 0 to 50 per cent", key));
  }
  if (target.best && !(*target.best >= target.usual)) {
    row.refuse("best", fmt::format("best: {} is below the usual figure {}; give the highest figure "
                                   "known or leave it out",
                                   *target.best, target.usual));
  }
  if (target.cards < 1) row.refuse("cards", "cards: expected 1 or more");
  if (!is_date(target.date)) {
    row.refuse("date", fmt::format("date: expected YYYY-MM-DD, found '{}'", target.date));
  }
  check_floor(row, target, spec, warnings);
  return target;
}

}  // namespace

const Target* TargetSet::find(std::string_view id) const {
  const auto found = std::ranges::find(targets, id, &Target::id);
  return found == targets.end() ? nullptr : &*found;
}

TargetSet load_targets(const std::filesystem::path& file, const GpuTable& table) {
  StrictYaml yaml = StrictYaml::load(file);
  TargetSet set;
  set.sku = yaml.text("sku");
  set.file = file.filename().string();
  const GpuSpec* spec = table.find(set.sku);
  if (spec == nullptr) {
    yaml.refuse("sku",
                fmt::format("sku: no card '{}' in configs/gpus; see assay list gpus", set.sku));
  }
  std::vector<StrictYaml> rows = yaml.list("targets");
  yaml.finish();
  if (rows.empty()) yaml.refuse("targets: none given; add one or remove the file");
  for (StrictYaml& row : rows) {
    Target target = read_target(row, *spec, set.warnings);
    if (set.find(target.id) != nullptr) {
      row.refuse("id", fmt::format("id: a second target for {}; remove one", target.id));
    }
    set.date = std::max(set.date, target.date);  // ISO dates sort as text
    set.targets.push_back(std::move(target));
  }
  return set;
}

void require_targets_for(const TargetSet& set, const std::vector<GpuSpec>& cards) {
  if (std::ranges::find(cards, set.sku, &GpuSpec::sku) != cards.end()) return;
  std::string known;
  for (const GpuSpec& card : cards) known += (known.empty() ? "" : ", ") + card.sku;
  throw Error(
      ExitCode::kUsage,
      fmt::format("{}: targets for '{}', but the cards here are: {}; leave out --targets or "
                  "give the file of a card that is here",
                  set.file, set.sku, known.empty() ? "none that is known" : known));
}

}  // namespace assay
