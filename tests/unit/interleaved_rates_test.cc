// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The error rates that docs/STATISTICS.md states, simulated with fixed seeds. A limit is the 1e-4
// quantile of the binomial count at the promised rate: a rule that just keeps its promise would
// fail a cell with that probability under another seed, and with none under this one.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "reports/interleaved.h"

namespace assay {
namespace {

using Random = std::mt19937_64;
constexpr double kCellRisk = 1e-4;

// The smallest count that Bin(trials, p) exceeds with at most kCellRisk.
int binomial_limit(int trials, double p) {
  double log_ways = trials * std::log1p(-p);  // of 0 successes
  double below = std::exp(log_ways);
  int k = 0;
  while (1 - below > kCellRisk) {
    ++k;
    log_ways += std::log(trials - k + 1.0) - std::log(k) + std::log(p) - std::log1p(-p);
    below += std::exp(log_ways);
  }
  return k;
}

// One run's x, by its place in the sitting (0 .. 1).
using Noise = std::function<double(Random&, double place)>;

Noise gauss(double sd) {
  return [sd](Random& random, double) { return std::normal_distribution<>(0, sd)(random); };
}
Noise skewed(double sd) {
  return [sd](Random& random, double) { return std::exponential_distribution<>(1 / sd)(random); };
}
// Half of the processes run at a clock lower by `step`.
Noise two_clocks(double sd, double step) {
  return [=](Random& random, double) {
    return std::normal_distribution<>(0, sd)(random) + (random() % 2 == 0 ? step : 0);
  };
}
Noise drifting(double sd, double drift) {
  return [=](Random& random, double place) {
    return std::normal_distribution<>(0, sd)(random) + drift * place;
  };
}

struct Counts {
  int trials = 0;
  int regression = 0;
  int improvement = 0;
  int unchanged = 0;
};

// Rows are judged as in a sitting: at the first look, and at the second if that left them open.
Counts simulate_rows(int trials, int m, const Noise& noise, double shift, std::uint64_t seed) {
  const InterleavedRule rule(two_looks(m));
  const int last = rule.plan().looks.back().runs;
  Random random(seed);
  Counts counts;
  counts.trials = trials;
  std::vector<double> x[2];
  for (int trial = 0; trial < trials; ++trial) {
    const std::vector<Side> order = interleaved_order(last, random() % 2 == 0);
    for (auto& side : x) side.clear();
    for (std::size_t i = 0; i < order.size(); ++i) {
      const bool candidate = order[i] == Side::kCandidate;
      const double place = static_cast<double>(i) / static_cast<double>(order.size());
      x[candidate].push_back(noise(random, place) + (candidate ? shift : 0));
    }
    ComparedStatus status = ComparedStatus::kInconclusive;
    for (std::size_t look = 0; look < 2 && status == ComparedStatus::kInconclusive; ++look) {
      status = rule.judge(look, x[0], x[1]).status;
    }
    counts.regression += status == ComparedStatus::kRegression;
    counts.improvement += status == ComparedStatus::kImprovement;
    counts.unchanged += status == ComparedStatus::kUnchanged;
  }
  return counts;
}

const double k3Percent = std::log(1.03);
const double k1Percent = std::log(1.01);
constexpr int kRows = 30;

TEST(InterleavedRates, LimitsAreTheBinomials) {
  EXPECT_EQ(binomial_limit(20'000, 0.01), 254);
  EXPECT_EQ(2000 - binomial_limit(2000, 0.10) - 1, 1747);  // the largest count that fails
}

// At most 1 % of the reports of 30 rows alarm, in either direction. Rows are independent here, so
// that 1 % a report is at most 1 % / 30 a row.
TEST(InterleavedRates, FalseAlarmsOfAnUnchangedCandidate) {
  constexpr int kTrials = 60'000;  // 2,000 reports
  const int limit = binomial_limit(kTrials, 0.01 / kRows);
  std::uint64_t seed = 1;
  for (const Noise& noise : {gauss(0.008), gauss(0.02), skewed(0.008), two_clocks(0.008, 0.03)}) {
    const Counts counts = simulate_rows(kTrials, kRows, noise, 0, seed++);
    EXPECT_LE(counts.regression, limit) << "cell " << seed - 1;
    EXPECT_LE(counts.improvement, limit) << "cell " << seed - 1;
  }
}

TEST(InterleavedRates, ARowOnePerCentSlowerIsNotCalledARegression) {
  constexpr int kTrials = 10'000;
  for (const double sd : {0.002, 0.008, 0.02}) {
    const Counts counts = simulate_rows(kTrials, kRows, gauss(sd), k1Percent, 11);
    EXPECT_LE(counts.regression, binomial_limit(kTrials, 0.05)) << sd;
  }
}

TEST(InterleavedRates, ARowThreePerCentSlowerIsNotCalledUnchanged) {
  constexpr int kTrials = 10'000;
  for (const double sd : {0.002, 0.008, 0.02}) {
    const Counts counts = simulate_rows(kTrials, kRows, gauss(sd), k3Percent, 12);
    EXPECT_LE(counts.unchanged, binomial_limit(kTrials, 0.05)) << sd;
  }
}

void expect_power(const Noise& noise, double power, double half_digit, std::uint64_t seed) {
  constexpr int kTrials = 10'000;
  const Counts counts = simulate_rows(kTrials, kRows, noise, 0.03, seed);
  EXPECT_GE(counts.regression, kTrials - binomial_limit(kTrials, 1 - power + half_digit)) << power;
  EXPECT_LE(counts.regression, binomial_limit(kTrials, power + half_digit)) << power;
}

// Against another implementation's figures, of at least 1e5 trials each and a shift of 0.03 in x;
// half a unit of their last digit is allowed for.
TEST(InterleavedRates, PowerAtThreePerCent) {
  expect_power(gauss(0.008), 0.994, 0.0005, 21);
  expect_power(gauss(0.009), 0.989, 0.0005, 22);
  expect_power(gauss(0.012), 0.97, 0.005, 23);
  expect_power(gauss(0.02), 0.53, 0.005, 24);
  expect_power(skewed(0.008), 0.995, 0.0005, 25);
  expect_power(drifting(0.008, 0.02), 0.994, 0.0005, 26);
  expect_power(two_clocks(0.005, 0.03), 0.68, 0.005, 27);
}

// What the rule does not promise. A clock that each process draws anew is noise that no number of
// runs in reach averages out; the loss is then missed, and must not be claimed to be excluded.
TEST(InterleavedRates, ClocksDrawnByEachProcessBreakThePower) {
  constexpr int kTrials = 5'000;
  const Counts three = simulate_rows(kTrials, kRows, two_clocks(0.008, 0.03), k3Percent, 31);
  EXPECT_LT(three.regression, kTrials * 80 / 100);
  const Counts eight = simulate_rows(kTrials, kRows, two_clocks(0.008, 0.08), k3Percent, 32);
  EXPECT_LT(eight.regression, kTrials * 10 / 100);
  EXPECT_LE(eight.unchanged, binomial_limit(kTrials, 0.05));
}

}  // namespace
}  // namespace assay
