// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RunRecord run(int round, double tflops) {
  RunRecord record;
  record.id = "gemm/bf16/8192x8192x8192/sustained";
  record.family = "gemm";
  record.round = round;
  record.work = {1e12, 0, "bf16"};
  record.timing.median_s = 1 / tflops;
  record.timing.mean_s = record.timing.median_s;
  record.timing.samples_s = {record.timing.median_s};
  record.verification = {VerificationStatus::kVerified, "check", 0.1 * round, 1.0, "", {}, 0};
  return record;
}

RunRecord failed(int round, RecordStatus status, const std::string& message) {
  RunRecord record = run(round, 1);
  record.status = status;
  record.message = message;
  record.verification = {};
  if (status == RecordStatus::kInvalid) {
    record.verification = {VerificationStatus::kWrong, "check", 5.0, 1.0, message, {}, 0};
  }
  return record;
}

TEST(Merge, JudgesAllButTheConditioningRound) {
  const std::vector runs = {run(0, 999), run(1, 670), run(2, 660), run(3, 680)};
  const Record record = merge_runs(runs, 1);
  const Metric& metric = record.metrics.at("tflops");
  EXPECT_THAT(metric.values, ElementsAre(670, 660, 680));
  EXPECT_THAT(metric.conditioning, ElementsAre(999));
  EXPECT_EQ(metric.value, 670);
  EXPECT_EQ(*metric.ci_low, 660);
  EXPECT_EQ(*metric.ci_high, 680);
  EXPECT_EQ(*metric.level, 0.75);
  EXPECT_EQ(record.runs, 3);
  EXPECT_EQ(record.status, RecordStatus::kOk);
  EXPECT_EQ(*record.verification.error, 0.1 * 3) << "the worst verification is shown";
}

// What reproduces a row, and what came before it, is in the record.
TEST(Merge, KeepsWhatTheRunsSayOfThemselves) {
  RunRecord one = run(0, 1);
  one.parameters = {{"m", 1}};
  one.algorithm = {{"id", 2}};
  one.preparation = {{"prune_s", 3}};
  one.data = {{"seed", 4}};
  const Record record = merge_runs(std::vector{one}, 0);
  EXPECT_EQ(record.parameters, one.parameters);
  EXPECT_EQ(record.algorithm, one.algorithm);
  EXPECT_EQ(record.preparation, one.preparation);
  EXPECT_EQ(record.data, one.data);
}

TEST(Merge, MemoryIsRatedInBytes) {
  RunRecord one = run(0, 1);
  one.work = {0, 2e9, "dram"};
  one.timing.median_s = 0.5;
  EXPECT_EQ(merge_runs(std::vector{one}, 0).metrics.at("gb_per_s").value, 4);
}

TEST(Merge, OneWrongRunIsReplacedAndSaid) {
  const std::vector runs = {run(0, 670), failed(1, RecordStatus::kInvalid, "row 7"), run(2, 670)};
  const Record record = merge_runs(runs, 0);
  EXPECT_EQ(record.status, RecordStatus::kOk);
  EXPECT_EQ(record.wrong_runs, 1);
  EXPECT_EQ(record.verification.status, VerificationStatus::kVerified);
  EXPECT_THAT(record.warnings, ElementsAre(HasSubstr("row 7")));
}

TEST(Merge, TwoWrongRunsConfirmEachOtherEvenInTheConditioningRound) {
  const std::vector runs = {failed(0, RecordStatus::kInvalid, "row 7"), run(1, 670),
                            failed(2, RecordStatus::kInvalid, "row 9")};
  const Record record = merge_runs(runs, 1);
  EXPECT_EQ(record.status, RecordStatus::kInvalid);
  EXPECT_EQ(record.wrong_runs, 2);
  EXPECT_EQ(record.verification.status, VerificationStatus::kWrong);
  EXPECT_EQ(record.message, "row 9");
}

