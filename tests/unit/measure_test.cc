// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/runner/plan.h"
#include "tests/unit/fake_case.h"
#include "tests/unit/fake_timer.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

class Measure : public ::testing::Test {
 protected:
  Bench bench() {
    return Bench{.timer = timer_,
                 .clock = clock_,
                 .sensor = sensor_,
                 .budget = {},
                 .family = "fake",
                 .device = {},
                 .round = 3,
                 .max_clock_mhz = 1500};
  }
  CaseEntry entry(Power power) {
    CaseEntry entry;
    entry.info.id = "fake/case/" + to_string(power);
    entry.info.conditions.power = power;
    entry.info.work = {1e9, 0, "bf16"};
    entry.make = [this] { return std::make_unique<FakeCase>(script_); };
    return entry;
  }
  RunRecord measured(const CaseEntry& entry, Bench bench) {
    RunRecord record;
    measure(entry, bench, record);
    return record;
  }

  FakeClock clock_;
  FakeTimer timer_{clock_};
  FakeSensor sensor_;
  Script script_;
};

TEST_F(Measure, ASoundCaseBecomesACompleteRecord) {
  const RunRecord record = measured(entry(Power::kSustained), bench());
  EXPECT_EQ(record.status, RecordStatus::kOk) << record.message;
  EXPECT_EQ(record.family, "fake");
  EXPECT_EQ(record.round, 3);
  EXPECT_EQ(record.timing.median_s, 0.001);
  EXPECT_EQ(record.timing.timer, "fake");
  EXPECT_EQ(record.timing.samples_s.size(), 450U);  // 900 launches, at most 500 samples
  EXPECT_EQ(record.timing.launches_per_sample, 2);
  EXPECT_THAT(record.timing.rule, HasSubstr("450 samples x 2 launches"));
  EXPECT_EQ(record.timing.sm_clock_mhz, 1500);
  EXPECT_EQ(timer_.began, record.id);
  EXPECT_EQ(record.verification.hash->size(), 16U);
  EXPECT_EQ(record.verification.repetitions, 18) << "two slots, nine spells";
  EXPECT_GT(record.busy_s, 1.5);
  EXPECT_EQ(record.idle_s, 0);
  EXPECT_EQ(record.telemetry.deltas.at("pcie_replays"), 5) << "before the load and after it";
  EXPECT_EQ(record.verification.status, VerificationStatus::kVerified);
  EXPECT_EQ(record.algorithm["id"], 66);
  EXPECT_EQ(record.preparation["prune_s"], 0.5);
  EXPECT_EQ(record.telemetry.sm_clock_mhz->mean, 1500);
  EXPECT_THAT(record.telemetry.unknown.at("power_w"), HasSubstr("Not Supported"));
  EXPECT_EQ(script_.poisoned, 20) << "both slots, before the first check and before each spell";
}

// 500 W by the fake clock, in whole steps of 0.1 s.
TEST_F(Measure, EnergyOfASustainedWindowAndNotOfABurst) {
  sensor_.energy_j = [this] { return 50 * std::floor(clock_.now_s() / 0.1); };
  const Telemetry sustained = measured(entry(Power::kSustained), bench()).telemetry;
  ASSERT_TRUE(sustained.energy_j && sustained.energy_s);
  EXPECT_NEAR(*sustained.energy_j / *sustained.energy_s, 500, 65);
  EXPECT_FALSE(sustained.unknown.contains("energy_j"));
  Bench bursts = bench();
  bursts.budget.burst_window_s = 0.9;  // long enough, were it not for the rests
  const Telemetry burst = measured(entry(Power::kBurst), bursts).telemetry;
  EXPECT_FALSE(burst.energy_j || burst.energy_s);
  EXPECT_THAT(burst.unknown.at("energy_j"), HasSubstr("a burst"));
}

