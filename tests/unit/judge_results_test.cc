// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Results that are wrong, and figures that cannot be real.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/judge.h"
#include "tests/unit/judged.h"

namespace assay {
namespace {

using namespace samples;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(JudgeResults, ConfirmedWrongResultFailsTheGpu) {
  Report report = sample_report(2);
  Record& record = record_of(report, kFp8, 1);
  record.wrong_runs = 2;
  record.status = RecordStatus::kInvalid;
  record.message = "wrong result: element (3, 5) is 1.5, expected 0.25";
  judge(report);
  expect_verdict(report, JudgedStatus::kFail, 1);
  ASSERT_THAT(codes(report), ElementsAre("SDC-01"));
  EXPECT_EQ(report.faults[0].scope.serial, report.inventory.gpus[1].serial);
  EXPECT_EQ(report.faults[0].confirmed_runs, 2);
  EXPECT_THAT(report.faults[0].title, HasSubstr("element (3, 5)"));
  EXPECT_EQ(record.judged.status, JudgedStatus::kFail);
}

TEST(JudgeResults, WrongResultNeedsNoTarget) {
  Report report = sample_report(1);
  report.records.push_back(sample_record("gemm/bf16/4096x4096x4096/burst",
                                         device_of(report.inventory.gpus[0]), {700, 701}));
  report.records.back().wrong_runs = 2;
  judge(report);
  expect_verdict(report, JudgedStatus::kFail, 1);
  EXPECT_THAT(codes(report), ElementsAre("SDC-01"));
}

TEST(JudgeResults, OneWrongRunAloneIsNotAFail) {
  Report report = sample_report(1);
  Record& record = record_of(report, kFp8, 0);
  record.metrics.clear();
  record.runs = 0;
  record.wrong_runs = 1;
  record.status = RecordStatus::kInvalid;
  record.verification.status = VerificationStatus::kWrong;
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  EXPECT_THAT(codes(report), IsEmpty());
  EXPECT_THAT(record.judged.reason, HasSubstr("not confirmed"));
}

TEST(JudgeResults, ImpossibleFigureIsOurFault) {
  Report report = sample_report(1);
  set_values(report, kRead, 0, {5200, 5201, 5202, 5203, 5204});
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 3);
  EXPECT_THAT(report.verdict->summary, HasSubstr("measurement itself broke"));
}

TEST(JudgeResults, TooFastForItsClockIsNotAPass) {
  Report report = sample_report(1);
  record_of(report, kBf16, 0).telemetry.sm_clock_mhz = Range{1190, 1200, 1210};
  set_values(report, kBf16, 0, {670, 671, 672, 673, 674});  // 1.036 of the limit at 1200 MHz
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  EXPECT_THAT(record_of(report, kBf16, 0).judged.reason,
              HasSubstr("1.04 x the limit at the measured clock"));
}

TEST(JudgeResults, UnverifiedTimesDoNotCount) {
  Report report = sample_report(1);
  record_of(report, kBf16, 0).verification = {};
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
}

TEST(JudgeResults, WrongOnceIsNoPassAndWrongInTwoRoundsOfAnyCaseIsAFail) {
  const auto wrong_row = [](const Record& record, int round) {
    return Json{{"repetition_index", round},
                {"assay", {{"device", record.device.uuid}, {"status", "invalid"}}}};
  };
  Report report = sample_report(1);
  report.records[0].wrong_runs = 1;
  report.records[0].warnings = {"a run failed and was replaced: row 7"};
  report.benchmarks.push_back(wrong_row(report.records[0], 2));
  for (const Json& odd :
       {Json(), Json(3), Json{{"assay", "x"}}, Json{{"assay", {{"device", 1}}}}}) {
    report.benchmarks.push_back(odd);  // another program's
  }
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  EXPECT_THAT(report.records[0].judged.reason, HasSubstr("not confirmed"));
  // Another case of the same round is the same process's word.
  report.benchmarks.push_back(wrong_row(report.records[0], 2));
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  report.benchmarks.push_back(wrong_row(report.records[0], 4));
  judge(report);
  expect_verdict(report, JudgedStatus::kFail, 1);
  EXPECT_THAT(codes(report), ElementsAre("SDC-01"));
}

TEST(JudgeResults, WithoutALimitOrWithAnAbsurdFloorNothingPasses) {
  Report report = sample_report(1);
  report.limits.clear();
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  report = sample_report(1);
  report.targets[0].targets[0].floor = 1e-9;
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
}

// A doubt about the result makes no slow row undecided, and the fault of its time is named.
TEST(JudgeResults, ARowThatWasWrongOnceAndIsBelowItsFloorFails) {
  Report report = sample_report(1);
  Record& record = record_of(report, kBf16, 0);
  set_values(report, kBf16, 0, kGrosslySlow);
  record.wrong_runs = 1;
  record.warnings = {"a run failed and was replaced: row 7"};
  judge(report);
  expect_verdict(report, JudgedStatus::kFail, 1);
  EXPECT_THAT(codes(report), ElementsAre("PRF-01"));
  EXPECT_THAT(record.judged.reason, HasSubstr("not confirmed"));
}

// A report of another program need not say what was wrong.
TEST(JudgeResults, AWrongRunWithoutAWordIsJudged) {
  Report report = sample_report(1);
  report.records[0].wrong_runs = 1;
  for (const int round : {1, 2}) {
    report.benchmarks.push_back(
        {{"repetition_index", round},
         {"assay", {{"device", report.records[0].device.uuid}, {"status", "invalid"}}}});
  }
  judge(report);
  expect_verdict(report, JudgedStatus::kFail, 1);
  EXPECT_THAT(fault_of(report, "SDC-01")->title, HasSubstr("wrong result"));
}

// The stalls of another run are not what was wrong.
TEST(JudgeResults, TheFaultNamesTheWrongRun) {
  Report report = sample_report(1);
  Record& record = report.records[0];
  record.wrong_runs = 1;
  record.warnings = {"stalls or clock dips", "a run failed and was replaced: row 7"};
  for (const int round : {1, 2}) {
    report.benchmarks.push_back(
        {{"repetition_index", round},
         {"assay", {{"device", record.device.uuid}, {"status", "invalid"}}}});
  }
  judge(report);
  EXPECT_THAT(fault_of(report, "SDC-01")->title, HasSubstr("row 7"));
}

}  // namespace
}  // namespace assay
