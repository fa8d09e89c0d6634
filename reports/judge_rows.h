// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// One row against its floor: the part of judge.h that looks at no other row.
#pragma once

#include <string>

#include "reports/report.h"
#include "reports/statistics.h"

namespace assay {

// The stages for the rows that this report judges. They must not outnumber the m that the levels
// were declared for: a report judged by other targets than it was planned with keeps its error
// rates.
[[nodiscard]] StagePlan judging_plan(const Report& report);

// Fills record.judged from the record, its target and the limits derived before.
void judge_record(const Report& report, const StagePlan& plan, Record& record);

// Why a burst of a compute pipe is none: the clock that the driver granted; empty if it is one, or
// if that clock was not read. Needs the record's limit.
[[nodiscard]] std::string why_no_burst(const Record& record);

}  // namespace assay
