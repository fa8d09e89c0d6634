// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/peer_claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/sample_peers.h"

namespace assay {
namespace {

using namespace samples;
using testing::HasSubstr;

TEST(PeerClaims, EveryPairOnNvlink) {
  EXPECT_EQ(judge_nvlink_pairs(sample_report(0).inventory).verdict, ClaimVerdict::kNotMeasured);
  const ClaimOutcome one = judge_nvlink_pairs(on_switch(1).inventory);
  EXPECT_EQ(one.verdict, ClaimVerdict::kNotMeasured);
  EXPECT_EQ(one.reason, "one GPU: no pair to look at");
  Report report = on_switch(8);
  EXPECT_EQ(judge_nvlink_pairs(report.inventory).verdict, ClaimVerdict::kConfirmed);
  EXPECT_EQ(judge_nvlink_pairs(report.inventory).measured, "28 pairs, all on NVLink");
  pair_of(report, 1, 6).nvlinks.reset();
  pair_of(report, 1, 6).p2p_nvlink.reset();
  pair_of(report, 1, 6).unreadable["nvlinks"] = "not supported";
  EXPECT_EQ(judge_nvlink_pairs(report.inventory).verdict, ClaimVerdict::kNotMeasured);
  EXPECT_THAT(judge_nvlink_pairs(report.inventory).reason,
              HasSubstr("GPU 1 <-> GPU 6: not supported"));
  pair_of(report, 2, 3).nvlinks = 0;
  EXPECT_EQ(judge_nvlink_pairs(report.inventory).verdict, ClaimVerdict::kRefuted);
  EXPECT_EQ(judge_nvlink_pairs(report.inventory).measured,
            "1 of 28 pairs not on NVLink: GPU 2 <-> GPU 3 over NODE");
  report.inventory.peers.clear();
  EXPECT_EQ(judge_nvlink_pairs(report.inventory).verdict, ClaimVerdict::kNotMeasured);
}

TEST(PeerClaims, LinksTimesTheirRate) {
  ClaimCheck check;
  check.of = 900;
  Report report = on_switch(2);
  GpuInventory& gpu = report.inventory.gpus[0];
  EXPECT_EQ(judge_nvlink_rate(check, report, gpu).verdict, ClaimVerdict::kConfirmed);
  EXPECT_EQ(judge_nvlink_rate(check, report, gpu).measured,
            "18 of 18 links up x 50 GB/s = 900 GB/s, claimed 900");
  take_switch_link_down(report, 0, 3);
  EXPECT_EQ(judge_nvlink_rate(check, report, gpu).verdict, ClaimVerdict::kInconclusive);
  gpu.nvlinks->present = 17;
  EXPECT_EQ(judge_nvlink_rate(check, report, gpu).verdict, ClaimVerdict::kRefuted);
  report.limits.clear();
  EXPECT_EQ(judge_nvlink_rate(check, report, gpu).verdict, ClaimVerdict::kNotMeasured);
  gpu.nvlinks.reset();
  gpu.unreadable["nvlinks"] = "Not Supported";
  EXPECT_THAT(judge_nvlink_rate(check, report, gpu).reason, HasSubstr("Not Supported"));
}

TEST(PeerClaims, HostFactsAreShownAndDecideNothing) {
  Report report = on_switch(2);
  EXPECT_EQ(show_host_facts(report.inventory).verdict, ClaimVerdict::kNotMeasured);
  for (GpuInventory& gpu : report.inventory.gpus) {
    gpu.iommu = "DMA-FQ";
    gpu.sriov_vfs = 0;
  }
  report.inventory.gpus[1].iommu = "identity";
  const ClaimOutcome facts = show_host_facts(report.inventory);
  EXPECT_EQ(facts.verdict, ClaimVerdict::kInconclusive);
  EXPECT_EQ(facts.measured, "IOMMU DMA-FQ / identity, SR-IOV off");
  EXPECT_THAT(facts.reason, HasSubstr("not read: ACS"));
}

// The documents ask for them, of the node once.
TEST(PeerClaims, AreInTheDocuments) {
  const std::vector<Claim> claims = load_claims(std::filesystem::path(ASSAY_SOURCE_DIR) /
                                                "configs" / "targets" / "documents.yaml");
  Report report = on_switch(2);
  for (GpuInventory& gpu : report.inventory.gpus) gpu.sku = "h100-sxm";
  report.limits[0].sku = "h100-sxm";
  const std::vector<ClaimResult> results = judge_claims(claims, report);
  const auto count = [&](const char* id, ClaimVerdict verdict) {
    return std::ranges::count_if(results, [&](const ClaimResult& result) {
      return result.claim->id == id && result.verdict == verdict;
    });
  };
  EXPECT_EQ(count("D20", ClaimVerdict::kConfirmed), 1);
  EXPECT_EQ(count("D04", ClaimVerdict::kConfirmed), 2);
  EXPECT_EQ(count("D42", ClaimVerdict::kNotMeasured), 1);
}

}  // namespace
}  // namespace assay
