// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Outputs that meet their tolerance and are not the same: between runs (merge.h) and between the
// GPUs of a node (judge_hashes.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/merge.h"
#include "tests/unit/sample_report.h"

namespace assay {
namespace {

using namespace samples;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kRight = "00000000000000aa";
const std::string kOther = "00000000000000bb";
const std::string kThird = "00000000000000cc";

RunRecord run_of(int round, const std::string& hash) {
  RunRecord run;
  run.id = kBf16;
  run.family = "gemm";
  run.round = round;
  run.work = {1e12, 0, "bf16"};
  run.timing.median_s = run.timing.mean_s = 1.0 / 670;
  run.verification = {VerificationStatus::kVerified, "check", 0.1, 1.0, "", {}, 4};
  if (!hash.empty()) run.verification.hash = hash;
  return run;
}

Record merged(const std::vector<std::string>& hashes, int conditioning = 0) {
  std::vector<RunRecord> runs;
  for (const std::string& hash : hashes)
    runs.push_back(run_of(static_cast<int>(runs.size()), hash));
  return merge_runs(runs, conditioning);
}

TEST(RunHashes, EqualOutputsAreCounted) {
  const Record record = merged({kRight, kRight, "", kRight}, 1);
  EXPECT_EQ(record.wrong_runs, 0);
  EXPECT_EQ(record.verification.hash, kRight);
  EXPECT_EQ(record.verification.repetitions, 12);
  EXPECT_EQ(record.hash_runs, 3);
  EXPECT_FALSE(merged({"", ""}).hash_runs.has_value());
}

TEST(RunHashes, TheMinorityIsWrong) {
  const Record one = merged({kRight, kOther, kRight, kRight});
  EXPECT_EQ(one.status, RecordStatus::kOk);
  EXPECT_EQ(one.wrong_runs, 1);
  EXPECT_EQ(one.runs, 3) << "its time does not count";
  EXPECT_EQ(one.verification.hash, kRight);
  EXPECT_THAT(one.warnings, ElementsAre(HasSubstr("output hash " + kOther +
                                                  " differs from that of 3 other runs")));
  const Record two = merged({kRight, kOther, kRight, kThird, kRight});
  EXPECT_EQ(two.status, RecordStatus::kInvalid);
  EXPECT_EQ(two.wrong_runs, 2);
  EXPECT_EQ(two.verification.status, VerificationStatus::kWrong);
  EXPECT_THAT(two.message, HasSubstr("differs from that of 3 other runs"));
  // A conditioning run is evidence as well.
  EXPECT_EQ(merged({kOther, kRight, kRight}, 1).wrong_runs, 1);
}

TEST(RunHashes, WithoutAMajorityNobodyIsConfirmedAndNothingPasses) {
  for (const auto& hashes :
       {std::vector<std::string>{kRight, kOther}, std::vector<std::string>{kRight, kOther, kThird},
        std::vector<std::string>{kRight, kOther, kRight, kOther}}) {
    const Record record = merged(hashes);
    EXPECT_EQ(record.wrong_runs, 1) << hashes.size();
    EXPECT_EQ(record.status, RecordStatus::kOk);
    EXPECT_THAT(record.warnings, ElementsAre(HasSubstr("wrong, or not reproducible")));
  }
}

TEST(RunHashes, AnotherAlgorithmOrOtherDataHasAnotherOutput) {
  std::vector runs = {run_of(0, kRight), run_of(1, kRight), run_of(2, kOther), run_of(3, kThird)};
  runs[2].algorithm = {{"id", 7}};
  runs[3].data = {{"seed", 2}};
  const Record record = merge_runs(runs, 0);
  EXPECT_EQ(record.wrong_runs, 0);
  EXPECT_EQ(record.verification.hash, kRight);
  EXPECT_EQ(record.hash_runs, 2);
}

// The library chose between two algorithms, and neither is reproducible: that is one doubt.
TEST(RunHashes, TwoGroupsWithoutAMajorityConfirmNothing) {
  std::vector runs = {run_of(0, kRight), run_of(1, kOther), run_of(2, kRight), run_of(3, kOther)};
  runs[2].algorithm = runs[3].algorithm = {{"id", 7}};
  const Record record = merge_runs(runs, 0);
  EXPECT_EQ(record.wrong_runs, 1);
  EXPECT_EQ(record.status, RecordStatus::kOk);
}

Report node_of(const std::vector<std::string>& hashes, int runs = 5) {
  Report report = sample_report(static_cast<int>(hashes.size()));
  for (std::size_t gpu = 0; gpu < hashes.size(); ++gpu) {
    Record& record = record_of(report, kBf16, static_cast<int>(gpu));
    record.verification.hash = hashes[gpu];
    record.hash_runs = runs;
  }
  return report;
}

const Judged& judged_of(Report& report, int gpu) { return record_of(report, kBf16, gpu).judged; }

TEST(NodeHashes, AllAlikePass) {
  Report report = node_of({kRight, kRight, kRight});
  judge(report);
  EXPECT_EQ(report.verdict->exit_code, 0) << report.verdict->summary;
}

TEST(NodeHashes, AConfirmedMinorityFails) {
  Report report = node_of({kRight, kRight, kOther, kRight});
  judge(report);
  EXPECT_EQ(report.verdict->exit_code, 1);
  ASSERT_EQ(report.faults.size(), 1U);
  const Fault& fault = report.faults[0];
  EXPECT_EQ(fault.code, "SDC-01");
  EXPECT_EQ(fault.scope.gpu, 2);
  EXPECT_EQ(fault.confidence, "confirmed");
  EXPECT_EQ(fault.confirmed_runs, 5);
  EXPECT_THAT(fault.title, HasSubstr("differs from " + kRight + " of 3 other GPUs"));
  EXPECT_EQ(judged_of(report, 2).status, JudgedStatus::kFail);
  EXPECT_EQ(judged_of(report, 0).status, JudgedStatus::kPass);
  const std::string once = to_json_value(report).dump();
  judge(report);
  EXPECT_EQ(to_json_value(report).dump(), once);
}

TEST(NodeHashes, OneRunOnlySuspects) {
  Report report = node_of({kRight, kRight, kOther}, 1);
  judge(report);
  EXPECT_EQ(report.verdict->exit_code, 2);
  ASSERT_EQ(report.faults.size(), 1U);
  EXPECT_EQ(report.faults[0].confidence, "suspected");
  EXPECT_EQ(report.faults[0].severity, Severity::kNotJudged);
  EXPECT_EQ(judged_of(report, 2).status, JudgedStatus::kInconclusive);
  EXPECT_THAT(judged_of(report, 2).reason, HasSubstr("not confirmed"));
}

TEST(NodeHashes, TwoThatDifferAreBothOpen) {
  Report report = node_of({kRight, kOther});
  judge(report);
  EXPECT_EQ(report.verdict->exit_code, 2);
  EXPECT_THAT(report.faults, IsEmpty());
  EXPECT_EQ(judged_of(report, 0).status, JudgedStatus::kInconclusive);
  EXPECT_THAT(judged_of(report, 0).reason, HasSubstr("that of GPU 1"));
  EXPECT_THAT(judged_of(report, 1).reason, HasSubstr("that of GPU 0"));
}

TEST(NodeHashes, WithoutAMajorityAllAreOpen) {
  Report report = node_of({kRight, kOther, kRight, kOther});
  judge(report);
  EXPECT_EQ(report.verdict->exit_code, 2);
  for (int gpu = 0; gpu < 4; ++gpu) {
    EXPECT_EQ(judged_of(report, gpu).status, JudgedStatus::kInconclusive);
  }
}

TEST(NodeHashes, OnlyWhatMustAgreeIsCompared) {
  Report report = node_of({kRight, kRight, kOther});
  record_of(report, kBf16, 2).algorithm = {{"id", 7}};
  judge(report);
  EXPECT_EQ(report.verdict->exit_code, 0);
  report = node_of({kRight, kRight, kOther});
  record_of(report, kBf16, 2).data = {{"seed", 2}};
  judge(report);
  EXPECT_EQ(report.verdict->exit_code, 0);
  report = node_of({kRight, kRight, kOther});
  record_of(report, kBf16, 2).verification.hash.reset();
  judge(report);
  EXPECT_EQ(report.verdict->exit_code, 0) << "without a hash there is no evidence";
}

// What the result is worth does not make a slow row faster, and its fault is named.
TEST(NodeHashes, ARowInDoubtThatIsBelowItsFloorFailsByItsTime) {
  Report report = node_of({kRight, kRight, kOther}, 1);
  set_values(report, kBf16, 2, {500, 501, 502, 503, 504});
  judge(report);
  EXPECT_EQ(report.verdict->exit_code, 1);
  EXPECT_EQ(judged_of(report, 2).status, JudgedStatus::kFail);
  ASSERT_NE(fault_of(report, "PRF-01"), nullptr);
  EXPECT_EQ(fault_of(report, "PRF-01")->scope.gpu, 2);
  EXPECT_EQ(fault_of(report, "SDC-01")->confidence, "suspected");
  EXPECT_THAT(report.verdict->summary, HasSubstr("1 fault"));
}

TEST(NodeHashes, ARowWithoutATargetIsComparedToo) {
  Report report = node_of({kRight, kOther});
  for (TargetSet& set : report.targets) {
    std::erase_if(set.targets, [](const Target& target) { return target.id == kBf16; });
  }
  judge(report);
  EXPECT_EQ(report.verdict->exit_code, 2);
}

}  // namespace
}  // namespace assay
