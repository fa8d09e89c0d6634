// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/fastest.h"

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
using ::testing::Not;

void add(Report& report, const std::string& id, const std::string& pipe, double tflops,
         int gpu = 0) {
  report.records.push_back(sample_record(
      id, device_of(report.inventory.gpus.at(static_cast<std::size_t>(gpu))), {tflops, tflops}));
  report.records.back().work.pipe = pipe;
}

Report judged(Report report) {
  derive_limits(report);
  return report;
}

TEST(Fastest, IsNamedWithItsRateAndItsGainOverFp32) {
  Report report = sample_report(1);
  add(report, "gemm/fp32/8192x8192x8192/sustained", "fp32", 51);
  EXPECT_THAT(fastest_lines(judged(report)),
              ElementsAre("measured as correct: FP8 E4M3, 1248 TF/s "
                          "(gemm/fp8_e4m3/8192x8192x8192/sustained), 24x FP32"));
  EXPECT_THAT(render_summary(judged(report), "r"),
              HasSubstr("fastest precision measured as correct: FP8 E4M3"));
  EXPECT_THAT(render_markdown(judged(report)),
              HasSubstr("- fastest precision measured as correct: FP8 E4M3"));
}

TEST(Fastest, WrongIsNeverFast) {
  for (const auto& spoil : std::vector<std::function<void(Record&)>>{
           [](Record& record) { record.verification.status = VerificationStatus::kWrong; },
           [](Record& record) { record.verification.status = VerificationStatus::kNotRun; },
           [](Record& record) { record.wrong_runs = 1; },
           [](Record& record) { record.status = RecordStatus::kErrored; }}) {
    Report report = sample_report(1);
    add(report, "gemm/tf32/8192x8192x8192/sustained", "tf32", 350);
    spoil(record_of(report, kFp8, 0));
    const std::vector<std::string> lines = fastest_lines(report);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_THAT(lines[0], HasSubstr("correct: BF16, 669"));
  }
}

TEST(Fastest, OnlyDenseFloatingPointProductsTakePart) {
  Report report = sample_report(1);
  add(report, "gemm/int8/8192x8192x8192/sustained", "int8", 1500);
  add(report, "gemm/fp8_e4m3/8192x8192x8192+sparse/sustained", "fp8_sparse", 1700);
  add(report, "gemm/ceiling/fp8/sustained", "fp8", 1800);
  add(report, "gemm/bf16/8192x8192x8192/sustained/alone", "bf16", 1790);
  EXPECT_EQ(comparable_precisions(report, report.inventory.gpus[0].uuid).rows.size(), 2U);
  EXPECT_THAT(fastest_lines(report), ElementsAre(HasSubstr("FP8 E4M3, 1248")));
  for (const char* precision : {"bf16", "fp16", "tf32"}) {
    add(report, std::string("gemm/") + precision + "/8192x8192x8192+sparse/sustained", precision,
        1100);
  }
  EXPECT_THAT(fastest_lines(report), ElementsAre(HasSubstr("FP8 E4M3, 1248")))
      << "not the shape of most precisions, where that is sparse";
}

// The shape that most precisions ran, and not one that a single fast one ran alone.
TEST(Fastest, ComparesOneShapeUnderOneCondition) {
  Report report = sample_report(1);
  add(report, "gemm/fp8_e4m3/4096x4096x4096/burst", "fp8", 1480);
  add(report, "gemm/bf16/4096x4096x4096/burst", "bf16", 790);
  EXPECT_THAT(fastest_lines(report), ElementsAre(HasSubstr("8192x8192x8192/sustained")));
  add(report, "gemm/tf32/4096x4096x4096/burst", "tf32", 400);
  EXPECT_THAT(fastest_lines(report), ElementsAre(HasSubstr("4096x4096x4096/burst")));
}

TEST(Fastest, NothingToCompareIsNoFastest) {
  Report report = sample_report(1);
  record_of(report, kFp8, 0).status = RecordStatus::kSkipped;
  EXPECT_THAT(fastest_lines(report), IsEmpty());
  EXPECT_THAT(render_summary(judged(report), "r"), Not(HasSubstr("fastest precision")));
}

TEST(Fastest, CardsOfOneAnswerShareALine) {
  Report report = sample_report(3);
  record_of(report, kFp8, 1).metrics.at("tflops").value = 500;
  EXPECT_THAT(
      fastest_lines(report),
      ElementsAre("measured as correct: BF16, 670 TF/s (" + kBf16 + "), GPU 1",
                  "measured as correct: FP8 E4M3, 1248 to 1249 TF/s (" + kFp8 + "), GPU 0 2"));
}

TEST(Checks, SharesOfBusyTimeByFamily) {
  Report report = sample_report(1);
  EXPECT_EQ(checks_text(report), "") << "an older program did not say";
  const auto row = [](const char* id, Json check_s, double busy_s) {
    return Json{{"name", id}, {"assay", {{"id", id}, {"check_s", check_s}, {"busy_s", busy_s}}}};
  };
  report.benchmarks.push_back(row("gemm/bf16/8192x8192x8192/sustained", 0.25, 4));
  report.benchmarks.push_back(row("gemm/fp32/8192x8192x8192/sustained", 0.15, 6));
  report.benchmarks.push_back(row("memory/read/4GiB/burst", 0.5, 2));
  report.benchmarks.push_back(row("memory/copy/4GiB/burst", nullptr, 2));
  EXPECT_EQ(checks_text(report), "took 4.0 % of gemm's 10.0 s, 25.0 % of memory's 2.0 s");
  EXPECT_THAT(render_summary(judged(report), "r"), HasSubstr("checks            took 4.0 %"));
}

}  // namespace
}  // namespace assay
