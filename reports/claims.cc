// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

#include "reports/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "reports/fastest.h"
#include "reports/format_text.h"
#include "reports/peer_claims.h"
#include "reports/record.h"
#include "reports/statistics.h"

namespace assay {
namespace {

// Below it an interval says too little: that of 5 runs is 0.9375, of 4 it is 0.875.
constexpr double kLowestLevel = 0.9;

using Outcome = ClaimOutcome;

std::string claimed_range(const ClaimCheck& check) {
  if (check.at_least && check.at_most) {
    return fmt::format("{:g} to {:g}", *check.at_least, *check.at_most);
  }
  if (check.at_least) return fmt::format("at least {:g}", *check.at_least);
  return fmt::format("at most {:g}", *check.at_most);
}

// [low, high] is an interval for the truth: only a whole interval in or out of the range decides.
ClaimVerdict judge_interval(const ClaimCheck& check, double low, double high) {
  const bool below = check.at_least && low < *check.at_least;
  const bool above = check.at_most && high > *check.at_most;
  if (!below && !above) return ClaimVerdict::kConfirmed;
  const bool all_below = check.at_least && high < *check.at_least;
  const bool all_above = check.at_most && low > *check.at_most;
  return all_below || all_above ? ClaimVerdict::kRefuted : ClaimVerdict::kInconclusive;
}

std::string overlap_reason(ClaimVerdict verdict) {
  return verdict == ClaimVerdict::kInconclusive ? "the interval reaches over the bound of the claim"
                                                : "";
}

std::string not_ok_reason(const Record& record) {
  return fmt::format("{} is {}{}{}", record.id, to_string(record.status),
                     record.message.empty() ? "" : ": ", record.message);
}

// Empty if the record has an interval that can decide, else why it has none.
std::string weakness(const Record& record) {
  if (record.status != RecordStatus::kOk) return not_ok_reason(record);
  if (record.verification.status != VerificationStatus::kVerified) {
    return fmt::format("the result of {} was not verified", record.id);
  }
  const Metric* metric = primary_metric(record);
  if (metric == nullptr) return fmt::format("{} has no figure", record.id);
  const bool too_few = metric->level && *metric->level < kLowestLevel;
  if (!metric->ci_low || !metric->ci_high || too_few) {
    return fmt::format("{} has too few runs for an interval ({})", record.id, record.runs);
  }
  return *metric->ci_low > 0 ? "" : fmt::format("{} has a figure that is not positive", record.id);
}

struct Ratio {
  double value = 0;
  double low = 0;
  double high = 0;
  std::size_t pairs = 0;  // 0: the two could not be paired
};

// Runs of one round follow each other in one process or nearly so: their ratio knows less of the
// card's temperature than the two figures do.
Ratio ratio_of(const Record& top_row, const Record& base_row) {
  const Metric& top = *primary_metric(top_row);
  const Metric& base = *primary_metric(base_row);
  // A wrong run leaves no value and is replaced by one of a later round.
  const bool same_rounds = top_row.wrong_runs == 0 && base_row.wrong_runs == 0 &&
                           top.values.size() == base.values.size() && !top.values.empty();
  if (!same_rounds) {
    return {top.value / base.value, *top.ci_low / *base.ci_high, *top.ci_high / *base.ci_low, 0};
  }
  std::vector<double> ratios;
  for (std::size_t i = 0; i < top.values.size(); ++i) {
    ratios.push_back(top.values[i] / base.values[i]);
  }
  const auto [low, high] = std::ranges::minmax_element(ratios);
  return {median(ratios), *low, *high, ratios.size()};
}

Outcome judge_ratio(const ClaimCheck& check, const Report& report, const GpuInventory& gpu) {
  const Record* top = find_record(report, check.id, gpu.uuid);
  const Record* base = find_record(report, check.base_id, gpu.uuid);
  if (top == nullptr || base == nullptr) {
    return {ClaimVerdict::kNotMeasured, "",
            fmt::format("needs {} and {} in one report; {} is missing", check.id, check.base_id,
                        top == nullptr ? check.id : check.base_id)};
  }
  for (const Record* record : {top, base}) {
    if (const std::string why = weakness(*record); !why.empty()) {
      return {ClaimVerdict::kInconclusive, "", "no common run: " + why};
    }
  }
  if (top->conditions != base->conditions) {
    return {ClaimVerdict::kInconclusive, "", "no common run: the two ran under other conditions"};
  }
  const Ratio ratio = ratio_of(*top, *base);
  const ClaimVerdict verdict = judge_interval(check, ratio.low, ratio.high);
  const std::string label =
      check.label.empty() ? fmt::format("{} / {}", check.id, check.base_id) : check.label;
  return {verdict,
          fmt::format("{} = {:.2f}x ({:.2f}..{:.2f}{}), claimed {}", label, ratio.value, ratio.low,
                      ratio.high, ratio.pairs > 0 ? fmt::format(", {} pairs", ratio.pairs) : "",
                      claimed_range(check)),
          overlap_reason(verdict)};
}

Outcome judge_share(const ClaimCheck& check, const Report& report, const GpuInventory& gpu) {
  std::vector<std::string> ids = check.or_ids;
  ids.insert(ids.begin(), check.id);
  const Record* best = nullptr;
  std::string why;
  for (const std::string& id : ids) {
    const Record* record = find_record(report, id, gpu.uuid);
    if (record == nullptr) continue;
    const std::string weak = weakness(*record);
    if (!weak.empty()) {
      why = weak;
    } else if (best == nullptr || primary_metric(*record)->value > primary_metric(*best)->value) {
      best = record;
    }
  }
  if (best == nullptr && !why.empty()) return {ClaimVerdict::kInconclusive, "", why};
  if (best == nullptr) {
    return {ClaimVerdict::kNotMeasured, "",
            fmt::format("needs {}; not in this report", fmt::join(ids, " or "))};
  }
  const Metric& metric = *primary_metric(*best);
  const double low = *metric.ci_low / *check.of;
  const double high = *metric.ci_high / *check.of;
  const ClaimVerdict verdict = judge_interval(check, low, high);
  return {
      verdict,
      fmt::format("{}{}{}: {:.0f} {} = {:.3f} ({:.3f}..{:.3f}) of the claimed {:g}, asked {}",
                  check.label, check.label.empty() ? "" : ", ", best->id, metric.value, metric.unit,
                  metric.value / *check.of, low, high, *check.of, claimed_range(check)),
      overlap_reason(verdict)};
}

std::optional<std::string> inventory_text(const GpuInventory& gpu, std::string_view field) {
  if (field == "compute_capability") return gpu.compute_capability;
  if (field == "sm_count") {
    return gpu.sm_count ? std::optional(std::to_string(*gpu.sm_count)) : std::nullopt;
  }
  // NVML answers for the mode, on or off, only where the card has it.
  return gpu.mig ? std::optional<std::string>("true") : std::nullopt;
}

Outcome judge_inventory(const ClaimCheck& check, const GpuInventory& gpu) {
  const std::optional<std::string> found = inventory_text(gpu, check.field);
  if (!found) {
    const auto why = gpu.unreadable.find(check.field == "mig_offered" ? "mig" : check.field);
    return {ClaimVerdict::kNotMeasured, "",
            fmt::format("{} could not be read{}{}", check.field,
                        why == gpu.unreadable.end() ? "" : ": ",
                        why == gpu.unreadable.end() ? "" : why->second)};
  }
  const std::string_view label = check.label.empty() ? check.field : check.label;
  return {*found == check.equals ? ClaimVerdict::kConfirmed : ClaimVerdict::kRefuted,
          fmt::format("{} = {}, claimed {}", label, *found, check.equals), ""};
}

Outcome judge_mig_slices(const ClaimCheck& check, const GpuInventory& gpu) {
  if (!gpu.mig || !*gpu.mig || gpu.mig_slices.empty()) {
    return {ClaimVerdict::kNotMeasured, "",
            "no MIG slices on this card: the mode is off or unread"};
  }
  const auto slices = static_cast<double>(gpu.mig_slices.size());
  return {judge_interval(check, slices, slices),
          fmt::format("{} slices, claimed {}", gpu.mig_slices.size(), claimed_range(check)), ""};
}

// Whether a run that ended as it should has the figure that the claim asks for.
Outcome judge_figure(const ClaimCheck& check, const Record& record) {
  const auto found = record.metrics.find(check.metric);
  if (found == record.metrics.end() || found->second.values.empty()) {
    const auto why = record.telemetry.unknown.find("energy_j");
    const bool told = why != record.telemetry.unknown.end();
    return {ClaimVerdict::kNotMeasured, "",
            fmt::format("{} has no {}{}{}", record.id, check.metric, told ? ": " : "",
                        told ? why->second : "")};
  }
  const Metric& metric = found->second;
  return {ClaimVerdict::kConfirmed,
          fmt::format("{}: {} {}", record.id, figure(metric.value), metric.unit), ""};
}

Outcome judge_ran(const ClaimCheck& check, const Report& report, const GpuInventory& gpu) {
  const Record* record = find_record(report, check.id, gpu.uuid);
  if (record == nullptr) {
    return {ClaimVerdict::kNotMeasured, "", fmt::format("needs {}; not in this report", check.id)};
  }
  if (record->status == RecordStatus::kOk &&
      record->verification.status != VerificationStatus::kVerified) {
    return {ClaimVerdict::kInconclusive, "",
            fmt::format("the result of {} was not verified", record->id)};
  }
  if (record->status == RecordStatus::kOk && !check.metric.empty()) {
    return judge_figure(check, *record);
  }
  if (record->status == RecordStatus::kOk) {
    return {check.equals == "ok" ? ClaimVerdict::kConfirmed : ClaimVerdict::kRefuted,
            fmt::format("{} ran with a right result", record->id), ""};
  }
  if (record->status == RecordStatus::kSkipped && check.equals == "skipped") {
    return {ClaimVerdict::kConfirmed, not_ok_reason(*record), ""};
  }
  // A skip, an error or a wrong result has other causes than a card that cannot.
  return {ClaimVerdict::kInconclusive, "", not_ok_reason(*record)};
}

// The best precision of the claim against the best of all others.
Outcome judge_fastest(const ClaimCheck& check, const Report& report, const GpuInventory& gpu) {
  const Record* claimed = nullptr;
  const Record* other = nullptr;
  for (const auto& [precision, record] : comparable_precisions(report, gpu.uuid).rows) {
    const Record*& best =
        std::ranges::find(check.any_of, precision) != check.any_of.end() ? claimed : other;
    const bool faster =
        best == nullptr || primary_metric(*record)->value > primary_metric(*best)->value;
    if (faster) best = record;
  }
  if (claimed == nullptr || other == nullptr) {
    return {ClaimVerdict::kNotMeasured, "",
            fmt::format("needs a right product in {} and in another precision, of one shape",
                        fmt::join(check.any_of, " or "))};
  }
  for (const Record* record : {claimed, other}) {
    if (const std::string why = weakness(*record); !why.empty()) {
      return {ClaimVerdict::kInconclusive, "", why};
    }
  }
  const Metric& ours = *primary_metric(*claimed);
  const Metric& theirs = *primary_metric(*other);
  Outcome outcome;
  outcome.measured = fmt::format("{}: {} {}, {}: {} {}", claimed->id, figure(ours.value), ours.unit,
                                 other->id, figure(theirs.value), theirs.unit);
  outcome.verdict = *ours.ci_low > *theirs.ci_high   ? ClaimVerdict::kConfirmed
                    : *ours.ci_high < *theirs.ci_low ? ClaimVerdict::kRefuted
                                                     : ClaimVerdict::kInconclusive;
  if (outcome.verdict == ClaimVerdict::kInconclusive) outcome.reason = "their intervals overlap";
  return outcome;
}

Outcome judge_driver(const ClaimCheck& check, const Inventory& inventory) {
  const std::string driver = inventory.driver.value_or("");
  int major = 0;
  const auto [end, error] = std::from_chars(driver.data(), driver.data() + driver.size(), major);
  if (error != std::errc() || end == driver.data()) {
    return {ClaimVerdict::kNotMeasured, "", "no driver is loaded on this host"};
  }
  if (major >= *check.at_least) {
    return {ClaimVerdict::kConfirmed,
            fmt::format("driver {}, claimed {}", driver, claimed_range(check)), ""};
  }
  // A driver that is too old for the claim does not show that the claim is wrong.
  return {ClaimVerdict::kInconclusive, fmt::format("driver {}", driver),
          "this host does not meet the requirement, which tells nothing about its need"};
}

Outcome judge_check(const ClaimCheck& check, const Report& report, const GpuInventory& gpu) {
  if (check.type == "ratio") return judge_ratio(check, report, gpu);
  if (check.type == "share") return judge_share(check, report, gpu);
  if (check.type == "inventory") return judge_inventory(check, gpu);
  if (check.type == "mig_slices") return judge_mig_slices(check, gpu);
  if (check.type == "fastest") return judge_fastest(check, report, gpu);
  if (check.type == "nvlink_rate") return judge_nvlink_rate(check, report, gpu);
  return judge_ran(check, report, gpu);
}

Outcome judge_node(const ClaimCheck& check, const Inventory& inventory) {
  if (check.type == "nvlink_pairs") return judge_nvlink_pairs(inventory);
  if (check.type == "host_facts") return show_host_facts(inventory);
  return judge_driver(check, inventory);
}

// All checks of a claim that speak of a card: one that refutes wins, then one that cannot decide.
Outcome combine(const std::vector<Outcome>& outcomes) {
  Outcome result;
  const auto any = [&](ClaimVerdict verdict) {
    return std::ranges::any_of(outcomes, [&](const Outcome& o) { return o.verdict == verdict; });
  };
  result.verdict = ClaimVerdict::kConfirmed;
  for (const ClaimVerdict verdict :
       {ClaimVerdict::kRefuted, ClaimVerdict::kInconclusive, ClaimVerdict::kNotMeasured}) {
    if (!any(verdict)) continue;
    result.verdict = verdict;
    break;
  }
  for (const Outcome& outcome : outcomes) {
    for (const auto& [from, to] : {std::pair(&outcome.measured, &result.measured),
                                   std::pair(&outcome.reason, &result.reason)}) {
      if (!from->empty()) *to += (to->empty() ? "" : "; ") + *from;
    }
  }
  return result;
}

bool speaks_of(const ClaimCheck& check, const GpuInventory& gpu) {
  if (check.skus.empty()) return true;
  return gpu.sku && std::ranges::any_of(check.skus, [&](const std::string& prefix) {
           return *gpu.sku == prefix || gpu.sku->starts_with(prefix + "-");
         });
}

std::string silence(const Inventory& inventory) {
  if (inventory.gpus.empty()) return "no GPU in this report";
  std::vector<std::string> cards;
  for (const GpuInventory& gpu : inventory.gpus) {
    const std::string card = gpu.sku.value_or(gpu.name);
    if (std::ranges::find(cards, card) == cards.end()) cards.push_back(card);
  }
  return fmt::format("the documents do not speak of this card ({})", fmt::join(cards, ", "));
}

void judge_on_cards(const Claim& claim, const Report& report, std::vector<ClaimResult>& results) {
  std::vector<ClaimResult> cards;
  bool any_fits = false;
  for (const GpuInventory& gpu : report.inventory.gpus) {
    std::vector<Outcome> outcomes;
    for (const ClaimCheck& check : claim.checks) {
      if (speaks_of(check, gpu)) outcomes.push_back(judge_check(check, report, gpu));
    }
    any_fits = any_fits || !outcomes.empty();
    if (outcomes.empty()) {
      const std::string card = gpu.sku.value_or(gpu.name);
      cards.push_back({&claim, ClaimVerdict::kNotMeasured, gpu.uuid, "",
                       fmt::format("the documents do not speak of this card ({})", card)});
    } else {
      Outcome outcome = combine(outcomes);
      cards.push_back({&claim, outcome.verdict, gpu.uuid, std::move(outcome.measured),
                       std::move(outcome.reason)});
    }
  }
  if (any_fits) {
    std::ranges::move(cards, std::back_inserter(results));
  } else {
    results.push_back({&claim, ClaimVerdict::kNotMeasured, "", "", silence(report.inventory)});
  }
}

}  // namespace

bool is_of_node(std::string_view type) {
  return type == "driver" || type == "nvlink_pairs" || type == "host_facts";
}

bool about_node(const Claim& claim) { return is_of_node(claim.checks.front().type); }

std::vector<ClaimResult> judge_claims(const std::vector<Claim>& claims, const Report& report) {
  std::vector<ClaimResult> results;
  for (const Claim& claim : claims) {
    if (claim.checks.empty()) {
      results.push_back({&claim, ClaimVerdict::kNotMeasured, "", "", claim.reason});
    } else if (about_node(claim)) {
      std::vector<Outcome> outcomes;
      for (const ClaimCheck& check : claim.checks) {
        outcomes.push_back(judge_node(check, report.inventory));
      }
      Outcome outcome = combine(outcomes);
      results.push_back(
          {&claim, outcome.verdict, "", std::move(outcome.measured), std::move(outcome.reason)});
    } else {
      judge_on_cards(claim, report, results);
    }
  }
  return results;
}

}  // namespace assay
