// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// From facts to a verdict. Everything here is derived from the report alone (its records, plan,
// inventory, embedded targets and limits), so that judging again gives the same.
//
//   judge(report);
//   return static_cast<ExitCode>(report.verdict->exit_code);
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/report.h"

namespace assay {

// Fills metrics' intervals, limit and shares of each record, and its judged.warnings anew; a value
// that physics forbids, or a result that is wrong, makes the record invalid (docs/METHOD.md,
// Limits).
void derive_limits(Report& report);

// derive_limits(), then faults (gates first: they explain slow rows), each record's `judged`, the
// verdict.
void judge(Report& report);

// The rows (index into report.records) that stage 1 left undecided and stage 2 would extend, by
// limits that have been derived.
[[nodiscard]] std::vector<std::size_t> undecided_rows(const Report& report);

// The target by which a record is judged: of its card's SKU and of its id; null for a record that
// is for information only (no target, the host, a GPU in MIG mode).
[[nodiscard]] const Target* target_of(const Report& report, const Record& record);

// A row of the gate set that has a target on this card and no record at all.
struct MissingRow {
  std::string id;
  std::string uuid;
};
[[nodiscard]] std::vector<MissingRow> missing_rows(const Report& report);

// A GPU that no target could judge, and why: 'no targets for "NVIDIA H20"'. `uuid` is empty where
// NVML does not know the GPU.
struct UnjudgedGpu {
  std::string uuid;
  std::string reason;
};
[[nodiscard]] std::vector<UnjudgedGpu> unjudged_gpus(const Report& report);

}  // namespace assay
