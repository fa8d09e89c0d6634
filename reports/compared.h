// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What a comparison says of one row, and what that does to the exit code.
//
//   ExitCode code = exit_effect(ComparedStatus::kMissing);   // kNotJudged
#pragma once

#include <array>

#include "reports/error.h"
#include "reports/json_fields.h"

namespace assay {

enum class ComparedStatus {
  kRegression,
  kImprovement,
  kUnchanged,
  kInconclusive,
  kSuspect,
  kNotComparable,
  kMissing,
  kNew,
  kDuplicate,
  kErrored,
  kSkipped
};
constexpr std::array<EnumName<ComparedStatus>, 11> enum_names(ComparedStatus) {
  return {{{ComparedStatus::kRegression, "regression"},
           {ComparedStatus::kImprovement, "improvement"},
           {ComparedStatus::kUnchanged, "unchanged"},
           {ComparedStatus::kInconclusive, "inconclusive"},
           {ComparedStatus::kSuspect, "suspect"},
           {ComparedStatus::kNotComparable, "not_comparable"},
           {ComparedStatus::kMissing, "missing"},
           {ComparedStatus::kNew, "new"},
           {ComparedStatus::kDuplicate, "duplicate"},
           {ComparedStatus::kErrored, "errored"},
           {ComparedStatus::kSkipped, "skipped"}}};
}

// The code of a report whose only row has this status.
[[nodiscard]] constexpr ExitCode exit_effect(ComparedStatus status) {
  switch (status) {
    case ComparedStatus::kRegression:
      return ExitCode::kFail;
    case ComparedStatus::kErrored:
      return ExitCode::kMeasurement;
    case ComparedStatus::kImprovement:
    case ComparedStatus::kUnchanged:
    case ComparedStatus::kNew:
      return ExitCode::kPass;
    default:
      return ExitCode::kNotJudged;
  }
}

}  // namespace assay
