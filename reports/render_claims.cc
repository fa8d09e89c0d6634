// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reports/render.h"
#include "reports/text.h"

namespace assay {
namespace {

// How many results there are of each verdict, in the vocabulary's order.
std::vector<std::pair<std::string, std::ptrdiff_t>> counts_of(
    const std::vector<ClaimResult>& results) {
  std::vector<std::pair<std::string, std::ptrdiff_t>> counts;
  for (const auto& [verdict, name] : enum_names(ClaimVerdict{})) {
    counts.emplace_back(name, std::ranges::count(results, verdict, &ClaimResult::verdict));
  }
  return counts;
}

}  // namespace

std::string render_claims(const std::vector<ClaimResult>& results) {
  std::string out;
  for (const ClaimResult& result : results) {
    out += fmt::format("{}  {:<13} {}\n", result.claim->id, to_string(result.verdict),
                       result.claim->plain);
    if (!result.device.empty()) out += "     on " + result.device + "\n";
    if (!result.measured.empty()) out += "     " + result.measured + "\n";
    if (!result.reason.empty()) out += "     " + result.reason + "\n";
  }
  std::vector<std::string> words;
  for (const auto& [name, n] : counts_of(results)) words.push_back(fmt::format("{} {}", n, name));
  return out + join(words, ", ") + "\n";
}

Json render_claims_json(const std::vector<ClaimResult>& results) {
  Json rows = Json::array();
  for (const ClaimResult& result : results) {
    rows.push_back({{"id", result.claim->id},
                    {"device", result.device},
                    {"status", to_string(result.verdict)},
                    {"document", result.claim->document},
                    {"claim", result.claim->plain},
                    {"measured", result.measured},
                    {"reason", result.reason}});
  }
  Json counts = Json::object();
  for (const auto& [name, n] : counts_of(results)) counts[name] = n;
  return {{"verdict", "info"}, {"rows", std::move(rows)}, {"counts", std::move(counts)}};
}

}  // namespace assay