TEST_F(Measure, TheTimeOfChecksIsPartOfTheBusyTime) {
  script_.sound = [this](int) {
    clock_.advance(0.25);
    return true;
  };
  script_.hash = [this](int slot) {
    clock_.advance(0.01);
    return 7U + static_cast<std::uint64_t>(slot);
  };
  const RunRecord record = measured(entry(Power::kSustained), bench());
  // Two slots: checked before and after, hashed first and after each of nine spells.
  EXPECT_NEAR(record.check_s, 4 * 0.25 + 2 * 10 * 0.01, 1e-6);
  EXPECT_GT(record.busy_s, record.check_s + 0.9);
  script_.sound = [this](int) {
    clock_.advance(0.25);
    return false;
  };
  EXPECT_NEAR(measured(entry(Power::kSustained), bench()).check_s, 0.25, 1e-6)
      << "of a wrong result, too";
}

TEST_F(Measure, SlotsTakeTurns) {
  (void)measured(entry(Power::kBurst), bench());
  for (std::size_t i = 3; i < script_.launched.size(); ++i) {
    ASSERT_NE(script_.launched[i], script_.launched[i - 1]) << "launch " << i;
  }
}

TEST_F(Measure, ASustainedCaseSettlesOnceAProcessAndThenBriefly) {
  Bench one = bench();
  RunRecord first;
  measure(entry(Power::kSustained), one, first);
  EXPECT_NEAR(first.warm_up.seconds, one.budget.settle.least_s, 0.05);
  EXPECT_THAT(first.warm_up.stop_reason, HasSubstr("steady"));
  EXPECT_EQ(clock_.slept_s, 0);
  RunRecord second;
  measure(entry(Power::kSustained), one, second);
  EXPECT_NEAR(second.warm_up.seconds, one.budget.resettle.least_s, 0.05);
}

TEST_F(Measure, AClockThatNeverSettlesEndsTheWarmUpAtItsBound) {
  int calls = 0;
  timer_.mhz = [&] { return 1000.0 + 20 * ++calls; };
  const RunRecord record = measured(entry(Power::kSustained), bench());
  EXPECT_EQ(record.status, RecordStatus::kOk) << record.message;
  EXPECT_THAT(record.warm_up.stop_reason, HasSubstr("not steady"));
  EXPECT_NEAR(record.warm_up.seconds, Budget{}.settle.most_s, 0.05);
}

TEST_F(Measure, ABurstCaseRestsFirst) {
  const RunRecord record = measured(entry(Power::kBurst), bench());
  EXPECT_EQ(clock_.slept_s, Budget{}.idle_s);
  EXPECT_EQ(record.idle_s, Budget{}.idle_s);
  EXPECT_LT(record.warm_up.seconds, 0.1);
}

TEST_F(Measure, ABurstOfAHeavyLoadRestsBeforeEachSpell) {
  timer_.mhz = [] { return 1200.0; };  // the processors' own; the driver grants 1500
  const RunRecord record = measured(entry(Power::kBurst), bench());
  EXPECT_EQ(record.status, RecordStatus::kOk) << record.message;
  EXPECT_NEAR(record.idle_s, 4 * Budget{}.idle_s, 1e-9) << "0.12 s in spells of 0.03";
  EXPECT_TRUE(record.timing.rejected_s.empty());
}

TEST_F(Measure, ASpellBelowFullClockIsKeptNotCountedAndTriedAgainAfterALongerRest) {
  int spells = 0;
  timer_.mhz = [&] {  // called at the end of each spell
    ++spells;
    sensor_.mhz = spells == 1 ? 1400 : 1500;
    return 1500.0;
  };
  sensor_.mhz = 1500;
  timer_.launch_s = 0.001;
  const RunRecord record = measured(entry(Power::kBurst), bench());
  EXPECT_EQ(record.status, RecordStatus::kOk) << record.message;
  EXPECT_EQ(record.timing.rejected_s.size(), 30U) << "the second spell ran at 1400";
  EXPECT_EQ(record.timing.samples_s.size(), 120U);
  EXPECT_NEAR(record.idle_s, 3 * Budget{}.idle_s, 1e-9);
}

