// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

#include "reports/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "reports/error.h"
#include "reports/record.h"
#include "reports/strict_yaml.h"

namespace assay {
namespace {

// Below it an interval says too little: that of 5 runs is 0.9375, of 4 it is 0.875.
constexpr double kLowestLevel = 0.9;

struct Outcome {
  ClaimVerdict verdict = ClaimVerdict::kNotMeasured;
  std::string measured;
  std::string reason;
};

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
  const Metric& a = *primary_metric(*top);
  const Metric& b = *primary_metric(*base);
  const double low = *a.ci_low / *b.ci_high;
  const double high = *a.ci_high / *b.ci_low;
  const ClaimVerdict verdict = judge_interval(check, low, high);
  const std::string label =
      check.label.empty() ? fmt::format("{} / {}", check.id, check.base_id) : check.label;
  return {verdict,
          fmt::format("{} = {:.2f}x ({:.2f}..{:.2f}), claimed {}", label, a.value / b.value, low,
                      high, claimed_range(check)),
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

constexpr std::array<std::string_view, 3> kInventoryFields = {"compute_capability", "sm_count",
                                                              "mig_offered"};

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
  return judge_ran(check, report, gpu);
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

bool about_host(const Claim& claim) { return claim.checks.front().type == "driver"; }

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

// What each type of check needs beside `skus` and `label`; nothing else may be given.
struct CheckType {
  std::string_view name;
  std::vector<std::string_view> needs;
  bool bounds = false;  // at_least, at_most or both
};
const std::vector<CheckType>& check_types() {
  static const std::vector<CheckType> types = {
      {"ratio", {"id", "base_id"}, true}, {"share", {"id", "of"}, true},
      {"inventory", {"field", "equals"}}, {"mig_slices", {}, true},
      {"ran", {"id", "equals"}},          {"driver", {"at_least"}}};
  return types;
}

std::optional<double> optional_number(StrictYaml& row, std::string_view key) {
  return row.has(key) ? std::optional(row.number(key)) : std::nullopt;
}

// Asks for the keys that the type has, so that finish() refuses the others.
ClaimCheck read_check(StrictYaml& row) {
  ClaimCheck check;
  check.type = row.text("type");
  const auto& types = check_types();
  const auto type = std::ranges::find(types, check.type, &CheckType::name);
  if (type == types.end()) {
    row.refuse("type", fmt::format("type: unknown check '{}'; known: ratio, share, inventory, "
                                   "mig_slices, ran, driver",
                                   check.type));
  }
  check.skus = row.texts("skus");
  check.label = row.text("label", "");
  const auto needs = [&](std::string_view key) {
    return std::ranges::find(type->needs, key) != type->needs.end();
  };
  if (needs("id")) check.id = row.text("id");
  if (check.type == "share") check.or_ids = row.texts("or_ids");
  if (needs("base_id")) check.base_id = row.text("base_id");
  if (needs("field")) check.field = row.text("field");
  if (needs("equals")) check.equals = row.text("equals");
  if (needs("of")) check.of = row.number("of");
  if (needs("at_least")) check.at_least = row.number("at_least");
  if (type->bounds) {
    check.at_least = optional_number(row, "at_least");
    check.at_most = optional_number(row, "at_most");
  }
  row.finish();
  if (type->bounds && !check.at_least && !check.at_most) {
    row.refuse("the check has no bound; give at_least, at_most or both");
  }
  if (check.at_least && check.at_most && *check.at_least > *check.at_most) {
    row.refuse("at_least", "at_least: above at_most");
  }
  if (check.of && *check.of <= 0) row.refuse("of", "of: must be above 0");
  if (check.type == "inventory" &&
      std::ranges::find(kInventoryFields, check.field) == kInventoryFields.end()) {
    row.refuse("field", fmt::format("field: unknown field '{}'; known: {}", check.field,
                                    fmt::join(kInventoryFields, ", ")));
  }
  if (check.type == "ran" && check.equals != "ok" && check.equals != "skipped") {
    row.refuse("equals", fmt::format("equals: expected ok or skipped, found '{}'", check.equals));
  }
  if (check.type == "driver" && !check.skus.empty()) {
    row.refuse("skus", "skus: a driver belongs to the host; remove the key");
  }
  return check;
}

void check_claim(const StrictYaml& row, const Claim& claim) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (claim.id.size() != 3 || claim.id[0] != 'D' || !digit(claim.id[1]) || !digit(claim.id[2])) {
    row.refuse("id", fmt::format("id: expected D01 to D99, found '{}'", claim.id));
  }
  if (claim.checks.empty() && claim.reason.empty()) {
    row.refuse(fmt::format("{} has no checks; give the reason", claim.id));
  }
  if (!claim.checks.empty() && claim.kind == ClaimKind::kNotMeasurable) {
    row.refuse("checks", fmt::format("checks: {} is not_measurable, yet has checks", claim.id));
  }
  for (const ClaimCheck& check : claim.checks) {
    if ((check.type == "driver") != about_host(claim)) {
      row.refuse("checks",
                 fmt::format("checks: {} mixes checks of the host and of a card", claim.id));
    }
  }
}

Claim read_claim(StrictYaml& row) {
  Claim claim;
  claim.id = row.text("id");
  claim.document = row.text("document");
  claim.quote = row.text("quote");
  claim.plain = row.text("plain");
  const std::string kind = row.text("kind");
  const auto parsed = parse_enum<ClaimKind>(kind);
  if (!parsed) {
    row.refuse("kind",
               fmt::format("kind: expected metric, context or not_measurable, found '{}'", kind));
  }
  claim.kind = *parsed;
  claim.judged_by = row.text("judged_by");
  for (StrictYaml& check : row.list("checks")) claim.checks.push_back(read_check(check));
  claim.reason = row.text("reason", "");
  row.finish();
  check_claim(row, claim);
  return claim;
}

}  // namespace

std::vector<Claim> load_claims(const std::filesystem::path& file) {
  StrictYaml yaml = StrictYaml::load(file);
  std::vector<Claim> claims;
  for (StrictYaml& row : yaml.list("claims")) {
    Claim claim = read_claim(row);
    if (std::ranges::find(claims, claim.id, &Claim::id) != claims.end()) {
      row.refuse("id", fmt::format("id: {} is there twice; remove one", claim.id));
    }
    claims.push_back(std::move(claim));
  }
  yaml.finish();
  if (claims.empty()) yaml.refuse("claims: none given; add one");
  return claims;
}

std::vector<ClaimResult> judge_claims(const std::vector<Claim>& claims, const Report& report) {
  std::vector<ClaimResult> results;
  for (const Claim& claim : claims) {
    if (claim.checks.empty()) {
      results.push_back({&claim, ClaimVerdict::kNotMeasured, "", "", claim.reason});
    } else if (about_host(claim)) {
      std::vector<Outcome> outcomes;
      for (const ClaimCheck& check : claim.checks) {
        outcomes.push_back(judge_driver(check, report.inventory));
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
