// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "tests/unit/fake_timer.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// Algorithm i takes seconds(i, launch), in the order in which the library offers them.
class ManyAlgorithms : public Case {
 public:
  explicit ManyAlgorithms(FakeTimer& timer) : timer_(timer) {}
  [[nodiscard]] int slots() const override { return 3; }
  void launch(int) override {
    timer_.launch_s = seconds(chosen, launches++);
    ++launches_of[chosen];
  }
  void poison(int) override {}
  [[nodiscard]] Verification verify(int, int) override {
    const bool sound = chosen != wrong;
    return {sound ? VerificationStatus::kVerified : VerificationStatus::kWrong,
            "fake",
            0.0,
            0.0,
            "",
            {},
            0};
  }
  [[nodiscard]] std::vector<Json> candidates() const override {
    std::vector<Json> all;
    for (int i = 0; i < offered; ++i) all.push_back({{"id", i}});
    return all;
  }
  void choose(const Json& algorithm) override {
    if (algorithm.at("id") == refused) throw std::runtime_error("refused");
    chosen = algorithm.at("id");
    ++choices_of[chosen];
  }

  std::function<double(int algorithm, int launch)> seconds = [](int, int) { return 1e-3; };
  int offered = 40;
  int refused = -1;
  int wrong = -1;
  int chosen = 0;
  int launches = 0;
  std::map<int, int> launches_of;
  std::map<int, int> choices_of;

 private:
  FakeTimer& timer_;
};

class Tune : public ::testing::TestWithParam<Power> {
 protected:
  Tuned tuned() {
    Bench bench{.timer = timer_,
                .clock = clock_,
                .sensor = sensor_,
                .budget = {},
                .family = "fake",
                .device = {},
                .round = 0,
                .max_clock_mhz = 1500};
    return tune(case_, GetParam(), bench);
  }
  FakeClock clock_;
  FakeTimer timer_{clock_};
  FakeSensor sensor_;
  ManyAlgorithms case_{timer_};
};
INSTANTIATE_TEST_SUITE_P(Powers, Tune, ::testing::Values(Power::kBurst, Power::kSustained),
                         [](const auto& test) { return to_string(test.param); });

TEST_P(Tune, FindsTheFastestOfManyAndTriesEach) {
  case_.seconds = [](int algorithm, int) { return algorithm == 31 ? 0.9e-3 : 1e-3; };
  const Tuned result = tuned();
  EXPECT_EQ(result.algorithm["id"], 31);
  EXPECT_NEAR(result.report["gain"], 1.111, 0.001);
  EXPECT_EQ(result.report["candidates"], 40);
  EXPECT_THAT(result.report["screened"], SizeIs(40));
  EXPECT_THAT(result.report["finalists"], SizeIs(3));
  EXPECT_THAT(case_.launches_of, SizeIs(40)) << "each was launched";
}

TEST_P(Tune, KeepsTheFirstForLessThanTheNoise) {
  case_.seconds = [](int algorithm, int) { return algorithm == 31 ? 0.996e-3 : 1e-3; };
  const Tuned result = tuned();
  EXPECT_EQ(result.algorithm["id"], 0);
  EXPECT_EQ(result.report["gain"], 1.0);
}

// Faster in most rounds is what chance gives too.
TEST_P(Tune, KeepsTheFirstWhereTheRoundsDisagree) {
  case_.seconds = [this](int algorithm, int) {
    if (algorithm != 7) return 1e-3;
    return case_.choices_of[7] == 7 ? 1.1e-3 : 0.9e-3;  // the third of its turns
  };
  const Tuned result = tuned();
  EXPECT_EQ(result.algorithm["id"], 0);
  const Json& finalists = result.report["finalists"];
  const auto seven =
      std::ranges::find_if(finalists, [](const Json& one) { return one["id"] == 7; });
  ASSERT_NE(seven, finalists.end());
  EXPECT_THAT((*seven)["turn_s"].get<std::vector<double>>(),
              ElementsAre(0.9e-3, 0.9e-3, 1.1e-3, 0.9e-3, 0.9e-3, 0.9e-3));
}

TEST_P(Tune, TheFastestThatIsWrongOrRefusedIsNotTaken) {
  case_.seconds = [](int algorithm, int) {
    return (algorithm >= 20 ? 0.8e-3 : 1e-3) + algorithm * 1e-7;
  };
  case_.wrong = 20;
  case_.refused = 21;
  const Tuned result = tuned();
  EXPECT_EQ(result.algorithm["id"], 22);
  EXPECT_EQ(result.report["wrong"], 1);
  EXPECT_EQ(result.report["refused"], 1);
}

// A clock that falls while they take turns must not favour whoever comes early.
TEST_P(Tune, DriftFavoursNobody) {
  case_.seconds = [this](int, int) { return 1e-3 * (1 + 0.002 * (clock_.now_s() - 100)); };
  EXPECT_EQ(tuned().algorithm["id"], 0);
  // Nor one that rises favour whoever comes late: the library's first would lose every round.
  const double start_s = clock_.now_s();
  case_.seconds = [this, start_s](int, int) {
    return 1e-3 / (1 + 0.02 * (clock_.now_s() - start_s));
  };
  EXPECT_EQ(tuned().algorithm["id"], 0);
}

// The last of many is screened when the card is warm: 4 to 5 % slower than the first was.
TEST_P(Tune, ALateCandidateIsNotScreenedOut) {
  case_.seconds = [this](int algorithm, int) {
    const double drift = GetParam() == Power::kBurst ? 0.008 : 0.02;  // a second
    return (algorithm == 39 ? 0.98e-3 : 1e-3) * (1 + drift * (clock_.now_s() - 100));
  };
  EXPECT_EQ(tuned().algorithm["id"], 39);
}

TEST_P(Tune, WithoutAFirstThatWorksThereIsNoChoice) {
  case_.refused = 0;
  EXPECT_THROW((void)tuned(), std::runtime_error);
  case_.refused = -1;
  case_.wrong = 0;
  EXPECT_THROW((void)tuned(), std::runtime_error);
  case_.offered = 0;
  EXPECT_THROW((void)tuned(), std::runtime_error);
}

TEST_P(Tune, OneAlgorithmIsItsOwnChoice) {
  case_.offered = 1;
  EXPECT_EQ(tuned().algorithm["id"], 0);
}

}  // namespace
}  // namespace assay