TEST_F(Measure, ACardThatNeverReachesFullClockIsTriedBoundedlyAndSaysSo) {
  sensor_.mhz = 1300;
  const double start = clock_.now_s();
  const RunRecord record = measured(entry(Power::kBurst), bench());
  EXPECT_EQ(record.status, RecordStatus::kOk);
  EXPECT_FALSE(record.timing.rejected_s.empty());
  EXPECT_FALSE(record.timing.samples_s.empty());
  EXPECT_EQ(record.telemetry.sm_clock_mhz->mean, 1300) << "from which the report sees it";
  EXPECT_LT(clock_.now_s() - start, 1.2 * Budget{}.cap_s);
}

TEST_F(Measure, AnOutputThatChangesBetweenRepetitionsIsWrong) {
  int calls = 0;
  script_.hash = [&](int slot) { return ++calls == 7 ? 99U : 7U + slot; };
  const RunRecord record = measured(entry(Power::kSustained), bench());
  EXPECT_EQ(record.status, RecordStatus::kInvalid);
  EXPECT_EQ(record.verification.status, VerificationStatus::kWrong);
  EXPECT_THAT(record.message, HasSubstr("differs from the first"));
}

TEST_F(Measure, TheHashDependsOnEachSlotAndItsPlace) {
  const auto hash = [&] { return measured(entry(Power::kBurst), bench()).verification.hash; };
  const auto first = hash();
  EXPECT_EQ(hash(), first);
  script_.hash = [](int slot) { return 8U - slot; };
  EXPECT_NE(hash(), first);
}

TEST_F(Measure, WaitsForTheOthersAfterItsSetUp) {
  Bench one = bench();
  std::size_t launched = 0;
  double idle_s = -1;
  one.ready = [&](const std::string& id) {
    EXPECT_EQ(id, "fake/case/burst");
    launched = script_.launched.size();
    idle_s = clock_.slept_s;
    clock_.advance(30);  // longer than the cap: waiting is not measuring
  };
  const RunRecord record = measured(entry(Power::kBurst), one);
  EXPECT_EQ(launched, 7U) << "the first check and the estimate";
  EXPECT_EQ(idle_s, 0) << "the rest comes after the common start";
  EXPECT_THAT(record.timing.stop_reason, HasSubstr("samples"));
}

TEST_F(Measure, UnderAProfilerAFewLaunchesAndNothingElse) {
  Bench one = bench();
  one.profiled = true;
  const RunRecord record = measured(entry(Power::kSustained), one);
  EXPECT_EQ(record.timing.samples_s.size(), 3U);
  EXPECT_LE(script_.launched.size(), 8U);
  EXPECT_THAT(record.timing.rule, HasSubstr("profiled"));
}

TEST_F(Measure, WrongBeforeTimingIsInvalidAndNotTimed) {
  script_.sound = [](int attempt) { return attempt != 1; };
  const RunRecord record = measured(entry(Power::kBurst), bench());
  EXPECT_EQ(record.status, RecordStatus::kInvalid);
  EXPECT_THAT(record.message, HasSubstr("slot 1"));
  EXPECT_TRUE(record.timing.samples_s.empty()) << "a time of a wrong result must not count";
}

TEST_F(Measure, WrongAfterTheWindowIsInvalid) {
  script_.sound = [](int attempt) { return attempt < 2; };
  const RunRecord record = measured(entry(Power::kBurst), bench());
  EXPECT_EQ(record.status, RecordStatus::kInvalid);
  EXPECT_EQ(record.verification.status, VerificationStatus::kWrong);
}

TEST_F(Measure, AnExceptionIsAnErroredRecordOfOneLine) {
  script_.on_launch = [](int launch) {
    if (launch == 9) throw std::runtime_error("cublasLtMatmul: 13\nmore");
  };
  const RunRecord record = measured(entry(Power::kBurst), bench());
  EXPECT_EQ(record.status, RecordStatus::kErrored);
  EXPECT_EQ(record.message, "cublasLtMatmul: 13");
}

