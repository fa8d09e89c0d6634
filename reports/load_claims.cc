// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "reports/claims.h"
#include "reports/strict_yaml.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 3> kInventoryFields = {"compute_capability", "sm_count",
                                                              "mig_offered"};

// What each type of check needs beside `skus` and `label`; nothing else may be given.
struct CheckType {
  std::string_view name;
  std::vector<std::string_view> needs;
  bool bounds = false;  // at_least, at_most or both
};
const std::vector<CheckType>& check_types() {
  static const std::vector<CheckType> types = {{"ratio", {"id", "base_id"}, true},
                                               {"share", {"id", "of"}, true},
                                               {"inventory", {"field", "equals"}},
                                               {"mig_slices", {}, true},
                                               {"ran", {"id", "equals"}},
                                               {"fastest", {"any_of"}},
                                               {"nvlink_rate", {"of"}},
                                               {"driver", {"at_least"}},
                                               {"nvlink_pairs", {}},
                                               {"host_facts", {}}};
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
                                   "mig_slices, ran, fastest, nvlink_rate, driver, nvlink_pairs, "
                                   "host_facts",
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
  if (check.type == "ran") check.metric = row.text("metric", "");
  if (needs("any_of")) check.any_of = row.texts("any_of");
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
  if (!check.metric.empty() && check.equals != "ok") {
    row.refuse("metric", "metric: what was skipped has no figure; remove the key");
  }
  if (check.type == "fastest" && check.any_of.empty()) {
    row.refuse("any_of: name the precisions, such as fp8_e4m3");
  }
  if (is_of_node(check.type) && !check.skus.empty()) {
    row.refuse("skus", fmt::format("skus: {} is of the node; remove the key", check.type));
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
    if (is_of_node(check.type) != about_node(claim)) {
      row.refuse("checks",
                 fmt::format("checks: {} mixes checks of the node and of a card", claim.id));
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

}  // namespace assay