TEST(Merge, ErrorsAndSkips) {
  const std::vector once = {failed(1, RecordStatus::kErrored, "hung"), run(2, 670)};
  EXPECT_EQ(merge_runs(once, 0).status, RecordStatus::kOk);
  const std::vector twice = {failed(1, RecordStatus::kErrored, "hung"), run(2, 670),
                             failed(3, RecordStatus::kErrored, "hung again")};
  EXPECT_EQ(merge_runs(twice, 0).status, RecordStatus::kErrored);
  EXPECT_EQ(merge_runs(twice, 0).message, "hung again");
  const std::vector skipped = {failed(0, RecordStatus::kSkipped, "no FP8 before 8.9")};
  EXPECT_EQ(merge_runs(skipped, 1).status, RecordStatus::kSkipped);
  EXPECT_EQ(merge_runs(skipped, 1).message, "no FP8 before 8.9");
  EXPECT_THAT(merge_runs(skipped, 1).metrics, IsEmpty());
}

TEST(Merge, DescribesTheCaseFromARunThatReportedItself) {
  RunRecord hung = failed(0, RecordStatus::kErrored, "hung");
  hung.work = {};
  EXPECT_EQ(merge_runs(std::vector{hung, run(1, 670)}, 0).work.operations, 1e12);
}

TEST(Merge, WarnsOfStallsAndOfAnotherAlgorithm) {
  std::vector runs = {run(0, 670), run(1, 670)};
  runs[1].timing.mean_s = 1.03 * runs[1].timing.median_s;
  runs[1].algorithm = {{"id", 7}};
  EXPECT_THAT(merge_runs(runs, 0).warnings,
              ElementsAre(HasSubstr("stalls"), HasSubstr("another algorithm")));
}

// 600 W over launches of 1/670 s.
RunRecord with_energy(int round) {
  RunRecord record = run(round, 670);
  record.conditions.power = Power::kSustained;
  record.telemetry.energy_j = 480;
  record.telemetry.energy_s = 0.8;
  return record;
}

TEST(Merge, EnergyOfALaunchIsPowerTimesItsMeanTime) {
  std::vector runs = {with_energy(0), with_energy(1), with_energy(2)};
  runs[1].timing.mean_s = 2 * runs[1].timing.median_s;
  const Record record = merge_runs(runs, 1);
  const Metric& joules = record.metrics.at("joules");
  EXPECT_EQ(joules.values.size(), 2U);
  EXPECT_EQ(joules.conditioning.size(), 1U);
  EXPECT_DOUBLE_EQ(joules.values[0], 600 * 2 / 670.0);
  EXPECT_DOUBLE_EQ(joules.values[1], 600 / 670.0);
  EXPECT_EQ(joules.better, Better::kLower);
  EXPECT_EQ(joules.unit, "J");
  EXPECT_FALSE(joules.primary);
  const Metric& rate = record.metrics.at("gflop_per_joule");
  EXPECT_DOUBLE_EQ(rate.values[1], 1000 / (600 / 670.0));  // 10^12 operations
  EXPECT_EQ(rate.better, Better::kHigher);
  EXPECT_EQ(primary_metric(record)->unit, "TFLOPS");
  EXPECT_DOUBLE_EQ(*record.telemetry.energy_s, 1.6);
}

TEST(Merge, ALatencyIsTheTimeOfALoadAndLowerIsBetter) {
  std::vector runs = {run(0, 670), run(1, 670), run(2, 670)};
  for (RunRecord& one : runs) {
    one.work = Work(0, 0, "dram");
    one.work.loads = 1000;
    one.timing.median_s = 6.5e-4 + 1e-6 * one.round;
  }
  const Record record = merge_runs(runs, 1);
  const Metric* metric = primary_metric(record);
  ASSERT_NE(metric, nullptr);
  EXPECT_EQ(metric, &record.metrics.at("latency_ns"));
  EXPECT_EQ(metric->unit, "ns");
  EXPECT_EQ(metric->better, Better::kLower);
  EXPECT_DOUBLE_EQ(metric->value, 651.5);
}

TEST(Merge, NoEnergyWhereItIsNotKnown) {
  const auto metrics = [](const std::function<void(RunRecord&)>& spoil) {
    RunRecord one = with_energy(0);
    spoil(one);
    return merge_runs(std::vector{one}, 0).metrics;
  };
  EXPECT_EQ(metrics([](RunRecord&) {}).size(), 3U);
  EXPECT_EQ(metrics([](RunRecord& r) { r.telemetry.energy_j.reset(); }).size(), 1U);
  EXPECT_EQ(metrics([](RunRecord& r) { r.telemetry.energy_s.reset(); }).size(), 1U);
  EXPECT_EQ(metrics([](RunRecord& r) { r.telemetry.energy_s = 0; }).size(), 1U);
  EXPECT_EQ(metrics([](RunRecord& r) { r.conditions.power = Power::kBurst; }).size(), 1U);
  EXPECT_EQ(metrics([](RunRecord& r) { r.work = {0, 1e9, "dram"}; }).count("gflop_per_joule"), 0U);
}

