// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/l2_knee.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/render.h"
#include "reports/render_findings.h"
#include "tests/unit/sample_report.h"

namespace assay {
namespace {

using namespace samples;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kMiB = 1 << 20;

void add(Report& report, std::int64_t mib, double gb_per_s, int gpu = 0) {
  Record record = sample_record(fmt::format("memory/l2_read/{}MiB/burst/warm", mib),
                                device_of(report.inventory.gpus.at(static_cast<std::size_t>(gpu))),
                                {gb_per_s, gb_per_s});
  record.conditions.cache = Cache::kWarm;
  record.work.pipe = "l2";
  record.parameters = {{"operation", "l2_read"}, {"tensor_bytes", mib * kMiB}};
  report.records.push_back(record);
}

// Ramp, plateau of 8000, a fall between 32 and 64 MiB, memory's 4000. Faster than half-way are
// 7000, 8000 and 8400: their median is 8000, nine tenths of it 7200.
Report curve() {
  Report report = sample_report(1);
  for (const auto& [mib, gb_per_s] : std::vector<std::pair<std::int64_t, double>>{
           {64, 6000}, {1, 1500}, {8, 7000}, {16, 8000}, {32, 8400}, {2048, 4000}, {4096, 4000}}) {
    add(report, mib, gb_per_s);
  }
  return report;
}

TEST(L2Knee, LiesWhereBandwidthFallsBelowNineTenthsOfThePlateau) {
  Report report = curve();
  derive_limits(report);
  ASSERT_EQ(report.l2_knees.size(), 1U);
  const L2Knee& knee = report.l2_knees[0];
  // 7200 is in the middle of 8400 and 6000, on a scale of logarithms.
  ASSERT_TRUE(knee.bytes) << knee.reason;
  EXPECT_NEAR(*knee.bytes, 32 * kMiB * std::sqrt(2.0), 1);
  EXPECT_EQ(knee.above_bytes, 32 * kMiB);
  EXPECT_EQ(knee.below_bytes, 64 * kMiB);
  EXPECT_EQ(knee.l2_gb_per_s, 8000);
  EXPECT_EQ(knee.dram_gb_per_s, 4000);
  EXPECT_THAT(
      l2_knee_lines(report),
      ElementsAre("47.5 MB: up to there 8000 GB/s, of memory 4000; between 33.6 and 67.1 MB"));
  EXPECT_THAT(render_summary(report, "r"), HasSubstr("47.5 MB: up to there"));
  EXPECT_THAT(render_markdown(report), HasSubstr("- L2 knee 47.5 MB: up to there"));
}

// The slow start of small sizes lies below it, too.
TEST(L2Knee, IsTheLastFallAndNotTheRampOfSmallSizes) {
  Report report = curve();
  add(report, 24, 5900);  // a dip
  derive_limits(report);
  EXPECT_NEAR(report.l2_knees.at(0).bytes.value(), 32 * kMiB * std::sqrt(2.0), 1);
}

TEST(L2Knee, FiguresAndParametersOfAnyKindEndNothing) {
  for (const Json& odd : {Json(), Json::array(), Json("text"), Json{{"tensor_bytes", -1}}}) {
    Report report = curve();
    report.records.back().parameters = odd;
    derive_limits(report);
    EXPECT_EQ(report.l2_knees.size(), 1U);
  }
  Report report = sample_report(1);
  add(report, 1, 1.7e308);
  add(report, 2, 1.7e308);
  add(report, 4, 1e308);
  add(report, 8, 1e308);
  derive_limits(report);
  EXPECT_EQ(report.l2_knees.at(0).l2_gb_per_s, 1.7e308);
}

TEST(L2Knee, WhatDoesNotSpanItHasNone) {
  const auto reason_of = [](const std::vector<std::pair<std::int64_t, double>>& rows) {
    Report report = sample_report(1);
    for (const auto& [mib, gb_per_s] : rows) add(report, mib, gb_per_s);
    derive_limits(report);
    EXPECT_FALSE(report.l2_knees.at(0).bytes);
    EXPECT_THAT(l2_knee_lines(report), ElementsAre(HasSubstr("not found: ")));
    return report.l2_knees.at(0).reason;
  };
  EXPECT_THAT(reason_of({{1, 4000}, {8, 4500}, {4096, 4000}}), HasSubstr("no size is read 1.25"));
  EXPECT_THAT(reason_of({{16, 8000}, {64, 5000}, {2048, 4000}, {4096, 4000}}),
              HasSubstr("the smallest size is the fastest"));
  Report flat = sample_report(1);
  for (const auto& [mib, gb_per_s] : std::vector<std::pair<std::int64_t, double>>{
           {8, 8010}, {16, 8000}, {64, 5000}, {2048, 4000}, {4096, 4000}}) {
    add(flat, mib, gb_per_s);
  }
  derive_limits(flat);
  EXPECT_TRUE(flat.l2_knees.at(0).bytes) << "a plateau may begin with its highest";
  EXPECT_THAT(reason_of({{1, 1500}, {16, 8000}, {64, 5000}}), HasSubstr("plateau is not reached"));
}

TEST(L2Knee, OtherRowsAndUnsoundOnesTakeNoPart) {
  Report report = curve();
  for (const char* id :
       {"memory/l2_read/64MiB/burst", "memory/read/64MiB/burst/warm",
        "memory/l2_read/64MiB/sustained/warm", "memory/l2_read/64MiB/burst/warm/alone"}) {
    add(report, 64, 9000);
    report.records.back().id = id;
  }
  add(report, 96, 9000);
  report.records.back().verification.status = VerificationStatus::kWrong;
  add(report, 97, 9000);
  report.records.back().status = RecordStatus::kErrored;
  derive_limits(report);
  EXPECT_NEAR(report.l2_knees.at(0).bytes.value(), 32 * kMiB * std::sqrt(2.0), 1);

  Report none = sample_report(1);
  add(none, 24, 7000);
  derive_limits(none);
  EXPECT_THAT(none.l2_knees, IsEmpty()) << "one row is no curve";
}

TEST(L2Knee, EachCardHasItsOwnAndItSurvivesJson) {
  Report report = sample_report(2);
  for (const int gpu : {0, 1}) {
    for (const auto& [mib, gb_per_s] : std::vector<std::pair<std::int64_t, double>>{{1, 1500},
                                                                                    {8, 7000},
                                                                                    {16, 8000},
                                                                                    {32, 8400},
                                                                                    {64, 6000},
                                                                                    {2048, 4000},
                                                                                    {4096, 4000}}) {
      add(report, mib, gb_per_s, gpu);
    }
  }
  derive_limits(report);
  ASSERT_EQ(report.l2_knees.size(), 2U);
  EXPECT_THAT(l2_knee_lines(report), ElementsAre(HasSubstr("GPU 0: 47"), HasSubstr("GPU 1: 47")));
  const Report copy = report_from_json(to_json_value(report), "copy");
  ASSERT_EQ(copy.l2_knees.size(), 2U);
  EXPECT_EQ(copy.l2_knees[1].uuid, report.inventory.gpus[1].uuid);
  EXPECT_DOUBLE_EQ(copy.l2_knees[1].bytes.value(), report.l2_knees[1].bytes.value());
}

}  // namespace
}  // namespace assay
