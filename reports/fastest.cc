// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/fastest.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "reports/text.h"

namespace assay {
namespace {

constexpr std::string_view kNotDense = "+";  // begins a variant in the shape of an id

// {"gemm", precision, shape, power}: a plain product under default conditions; else empty.
std::vector<std::string> product_parts(const Record& record) {
  std::vector<std::string> parts = split(record.id, '/');
  const bool plain = parts.size() == 4 && parts[0] == "gemm" && parts[1] != "ceiling" &&
                     parts[2].find(kNotDense) == std::string::npos && record.work.pipe != "int8";
  return plain ? parts : std::vector<std::string>();
}

bool is_correct(const Record& record) {
  const Metric* metric = primary_metric(record);
  return record.status == RecordStatus::kOk && record.wrong_runs == 0 &&
         record.verification.status == VerificationStatus::kVerified && metric != nullptr &&
         !metric->values.empty();
}

}  // namespace

const Record* PrecisionRows::fastest() const {
  if (rows.size() < 2) return nullptr;
  return std::ranges::max_element(
             rows, {}, [](const auto& row) { return primary_metric(*row.second)->value; })
      ->second;
}

PrecisionRows comparable_precisions(const Report& report, std::string_view uuid) {
  std::map<std::pair<std::string, std::string>, PrecisionRows> groups;  // by shape and power
  for (const Record& record : report.records) {
    if (record.device.uuid != uuid || !is_correct(record)) continue;
    const std::vector<std::string> parts = product_parts(record);
    if (!parts.empty()) groups[{parts[2], parts[3]}].rows.emplace(parts[1], &record);
  }
  const auto weight = [](const auto& group) {
    const Record& any = *group.second.rows.begin()->second;
    return std::tuple(group.second.rows.size(), any.conditions.power == Power::kSustained,
                      any.work.operations);
  };
  const auto best = std::ranges::max_element(groups, {}, weight);
  return best == groups.end() ? PrecisionRows() : best->second;
}

}  // namespace assay
