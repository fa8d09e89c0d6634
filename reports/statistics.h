// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Numbers behind the verdicts: order statistics, the level of the interval [min, max], and the
// two-stage rule of acceptance with its error rates.
//
//   StagePlan plan = stage_plan(30);                       // N = 12, b = 2 for m = 30 rows
//   RowOutcome o = judge_row(plan, floor, values);         // kPass, kFail, kExtend, kInconclusive
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace assay {

// Median of a non-empty sample; of an even count, the mean of the middle two.
[[nodiscard]] double median(std::span<const double> values);

// Mean and s.d. by Welford's method: exact to 1e-9 relative with 1e9 added to every value.
struct Moments {
  double mean = 0;
  double sd = 0;  // n - 1 in the denominator; 0 for n < 2
};
[[nodiscard]] Moments moments(std::span<const double> values);

// Two-sided level of [min, max] as an interval for the median of n runs, 1 - 2^(1-n); null for n
// < 2.
[[nodiscard]] std::optional<double> min_max_level(int n);

struct StagePlan {
  int stage1_runs = 5;
  int total_runs = 12;    // N: runs in all when stage 2 was needed
  int allowed_below = 2;  // b: runs below the floor that still pass after stage 2
};
// For m rows of the gate set, all GPUs: N = max(12, ceil(log2(m / 0.01))), b the largest with
// false_pass_probability(N, b) <= 5 %.
[[nodiscard]] StagePlan stage_plan(int m);

// P(PASS) of a card whose median run is exactly at the floor:
// 2^-5 + sum_{k=1..5} C(5,k) 2^-5 P(Bin(N-5, 1/2) <= b-k).
[[nodiscard]] double false_pass_probability(int total_runs, int allowed_below);
// Bound on P(some row FAILs) of a report whose m rows all have their median at or above the floor.
[[nodiscard]] double false_fail_bound(int m, int total_runs);

enum class RowOutcome { kPass, kFail, kExtend, kInconclusive };

struct RowJudgement {
  RowOutcome outcome = RowOutcome::kInconclusive;
  int below = 0;  // runs that miss the floor
};
// `values` in the order in which they ran, higher is better (pass negated values and floor for a
// metric where lower is better). Only a whole stage is judged: fewer than 5 runs, or between 5 and
// N where stage 1 is undecided, is kExtend. A value that is not finite counts as below.
[[nodiscard]] RowJudgement judge_row(const StagePlan& plan, double floor,
                                     std::span<const double> values);

}  // namespace assay
