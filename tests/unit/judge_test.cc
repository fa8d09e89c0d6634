// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/sample_report.h"

namespace assay {
namespace {

using namespace samples;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<double> kGrosslySlow = {500, 501, 502, 503, 504};
// Four below 620, then seven at the usual figure: undecided after 5, inconclusive after 12.
const std::vector<double> kWavering = {669, 600, 601, 602, 603, 669, 668, 667, 666, 665, 664, 663};

std::vector<std::string> codes(const Report& report) {
  std::vector<std::string> result;
  for (const Fault& fault : report.faults) result.push_back(fault.code);
  return result;
}

void expect_verdict(const Report& report, JudgedStatus status, int exit_code) {
  ASSERT_TRUE(report.verdict);
  EXPECT_EQ(to_string(report.verdict->status), to_string(status)) << report.verdict->summary;
  EXPECT_EQ(report.verdict->exit_code, exit_code) << report.verdict->summary;
}

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

TEST(Judge, FewerRunsThanAStage) {
  Report report = sample_report(1);
  set_values(report, kBf16, 0, {669, 670});
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  EXPECT_THAT(record_of(report, kBf16, 0).judged.reason, HasSubstr("2 of 5 runs"));
}

TEST(Judge, ConfirmedWrongResultFailsTheGpu) {
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

TEST(Judge, WrongResultNeedsNoTarget) {
  Report report = sample_report(1);
  report.records.push_back(sample_record("gemm/bf16/4096x4096x4096/burst",
                                         device_of(report.inventory.gpus[0]), {700, 701}));
  report.records.back().wrong_runs = 2;
  judge(report);
  expect_verdict(report, JudgedStatus::kFail, 1);
  EXPECT_THAT(codes(report), ElementsAre("SDC-01"));
}

TEST(Judge, OneWrongRunAloneIsNotAFail) {
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

TEST(Judge, ImpossibleFigureIsOurFault) {
  Report report = sample_report(1);
  set_values(report, kRead, 0, {5200, 5201, 5202, 5203, 5204});
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 3);
  EXPECT_THAT(report.verdict->summary, HasSubstr("measurement itself broke"));
}

TEST(Judge, TooFastForItsClockIsNotAPass) {
  Report report = sample_report(1);
  record_of(report, kBf16, 0).telemetry.sm_clock_mhz = Range{1190, 1200, 1210};
  set_values(report, kBf16, 0, {670, 671, 672, 673, 674});  // 1.036 of the limit at 1200 MHz
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  EXPECT_THAT(record_of(report, kBf16, 0).judged.reason,
              HasSubstr("1.04 x the limit at the measured clock"));
}

TEST(Judge, UnverifiedTimesDoNotCount) {
  Report report = sample_report(1);
  record_of(report, kBf16, 0).verification = {};
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
}

TEST(Judge, TargetOfAnotherMetricOrWithoutAFloor) {
  Report report = sample_report(1);
  report.targets[0].targets[0].metric = "gb_per_s";
  report.targets[0].targets[2].floor = 0;
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  EXPECT_EQ(record_of(report, kBf16, 0).judged.status, JudgedStatus::kInconclusive);
  EXPECT_EQ(record_of(report, kRead, 0).judged.reason, "the floor is not above 0");
}

TEST(Judge, MissingRowsCount) {
  Report report = sample_report(2);
  std::erase_if(report.records,
                [](const Record& r) { return r.id == kRead && r.device.index == 1; });
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  ASSERT_EQ(missing_rows(report).size(), 1U);
  EXPECT_EQ(missing_rows(report)[0].id, kRead);
  EXPECT_EQ(missing_rows(report)[0].uuid, report.inventory.gpus[1].uuid);
  EXPECT_EQ(report.verdict->summary,
            "2 of 2 GPUs: 21 of 21 gates, 7 of 8 measurements. Open: 1 measurement missing.");
}

TEST(Judge, GateIdsWithoutATargetAreNotMissing) {
  Report report = sample_report(1);
  report.plan.gate_ids.push_back("gemm/int8/8192x8192x8192/sustained");
  judge(report);
  expect_verdict(report, JudgedStatus::kPass, 0);
}

TEST(Judge, SkippedErroredAndExplainedErrors) {
  Report report = sample_report(1);
  Record& record = record_of(report, kBf16, 0);
  record.status = RecordStatus::kSkipped;
  record.message = "not enough memory";
  record.metrics.clear();
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  EXPECT_EQ(record.judged.status, JudgedStatus::kNotMeasured);
  EXPECT_EQ(record.judged.reason, "skipped: not enough memory");
  record.status = RecordStatus::kErrored;
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 3);
  report.inventory.gpus[0].after.ecc_uncorrected_volatile = 2;
  judge(report);
  expect_verdict(report, JudgedStatus::kFail, 1);
  EXPECT_THAT(codes(report), ElementsAre("MEM-01"));
}

TEST(Judge, ARowWithoutATargetThatBrokeIsNoPass) {
  Report report = sample_report(1);
  report.records.push_back(
      sample_record("gemm/int8/8192x8192x8192/burst", device_of(report.inventory.gpus[0]), {1}));
  report.records.back().status = RecordStatus::kErrored;
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 3);
  EXPECT_EQ(report.records.back().judged.status, JudgedStatus::kInfo);
  EXPECT_THAT(report.verdict->summary, HasSubstr("1 measurement broke"));
  report.records.back().status = RecordStatus::kSkipped;
  judge(report);
  expect_verdict(report, JudgedStatus::kPass, 0);
}

TEST(Judge, WrongOnceIsNoPassAndWrongInTwoRoundsOfAnyCaseIsAFail) {
  const auto wrong_row = [](const Record& record, int round) {
    return Json{{"repetition_index", round},
                {"assay", {{"device", record.device.uuid}, {"status", "invalid"}}}};
  };
  Report report = sample_report(1);
  report.records[0].wrong_runs = 1;
  report.records[0].warnings = {"a run failed and was replaced: row 7"};
  report.benchmarks.push_back(wrong_row(report.records[0], 2));
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

TEST(Judge, WithoutALimitOrWithAnAbsurdFloorNothingPasses) {
  Report report = sample_report(1);
  report.limits.clear();
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  report = sample_report(1);
  report.targets[0].targets[0].floor = 1e-9;
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
}

TEST(Judge, ARecordOfNoCardAndAPlanForNoGpuAreMissing) {
  Report report = sample_report(1);
  report.records[0].device.sku.reset();
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  report = sample_report(1);
  report.plan.gpus = {"GPU-none"};
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
}

TEST(Judge, IncompleteIsAtBestInconclusive) {
  Report report = sample_report(1);
  report.complete = false;
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  set_values(report, kBf16, 0, kGrosslySlow);
  judge(report);
  expect_verdict(report, JudgedStatus::kFail, 1);
}

TEST(Judge, NoGpu) {
  Report report = sample_report(0);
  judge(report);
  expect_verdict(report, JudgedStatus::kNotMeasured, 2);
  EXPECT_EQ(report.verdict->summary, "No GPU was judged.");
  ASSERT_THAT(codes(report), ElementsAre("GPU-01"));
  EXPECT_EQ(report.faults[0].severity, Severity::kNotJudged);
}

TEST(Judge, EmptyReport) {
  Report report;
  judge(report);
  expect_verdict(report, JudgedStatus::kNotMeasured, 2);
}

TEST(Judge, GpuOnTheBusWithoutNvml) {
  Report report = sample_report(0);
  report.inventory.pci_gpus = {"0000:19:00.0"};
  judge(report);
  expect_verdict(report, JudgedStatus::kNotMeasured, 2);
  EXPECT_THAT(codes(report), ElementsAre("UNK-01"));
}

TEST(Judge, UnknownCardIsNotJudged) {
  Report report = sample_report(2);
  GpuInventory& gpu = report.inventory.gpus[1];
  gpu.name = "NVIDIA H20";
  gpu.sku.reset();
  for (Record& record : report.records) {
    if (record.device.uuid != gpu.uuid) continue;
    record.device.name = gpu.name;
    record.device.sku.reset();
  }
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  ASSERT_EQ(unjudged_gpus(report).size(), 1U);
  EXPECT_EQ(unjudged_gpus(report)[0].reason, "GPU 1: no targets for \"NVIDIA H20\"");
  EXPECT_EQ(record_of(report, kBf16, 1).judged.status, JudgedStatus::kInfo);
  EXPECT_EQ(record_of(report, kBf16, 0).judged.status, JudgedStatus::kPass);
}

TEST(Judge, RecordsWithoutAnyTargetAreNotJudged) {
  Report report = sample_report(1);
  report.targets.clear();
  judge(report);
  expect_verdict(report, JudgedStatus::kNotMeasured, 2);
  report = sample_report(1);
  report.targets[0].targets.clear();
  judge(report);
  expect_verdict(report, JudgedStatus::kNotMeasured, 2);
}

TEST(Judge, MigSlicesAreNamedAndNeverJudged) {
  Report report = sample_report(2);
  GpuInventory& gpu = report.inventory.gpus[1];
  gpu.mig = true;
  gpu.mig_slices = {{"MIG-aaaa", "NVIDIA H200 MIG 3g.71gb"}};
  set_values(report, kBf16, 1, {300, 301, 302, 303, 304});
  record_of(report, kFp8, 1).device.uuid = "MIG-aaaa";
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  ASSERT_THAT(codes(report), ElementsAre("ENV-01"));
  EXPECT_THAT(report.faults[0].title, HasSubstr("NVIDIA H200 MIG 3g.71gb MIG-aaaa"));
  EXPECT_EQ(record_of(report, kBf16, 1).judged.status, JudgedStatus::kInfo);
  EXPECT_EQ(record_of(report, kFp8, 1).judged.status, JudgedStatus::kInfo);
  EXPECT_EQ(record_of(report, kBf16, 0).judged.status, JudgedStatus::kPass);
}

TEST(Judge, ABusyGpuDoesNotFail) {
  Report report = sample_report(1);
  report.inventory.gpus[0].processes = {{4242, 5'000'000'000}};
  set_values(report, kBf16, 0, kGrosslySlow);
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  ASSERT_THAT(codes(report), ElementsAre("ENV-01"));
  EXPECT_THAT(report.faults[0].explains, ElementsAre(kBf16));
  EXPECT_EQ(record_of(report, kBf16, 0).judged.status, JudgedStatus::kInconclusive);
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

TEST(Judge, WithoutNvmlTheRowsAreStillJudged) {
  Report report = sample_report(1);
  report.inventory.gpus.clear();
  report.inventory.nvml.reset();
  report.inventory.nvml_error = "libnvidia-ml.so.1: not found";
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  EXPECT_THAT(codes(report), ElementsAre("UNK-01"));
  EXPECT_EQ(record_of(report, kBf16, 0).judged.status, JudgedStatus::kPass);
  set_values(report, kBf16, 0, kGrosslySlow);
  judge(report);
  ASSERT_THAT(codes(report), ElementsAre("UNK-01", "PRF-01"));
  EXPECT_TRUE(report.faults[1].scope.uuid);
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

TEST(Judge, ATargetOfAnotherPipeDecidesNothing) {
  Report report = sample_report(1);
  report.targets[0].targets[0].pipe = "tf32";
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  EXPECT_EQ(record_of(report, kBf16, 0).judged.reason,
            "the target is for pipe 'tf32', the record ran on 'bf16'");
  EXPECT_THAT(undecided_rows(report), IsEmpty());
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
