// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The two forms in which single runs are kept: a row as Google Benchmark's tools read it, and a
// line of samples.jsonl.
#pragma once

#include <optional>

#include "reports/record.h"

namespace assay {

struct Run {
  RunRecord record;
  // It ran so that the node was loaded as in the other rounds while another GPU's row was measured
  // again: kept, and no run of its own row.
  bool load_only = false;
};

// `iterations` is the number of launches, `real_time` the run's value in nanoseconds an operation.
// `samples_line` is the run's line in samples.jsonl, counted from 1.
[[nodiscard]] Json benchmark_row(const Run& run, int conditioning_rounds,
                                 std::optional<int> samples_line);

// Whether it has a line in samples.jsonl.
[[nodiscard]] bool has_samples(const RunRecord& run);
// {"id", "device", "round", "launches_per_sample", "samples_s": [...], "rejected_s": [...]}
[[nodiscard]] Json samples_line(const RunRecord& run);

}  // namespace assay
