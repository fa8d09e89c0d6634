// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Limits and faults of the link between host and GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "reports/faults.h"
#include "reports/judge.h"
#include "reports/render.h"
#include "tests/unit/sample_report.h"

namespace assay {
namespace {

using namespace samples;
using testing::HasSubstr;

const std::string kH2d = "links/h2d/512MiB/burst";

// One H200 and a row of host to device, at a floor of 50 GB/s.
Report with_link(std::vector<double> values, double generation = 5, double width = 16) {
  Report report = sample_report(1);
  Record record = sample_record(kRead, device_of(h200(0)), std::move(values));
  record.id = kH2d;
  record.family = "links";
  record.work.pipe = kPcie;
  record.parameters = {{"host_numa_node", 0}};
  record.preparation = {{"node", 0}};
  record.telemetry.pcie_generation = Range{generation, generation, generation};
  record.telemetry.pcie_width = Range{width, width, width};
  report.records.push_back(record);
  Target one = target(kH2d, "gb_per_s", 50, 55.4, 0.2);
  one.pipe = kPcie;
  report.targets[0].targets.push_back(one);
  return report;
}

const std::vector<double> kSound = {55.3, 55.4, 55.4, 55.5, 55.6};
const std::vector<double> kSlow = {30, 30.1, 30.2, 30.3, 30.4};

TEST(Pcie, TheLimitIsTheSheetsAndThatOfTheLinkNow) {
  Report report = with_link(kSound);
  derive_limits(report);
  const Limit& limit = report.records.back().limit;
  EXPECT_DOUBLE_EQ(*limit.datasheet, 63);
  EXPECT_NEAR(*limit.at_clock, 63.02, 0.01);
  EXPECT_NEAR(*limit.highest, 63.02, 0.01);
  EXPECT_FALSE(limit.clock_mhz);
  EXPECT_DOUBLE_EQ(*limit.share_of_datasheet, 55.4 / 63);

  report.records.back().work.pipe = kPcieBoth;
  report.records.back().telemetry.pcie_width = Range{8, 8, 8};
  derive_limits(report);
  EXPECT_DOUBLE_EQ(*report.records.back().limit.datasheet, 126);
  EXPECT_NEAR(*report.records.back().limit.at_clock, 63.02, 0.01);
}

TEST(Pcie, ALinkBetweenGpusIsNoneToTheHost) {
  for (const std::string_view pipe : {kPeer, kPeerBoth}) {
    Report report = with_link(kSound);
    Record& record = report.records.back();
    record.work.pipe = pipe;
    derive_limits(report);
    EXPECT_EQ(record.limit.reason, "what joins the two GPUs is not known");
    EXPECT_EQ(record.status, RecordStatus::kOk) << "nothing says that it cannot be";
  }
}

TEST(Pcie, WhatIsFasterThanTheLinkIsNoFigure) {
  Report report = with_link({70, 70.1, 70.2, 70.3, 70.4});
  derive_limits(report);
  EXPECT_EQ(report.records.back().status, RecordStatus::kInvalid);
  report = with_link(kSound);
  report.records.back().telemetry.pcie_generation.reset();
  report.records.back().telemetry.unknown["pcie_generation"] = "not supported";
  derive_limits(report);
  EXPECT_FALSE(report.records.back().limit.at_clock);
  EXPECT_THAT(report.records.back().limit.reason, HasSubstr("not supported"));
}

TEST(Pcie, ALatencyAndCoherentLinksHaveNoLimit) {
  Report report = with_link(kSound);
  report.records.back().work.loads = 1;
  derive_limits(report);
  EXPECT_THAT(report.records.back().limit.reason, HasSubstr("latency"));
  EXPECT_EQ(report.records.back().status, RecordStatus::kOk);
  report.records.back().work.loads = 0;
  report.records.back().work.pipe = "c2c";
  derive_limits(report);
  EXPECT_FALSE(report.records.back().limit.highest);
}

TEST(Pcie, ASoundLinkHasNoFault) {
  Report report = with_link(kSound);
  judge(report);
  EXPECT_TRUE(report.faults.empty());
  EXPECT_EQ(report.records.back().judged.status, JudgedStatus::kPass);
}

TEST(Pcie, ALinkBelowItsOwnMaximumUnderLoadFailsTheNode) {
  for (const auto& [generation, width] : {std::pair(4.0, 16.0), std::pair(5.0, 8.0)}) {
    Report report = with_link(kSlow, generation, width);
    judge(report);
    const Fault* fault = fault_of(report, "PCI-01");
    ASSERT_NE(fault, nullptr);
    EXPECT_EQ(fault->severity, Severity::kFail);
    EXPECT_THAT(fault->title, HasSubstr("under load"));
    EXPECT_THAT(fault->explains, testing::Contains(kH2d));
    EXPECT_EQ(fault_of(report, "PCI-03"), nullptr);
    EXPECT_EQ(fault_of(report, "PRF-01"), nullptr);
  }
}

TEST(Pcie, SlowTransfersOverASoundLinkNameWhatOfTheHostMayBeTheCause) {
  Report report = with_link(kSlow);
  GpuInventory& gpu = report.inventory.gpus[0];
  gpu.iommu = "DMA-FQ";
  gpu.acs_redirect = true;
  report.records.back().preparation = {{"node", 1}};
  judge(report);
  const Fault* fault = fault_of(report, "PCI-03");
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->owner, "host");
  EXPECT_THAT(fault->effect, HasSubstr("the IOMMU translates (DMA-FQ)"));
  EXPECT_THAT(fault->effect, HasSubstr("ACS redirects"));
  EXPECT_THAT(fault->effect, HasSubstr("host memory on NUMA node 1 instead of 0"));
  EXPECT_THAT(fault->effect, HasSubstr("not read: relaxed ordering"));
  EXPECT_EQ(fault_of(report, "PCI-01"), nullptr);
  EXPECT_EQ(fault_of(report, "PRF-01"), nullptr);

