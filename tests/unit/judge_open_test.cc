// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What keeps a report from being judged: rows and cards that are missing, unknown or shared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "reports/judge.h"
#include "tests/unit/judged.h"

namespace assay {
namespace {

using namespace samples;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(JudgeOpen, FewerRunsThanAStage) {
  Report report = sample_report(1);
  set_values(report, kBf16, 0, {669, 670});
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  EXPECT_THAT(record_of(report, kBf16, 0).judged.reason, HasSubstr("2 of 5 runs"));
}

TEST(JudgeOpen, TargetOfAnotherMetricOrWithoutAFloor) {
  Report report = sample_report(1);
  report.targets[0].targets[0].metric = "gb_per_s";
  report.targets[0].targets[2].floor = 0;
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  EXPECT_EQ(record_of(report, kBf16, 0).judged.status, JudgedStatus::kInconclusive);
  EXPECT_EQ(record_of(report, kRead, 0).judged.reason, "the floor is not above 0");
}

TEST(JudgeOpen, MissingRowsCount) {
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

TEST(JudgeOpen, GateIdsWithoutATargetAreNotMissing) {
  Report report = sample_report(1);
  report.plan.gate_ids.push_back("gemm/int8/8192x8192x8192/sustained");
  judge(report);
  expect_verdict(report, JudgedStatus::kPass, 0);
}

TEST(JudgeOpen, SkippedErroredAndExplainedErrors) {
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

TEST(JudgeOpen, ARowWithoutATargetThatBrokeIsNoPass) {
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

TEST(JudgeOpen, ARecordOfNoCardAndAPlanForNoGpuAreMissing) {
  Report report = sample_report(1);
  report.records[0].device.sku.reset();
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  report = sample_report(1);
  report.plan.gpus = {"GPU-none"};
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
}

TEST(JudgeOpen, IncompleteIsAtBestInconclusive) {
  Report report = sample_report(1);
  report.complete = false;
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  set_values(report, kBf16, 0, kGrosslySlow);
  judge(report);
  expect_verdict(report, JudgedStatus::kFail, 1);
}

TEST(JudgeOpen, NoGpu) {
  Report report = sample_report(0);
  judge(report);
  expect_verdict(report, JudgedStatus::kNotMeasured, 2);
  EXPECT_EQ(report.verdict->summary, "No GPU was judged.");
  ASSERT_THAT(codes(report), ElementsAre("GPU-01"));
  EXPECT_EQ(report.faults[0].severity, Severity::kNotJudged);
}

TEST(JudgeOpen, EmptyReport) {
  Report report;
  judge(report);
  expect_verdict(report, JudgedStatus::kNotMeasured, 2);
}

TEST(JudgeOpen, GpuOnTheBusWithoutNvml) {
  Report report = sample_report(0);
  report.inventory.pci_gpus = {"0000:19:00.0"};
  judge(report);
  expect_verdict(report, JudgedStatus::kNotMeasured, 2);
  EXPECT_THAT(codes(report), ElementsAre("UNK-01"));
}

TEST(JudgeOpen, UnknownCardIsNotJudged) {
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

TEST(JudgeOpen, RecordsWithoutAnyTargetAreNotJudged) {
  Report report = sample_report(1);
  report.targets.clear();
  judge(report);
  expect_verdict(report, JudgedStatus::kNotMeasured, 2);
  report = sample_report(1);
  report.targets[0].targets.clear();
  judge(report);
  expect_verdict(report, JudgedStatus::kNotMeasured, 2);
}

TEST(JudgeOpen, MigSlicesAreNamedAndNeverJudged) {
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

TEST(JudgeOpen, ABusyGpuDoesNotFail) {
  Report report = sample_report(1);
  report.inventory.gpus[0].processes = {{4242, 5'000'000'000}};
  set_values(report, kBf16, 0, kGrosslySlow);
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  ASSERT_THAT(codes(report), ElementsAre("ENV-01"));
  EXPECT_THAT(report.faults[0].explains, ElementsAre(kBf16));
  EXPECT_EQ(record_of(report, kBf16, 0).judged.status, JudgedStatus::kInconclusive);
}

TEST(JudgeOpen, WithoutNvmlTheRowsAreStillJudged) {
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

TEST(JudgeOpen, ATargetOfAnotherPipeDecidesNothing) {
  Report report = sample_report(1);
  report.targets[0].targets[0].pipe = "tf32";
  judge(report);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
  EXPECT_EQ(record_of(report, kBf16, 0).judged.reason,
            "the target is for pipe 'tf32', the record ran on 'bf16'");
  EXPECT_THAT(undecided_rows(report), IsEmpty());
}

// The quick suite runs fewer precisions than have floors.
TEST(JudgeOpen, AFloorOutsideTheGateSetMissesNothing) {
  Report report = sample_report(1);
  report.targets[0].targets.push_back(
      target("gemm/int8/8192x8192x8192/sustained", "tflops", 1100, 1297, 0.8));
  judge(report);
  EXPECT_TRUE(missing_rows(report).empty());
  expect_verdict(report, JudgedStatus::kPass, 0);
  report.plan.gate_ids.push_back("gemm/int8/8192x8192x8192/sustained");
  judge(report);
  EXPECT_EQ(missing_rows(report).size(), 1U);
  expect_verdict(report, JudgedStatus::kInconclusive, 2);
}

}  // namespace
}  // namespace assay