TEST_F(Measure, SkipsSayWhy) {
  CaseEntry known = entry(Power::kBurst);
  known.skip = "fp8 needs 8.9";
  EXPECT_EQ(measured(known, bench()).status, RecordStatus::kSkipped);
  EXPECT_EQ(measured(known, bench()).message, "fp8 needs 8.9");
  EXPECT_TRUE(script_.launched.empty());
  CaseEntry found = entry(Power::kBurst);
  found.make = []() -> std::unique_ptr<Case> { throw Skip("needs 16384 MiB more"); };
  EXPECT_EQ(measured(found, bench()).status, RecordStatus::kSkipped);
}

TEST_F(Measure, ALostProcessIsRecordedAndTold) {
  script_.on_launch = [](int) { throw ProcessLost("cudaErrorIllegalAddress"); };
  Bench one = bench();
  RunRecord record;
  EXPECT_THROW(measure(entry(Power::kBurst), one, record), ProcessLost);
  EXPECT_EQ(record.status, RecordStatus::kErrored);
  EXPECT_EQ(record.message, "cudaErrorIllegalAddress");
}

class StoredChoice : public Measure {
 protected:
  RunRecord measured_with(const std::string& id, const std::string& library, int algorithm) {
    AlgorithmSet set;
    set.put({id, "", "", {{"library", library}, {"id", algorithm}}, nullptr});
    Bench one = bench();
    one.algorithms = &set;
    return measured(entry(Power::kBurst), one);
  }
};

TEST_F(StoredChoice, IsUsedForItsCaseAndItsLibraryAlone) {
  const RunRecord stored = measured_with("fake/case/burst", "fake 1.0", 67);
  EXPECT_EQ(stored.algorithm, Json({{"library", "fake 1.0"}, {"id", 67}, {"chosen", "stored"}}));
  script_.algorithm = 66;
  for (const auto& [id, library] :
       {std::pair("fake/case/burst", "fake 2.0"), std::pair("fake/case/sustained", "fake 1.0")}) {
    const RunRecord other = measured_with(id, library, 67);
    EXPECT_EQ(other.algorithm["id"], 66) << id << " of " << library;
    EXPECT_EQ(other.algorithm["chosen"], "first offered");
  }
}

TEST_F(StoredChoice, ThatTheLibraryRefusesIsAnErrorNotAnotherAlgorithm) {
  const RunRecord record = measured_with("fake/case/burst", "fake 1.0", 99);
  EXPECT_EQ(record.status, RecordStatus::kErrored);
  EXPECT_THAT(record.message, HasSubstr("no algorithm 99"));
  EXPECT_TRUE(record.timing.samples_s.empty());
}

TEST_F(Measure, ASearchComesBeforeTheMeasurementAndIsRecorded) {
  Bench one = bench();
  one.tunes = true;
  script_.on_launch = [&](int) { timer_.launch_s = script_.algorithm == 67 ? 0.0009 : 0.001; };
  const RunRecord record = measured(entry(Power::kSustained), one);
  EXPECT_EQ(record.status, RecordStatus::kOk) << record.message;
  EXPECT_EQ(record.algorithm["chosen"], "tuned");
  EXPECT_EQ(record.algorithm["id"], 67);
  EXPECT_NEAR(record.algorithm["tuning"]["gain"], 1.11, 0.005);
  EXPECT_DOUBLE_EQ(record.timing.median_s, 0.0009) << "measured with what was chosen";
}

// The runner must not take a case for hung that the harness would have ended by itself.
TEST(Budget, EveryShippedSuiteWaitsLongerThanTheCap) {
  for (const Suite& suite :
       load_all_suites(std::filesystem::path(ASSAY_SOURCE_DIR) / "configs/suites")) {
    EXPECT_GE(suite.id_timeout_s, 1.5 * Budget{}.cap_s) << suite.name;
  }
}

