// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

namespace assay {
namespace {

constexpr int kStage1Runs = 5;
constexpr double kFalsePassLevel = 0.05;
constexpr std::int64_t kRowsPerFalseFail = 100;  // 1 / 0.01: at most 1 % false FAILs a report
// A card whose every run of stage 1 misses the floor by a tenth is judged without stage 2.
constexpr double kGrossShare = 0.90;

double choose(int n, int k) {
  double result = 1;
  for (int i = 1; i <= k; ++i) result = result * (n - k + i) / i;
  return result;
}

// P(Bin(n, 1/2) <= k); exact in double, since n stays below 53.
double half_binomial_at_most(int n, int k) {
  double ways = 0;
  for (int i = 0; i <= std::min(n, k); ++i) ways += choose(n, i);
  return std::ldexp(ways, -n);
}

// A value that is not finite misses every floor: NaN compares false with everything.
int count_below(std::span<const double> values, double floor) {
  return static_cast<int>(std::count_if(values.begin(), values.end(), [&](double value) {
    return !std::isfinite(value) || !(value >= floor);
  }));
}

// A tenth worse than `floor`. Where lower is better both come negated, and worse is further from 0.
double gross_floor(double floor) { return floor >= 0 ? kGrossShare * floor : floor / kGrossShare; }

}  // namespace

double median(std::span<const double> values) {
  // nth_element needs a strict order, which NaN breaks.
  if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  if (sorted.size() % 2 == 1) return *middle;
  const double lower = *std::max_element(sorted.begin(), middle);
  return lower == *middle ? lower : std::midpoint(lower, *middle);
}

Moments moments(std::span<const double> values) {
  Moments result;
  double sum_of_squares = 0;
  std::size_t n = 0;
  // The first value is taken off, so that a large offset costs no digits.
  const double origin = values.empty() ? 0 : values.front();
  for (const double value : values) {
    ++n;
    const double shifted = value - origin;
    const double delta = shifted - result.mean;
    result.mean += delta / static_cast<double>(n);
    sum_of_squares += delta * (shifted - result.mean);
  }
  if (n >= 2) result.sd = std::sqrt(sum_of_squares / static_cast<double>(n - 1));
  result.mean += origin;
  return result;
}

std::optional<double> min_max_level(int n) {
  if (n < 2) return std::nullopt;
  return 1 - std::ldexp(1.0, 1 - n);
}

double false_pass_probability(int total_runs, int allowed_below) {
  double probability = std::ldexp(1.0, -kStage1Runs);
  for (int k = 1; k <= std::min(kStage1Runs, allowed_below); ++k) {
    probability += std::ldexp(choose(kStage1Runs, k), -kStage1Runs) *
                   half_binomial_at_most(total_runs - kStage1Runs, allowed_below - k);
  }
  return probability;
}

double false_fail_bound(int m, int total_runs) { return std::min(1.0, std::ldexp(m, -total_runs)); }

StagePlan stage_plan(int m) {
  StagePlan plan;
  plan.stage1_runs = kStage1Runs;
  plan.total_runs = 12;
  // The smallest N with 2^N >= 100 m, in whole numbers: log2 would round at powers of two.
  const std::int64_t wanted = kRowsPerFalseFail * std::max(m, 1);
  while ((std::int64_t{1} << plan.total_runs) < wanted) ++plan.total_runs;
  plan.allowed_below = 0;
  while (false_pass_probability(plan.total_runs, plan.allowed_below + 1) <= kFalsePassLevel) {
    ++plan.allowed_below;
  }
  return plan;
}

RowJudgement judge_row(const StagePlan& plan, double floor, std::span<const double> values) {
  const auto stage1 = static_cast<std::size_t>(plan.stage1_runs);
  const auto stage2 = static_cast<std::size_t>(plan.total_runs);
  if (values.size() < stage1) return {RowOutcome::kExtend, count_below(values, floor)};
  const auto first = values.first(stage1);
  const int below_first = count_below(first, floor);
  if (below_first == 0) return {RowOutcome::kPass, 0};
  if (count_below(first, gross_floor(floor)) == plan.stage1_runs) {
    return {RowOutcome::kFail, below_first};
  }
  if (values.size() < stage2) return {RowOutcome::kExtend, count_below(values, floor)};
  // Runs beyond N are reported and not judged: N was declared before the first of them.
  const int below = count_below(values.first(stage2), floor);
  if (below <= plan.allowed_below) return {RowOutcome::kPass, below};
  if (below == plan.total_runs) return {RowOutcome::kFail, below};
  return {RowOutcome::kInconclusive, below};
}

}  // namespace assay