  report = with_link(kSlow);
  report.inventory.gpus[0].iommu = "identity";
  judge(report);
  EXPECT_THAT(fault_of(report, "PCI-03")->effect, HasSubstr("no cause seen"));
}

TEST(Pcie, ALinkThatWasNotReadExplainsNothing) {
  Report report = with_link(kSlow);
  report.records.back().telemetry.pcie_width.reset();
  judge(report);
  EXPECT_EQ(fault_of(report, "PCI-03"), nullptr);
  EXPECT_NE(fault_of(report, "PRF-01"), nullptr);
}

TEST(Pcie, ASlowLinkExplainsNoOtherRow) {
  Report report = with_link(kSlow);
  set_values(report, kBf16, 0, {500, 501, 502, 503, 504});
  judge(report);
  ASSERT_NE(fault_of(report, "PRF-01"), nullptr);
  EXPECT_THAT(fault_of(report, "PRF-01")->evidence, testing::ElementsAre(kBf16));
}

TEST(Pcie, WhatIsSlowWithAllGpusAndSoundAloneIsSharedAndPasses) {
  Report report = with_link(kSlow);
  Record alone = report.records.back();
  alone.id += kAloneSuffix;
  alone.conditions.peers = Peers::kAlone;
  alone.metrics.at("gb_per_s").value = 55.3;
  alone.metrics.at("gb_per_s").values = {55.3};
  report.records.push_back(alone);
  judge(report);
  const Record& row = report.records.at(report.records.size() - 2);
  EXPECT_EQ(row.judged.status, JudgedStatus::kPass) << row.judged.reason;
  EXPECT_THAT(row.judged.warnings,
              testing::Contains(HasSubstr("while all GPUs were busy, 55.3 alone")));
  EXPECT_FALSE(
      std::ranges::any_of(report.faults, [](const Fault& f) { return f.code == "PCI-03"; }));

  report.records.back().metrics.at("gb_per_s").values = {31};
  judge(report);
  EXPECT_EQ(row.judged.status, JudgedStatus::kFail) << "slow alone, too";
  report.records.back().metrics.at("gb_per_s").values = {55.3};
  report.records.back().verification.status = VerificationStatus::kWrong;
  judge(report);
  EXPECT_EQ(row.judged.status, JudgedStatus::kFail) << "a wrong result proves nothing";
}

TEST(Pcie, ARowThatDidNotRunAloneProvesNothing) {
  Report report = with_link(kSlow);
  Record alone = report.records.back();
  alone.id += kAloneSuffix;
  alone.metrics.at("gb_per_s").value = 55.3;
  alone.metrics.at("gb_per_s").values = {};
  report.records.push_back(alone);
  for (const RecordStatus status : {RecordStatus::kOk, RecordStatus::kSkipped}) {
    report.records.back().status = status;
    judge(report);
    EXPECT_EQ(report.records.at(report.records.size() - 2).judged.status, JudgedStatus::kFail);
  }
  report.records.back().status = RecordStatus::kErrored;
  report.records.back().metrics.at("gb_per_s").values = {55.3};
  judge(report);
  EXPECT_EQ(report.records.at(report.records.size() - 2).judged.status, JudgedStatus::kFail);
}

// The fields are a program's own: reports of other programs hold other things there.
TEST(Pcie, ParametersOfAnyKindAreJudged) {
  for (const Json& odd : {Json(), Json::array(), Json("text"), Json(3), Json{{"node", "x"}}}) {
    Report report = with_link(kSlow);
    report.records.back().parameters = odd;
    judge(report);
    EXPECT_EQ(report.records.back().judged.status, JudgedStatus::kFail);
    report = with_link(kSlow);
    report.records.back().preparation = odd;
    judge(report);
    EXPECT_EQ(report.records.back().judged.status, JudgedStatus::kFail);
  }
}

TEST(Pcie, TheLinkStandsBesideItsShare) {
  Report report = with_link(kSlow, 4, 16);
  judge(report);
  EXPECT_THAT(render_summary(report, "r"), HasSubstr("0.96 PCIe 4 x16"));
}

}  // namespace
}  // namespace assay
