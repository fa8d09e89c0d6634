// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Runs a suite on the GPUs of this node and writes report.json and samples.jsonl: gates, rounds of
// fresh processes with all GPUs at once, more runs for rows that were wrong once or are undecided,
// rows that failed on a GPU once more with that GPU alone, gates again.
//
//   SuiteRequest request{.suite = find_suite(folder, "quick"), .out = "out", ...};
//   Report report = run_suite(request, stop, [](const std::string& line) { ... });
//
// The report on the disk is replaced after every round, so that a run that is killed leaves what it
// had measured, with `complete: false`.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/runner/plan.h"
#include "bench/runner/schedule.h"
#include "reports/report.h"

namespace assay {

struct SuiteRequest {
  std::string command;   // "accept", "run", "tune"
  std::string revision;  // of the source tree that was built; empty if unknown
  Suite suite;
  std::optional<Suite> without_gpu;  // what runs instead where there is no GPU to measure
  std::vector<std::string> gpus;     // indices or UUIDs; empty: all
  std::filesystem::path out;         // folder
  std::filesystem::path programs;    // folder of the assay-<family> programs
  std::filesystem::path targets;     // folder of <sku>.yaml, or one file
  std::filesystem::path gpu_table;   // folder
  std::filesystem::path algorithms;  // folder of <sku>.json: stored choices
  bool judged = true;                // extend undecided rows, give a verdict
  // kProfile and kTune: one round, without limits on time; kTune: on the first of the GPUs alone.
  Mode mode = Mode::kMeasure;
};

// Throws Error for bad input and when the report cannot be written; everything else is in the
// report.
[[nodiscard]] Report run_suite(const SuiteRequest& request, const std::atomic<bool>& stop,
                               const Progress& progress);

}  // namespace assay
