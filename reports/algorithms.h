// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The algorithms that `assay tune` chose, one file a kind of card (configs/algorithms/<sku>.json).
// A choice holds for one case and one version of its library: another version numbers its
// algorithms anew.
//
//   AlgorithmSet set = load_algorithms(config_dir() / "algorithms" / "h200-sxm.json");
//   const StoredAlgorithm* stored = set.find("gemm/bf16/8192x8192x8192/burst", "cuBLASLt 13.1.0");
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "reports/json_fields.h"
#include "reports/report.h"

namespace assay {

struct StoredAlgorithm {
  std::string id;         // of the case, "/alone" left out
  std::string tuned;      // UTC, RFC 3339
  std::string driver;     // of the sitting that tuned it
  Json algorithm;         // as the case's record has it; "library" names library and version
  Json tuning = nullptr;  // how it was chosen: bench/harness/tune.h

  [[nodiscard]] std::string library() const { return algorithm.value("library", std::string()); }

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("id", self.id);
    archive("tuned", self.tuned);
    archive("driver", self.driver);
    archive("algorithm", self.algorithm);
    archive("tuning", self.tuning);
  }
};

inline constexpr int kAlgorithmsSchemaVersion = 1;

struct AlgorithmSet {
  int schema_version = kAlgorithmsSchemaVersion;
  std::string sku;
  std::vector<StoredAlgorithm> algorithms;  // by id, then by library

  // Of this case ("/alone" or not) and library; null if none is stored.
  [[nodiscard]] const StoredAlgorithm* find(std::string_view id, std::string_view library) const;
  // Replaces the one of the same case and library.
  void put(StoredAlgorithm stored);

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("schema_version", self.schema_version);
    archive("sku", self.sku);
    archive("algorithms", self.algorithms);
  }
};

// Throws Error(kUsage) with file and field: not JSON, another schema version, an algorithm without
// "library", a case that has two of one library.
[[nodiscard]] AlgorithmSet load_algorithms(const std::filesystem::path& file);

// What a report of `assay tune` chose: one of each record that was tuned and ended ok.
[[nodiscard]] std::vector<StoredAlgorithm> tuned_algorithms(const Report& report);

}  // namespace assay
