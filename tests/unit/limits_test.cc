// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <tuple>

#include "reports/judge.h"
#include "tests/unit/sample_report.h"

namespace assay {
namespace {

using namespace samples;
using testing::HasSubstr;

TEST(Limits, ComputeAtTheMeasuredAndTheHighestClock) {
  Report report = sample_report(1);
  derive_limits(report);
  const Limit& limit = record_of(report, kBf16, 0).limit;
  EXPECT_DOUBLE_EQ(*limit.datasheet, 989.4);
  EXPECT_DOUBLE_EQ(*limit.at_clock, 132 * 4096 * 1500.0 / 1e6);
  EXPECT_DOUBLE_EQ(*limit.highest, 132 * 4096 * 1980.0 / 1e6);
  EXPECT_DOUBLE_EQ(*limit.clock_mhz, 1500);
  EXPECT_DOUBLE_EQ(*limit.share_of_datasheet, 669 / 989.4);
  EXPECT_DOUBLE_EQ(*limit.share_at_clock, 669 / (132 * 4096 * 1500.0 / 1e6));
  EXPECT_EQ(limit.reason, "");
}

TEST(Limits, NvmlsHigherClockRaisesTheHighest) {
  Report report = sample_report(1);
  report.inventory.gpus[0].sm_clock_max_mhz = 2100;
  derive_limits(report);
  EXPECT_DOUBLE_EQ(*record_of(report, kBf16, 0).limit.highest, 132 * 4096 * 2100.0 / 1e6);
}

// Else any figure would be below the limit.
TEST(Limits, AHighestClockThatCannotBeIsNotBelieved) {
  Report report = sample_report(1);
  report.inventory.gpus[0].sm_clock_max_mhz = 9999;
  report.inventory.gpus[0].memory_clock_max_mhz = 9999;
  set_values(report, kRead, 0, {9000, 9001, 9002, 9003, 9004});
  derive_limits(report);
  EXPECT_DOUBLE_EQ(*record_of(report, kBf16, 0).limit.highest, 132 * 4096 * 1980.0 / 1e6);
  EXPECT_THAT(record_of(report, kBf16, 0).limit.reason, HasSubstr("implausible: 9999 MHz"));
  EXPECT_DOUBLE_EQ(*record_of(report, kRead, 0).limit.highest, 4800);
  EXPECT_THAT(record_of(report, kRead, 0).limit.reason, HasSubstr("implausible: 9999 MHz"));
  EXPECT_EQ(record_of(report, kRead, 0).status, RecordStatus::kInvalid);
}

TEST(Limits, DramTakesTheLargerOfNvmlAndTheSheet) {
  Report report = sample_report(1);
  derive_limits(report);
  const Limit& limit = record_of(report, kRead, 0).limit;
  const double nvml = 2 * 3201.0 * 6016 / 8 / 1e3;  // 4814.3 GB/s
  EXPECT_DOUBLE_EQ(*limit.datasheet, 4800);
  EXPECT_DOUBLE_EQ(*limit.highest, nvml);
  EXPECT_DOUBLE_EQ(*limit.at_clock, nvml);
  EXPECT_DOUBLE_EQ(*limit.share_of_datasheet, 4610 / 4800.0);

  report.inventory.gpus[0].memory_clock_max_mhz = 2619;
  derive_limits(report);
  EXPECT_DOUBLE_EQ(*record_of(report, kRead, 0).limit.highest, 4800);
}

TEST(Limits, WhatCannotBeKnownHasAReason) {
  Report report = sample_report(1);
  Record& gemm = record_of(report, kBf16, 0);
  gemm.telemetry.sm_clock_mhz.reset();
  gemm.telemetry.unknown = {{"sm_clock_mhz", "NVML: Not Supported"}};
  report.inventory.gpus[0].memory_bus_bits.reset();
  derive_limits(report);
  EXPECT_FALSE(gemm.limit.at_clock);
  EXPECT_FALSE(gemm.limit.share_at_clock);
  EXPECT_TRUE(gemm.limit.share_of_datasheet);
  EXPECT_EQ(gemm.limit.reason, "sm_clock_mhz: NVML: Not Supported");
  EXPECT_THAT(record_of(report, kRead, 0).limit.reason, HasSubstr("bus width unread"));
  const Record& host = report.records.back();
  EXPECT_FALSE(host.limit.datasheet);
  EXPECT_EQ(host.limit.reason, "no limit is known for the host");
}

TEST(Limits, UnknownCardPipeOrUnit) {
  Report report = sample_report(1);
  record_of(report, kBf16, 0).work.pipe = "fp4";
  record_of(report, kFp8, 0).metrics.at("tflops").unit = "GB/s";
  record_of(report, kRead, 0).device.sku.reset();
  derive_limits(report);
  EXPECT_THAT(record_of(report, kBf16, 0).limit.reason, HasSubstr("no rate for pipe 'fp4'"));
  EXPECT_THAT(record_of(report, kFp8, 0).limit.reason, HasSubstr("the metric in GB/s"));
  EXPECT_THAT(record_of(report, kRead, 0).limit.reason, HasSubstr("no data for \"NVIDIA H200\""));
  for (const auto& id : {kBf16, kFp8, kRead}) {
    EXPECT_FALSE(record_of(report, id, 0).limit.share_of_datasheet) << id;
  }
}

TEST(Limits, TheL2HasNone) {
  Report report = sample_report(1);
  record_of(report, kRead, 0).work.pipe = "l2";
  derive_limits(report);
  EXPECT_EQ(record_of(report, kRead, 0).limit.reason, "no limit is known for the L2");
  EXPECT_FALSE(record_of(report, kRead, 0).limit.highest.has_value());
}

// 650 ns are not 650 GB/s.
TEST(Limits, ALatencyHasNone) {
  Report report = sample_report(1);
  Record& record = record_of(report, kRead, 0);
  record.work.loads = 1000;
  Metric metric = record.metrics.at("gb_per_s");
  metric.unit = "ns";
  metric.better = Better::kLower;
  metric.values = {9000, 9000};
  record.metrics = {{"latency_ns", metric}};
  derive_limits(report);
  EXPECT_EQ(record.limit.reason, "no limit is known for a latency");
  EXPECT_FALSE(record.limit.share_of_datasheet.has_value());
  EXPECT_EQ(record.status, RecordStatus::kOk) << record.message;
}

TEST(Limits, AboveTheSheetAloneIsLegalInABurst) {
  Report report = sample_report(1);
  record_of(report, kBf16, 0).telemetry.sm_clock_mhz = Range{1980, 1980, 1980};
  set_values(report, kBf16, 0, {1000, 1001, 1002, 1003, 1004});
  derive_limits(report);
  const Record& record = record_of(report, kBf16, 0);
  EXPECT_GT(*record.limit.share_of_datasheet, 1);
  EXPECT_EQ(record.status, RecordStatus::kOk);
}

TEST(Limits, OneImpossibleRunMakesTheRecordInvalid) {
  const double highest = 132 * 4096 * 1980.0 / 1e6;
  for (const auto& [value, status] :
       {std::pair(1.009 * highest, RecordStatus::kOk),
        std::pair(1.011 * highest, RecordStatus::kInvalid), std::pair(0.0, RecordStatus::kInvalid),
        std::pair(-5.0, RecordStatus::kInvalid),
        std::pair(std::numeric_limits<double>::infinity(), RecordStatus::kInvalid),
        std::pair(std::numeric_limits<double>::quiet_NaN(), RecordStatus::kInvalid)}) {
    Report report = sample_report(1);
    set_values(report, kBf16, 0, {669, 665, 673, value, 670});
    derive_limits(report);
    EXPECT_EQ(record_of(report, kBf16, 0).status, status) << value;
    EXPECT_EQ(record_of(report, kBf16, 0).message.empty(), status == RecordStatus::kOk) << value;
  }
}

TEST(Limits, StatusIsDerivedAgain) {
  Report report = sample_report(1);
  set_values(report, kRead, 0, {4610, 4604, 5200, 4609, 4612});
  derive_limits(report);
  EXPECT_EQ(record_of(report, kRead, 0).status, RecordStatus::kInvalid);
  EXPECT_THAT(record_of(report, kRead, 0).message, HasSubstr("5200 GB/s, above 1.01 x 4814"));
  set_values(report, kRead, 0, {4610, 4604, 4615, 4609, 4612});
  record_of(report, kCopy, 0).status = RecordStatus::kErrored;
  derive_limits(report);
  EXPECT_EQ(record_of(report, kRead, 0).status, RecordStatus::kOk);
  EXPECT_EQ(record_of(report, kRead, 0).message, "");
  EXPECT_EQ(record_of(report, kCopy, 0).status, RecordStatus::kErrored);
}

TEST(Limits, WrongResultsAreInvalid) {
  Report report = sample_report(1);
  record_of(report, kBf16, 0).verification.status = VerificationStatus::kWrong;
  record_of(report, kFp8, 0).wrong_runs = 2;
  record_of(report, kRead, 0).verification.error = 1;  // "verified", out of tolerance
  derive_limits(report);
  for (const auto& id : {kBf16, kFp8, kRead}) {
    EXPECT_EQ(record_of(report, id, 0).status, RecordStatus::kInvalid) << id;
  }
  EXPECT_EQ(record_of(report, kCopy, 0).status, RecordStatus::kOk);
}

TEST(Limits, IntervalsOfEachMetric) {
  Report report = sample_report(1);
  set_values(report, kRead, 0, {4610, 4604, 4615, 4609, 4612, 4611});
  set_values(report, kCopy, 0, {4281});
  derive_limits(report);
  const Metric& read = record_of(report, kRead, 0).metrics.at("gb_per_s");
  EXPECT_DOUBLE_EQ(read.value, 4610.5);
  EXPECT_DOUBLE_EQ(*read.ci_low, 4604);
  EXPECT_DOUBLE_EQ(*read.ci_high, 4615);
  EXPECT_DOUBLE_EQ(*read.level, 0.96875);
  const Metric& copy = record_of(report, kCopy, 0).metrics.at("gb_per_s");
  EXPECT_DOUBLE_EQ(copy.value, 4281);
  EXPECT_FALSE(copy.ci_low);
  EXPECT_FALSE(copy.level);
}

TEST(Limits, ABurstBelowFullClockIsAWarningOnce) {
  Report report = sample_report(1);
  Record& record = record_of(report, kBf16, 0);
  record.conditions.power = Power::kBurst;
  derive_limits(report);
  derive_limits(report);
  EXPECT_EQ(record.judged.warnings.size(), 1U);
  EXPECT_THAT(record.judged.warnings.at(0), HasSubstr("not at full clock: 1500 MHz"));
  judge(report);
  EXPECT_EQ(record.judged.warnings.size(), 1U);
  EXPECT_TRUE(record.warnings.empty());
  record.telemetry.sm_clock_mhz = Range{1975, 1980, 1980};
  derive_limits(report);
  EXPECT_TRUE(record.judged.warnings.empty());
}

TEST(Limits, TheDevicesOwnClockComesBeforeNvmls) {
  Report report = sample_report(1);
  Record& record = record_of(report, kBf16, 0);
  record.sm_clock_mhz = 1600;
  derive_limits(report);
  EXPECT_DOUBLE_EQ(*record.limit.clock_mhz, 1600);
  EXPECT_DOUBLE_EQ(*record.limit.at_clock, 132 * 4096 * 1600.0 / 1e6);
  // A burst asks for the clock that the driver grants: the processors stretch theirs under load.
  record.conditions.power = Power::kBurst;
  record.telemetry.sm_clock_mhz = Range{1980, 1980, 1980};
  derive_limits(report);
  EXPECT_TRUE(record.judged.warnings.empty());
  record.telemetry.sm_clock_mhz = Range{1700, 1800, 1980};
  derive_limits(report);
  EXPECT_THAT(record.judged.warnings.at(0),
              HasSubstr("1800 MHz on average, a burst needs 0.97 of"));
  judge(report);
  EXPECT_EQ(record.judged.status, JudgedStatus::kInconclusive) << "no burst, no verdict on one";
}

TEST(Limits, FarAboveTheBestFigureKnownIsNotAPass) {
  Report report = sample_report(1);
  report.targets[0].targets[0].best = 650;
  judge(report);  // 669 is 1.03 of it
  EXPECT_EQ(report.verdict->exit_code, 0);
  report.targets[0].targets[0].best = 635;
  judge(report);
  EXPECT_EQ(report.verdict->exit_code, 2);
  EXPECT_EQ(record_of(report, kBf16, 0).judged.reason,
            "1.05 x the best figure known, 635: check dtype, data and sparsity");
}

Record ceiling(const std::string& name, const Report& report, int gpu, double tflops) {
  Record record = sample_record("gemm/ceiling/" + name + "/sustained",
                                device_of(report.inventory.gpus.at(static_cast<std::size_t>(gpu))),
                                {tflops, tflops, tflops, tflops, tflops});
  record.work.pipe = name.substr(0, name.find('_'));
  return record;
}

TEST(Limits, TheHighestCeilingOfThePipeOnThisCard) {
  Report report = sample_report(2);
  for (const auto& [name, gpu, tflops] :
       {std::tuple("bf16", 0, 700.0), std::tuple("bf16_mma", 0, 620.0),
        std::tuple("fp8", 0, 1400.0), std::tuple("bf16", 1, 710.0)}) {
    report.records.push_back(ceiling(name, report, gpu, tflops));
  }
  derive_limits(report);
  const Limit& first = record_of(report, kBf16, 0).limit;
  EXPECT_DOUBLE_EQ(first.ceiling.value(), 700) << "not that of another card, nor the lower";
  EXPECT_EQ(first.ceiling_id, "gemm/ceiling/bf16/sustained");
  EXPECT_DOUBLE_EQ(first.share_of_ceiling.value(), 669.0 / 700);
  EXPECT_DOUBLE_EQ(record_of(report, kBf16, 1).limit.ceiling.value(), 710);
  EXPECT_DOUBLE_EQ(record_of(report, kFp8, 0).limit.ceiling.value(), 1400);
  EXPECT_FALSE(record_of(report, kFp8, 1).limit.ceiling) << "none ran there";
  EXPECT_FALSE(record_of(report, kRead, 0).limit.ceiling);
  EXPECT_FALSE(record_of(report, "gemm/ceiling/bf16_mma/sustained", 0).limit.ceiling);
}

TEST(Limits, ACeilingThatCannotBeBelievedIsNone) {
  const auto share = [](const std::function<void(Record&)>& spoil) {
    Report report = sample_report(1);
    report.records.push_back(ceiling("bf16", report, 0, 700));
    spoil(report.records.back());
    derive_limits(report);
    return record_of(report, kBf16, 0).limit.share_of_ceiling;
  };
  EXPECT_TRUE(share([](Record&) {}));
  EXPECT_FALSE(share([](Record& record) { record.conditions.power = Power::kBurst; }));
  EXPECT_FALSE(share([](Record& record) { record.conditions.peers = Peers::kAlone; }));
  EXPECT_FALSE(share([](Record& record) { record.work.pipe = "bf16_sparse"; }));
  EXPECT_FALSE(share([](Record& record) { record.status = RecordStatus::kErrored; }));
  EXPECT_FALSE(share([](Record& record) { record.verification.error = 1; })) << "out of tolerance";
  EXPECT_FALSE(share([](Record& record) { record.verification = {}; })) << "not verified";
  EXPECT_FALSE(share([](Record& record) {
    record.metrics.at("tflops").values = {1100, 1100, 1100, 1100, 1100};
  })) << "above what physics allows";
}

// Judged again after its ceiling went, a row keeps nothing of it.
TEST(Limits, CeilingsAreDerivedAgain) {
  Report report = sample_report(1);
  report.records.push_back(ceiling("bf16", report, 0, 700));
  derive_limits(report);
  report.records.pop_back();
  derive_limits(report);
  EXPECT_FALSE(record_of(report, kBf16, 0).limit.ceiling_id);
}

TEST(Limits, SparseProductsHaveTwiceTheDenseLimit) {
  Report report = sample_report(1);
  report.limits[0].ops_per_clock_per_sm["bf16_sparse"] = 8192;
  report.limits[0].datasheet_tflops["bf16_sparse"] = 1978.8;
  Record& record = record_of(report, kBf16, 0);
  record.work.pipe = "bf16_sparse";
  set_values(report, kBf16, 0, {1250, 1251, 1252, 1253, 1254});
  derive_limits(report);
  EXPECT_EQ(record.status, RecordStatus::kOk) << record.message;
  EXPECT_DOUBLE_EQ(*record.limit.share_at_clock, 1252 / (132 * 8192 * 1500.0 / 1e6));
  EXPECT_DOUBLE_EQ(*record.limit.share_of_datasheet, 1252 / 1978.8);
  record.work.pipe = "bf16";
  derive_limits(report);
  EXPECT_EQ(record.status, RecordStatus::kInvalid) << "as a dense product it cannot be";
}

TEST(Limits, RecordWithoutAMetric) {
  Report report = sample_report(1);
  record_of(report, kBf16, 0).metrics.clear();
  derive_limits(report);
  EXPECT_EQ(record_of(report, kBf16, 0).limit.reason, "not measured");
}

}  // namespace
}  // namespace assay
