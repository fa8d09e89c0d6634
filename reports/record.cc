// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/record.h"

namespace assay {

std::string condition_suffix(const Conditions& conditions) {
  const Conditions defaults;
  std::string suffix = to_string(conditions.power);
  if (conditions.cache != defaults.cache) suffix += "/" + to_string(conditions.cache);
  if (conditions.clocks != defaults.clocks) suffix += "/" + to_string(conditions.clocks);
  if (conditions.peers == Peers::kAlone) suffix += "/" + to_string(conditions.peers);
  return suffix;
}

const Metric* primary_metric(const Record& record) {
  for (const auto& [name, metric] : record.metrics) {
    if (metric.primary) return &metric;
  }
  return nullptr;
}

}  // namespace assay
