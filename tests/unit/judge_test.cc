// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/judged.h"

namespace assay {
namespace {

using namespace samples;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Judge, SoundGpuPasses) {
  Report report = sample_report(1);
  judge(report);
  expect_verdict(report, JudgedStatus::kPass, 0);
  EXPECT_EQ(report.verdict->summary, "1 of 1 GPU: 10 of 10 gates, 4 of 4 measurements.");
  EXPECT_THAT(report.faults, IsEmpty());
  const Judged& judged = record_of(report, kBf16, 0).judged;
  EXPECT_EQ(judged.status, JudgedStatus::kPass);
  EXPECT_EQ(judged.floor, 620);
  EXPECT_EQ(judged.source, "sample card");
  EXPECT_TRUE(judged.provisional);
}

TEST(Judge, HostRowsAreNeverJudged) {
  Report report = sample_report(1);
  Record& host = report.records.back();
  host.status = RecordStatus::kErrored;
  judge(report);
  EXPECT_EQ(host.judged.status, JudgedStatus::kInfo);
  host.status = RecordStatus::kInvalid;
  host.wrong_runs = 3;
  judge(report);
  expect_verdict(report, JudgedStatus::kPass, 0);
}

TEST(Judge, JudgingAgainIsTheSame) {
  Report report = sample_report(2);
  set_values(report, kBf16, 1, kGrosslySlow);
  set_values(report, kRead, 0, {4610, 4604, 5200, 4609, 4612});
  judge(report);
  const std::string once = to_json_value(report).dump();
  judge(report);
  EXPECT_EQ(to_json_value(report).dump(), once);
}

TEST(Judge, OrderOfRecordsDoesNotMatter) {
  Report report = sample_report(4);
  set_values(report, kBf16, 2, kGrosslySlow);
  Report mirrored = report;
  std::reverse(mirrored.records.begin(), mirrored.records.end());
  judge(report);
  judge(mirrored);
  EXPECT_EQ(mirrored.verdict->summary, report.verdict->summary);
  EXPECT_EQ(codes(mirrored), codes(report));
}

TEST(Judge, SlowGpuIsNamed) {
  Report report = sample_report(4);
  set_values(report, kBf16, 2, kGrosslySlow);
  judge(report);
  expect_verdict(report, JudgedStatus::kFail, 1);
  ASSERT_THAT(codes(report), ElementsAre("PRF-01"));
  const Fault& fault = report.faults[0];
  EXPECT_EQ(fault.owner, "hardware");
  EXPECT_EQ(fault.scope.gpu, 2);
  EXPECT_EQ(fault.scope.serial, report.inventory.gpus[2].serial);
  EXPECT_EQ(fault.scope.module_id, 3);
  EXPECT_EQ(fault.scope.bus_id, report.inventory.gpus[2].bus_id);
  EXPECT_EQ(fault.title, "BF16 8192^3 sustained 502 TF/s, floor 620; peers 669..670");
  EXPECT_THAT(fault.evidence, ElementsAre(kBf16));
  EXPECT_EQ(fault.confirmed_runs, 5);
  EXPECT_EQ(report.verdict->summary,
            "1 fault: 1 hardware suspect. Clear: GPU 0, GPU 1, GPU 3 only.");
}

TEST(Judge, RowsOfOneGpuAreOneFault) {
  Report report = sample_report(2);
  set_values(report, kBf16, 1, kGrosslySlow);
  set_values(report, kRead, 1, {3000, 3001, 3002, 3003, 3004});
  judge(report);
  ASSERT_THAT(codes(report), ElementsAre("PRF-01"));
  EXPECT_THAT(report.faults[0].evidence, ElementsAre(kBf16, kRead));
  EXPECT_THAT(report.faults[0].effect, HasSubstr("DRAM read 4GiB 3002 GB/s, floor 4400"));
}

TEST(Judge, PowerLimitExplainsSlowRows) {
  Report report = sample_report(2);
  report.inventory.gpus[1].power_limit_w = 500;
  set_values(report, kBf16, 1, kGrosslySlow);
  judge(report);
  expect_verdict(report, JudgedStatus::kFail, 1);
  ASSERT_THAT(codes(report), ElementsAre("PWR-01"));
  EXPECT_THAT(report.faults[0].explains, ElementsAre(kBf16));
  EXPECT_EQ(report.faults[0].effect, "BF16 8192^3 sustained 502 TF/s, floor 620");
  EXPECT_THAT(record_of(report, kBf16, 1).judged.reason, HasSubstr("explained by PWR-01"));
  EXPECT_EQ(report.verdict->summary, "1 fault: 1 setting. Clear: GPU 0 only.");
}

TEST(Judge, AFaultOfOneGpuDoesNotExplainAnother) {
  Report report = sample_report(2);
  report.inventory.gpus[1].power_limit_w = 500;
  set_values(report, kBf16, 0, kGrosslySlow);
  judge(report);
  EXPECT_THAT(codes(report), ElementsAre("PWR-01", "PRF-01"));
  EXPECT_THAT(report.faults[0].explains, IsEmpty());
}

TEST(Judge, AllGpusLowAlikeIsOneCause) {
  Report report = sample_report(4);
  for (int gpu = 0; gpu < 4; ++gpu) set_values(report, kBf16, gpu, kGrosslySlow);
  set_values(report, kRead, 3, {3000, 3001, 3002, 3003, 3004});
  judge(report);
  expect_verdict(report, JudgedStatus::kFail, 1);
  ASSERT_THAT(codes(report), ElementsAre("PRF-03", "PRF-01"));
  EXPECT_EQ(report.faults[0].owner, "operator");
  EXPECT_FALSE(report.faults[0].scope.gpu);
  EXPECT_EQ(report.faults[1].scope.gpu, 3);
  EXPECT_THAT(report.faults[1].evidence, ElementsAre(kRead));
}

TEST(Judge, AllLowButNotAlikeAreSingleFaults) {
  Report report = sample_report(2);
  set_values(report, kBf16, 0, kGrosslySlow);
  set_values(report, kBf16, 1, {300, 301, 302, 303, 304});
  judge(report);
  EXPECT_THAT(codes(report), ElementsAre("PRF-01", "PRF-01"));
}

TEST(Judge, OneGpuIsNotAllGpus) {
  Report report = sample_report(1);
  set_values(report, kBf16, 0, kGrosslySlow);
  judge(report);
  EXPECT_THAT(codes(report), ElementsAre("PRF-01"));
}

TEST(Judge, UndecidedRowsNeedStage2) {
  Report report = sample_report(1);
  set_values(report, kBf16, 0, {669, 600, 670, 671, 668});
  derive_limits(report);
  EXPECT_THAT(undecided_rows(report), ElementsAre(0));
  judge(report);
  EXPECT_THAT(undecided_rows(report), ElementsAre(0));
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  EXPECT_EQ(record_of(report, kBf16, 0).judged.reason, "needs 12 runs in all: rerun assay accept");
  EXPECT_EQ(record_of(report, kBf16, 0).judged.runs_below, 1);
  report.plan.out_of_time = true;
  judge(report);
  EXPECT_EQ(record_of(report, kBf16, 0).judged.reason,
            "stage 2 was cut off: needs 12 runs in all: rerun assay accept");
}

TEST(Judge, Stage2Decides) {
  Report report = sample_report(1);
  auto values = kWavering;
  set_values(report, kBf16, 0, values);
  judge(report);
  EXPECT_THAT(undecided_rows(report), IsEmpty());
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  EXPECT_EQ(record_of(report, kBf16, 0).judged.reason, "4 of 12 runs below the floor");
  values[1] = values[2] = 640;
  set_values(report, kBf16, 0, values);
  judge(report);
  expect_verdict(report, JudgedStatus::kPass, 0);
  set_values(report, kBf16, 0, std::vector<double>(12, 610));
  judge(report);
  expect_verdict(report, JudgedStatus::kFail, 1);
}

TEST(Judge, WarningsDoNotChangeTheExit) {
  Report report = sample_report(1);
  report.inventory.gpus[0].after.pcie_replays = 3;
  judge(report);
  expect_verdict(report, JudgedStatus::kPass, 0);
  EXPECT_THAT(report.verdict->summary, HasSubstr("1 warning."));
}

TEST(Judge, ThermalSlowdownExplains) {
  Report report = sample_report(2);
  record_of(report, kBf16, 0).telemetry.event_reasons["hw_thermal_slowdown"] = 0.2;
  set_values(report, kBf16, 0, kGrosslySlow);
  judge(report);
  expect_verdict(report, JudgedStatus::kFail, 1);
  EXPECT_THAT(codes(report), ElementsAre("THM-01"));
}

// Judged by more rows than were planned, the rule asks for more runs instead of promising less.
TEST(Judge, MoreRowsThanPlannedKeepTheLevels) {
  Report report = sample_report(8);  // 32 rows
  report.plan.m = 0;
  for (int i = 0; i < 9; ++i) {
    report.records.push_back(record_of(report, kBf16, 0));
    report.records.back().id = fmt::format("gemm/bf16/{}/sustained", i);
    report.targets[0].targets.push_back(target(report.records.back().id, "tflops", 620, 669, 0.8));
  }
  set_values(report, kBf16, 3, std::vector<double>(12, 610));
  judge(report);  // 41 rows: N = 13
  EXPECT_EQ(record_of(report, kBf16, 3).judged.status, JudgedStatus::kInconclusive);
  set_values(report, kBf16, 3, std::vector<double>(13, 610));
  judge(report);
  EXPECT_EQ(record_of(report, kBf16, 3).judged.status, JudgedStatus::kFail);
}

TEST(Judge, SpreadIsAWarningOfTheVerdict) {
  Report report = sample_report(1);
  report.records[2].warnings = {"stalls"};
  set_values(report, kRead, 0, {4500, 4700, 4550, 4650, 4600});
  set_values(report, kCopy, 0, {4281, 4281, 4281, 4281, 4281});
  judge(report);
  judge(report);
  const Record& read = record_of(report, kRead, 0);
  EXPECT_THAT(read.judged.warnings, ElementsAre(HasSubstr("more than 3 x")));
  EXPECT_THAT(read.warnings, ElementsAre("stalls"));
  EXPECT_THAT(record_of(report, kCopy, 0).judged.warnings, ElementsAre(HasSubstr("same value")));
  expect_verdict(report, JudgedStatus::kPass, 0);
  // By targets that expect this spread, nothing stale is left.
  report.targets[0].targets[2].run_sd_pct = 5;
  judge(report);
  EXPECT_THAT(read.judged.warnings, IsEmpty());
  EXPECT_THAT(read.warnings, ElementsAre("stalls"));
}

TEST(Judge, ALostGpuFails) {
  Report report = sample_report(2);
  report.inventory.gpus[1].after = {};
  report.inventory.gpus[1].unreadable["after"] = "nvmlDeviceGetHandleByUUID: GPU is lost";
  judge(report);
  expect_verdict(report, JudgedStatus::kFail, 1);
  EXPECT_THAT(codes(report), ElementsAre("GPU-03"));
}

TEST(Judge, LowerIsBetter) {
  Report report = sample_report(1);
  for (const auto& [value, status] :
       {std::pair(9.0, JudgedStatus::kPass), std::pair(10.5, JudgedStatus::kInconclusive),
        std::pair(12.0, JudgedStatus::kFail)}) {
    Metric& metric = record_of(report, kRead, 0).metrics.at("gb_per_s");
    metric.better = Better::kLower;
    metric.unit = "us";
    metric.values = std::vector<double>(5, value);
    report.targets[0].targets[2].floor = 10;
    judge(report);
    EXPECT_EQ(record_of(report, kRead, 0).judged.status, status) << value;
  }
}

}  // namespace
}  // namespace assay
