// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/interleaved.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace assay {
namespace {

using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Values = std::vector<double>;

const Values kBase = {1.640, 1.652, 1.645, 1.638, 1.660, 1.649, 1.643, 1.655};
const Values kSlower = {1.690, 1.701, 1.688, 1.712, 1.695, 1.699, 1.686, 1.705};

Comparison judged(const LookPlan& plan, const Values& base, const Values& candidate,
                  Better better = Better::kLower) {
  return InterleavedRule(plan).judge(0, log_times(base, better), log_times(candidate, better));
}

Values scaled(Values values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

Values rates(Values values) {
  for (double& value : values) value = 1 / value;
  return values;
}

TEST(Interleaved, Golden) {
  const Comparison c = judged(two_looks(30), kBase, kSlower);
  EXPECT_EQ(c.status, ComparedStatus::kRegression);
  EXPECT_EQ(c.runs, 8);
  EXPECT_NEAR(c.difference, 0.029448, 5e-7);
  EXPECT_NEAR(c.standard_error, 0.002484, 5e-7);
  EXPECT_NEAR(c.degrees_of_freedom, 13.760, 5e-4);
  EXPECT_NEAR(c.report_low, 0.017683, 5e-7);
  EXPECT_NEAR(c.row_low, 0.024113, 5e-7);
  EXPECT_NEAR(c.row_low + c.row_high, 2 * c.difference, 1e-15);
  EXPECT_NEAR(c.report_low + c.report_high, 2 * c.difference, 1e-15);
  EXPECT_EQ(c.rank_u, 0);
  EXPECT_NEAR(c.slower_p, 1.0 / 12870, 1e-18);
  EXPECT_NEAR(c.faster_p, 1, 1e-12);
  // max((t(a/m) + 2.5) SE, 1 % + (t(0.05 f) + 1.5) SE), by the bounds above.
  EXPECT_NEAR(c.detectable,
              std::max(c.difference - c.report_low + 2.5 * c.standard_error,
                       0.01 + c.difference - c.row_low + 1.5 * c.standard_error),
              1e-12);
}

TEST(Interleaved, UnitsRatesAndRowOrderDoNotMatter) {
  const LookPlan plan = two_looks(30);
  const Comparison c = judged(plan, kBase, kSlower);
  Values shuffled = kSlower;
  std::ranges::reverse(shuffled);
  for (const Comparison& other : {judged(plan, scaled(kBase, 1e6), scaled(kSlower, 1e6)),
                                  judged(plan, rates(kBase), rates(kSlower), Better::kHigher),
                                  judged(plan, kBase, shuffled)}) {
    EXPECT_EQ(other.status, c.status);
    EXPECT_NEAR(other.difference, c.difference, 1e-12);
    EXPECT_NEAR(other.report_low, c.report_low, 1e-12);
    EXPECT_EQ(other.rank_u, c.rank_u);
  }
}

TEST(Interleaved, SwappedSidesMirror) {
  const LookPlan plan = two_looks(30);
  const Comparison forth = judged(plan, kBase, kSlower);
  const Comparison back = judged(plan, kSlower, kBase);
  EXPECT_EQ(back.status, ComparedStatus::kImprovement);
  EXPECT_NEAR(back.difference, -forth.difference, 1e-15);
  EXPECT_NEAR(back.report_high, -forth.report_low, 1e-15);
  EXPECT_NEAR(back.row_high, -forth.row_low, 1e-15);
  EXPECT_EQ(back.faster_p, forth.slower_p);
  EXPECT_EQ(back.rank_u, 64);
}

TEST(Interleaved, UnchangedAndInconclusive) {
  EXPECT_EQ(judged(two_looks(30), kBase, kBase).status, ComparedStatus::kUnchanged);
  // A shift that the margin of 1 % covers is no regression, however certain it is.
  EXPECT_EQ(judged(two_looks(30), kBase, scaled(kBase, 1.009)).status, ComparedStatus::kUnchanged);
  const Comparison c = judged(two_looks(30), kBase, scaled(kBase, 1.03));
  EXPECT_EQ(c.status, ComparedStatus::kRegression);
  const Values noisy = {1.60, 1.72, 1.66, 1.75, 1.62, 1.70, 1.64, 1.78};
  const Comparison undecided = judged(two_looks(30), kBase, noisy);
  EXPECT_EQ(undecided.status, ComparedStatus::kInconclusive);
  EXPECT_THAT(undecided.reason, HasSubstr("neither"));
  EXPECT_THAT(weakness(undecided),
              HasSubstr("a 3 % loss may be missed: needs about 59 runs a side"));
  EXPECT_EQ(weakness(judged(two_looks(1), kBase, kBase)), "");
}

// The bounds alone would call it a regression; one pair is the other way round.
TEST(Interleaved, TheRankGuardHoldsBack) {
  const Values base = {1.000, 1.003, 1.006, 1.009, 1.012, 1.015, 1.018, 1.0205};
  const Values candidate = {1.020, 1.035, 1.038, 1.041, 1.044, 1.047, 1.050, 1.053};
  const Comparison c = judged(two_looks(64), base, candidate);
  EXPECT_GT(c.row_low, std::log(1.01));
  EXPECT_GT(c.report_low, 0);
  EXPECT_EQ(c.rank_u, 1);
  EXPECT_GT(c.slower_p, 0.005 / 64);
  EXPECT_EQ(c.status, ComparedStatus::kInconclusive);
  EXPECT_EQ(judged(one_look(64, 8), base, candidate).status, ComparedStatus::kRegression);
}

TEST(Plan, FirstLookByRows) {
  const std::map<int, int> first = {{1, 6},   {4, 6},    {5, 8},    {30, 8},     {64, 8},
                                    {65, 10}, {923, 10}, {924, 12}, {10'000, 12}};
  for (const auto& [m, runs] : first) {
    const LookPlan plan = two_looks(m);
    ASSERT_EQ(plan.looks.size(), 2U);
    EXPECT_EQ(plan.looks[0].runs, runs) << m;
    EXPECT_EQ(plan.looks[1].runs, 2 * runs) << m;
    EXPECT_EQ(plan.looks[0].level, 0.005);
    EXPECT_EQ(plan.looks[1].fraction, 0.5);
  }
  EXPECT_EQ(one_look(30, 10).looks.size(), 1U);
  EXPECT_EQ(one_look(30, 10).looks[0].level, 0.01);
  EXPECT_EQ(one_look(30, 10).looks[0].fraction, 1);
  EXPECT_THROW((void)two_looks(0), Error);
  EXPECT_THROW((void)one_look(0, 8), Error);
  EXPECT_THROW((void)one_look(1, 0), Error);
}

TEST(Order, IsAbbaOrItsMirror) {
  using enum Side;
  EXPECT_EQ(interleaved_order(2, false), (std::vector{kBase, kCandidate, kCandidate, kBase}));
  EXPECT_EQ(interleaved_order(2, true), (std::vector{kCandidate, kBase, kBase, kCandidate}));
  EXPECT_TRUE(interleaved_order(0, false).empty());
  for (const int runs : {5, 6, 8, 16}) {
    for (const bool mirrored : {false, true}) {
      const std::vector<Side> order = interleaved_order(runs, mirrored);
      const auto even = static_cast<std::size_t>(runs + runs % 2);
      EXPECT_EQ(order.size(), 2 * even);
      EXPECT_EQ(std::ranges::count(order, kBase), static_cast<std::ptrdiff_t>(even));
      std::ptrdiff_t moment = 0;  // a linear drift cancels
      for (std::size_t i = 0; i < order.size(); ++i) {
        moment += static_cast<std::ptrdiff_t>(i) * (order[i] == kBase ? 1 : -1);
      }
      EXPECT_EQ(moment, 0);
    }
  }
}

TEST(RankDistribution, Enumerated) {
  for (const int n : {1, 2, 3, 4, 5}) {
    std::vector<int> ways(static_cast<std::size_t>(n * n) + 1, 0);
    int all = 0;
    for (unsigned bits = 0; bits < 1U << (2 * n); ++bits) {  // set: of the candidate
      if (std::popcount(bits) != n) continue;
      std::size_t u = 0;
      for (int i = 0; i < 2 * n; ++i) {
        // A base value at place i is above every candidate value below it.
        if (!((bits >> i) & 1))
          u += static_cast<std::size_t>(std::popcount(bits & ((1U << i) - 1)));
      }
      ++ways[u];
      ++all;
    }
    const std::vector<double> p = rank_distribution(n);
    ASSERT_EQ(p.size(), ways.size());
    double sum = 0;
    for (std::size_t u = 0; u < ways.size(); ++u) {
      sum += static_cast<double>(ways[u]) / all;
      EXPECT_NEAR(p[u], sum, 1e-14) << n << " " << u;
    }
  }
}

TEST(RankDistribution, KnownTails) {
  EXPECT_NEAR(rank_distribution(8)[0] * 12870, 1, 1e-12);
  EXPECT_NEAR(rank_distribution(8)[1] * 12870, 2, 1e-12);
  EXPECT_NEAR(rank_distribution(8)[2] * 12870, 4, 1e-12);
  EXPECT_NEAR(rank_distribution(10)[0] * 184756, 1, 1e-11);
  EXPECT_EQ(rank_distribution(0).size(), 1U);
  const std::vector<double> large = rank_distribution(60);
  EXPECT_NEAR(large.back(), 1, 1e-9);
  EXPECT_NEAR(large[1799] + large[1800], 1, 1e-9);  // symmetric about n^2 / 2
}

TEST(Degenerate, FewRuns) {
  for (std::size_t n = 0; n <= 4; ++n) {
    const Values base(kBase.begin(), kBase.begin() + static_cast<std::ptrdiff_t>(n));
    const Values slower(kSlower.begin(), kSlower.begin() + static_cast<std::ptrdiff_t>(n));
    const Comparison c = judged(two_looks(1), base, slower);
    EXPECT_EQ(c.status, ComparedStatus::kInconclusive);
    EXPECT_EQ(c.reason, std::to_string(n) + " of 6 runs a side");
    if (n == 0) continue;
    const Comparison planned = judged(one_look(1, static_cast<int>(n)), base, slower);
    EXPECT_EQ(planned.status, ComparedStatus::kInconclusive) << n;
    EXPECT_THAT(planned.reason, HasSubstr(n == 1 ? "no spread" : "cannot carry 1 row:")) << n;
  }
  const Comparison lopsided = judged(two_looks(1), kBase, {kSlower.begin(), kSlower.begin() + 5});
  EXPECT_EQ(lopsided.reason, "5 of 6 runs a side");
}

TEST(Degenerate, MoreRunsThanTheLookAreLeftOut) {
  Values longer = kSlower;
  longer.insert(longer.end(), {9, 9, 9});
  EXPECT_EQ(judged(two_looks(30), kBase, longer).difference,
            judged(two_looks(30), kBase, kSlower).difference);
}

TEST(Degenerate, ManyRows) {
  const Comparison c = judged(one_look(10'000, 8), kBase, scaled(kBase, 2));
  EXPECT_EQ(c.status, ComparedStatus::kInconclusive);
  EXPECT_EQ(c.reason, "8 runs a side cannot carry 10000 rows: at least 12 are needed");
  EXPECT_GT(c.report_low, 0);
  // That nothing changed needs no guard.
  EXPECT_EQ(judged(one_look(10'000, 8), kBase, kBase).status, ComparedStatus::kUnchanged);
  EXPECT_EQ(judged(one_look(1, 8), kBase, kSlower).status, ComparedStatus::kRegression);
}

TEST(Degenerate, ZeroVarianceAndTies) {
  const Values same(8, 1.0);
  const Comparison equal = judged(two_looks(30), same, same);
  EXPECT_EQ(equal.status, ComparedStatus::kUnchanged);
  EXPECT_EQ(equal.base_sd, 0);
  EXPECT_NEAR(equal.standard_error, 0.0005 / 2, 1e-12);  // the least s, of 8 runs a side
  EXPECT_NEAR(equal.degrees_of_freedom, 14, 1e-9);
  EXPECT_EQ(equal.rank_u, 32);  // every pair a tie
  EXPECT_EQ(equal.slower_p, equal.faster_p);
  EXPECT_EQ(judged(two_looks(30), same, scaled(same, 1.03)).status, ComparedStatus::kRegression);
  EXPECT_EQ(judged(two_looks(30), same, scaled(same, 1 / 1.03)).status,
            ComparedStatus::kImprovement);
  // One tie is half a pair, rounded up: U = 1, P = 2/12870.
  Values touching(8, 1.05);
  touching[0] = 1.0;
  Values base(8, 0.99);
  base[7] = 1.0;
  EXPECT_EQ(judged(two_looks(30), base, touching).rank_u, 1);
  EXPECT_NEAR(judged(two_looks(30), base, touching).slower_p, 2.0 / 12870, 1e-15);
}

TEST(Degenerate, WhatIsNoTime) {
  for (const double bad : {kNan, kInfinity, -kInfinity, 0.0, -1.0}) {
    Values broken = kSlower;
    broken[2] = bad;
    const Comparison c = judged(two_looks(30), kBase, broken);
    EXPECT_EQ(c.status, ComparedStatus::kErrored) << bad;
    EXPECT_EQ(c.reason, "run 3 of the candidate gave no time");
    EXPECT_EQ(judged(two_looks(30), broken, kBase).status, ComparedStatus::kErrored);
    EXPECT_EQ(judged(two_looks(30), rates(kBase), broken, Better::kHigher).status,
              ComparedStatus::kErrored);
  }
  // Far apart, and still finite.
  EXPECT_EQ(judged(two_looks(30), scaled(kBase, 1e-300), scaled(kBase, 1e300)).status,
            ComparedStatus::kRegression);
}

}  // namespace
}  // namespace assay
