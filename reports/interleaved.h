// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Base against candidate, run interleaved in one sitting: the order of the runs and the rule that
// judges them (docs/STATISTICS.md). No processes, no files.
//
//   const LookPlan plan = two_looks(30);                  // 8 runs a side, undecided rows 16
//   const InterleavedRule rule(plan);
//   const std::vector<double> base = log_times(base_s, Better::kLower);
//   const std::vector<double> candidate = log_times(candidate_s, Better::kLower);
//   Comparison c = rule.judge(0, base, candidate);
//   c.status;                                             // kRegression
//   100 * std::expm1(c.difference);                       // 2.99: per cent more time
//
// Units: differences, bounds and s.d. are of ln time, so that 0.02956 is 3 % more time; a factor in
// the unit of the values cancels. Nothing here throws but for a plan without sense (m < 1, less
// than 1 run): Error(kUsage).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reports/compared.h"
#include "reports/record.h"

namespace assay {

enum class Side { kBase, kCandidate };
constexpr std::array<EnumName<Side>, 2> enum_names(Side) {
  return {{{Side::kBase, "base"}, {Side::kCandidate, "candidate"}}};
}

// Who runs when: ABBA ABBA ..., BAAB BAAB ... if the coin says `mirrored`, so that a linear drift
// weighs on both sides alike. `runs_a_side` is made even.
[[nodiscard]] std::vector<Side> interleaved_order(int runs_a_side, bool mirrored);

// A time at which rows may be decided, declared before the first run.
struct Look {
  int runs = 0;         // a side
  double level = 0;     // a: of a false REGRESSION or improvement in the whole report, at this look
  double fraction = 1;  // f: this look's part of each row's own 5 %

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("runs", self.runs);
    archive("level", self.level);
    archive("fraction", self.fraction);
  }
};

struct LookPlan {
  int m = 1;  // rows of the report, all GPUs, those that turn out missing included
  std::vector<Look> looks;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("m", self.m);
    archive("looks", self.looks);
  }
};

// The first look has the smallest even number of runs with which the rank guard can reject: 6 for
// m <= 4, 8 for m <= 64, 10 for m <= 923; the second twice as many. a = 0.005 and f = 1/2 each.
[[nodiscard]] LookPlan two_looks(int m);
// One look, a = 0.01 and f = 1. More runs for a row than two_looks() would take need one of these.
[[nodiscard]] LookPlan one_look(int m, int runs);

// ln of each time (Better::kLower), -ln of each rate (kHigher); NaN for what is no time or rate: 0,
// negative, not finite.
[[nodiscard]] std::vector<double> log_times(std::span<const double> values, Better better);

// What one look says of one row. `status` is one of regression, improvement, unchanged,
// inconclusive and errored (a value that is no time); `reason` says why of the last two.
struct Comparison {
  ComparedStatus status = ComparedStatus::kInconclusive;
  std::string reason;
  int runs = 0;           // a side
  double difference = 0;  // D: candidate's mean less base's
  double base_sd = 0;     // as measured; the rule takes 0.0005 for anything smaller
  double candidate_sd = 0;
  double standard_error = 0;
  double degrees_of_freedom = 0;
  double report_low = 0;    // D -/+ t(a/m) SE: REGRESSION needs report_low > 0,
  double report_high = 0;   //   improvement report_high < 0
  double row_low = 0;       // D -/+ t(0.05 f) SE: REGRESSION needs row_low > ln 1.01,
  double row_high = 0;      //   improvement row_high < -ln 1.01, unchanged row_high < ln 1.03
  std::int64_t rank_u = 0;  // U: pairs in which the candidate is faster, ties half, rounded up
  double slower_p = 1;      // P(U), of at most so many by chance; REGRESSION needs <= a/m
  double faster_p = 1;      // the mirror image, for improvement
  double detectable = 0;    // D90: a loss of this is found in 90 % of the sittings

  // Pooled over the sides.
  [[nodiscard]] double sd() const;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("runs", self.runs);
    archive("difference", self.difference);
    archive("base_sd", self.base_sd);
    archive("candidate_sd", self.candidate_sd);
    archive("standard_error", self.standard_error);
    archive("degrees_of_freedom", self.degrees_of_freedom);
    archive("report_low", self.report_low);
    archive("report_high", self.report_high);
    archive("row_low", self.row_low);
    archive("row_high", self.row_high);
    archive("rank_u", self.rank_u);
    archive("slower_p", self.slower_p);
    archive("faster_p", self.faster_p);
    archive("detectable", self.detectable);
  }
};

// "a 3 % loss may be missed: needs about 32 runs a side (8 s^2, s = 2.00 %), or a steadier regime";
// empty where D90 is at most 3 %.
[[nodiscard]] std::string weakness(const Comparison& comparison);

// P(U <= u) for u = 0 .. n^2, of n runs a side in random order without ties.
[[nodiscard]] std::vector<double> rank_distribution(int n);

class InterleavedRule {
 public:
  explicit InterleavedRule(LookPlan plan);

  [[nodiscard]] const LookPlan& plan() const { return plan_; }
  // Judges the first looks[look].runs of each side, of log_times(); fewer are inconclusive.
  [[nodiscard]] Comparison judge(std::size_t look, std::span<const double> base,
                                 std::span<const double> candidate) const;

 private:
  LookPlan plan_;
  std::vector<std::vector<double>> rank_p_;  // rank_distribution() of each look
};

}  // namespace assay
