// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/stopping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace assay {
namespace {

using ::testing::HasSubstr;

struct Outcome {
  std::size_t samples = 0;
  std::string reason;
};

// Takes one sample after the other, 0.01 s of wall time each, until the rule stops.
Outcome run(const StoppingRule& rule, const std::function<double(int)>& sample) {
  std::vector<double> taken;
  while (taken.size() < 100'000) {
    taken.push_back(sample(static_cast<int>(taken.size())));
    if (const auto why = rule.reached(taken, 0.01 * static_cast<double>(taken.size()))) {
      return {taken.size(), *why};
    }
  }
  return {};
}

StoppingRule rule_of(int samples, int max_samples) {
  StoppingRule rule;
  rule.samples = samples;
  rule.max_samples = max_samples;
  rule.half_width = 0.005;
  rule.cap_s = 8;
  return rule;
}

TEST(StoppingRule, AQuietStreamStopsAtTheDeclaredCount) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(1.0, 0.005);
  const Outcome outcome = run(rule_of(60, 120), [&](int) { return noise(random); });
  EXPECT_EQ(outcome.samples, 60U);
  EXPECT_THAT(outcome.reason, HasSubstr("half-width"));
}

TEST(StoppingRule, ANoisyStreamTakesMore) {
  std::mt19937 random(2);
  std::normal_distribution<double> noise(1.0, 0.03);
  const Outcome outcome = run(rule_of(60, 600), [&](int) { return noise(random); });
  EXPECT_GT(outcome.samples, 60U);
  EXPECT_LT(outcome.samples, 600U);
}

TEST(StoppingRule, HeavyTailsDoNotKeepAMedianFromBeingKnown) {
  std::mt19937 random(3);
  std::cauchy_distribution<double> noise(1.0, 0.002);
  const Outcome outcome = run(rule_of(60, 600), [&](int) { return noise(random); });
  EXPECT_LT(outcome.samples, 200U);
}

TEST(StoppingRule, TwoModesReachTheMostSamplesAndSaySo) {
  const Outcome outcome = run(rule_of(60, 120), [](int i) { return i % 2 == 0 ? 1.0 : 1.08; });
  EXPECT_EQ(outcome.samples, 120U);
  EXPECT_THAT(outcome.reason, HasSubstr("most samples"));
}

TEST(StoppingRule, ADriftIsBounded) {
  const Outcome outcome = run(rule_of(60, 120), [](int i) { return 1.0 + 0.01 * i; });
  EXPECT_EQ(outcome.samples, 120U);
}

TEST(StoppingRule, TheCapHoldsWhateverTheTimerSays) {
  const Outcome outcome = run(rule_of(10'000, 20'000), [](int) { return 1e-6; });
  EXPECT_EQ(outcome.reason, "wall-time cap");
  EXPECT_EQ(outcome.samples, 800U);
}

TEST(HalfWidth, NeedsSixSamplesAndShrinksWithTheRootOfTheirNumber) {
  EXPECT_TRUE(std::isinf(relative_half_width({1, 1, 1, 1, 1})));
  EXPECT_EQ(relative_half_width({1, 1, 1, 1, 1, 1}), 0);
  std::mt19937 random(4);
  std::normal_distribution<double> noise(100.0, 1.0);
  const auto width = [&](int n) {
    std::vector<double> samples;
    for (int i = 0; i < n; ++i) samples.push_back(noise(random));
    return relative_half_width(samples);
  };
  // The median's standard error is 1.2533 s.d. / sqrt(n), so about 2.46 % / sqrt(n) here.
  EXPECT_NEAR(width(10'000), 2.46e-2 / 100, 0.7e-4);
}

TEST(Settling, EndsWhenClockAndPowerHoldOverTwoSpells) {
  Settling settling(SteadyRule{});
  std::optional<std::string> why;
  double at = 0;
  const auto clock = [](double t) { return t < 1.5 ? 1980.0 - 300 * t : 1530.0; };
  while (!why && at < 10) {
    at += 0.02;
    settling.add(at, clock(at), 690.0);
    why = settling.reached(at);
  }
  EXPECT_THAT(*why, HasSubstr("steady"));
  EXPECT_GT(at, 1.5);
  EXPECT_LT(at, 1.5 + 3 * SteadyRule{}.spell_s);
}

TEST(Settling, PowerAloneAndClockAloneWillDo) {
  for (const bool clock : {true, false}) {
    Settling settling(SteadyRule{});
    std::optional<std::string> why;
    for (double at = 0.02; !why && at < 10; at += 0.02) {
      settling.add(at, clock ? std::optional(1500.0) : std::nullopt,
                   clock ? std::nullopt : std::optional(690.0));
      why = settling.reached(at);
    }
    EXPECT_THAT(*why, HasSubstr("unread"));
    EXPECT_THAT(*why, HasSubstr("steady"));
  }
}

TEST(Settling, WithNeitherTheTimeIsDeclared) {
  Settling settling(SteadyRule{});
  double at = 0;
  std::optional<std::string> why;
  while (!why && at < 10) {
    at += 0.02;
    settling.add(at, std::nullopt, std::nullopt);
    why = settling.reached(at);
  }
  EXPECT_NEAR(at, SteadyRule{}.blind_s, 0.03);
  EXPECT_THAT(*why, HasSubstr("declared"));
}

}  // namespace
}  // namespace assay
