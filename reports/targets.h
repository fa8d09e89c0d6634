// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Floors with their provenance (configs/targets/<sku>.yaml).
//
//   TargetSet set = load_targets(config_dir() / "targets" / "h200-sxm.yaml", table);
//   const Target* t = set.find("gemm/bf16/8192x8192x8192/sustained");
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/gpus.h"
#include "reports/json_fields.h"

namespace assay {

// Cards from which a floor is no longer provisional: the lowest of 59 is, at 95 %, below all but a
// twentieth of the population (0.95^59 = 0.05).
inline constexpr int kCardsForFinalFloor = 59;

struct Target {
  std::string id;      // of the record, conditions included
  std::string metric;  // "tflops", "gb_per_s"
  std::string pipe;    // that the record must have run on: of the card's table, or "dram"
  double floor = 0;
  double usual = 0;        // what a sound card usually gives
  double run_sd_pct = 0;   // run to run, one card
  double chip_sd_pct = 0;  // card to card
  int cards = 0;           // how many cards the figures come from
  std::string source;
  std::string date;  // YYYY-MM-DD
  // The best figure known of any card of this SKU in this regime; far above it, something else was
  // measured. Null: none is known.
  std::optional<double> best = std::nullopt;

  [[nodiscard]] bool provisional() const { return cards < kCardsForFinalFloor; }

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("id", self.id);
    archive("metric", self.metric);
    archive("pipe", self.pipe);
    archive("floor", self.floor);
    archive("usual", self.usual);
    archive("run_sd_pct", self.run_sd_pct);
    archive("chip_sd_pct", self.chip_sd_pct);
    archive("cards", self.cards);
    archive("source", self.source);
    archive("date", self.date);
    archive("best", self.best);
  }
};

struct TargetSet {
  std::string sku;
  std::string file;  // name without folder, for people
  std::string date;  // of the newest target
  std::vector<Target> targets;
  std::vector<std::string> warnings;  // "floor of ... is too near to the usual figure ..."

  [[nodiscard]] const Target* find(std::string_view id) const;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("sku", self.sku);
    archive("file", self.file);
    archive("date", self.date);
    archive("targets", self.targets);
    archive("warnings", self.warnings);
  }
};

// Refuses with Error(kUsage), file and line: unknown or duplicate keys, a SKU that `table` lacks, a
// missing source or date, a pipe that the card lacks, a metric that is not the pipe's, a floor
// outside 0.25-1.00 of the pipe's data-sheet limit, a floor above `usual`, a `best` below `usual`.
// Warns (in the result) where the floor is nearer than 2.5 run s.d. + 3 chip s.d. to the usual
// figure.
[[nodiscard]] TargetSet load_targets(const std::filesystem::path& file, const GpuTable& table);

// Refuses with Error(kUsage) targets of a card that is not among `cards`: they would judge nothing.
void require_targets_for(const TargetSet& set, const std::vector<GpuSpec>& cards);

}  // namespace assay
