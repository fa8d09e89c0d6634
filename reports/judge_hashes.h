// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The same input and algorithm must give the same output on every GPU of the node: a check of each
// card by its siblings, beside each result's own.
#pragma once

#include <vector>

#include "reports/report.h"

namespace assay {

struct HashFindings {
  std::vector<Fault> faults;     // SDC-01 of a GPU that a majority contradicts
  std::vector<Record*> records;  // whose `judged` was changed, so that no floor explains them
};

// After judge_record() of each row. With three GPUs or more and a majority, the others are wrong:
// suspected by one run, confirmed by two fresh ones with that hash. Without a majority nobody knows
// which, and none of them passes.
[[nodiscard]] HashFindings compare_hashes(Report& report);

}  // namespace assay
