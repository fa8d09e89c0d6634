// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// From the runs of one case on one device to its record: metrics with one value a run, the worst
// verification, telemetry over the judged runs. A run that failed gives no value; the last failure
// is told in `message`, or in a warning where other runs stand for it.
//
//   std::vector<RunRecord> runs = read_runs();   // of one id and device
//   Record record = merge_runs(runs, /*conditioning_rounds=*/1);
#pragma once

#include <span>
#include <vector>

#include "reports/record.h"

namespace assay {

// The primary metric of a run: TFLOPS for compute pipes, GB/s for memory and links, ns for loads.
struct PrimaryMetric {
  std::string name;  // "tflops", "gb_per_s", "latency_ns"
  std::string unit;  // "TFLOPS", "GB/s", "ns"
  double value = 0;
  Better better = Better::kHigher;
};
[[nodiscard]] PrimaryMetric primary_metric_of(const Work& work, double seconds);

// Total time that far above the median: a run had stalls or clock dips (docs/METHOD.md, One case in
// one process).
[[nodiscard]] constexpr bool has_stalls(double median_s, double mean_s) {
  return mean_s > 1.02 * median_s;
}

// Derives value, interval and level of a metric from its values.
void close_metric(Metric& metric);

// `given` are all runs of one id and device, in the order in which they ran, at least one. Runs
// whose round is below `conditioning_rounds` are recorded and not judged.
//
// Status of the record: invalid if two runs were wrong (conditioning ones count), or one and none
// was sound; errored likewise, by the judged runs; skipped if none ran; else ok. A single wrong or
// errored run beside sound ones leaves a warning. A run whose output hash differs from that of most
// runs of the same algorithm and data is wrong; where no hash has a majority, one of them is.
[[nodiscard]] Record merge_runs(std::span<const RunRecord> given, int conditioning_rounds);

}  // namespace assay
