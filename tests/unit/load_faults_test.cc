// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/faults.h"
#include "tests/unit/sample_report.h"

namespace assay {
namespace {

using namespace samples;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kTime = "2026-11-30T17:05:12Z";

std::vector<std::string> codes(const std::vector<Fault>& faults) {
  std::vector<std::string> result;
  for (const Fault& fault : faults) result.push_back(fault.code);
  return result;
}

TEST(Load, OneReadingOfASlowdownIsAWarning) {
  Report report = sample_report(1);
  report.records[0].telemetry.event_reasons["sw_thermal_slowdown"] = 0.01;
  ASSERT_THAT(check_load(report), SizeIs(1));
  EXPECT_EQ(check_load(report)[0].severity, Severity::kWarn);
  judge(report);
  EXPECT_EQ(report.verdict->exit_code, 0);
}

// 1 % of a row's samples make no row 25 % slow.
TEST(Load, AWarningExplainsNoFail) {
  Report report = sample_report(1);
  record_of(report, kBf16, 0).telemetry.event_reasons["sw_thermal_slowdown"] = 0.01;
  set_values(report, kBf16, 0, {500, 501, 502, 503, 504});
  judge(report);
  EXPECT_EQ(report.verdict->exit_code, 1);
  EXPECT_THAT(codes(report.faults), ElementsAre("THM-01", "PRF-01"));
  EXPECT_THAT(report.verdict->summary, HasSubstr("1 fault: 1 hardware suspect"));
}

TEST(Load, PowerBrakeAndThermalSlowdown) {
  Report report = sample_report(2);
  record_of(report, kBf16, 1).telemetry.event_reasons["hw_power_brake_slowdown"] = 0.3;
  record_of(report, kFp8, 1).telemetry.event_reasons["sw_thermal_slowdown"] = 0.001;
  record_of(report, kBf16, 1).telemetry.event_reasons["hw_thermal_slowdown"] = 0.25;
  const std::vector<Fault> faults = check_load(report);
  ASSERT_THAT(faults, SizeIs(2));
  EXPECT_EQ(faults[0].code, "PWR-02");
  EXPECT_THAT(faults[0].evidence, ElementsAre(kBf16));
  EXPECT_EQ(faults[1].code, "THM-01");
  EXPECT_EQ(faults[1].scope.gpu, 1);
  EXPECT_THAT(faults[1].evidence, ElementsAre(kBf16, kFp8));
  EXPECT_EQ(faults[1].title,
            "GPU 1: thermal slowdown in up to 25 % of the samples; hottest 64 C; slowdown at 87 C");
}

TEST(Load, SoftwarePowerCapIsNormal) {
  Report report = sample_report(1);
  record_of(report, kBf16, 0).telemetry.event_reasons = {{"sw_power_cap", 1.0}};
  EXPECT_THAT(check_load(report), IsEmpty());
}

TEST(Load, ThePowerBrakesOwnCounterIsEnough) {
  Report report = sample_report(2);
  record_of(report, kFp8, 1).telemetry.deltas["power_brake_ns"] = 1'200'000'000;
  const std::vector<Fault> faults = check_load(report);
  ASSERT_THAT(codes(faults), ElementsAre("PWR-02"));
  EXPECT_EQ(faults[0].scope.gpu, 1);
  EXPECT_EQ(faults[0].title, "GPU 1: power brake 1.2 s by its own counter");
  EXPECT_THAT(faults[0].evidence, ElementsAre(kFp8));
  judge(report);
  EXPECT_EQ(report.verdict->exit_code, 1);
}

TEST(Load, ThermalTimeFailsFromAShareOfTheLoad) {
  for (const auto& [load_s, severity] :
       {std::pair<std::optional<double>, Severity>(10.0, Severity::kFail),
        std::pair<std::optional<double>, Severity>(30.0, Severity::kWarn),
        std::pair<std::optional<double>, Severity>(std::nullopt, Severity::kWarn)}) {
    Report report = sample_report(1);
    Telemetry& telemetry = record_of(report, kBf16, 0).telemetry;
    telemetry.deltas["thermal_slowdown_ns"] = 1'000'000'000;
    telemetry.load_s = load_s;
    const std::vector<Fault> faults = check_load(report);
    ASSERT_THAT(codes(faults), ElementsAre("THM-01"));
    EXPECT_EQ(faults[0].severity, severity) << load_s.value_or(0);
  }
}

TEST(Load, NvlinkErrorsAreAWarning) {
  Report report = sample_report(2);
  record_of(report, kBf16, 1).telemetry.deltas = {{"nvlink_replays", 3}, {"nvlink_recoveries", 0}};
  report.inventory.gpus[1].before.nvlink_crc_errors = 5;
  report.inventory.gpus[1].after.nvlink_crc_errors = 9;
  const std::vector<Fault> faults = check_load(report);
  ASSERT_THAT(codes(faults), ElementsAre("NVL-03"));
  EXPECT_EQ(faults[0].title, "GPU 1: NVLink replays +3, CRC errors +4 during load");
  EXPECT_THAT(faults[0].evidence, ElementsAre(kBf16));
  judge(report);
  EXPECT_EQ(report.verdict->exit_code, 0);
}

class HeldClock : public ::testing::Test {
 protected:
  HeldClock() : row(record_of(report, kBf16, 0)) {
    row.telemetry.event_reasons.clear();
    row.telemetry.sm_clock_mhz = Range{1500, 1500, 1500};
  }
  Report report = sample_report(1);
  Record& row;
};

TEST_F(HeldClock, WithoutAReasonIsAFault) {
  const std::vector<Fault> faults = check_load(report);
  ASSERT_THAT(codes(faults), ElementsAre("CLK-01"));
  EXPECT_EQ(faults[0].title,
            "GPU 0: clock held at 1500 of 1980 MHz under load, and the card names no reason");
  EXPECT_THAT(faults[0].actions.front(), HasSubstr("-rgc"));
  set_values(report, kBf16, 0, {500, 501, 502, 503, 504});
  judge(report);
  EXPECT_THAT(codes(report.faults), ElementsAre("CLK-01"));
  EXPECT_THAT(report.faults[0].explains, ElementsAre(kBf16));
}

TEST_F(HeldClock, BySettingNamesTheSetting) {
  row.telemetry.event_reasons["applications_clocks_setting"] = 1;
  const std::vector<Fault> faults = check_load(report);
  ASSERT_THAT(codes(faults), ElementsAre("CLK-01"));
  EXPECT_THAT(faults[0].title, HasSubstr("application clocks"));
  EXPECT_EQ(faults[0].actions.front(), "nvidia-smi -i 0000:19:00.0 -rac");
}

// Under any heavy load it lies below what the driver grants.
TEST_F(HeldClock, TheProcessorsOwnClockIsNoEvidence) {
  row.sm_clock_mhz = 1400;
  row.telemetry.sm_clock_mhz = Range{1980, 1980, 1980};
  EXPECT_THAT(check_load(report), IsEmpty());
  row.sm_clock_mhz = 1975;
  row.telemetry.sm_clock_mhz = Range{1500, 1500, 1500};
  EXPECT_THAT(codes(check_load(report)), ElementsAre("CLK-01"));
}

TEST_F(HeldClock, OneRunAtFullClockShowsThatNothingHoldsIt) {
  row.telemetry.sm_clock_mhz = Range{1500, 1700, 1935};
  EXPECT_THAT(check_load(report), IsEmpty());
}

TEST_F(HeldClock, ReasonsThatNobodyReadExcuseNothingAndAccuseNobody) {
  row.telemetry.unknown["event_reasons"] = "Not Supported";
  EXPECT_THAT(check_load(report), IsEmpty());
}

TEST_F(HeldClock, WhatExplainsIt) {
  for (const char* reason : {"sw_power_cap", "sync_boost"}) {
    row.telemetry.event_reasons = {{reason, 0.01}};
    EXPECT_THAT(check_load(report), IsEmpty()) << reason;
  }
  row.telemetry.event_reasons.clear();
  row.telemetry.deltas["power_cap_ns"] = 1;
  EXPECT_THAT(check_load(report), IsEmpty());
  row.telemetry.deltas.clear();
  row.conditions.clocks = Clocks::kLocked;
  EXPECT_THAT(check_load(report), IsEmpty()) << "declared";
  row.conditions.clocks = Clocks::kFree;
  row.work.operations = 0;
  EXPECT_THAT(check_load(report), IsEmpty()) << "memory does not need the clock";
}

// What a card declares and what such cards reach are two things.
TEST_F(HeldClock, IsHeldAgainstWhatSuchCardsReach) {
  row.telemetry.sm_clock_mhz = Range{1965, 1975, 1980};
  report.inventory.gpus[0].sm_clock_max_mhz = 3105;
  EXPECT_THAT(check_load(report), IsEmpty()) << "the data sheet says 1980";
  report.inventory.gpus[0].sm_clock_max_mhz = 1755;
  row.telemetry.sm_clock_mhz = Range{1740, 1750, 1755};
  EXPECT_THAT(check_load(report), IsEmpty()) << "a board that is sold slower";
}

TEST_F(HeldClock, OfACardThatNobodyKnowsIsAWarning) {
  report.inventory.gpus[0].sku.reset();
  const std::vector<Fault> faults = check_load(report);
  ASSERT_THAT(codes(faults), ElementsAre("CLK-01"));
  EXPECT_EQ(faults[0].severity, Severity::kWarn);
}

struct XidCase {
  int xid;
  const char* code;
  Severity severity;
  int exit_code;
};

TEST(Xid, EachToItsCause) {
  for (const XidCase& c :
       {XidCase{13, "XID-13", Severity::kWarn, 0}, XidCase{31, "XID-31", Severity::kWarn, 0},
        XidCase{43, "XID-43", Severity::kWarn, 0}, XidCase{45, "XID-45", Severity::kWarn, 0},
        XidCase{48, "MEM-01", Severity::kFail, 1}, XidCase{63, "MEM-02", Severity::kFail, 1},
        XidCase{64, "MEM-03", Severity::kFail, 1}, XidCase{74, "NVL-03", Severity::kFail, 1},
        XidCase{79, "GPU-03", Severity::kFail, 1}, XidCase{94, "MEM-01", Severity::kFail, 1},
        XidCase{95, "MEM-01", Severity::kFail, 1}, XidCase{8, "XID-08", Severity::kFail, 1},
        XidCase{119, "XID-119", Severity::kFail, 1}}) {
    Report report = sample_report(2);
    report.inventory.gpus[1].xids = {{{c.xid, kTime}, {c.xid, kTime}}};
    judge(report);
    ASSERT_THAT(codes(report.faults), ElementsAre(c.code));
    const Fault& fault = report.faults[0];
    EXPECT_EQ(fault.severity, c.severity) << c.xid;
    EXPECT_EQ(fault.scope.gpu, 1);
    EXPECT_THAT(fault.title, HasSubstr(fmt::format("GPU 1: Xid {}", c.xid)));
    EXPECT_THAT(fault.title, HasSubstr("first at " + kTime + ", 2 times"));
    EXPECT_THAT(fault.evidence, ElementsAre("inventory.gpus[1].xids"));
    EXPECT_EQ(report.verdict->exit_code, c.exit_code) << c.xid;
    EXPECT_EQ(fault.owner == "operator", c.severity == Severity::kWarn || c.xid == 63) << c.xid;
  }
}

// What the driver says and what a gate sees of one cause is one fault.
TEST(Xid, IsFoldedIntoTheGatesFault) {
  Report report = sample_report(2);
  report.inventory.gpus[1].after.ecc_uncorrected_volatile = 1;
  report.inventory.gpus[1].xids = {{{48, kTime}, {94, kTime}}};
  judge(report);
  ASSERT_THAT(codes(report.faults), ElementsAre("MEM-01"));
  EXPECT_THAT(report.faults[0].title, HasSubstr("uncorrectable memory errors +1"));
  EXPECT_THAT(report.faults[0].effect, HasSubstr("Xid 48"));
  EXPECT_THAT(report.faults[0].effect, HasSubstr("Xid 94"));
  EXPECT_THAT(report.faults[0].evidence, SizeIs(2));
  const std::string once = to_json_value(report).dump();
  judge(report);
  EXPECT_EQ(to_json_value(report).dump(), once);
}

}  // namespace
}  // namespace assay
