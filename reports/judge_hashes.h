// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The same input and algorithm must give the same output on every GPU of the node: a check of each
// card by its siblings, beside each result's own.
#pragma once

#include <vector>

#include "reports/report.h"

namespace assay {

struct HashFindings {
  std::vector<Fault> faults;    // SDC-01 of a GPU that a majority contradicts
  bool any = false;             // rows differ, whether or not it is known which is wrong
  std::vector<Record*> failed;  // rows that fail by their result, whatever their time
};

// After judge_record() of each row. With three GPUs or more and a majority, the others are wrong:
// suspected by one run, confirmed by two fresh ones with that hash. Without a majority nobody knows
// which, and none of them passes.
[[nodiscard]] HashFindings compare_hashes(Report& report);

// A row whose result is in doubt does not pass; one below its floor has failed whatever its result
// is worth.
void leave_open(Record& record, const std::string& reason);

}  // namespace assay
