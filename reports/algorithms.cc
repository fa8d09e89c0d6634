// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/algorithms.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "reports/error.h"

namespace assay {
namespace {

auto key_of(const StoredAlgorithm& stored) { return std::tuple(stored.id, stored.library()); }

}  // namespace

const StoredAlgorithm* AlgorithmSet::find(std::string_view id, std::string_view library) const {
  if (id.ends_with(kAloneSuffix)) id.remove_suffix(std::string_view(kAloneSuffix).size());
  const auto found = std::ranges::find_if(algorithms, [&](const StoredAlgorithm& stored) {
    return stored.id == id && stored.library() == library;
  });
  return found == algorithms.end() ? nullptr : &*found;
}

void AlgorithmSet::put(StoredAlgorithm stored) {
  std::erase_if(algorithms,
                [&](const StoredAlgorithm& old) { return key_of(old) == key_of(stored); });
  const auto place = std::ranges::find_if(
      algorithms, [&](const StoredAlgorithm& later) { return key_of(later) > key_of(stored); });
  algorithms.insert(place, std::move(stored));
}

AlgorithmSet load_algorithms(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  const Json json = read_json_file(file);
  AlgorithmSet read = from_json_value<AlgorithmSet>(json, name);
  if (read.schema_version != kAlgorithmsSchemaVersion) {
    throw Error(ExitCode::kUsage, fmt::format("{}.schema_version: {}, this program reads {}", name,
                                              read.schema_version, kAlgorithmsSchemaVersion));
  }
  AlgorithmSet set{read.schema_version, read.sku, {}};
  for (std::size_t i = 0; i < read.algorithms.size(); ++i) {
    StoredAlgorithm& stored = read.algorithms[i];
    const auto refuse = [&](std::string_view what) {
      throw Error(ExitCode::kUsage,
                  fmt::format("{}.algorithms[{}] ({}): {}", name, i, stored.id, what));
    };
    const Json& algorithm = stored.algorithm;
    if (!algorithm.is_object() || !algorithm.contains("library") ||
        !algorithm["library"].is_string()) {
      refuse("no \"library\" in its algorithm; tune it again");
    }
    if (set.find(stored.id, stored.library()) != nullptr) {
      refuse(fmt::format("a second one of {}", stored.library()));
    }
    set.put(std::move(stored));
  }
  return set;
}

std::vector<StoredAlgorithm> tuned_algorithms(const Report& report) {
  std::vector<StoredAlgorithm> all;
  for (const Record& record : report.records) {
    if (record.status != RecordStatus::kOk || !record.algorithm.is_object() ||
        !record.algorithm.contains("tuning") || !record.algorithm.contains("library")) {
      continue;
    }
    StoredAlgorithm stored;
    stored.id = record.id;
    stored.tuned = report.started;
    stored.driver = report.inventory.driver.value_or("");
    stored.algorithm = record.algorithm;
    stored.tuning = stored.algorithm["tuning"];
    stored.algorithm.erase("tuning");
    stored.algorithm.erase("chosen");
    all.push_back(std::move(stored));
  }
  return all;
}

}  // namespace assay