TEST(Merge, TelemetryIsWeighedOverRuns) {
  std::vector runs = {run(0, 670), run(1, 670)};
  runs[0].telemetry.samples = 1;
  runs[0].telemetry.sm_clock_mhz = Range{1400, 1500, 1600};
  runs[0].telemetry.event_reasons = {{"sw_power_cap", 1.0}};
  runs[1].telemetry.samples = 3;
  runs[1].telemetry.sm_clock_mhz = Range{1300, 1400, 1500};
  runs[1].telemetry.event_reasons = {{"sw_power_cap", 1.0 / 3}};
  const Telemetry all = merge_runs(runs, 0).telemetry;
  EXPECT_EQ(all.samples, 4);
  EXPECT_EQ(all.sm_clock_mhz->min, 1300);
  EXPECT_EQ(all.sm_clock_mhz->mean, 1450);
  EXPECT_EQ(all.sm_clock_mhz->max, 1600);
  EXPECT_NEAR(all.event_reasons.at("sw_power_cap"), 0.5, 1e-12);
}

// A mean over the runs that know it, whichever they are.
TEST(Merge, ARunWithoutAReadingDoesNotWeighInItsMean) {
  std::vector runs = {run(0, 670), run(1, 670), run(2, 670)};
  runs[1].telemetry.sm_clock_mhz = Range{1400, 1500, 1600};
  runs[2].telemetry.sm_clock_mhz = Range{1300, 1400, 1500};
  EXPECT_EQ(merge_runs(runs, 0).telemetry.sm_clock_mhz->mean, 1450);
}

TEST(Merge, DeltasAndEnergyAreSummedOverJudgedRuns) {
  std::vector runs = {run(0, 670), run(1, 670), run(2, 670)};
  for (RunRecord& one : runs) {
    one.telemetry.samples = 1;
    one.telemetry.energy_j = 100;
    one.telemetry.load_s = 2;
    one.telemetry.deltas = {{"pcie_replays", 1}};
  }
  runs[2].telemetry.deltas["ecc_corrected"] = 3;
  runs[1].telemetry.unknown["ecc_corrected"] = "Not Supported";
  Telemetry all = merge_runs(runs, 1).telemetry;
  EXPECT_EQ(all.energy_j, 200);
  EXPECT_EQ(all.load_s, 4);
  EXPECT_EQ(all.deltas.at("pcie_replays"), 2);
  EXPECT_EQ(all.deltas.at("ecc_corrected"), 3) << "at least: one run could not count";
  EXPECT_TRUE(all.unknown.contains("ecc_corrected"));
  runs[2].telemetry.energy_j.reset();
  runs[2].telemetry.unknown["energy_j"] = "the counter did not move in the window";
  all = merge_runs(runs, 1).telemetry;
  EXPECT_FALSE(all.energy_j.has_value());
  EXPECT_TRUE(all.unknown.contains("energy_j"));
}

TEST(Merge, LoadsAreRatedByTheTimeOfOneAndLessIsBetter) {
  Work work;
  work.bytes = 64;
  work.loads = 8;
  const PrimaryMetric metric = primary_metric_of(work, 8e-6);
  EXPECT_EQ(metric.name, "latency_ns");
  EXPECT_EQ(metric.unit, "ns");
  EXPECT_DOUBLE_EQ(metric.value, 1000);
  EXPECT_EQ(metric.better, Better::kLower);

  RunRecord run;
  run.id = "links/latency/zerocopy/burst";
  run.work = work;
  run.timing.median_s = run.timing.mean_s = 8e-6;
  const Record record = merge_runs(std::vector{run}, 0);
  EXPECT_EQ(record.metrics.at("latency_ns").better, Better::kLower);
  EXPECT_DOUBLE_EQ(record.metrics.at("latency_ns").value, 1000);
}

}  // namespace
}  // namespace assay
