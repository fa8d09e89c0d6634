// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The choice among the algorithms that a case's library offers, made under the case's own power
// condition. All are screened with a few launches; the fastest and the library's first are verified
// and timed again in turns. Another than the first is taken only if it was faster in every round
// and by kLeastGain in the median: where nothing differs, one of two challengers wins all six
// rounds in 3 % of the searches.
//
//   Tuned tuned = tune(test_case, power, bench);
//   test_case.choose(tuned.algorithm);
//   tuned.report;   // {"gain": 1.031, "finalists": [{"library", "id", ..., "turn_s": [...]}],
//                   //  "candidates": 44, "refused": 1, "wrong": 0, "screened": [...]}
#pragma once

#include "bench/harness/case.h"
#include "bench/harness/measure.h"

namespace assay {

struct TuneRule {
  double settle_s = 2.5;   // sustained, before anything is timed
  double screen_s = 0.03;  // a candidate and pass, of two in opposite order
  int finalists = 3;       // the library's first among them
  int rounds = 6;          // of the finalists in turns
  double warm_s = 0.3;     // of each turn, not timed: power follows the load by tenths of a second
  double turn_s = 0.5;     // timed
  double burst_rest_s = 0.1;  // before a screening; budget.idle_s before a turn
  double burst_warm_s = 0.01;
  double burst_turn_s = 0.03;
};
// Of the median, as a ratio of times; run to run an H200 moves by 0.2 %.
inline constexpr double kLeastGain = 1.005;

struct Tuned {
  Json algorithm;
  Json report;
};

// Throws std::runtime_error when the case offers none, or not even the first can be launched; what
// the launches throw otherwise goes through. A candidate that is refused or gives a wrong result is
// left out and counted.
[[nodiscard]] Tuned tune(Case& tuned_case, Power power, Bench& bench, const TuneRule& rule = {});

}  // namespace assay