// 100 ms of untimed work round a launch of 1 us must not run on for the window's million
// launches.
TEST_F(Measure, TheWallClockEndsWhatTheTimerDoesNotSee) {
  timer_.launch_s = 1e-6;
  timer_.untimed_s = 0.1;
  const double start = clock_.now_s();
  const RunRecord record = measured(entry(Power::kBurst), bench());
  EXPECT_EQ(record.status, RecordStatus::kOk) << record.message;
  EXPECT_EQ(record.timing.stop_reason, "wall-time cap");
  EXPECT_LT(clock_.now_s() - start, 2.5 * Budget{}.cap_s);
}

// From 7 us to 20 ms a launch in the middle of the window: 2000 of them were planned.
TEST_F(Measure, LaunchesThatBecomeFarSlowerEndAtTheCap) {
  timer_.launch_s = 7e-6;
  script_.on_launch = [&](int launch) {
    if (launch == 300'000) timer_.launch_s = 0.02;
  };
  const double start = clock_.now_s();
  const RunRecord record = measured(entry(Power::kSustained), bench());
  EXPECT_EQ(record.status, RecordStatus::kOk) << record.message;
  EXPECT_EQ(record.timing.stop_reason, "wall-time cap");
  EXPECT_LT(clock_.now_s() - start, 1.5 * Budget{}.cap_s);
}

// The runner would not believe such a record; the program alone must not either.
TEST_F(Measure, ATimerThatSeesNoTimePassIsAnErrorInBoundedTime) {
  timer_.launch_s = 0;
  timer_.untimed_s = 0.0019;
  timer_.most_launches = std::numeric_limits<int>::max();
  const double start = clock_.now_s();
  const RunRecord record = measured(entry(Power::kBurst), bench());
  EXPECT_EQ(record.status, RecordStatus::kErrored);
  EXPECT_THAT(record.message, HasSubstr("no time"));
  EXPECT_LT(clock_.now_s() - start, 1.5 * Budget{}.cap_s);
}

TEST_F(Measure, LaunchesOfSeveralKernelsShareWhatTheStreamTakes) {
  timer_.launch_s = 1e-5;
  EXPECT_EQ(measured(entry(Power::kBurst), bench()).status, RecordStatus::kOk);
  EXPECT_GT(timer_.largest_call, 100);
  timer_.largest_call = 0;
  script_.kernels = 10;
  EXPECT_EQ(measured(entry(Power::kBurst), bench()).status, RecordStatus::kOk);
  EXPECT_GT(timer_.largest_call, 10);
  EXPECT_LE(timer_.largest_call, 20);
}

TEST_F(Measure, WhatIsNoTimeIsAnError) {
  for (const double no_time :
       {-1e-3, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    timer_.gives = no_time;
    const RunRecord record = measured(entry(Power::kBurst), bench());
    EXPECT_EQ(record.status, RecordStatus::kErrored) << no_time;
    EXPECT_THAT(record.message, HasSubstr("which is no time"));
    EXPECT_NO_THROW((void)dump_json_line(to_json_value(record))) << "no NaN in a report";
  }
}

TEST_F(Measure, ACaseThatBreaksWhileItSettlesHasSettledNothing) {
  Bench one = bench();
  script_.on_launch = [](int launch) {
    if (launch == 20) throw std::runtime_error("planted");
  };
  RunRecord broken;
  measure(entry(Power::kSustained), one, broken);
  EXPECT_EQ(broken.status, RecordStatus::kErrored);
  script_.on_launch = [](int) {};
  RunRecord next;
  measure(entry(Power::kSustained), one, next);
  EXPECT_NEAR(next.warm_up.seconds, one.budget.settle.least_s, 0.05);
}

// The runner is gone while the case waits for its start.
TEST_F(Measure, AProcessLostWhileItWaitsIsRecorded) {
  Bench one = bench();
  one.ready = [](const std::string&) { throw ProcessLost("the input closed"); };
  RunRecord record;
  EXPECT_THROW(measure(entry(Power::kBurst), one, record), ProcessLost);
  EXPECT_EQ(record.status, RecordStatus::kErrored);
  EXPECT_EQ(record.message, "the input closed");
  EXPECT_TRUE(record.timing.samples_s.empty());
}

// Of more buffer sets than a spell has launches, those that it wrote are checked, no other.
TEST_F(Measure, MoreSlotsThanLaunchesInASpell) {
  script_.slots = 64;
  timer_.launch_s = 0.004;
  std::vector<bool> poisoned(64, false);
  script_.on_poison = [&](int slot) { poisoned[static_cast<std::size_t>(slot)] = true; };
  script_.on_slot = [&](int slot) { poisoned[static_cast<std::size_t>(slot)] = false; };
  script_.hash = [&](int slot) {
    return poisoned[static_cast<std::size_t>(slot)] ? 1U : 7U + slot;
  };
  const RunRecord record = measured(entry(Power::kBurst), bench());
  EXPECT_EQ(record.status, RecordStatus::kOk) << record.message;
  EXPECT_EQ(record.verification.repetitions, static_cast<int>(record.timing.samples_s.size()));
  EXPECT_EQ(std::ranges::count(poisoned, true), 0);
}

// From the middle of the run on the card answers nothing: unknown with the reason, no figure of
// before, and the time stands.
TEST_F(Measure, ASensorThatFailsMidwayLeavesTheTime) {
  script_.on_launch = [&](int launch) { sensor_.lost = launch > 1000; };  // it still warms up
  const RunRecord record = measured(entry(Power::kSustained), bench());
  EXPECT_EQ(record.status, RecordStatus::kOk) << record.message;
  EXPECT_FALSE(record.telemetry.sm_clock_mhz.has_value());
  EXPECT_EQ(record.telemetry.unknown.at("sm_clock_mhz"), "GPU is lost");
  EXPECT_GT(record.timing.median_s, 0);
}

TEST(SamplePlan, BatchesShortLaunchesAndBoundsTheCount) {
  const Budget budget;
  const auto plan = [&](double launch_s, double window_s) {
    return plan_samples({launch_s, launch_s}, window_s, 200, budget);
  };
  EXPECT_EQ(plan(0.002, 0.12).samples, 60);
  EXPECT_EQ(plan(0.002, 0.12).per_sample, 1);
  EXPECT_EQ(plan(5e-6, 0.9).per_sample, 200) << "360 would be 500 samples of the window";
  EXPECT_EQ(plan(5e-6, 0.12).per_sample, 100) << "0.5 ms a sample";
  EXPECT_EQ(plan(1e-7, 10).per_sample, 200) << "as many as fit behind the gate";
  EXPECT_EQ(plan(1.0, 0.12).samples, budget.min_samples);
  EXPECT_LE(plan(1e-6, 10).max_samples, budget.max_samples);
  EXPECT_GT(plan(1e-300, 10).per_sample, 0) << "no overflow";
}

TEST_F(Measure, AColdCaseThatTheCacheCouldHoldIsSkipped) {
  Bench device = bench();
  device.cache_bytes = 1000;
  CaseEntry cold = entry(Power::kBurst);
  cold.info.set_bytes = 999;
  script_.slots = 2;
  const RunRecord skipped = measured(cold, device);
  EXPECT_EQ(skipped.status, RecordStatus::kSkipped);
  EXPECT_THAT(skipped.message, HasSubstr("its 2 buffer sets of 999 bytes"));
  EXPECT_TRUE(script_.launched.empty());

  script_.slots = 3;
  EXPECT_EQ(measured(cold, device).status, RecordStatus::kOk);
  script_.slots = 1;
  cold.info.conditions.cache = Cache::kWarm;
  EXPECT_EQ(measured(cold, device).status, RecordStatus::kOk);
}

}  // namespace
}  // namespace assay
