// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Limits and faults of what joins GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "reports/faults.h"
#include "reports/judge.h"
#include "reports/judge_rows.h"
#include "reports/render.h"
#include "tests/unit/judged.h"
#include "tests/unit/sample_peers.h"

namespace assay {
namespace {

using namespace samples;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const std::string kWrite = "p2p_write";

TEST(PeerLimit, IsThatOfTheLinksBetweenTheTwo) {
  Report report = on_switch(2);
  add_pair_rows(report, kWrite, 390);
  add_pair_rows(report, "p2p_both", 760);
  take_switch_link_down(report, 1, 7);
  derive_limits(report);
  const Limit& one_way = row_between(report, kWrite, 0, 1).limit;
  EXPECT_DOUBLE_EQ(*one_way.datasheet, 450);
  EXPECT_DOUBLE_EQ(*one_way.highest, 450);
  EXPECT_DOUBLE_EQ(*one_way.at_clock, 17 * 25);
  EXPECT_NEAR(*one_way.share_at_clock, 390.2 / 425, 1e-9);
  EXPECT_DOUBLE_EQ(*row_between(report, "p2p_both", 1, 0).limit.at_clock, 17 * 50);

  report = four_direct();
  add_pair_rows(report, kWrite, 140);
  take_link_down(report, 1, 3, 7, 2);
  derive_limits(report);
  EXPECT_DOUBLE_EQ(*row_between(report, kWrite, 3, 1).limit.datasheet, 150);
  EXPECT_DOUBLE_EQ(*row_between(report, kWrite, 3, 1).limit.at_clock, 125);
  EXPECT_DOUBLE_EQ(*row_between(report, kWrite, 0, 1).limit.at_clock, 150);
}

// Of every pair: one link of each GPU ends where the driver does not say.
TEST(PeerLimit, WithoutAnyNumberOfLinksItIsThatOfAllOfTheCards) {
  Report report = four_direct();
  add_pair_rows(report, kWrite, 140);
  for (GpuPeer& pair : report.inventory.peers) pair.nvlinks.reset();
  derive_limits(report);
  for (const Record& record : report.records) {
    EXPECT_EQ(record.status, RecordStatus::kOk) << record.message;
  }
  EXPECT_DOUBLE_EQ(*row_between(report, kWrite, 0, 1).limit.datasheet, 450);
}

TEST(PeerLimit, WithoutNvlinkItIsThatOfPcie) {
  Report report = on_switch(2);
  add_pair_rows(report, kWrite, 50);
  pair_of(report, 0, 1).nvlinks = 0;
  pair_of(report, 0, 1).p2p_nvlink = "not supported";
  derive_limits(report);
  EXPECT_DOUBLE_EQ(*row_between(report, kWrite, 0, 1).limit.datasheet, 63);
  pair_of(report, 0, 1).nvlinks.reset();
  derive_limits(report);
  EXPECT_FALSE(row_between(report, kWrite, 0, 1).limit.datasheet);
  EXPECT_DOUBLE_EQ(*row_between(report, kWrite, 0, 1).limit.highest, 450);
  EXPECT_THAT(row_between(report, kWrite, 0, 1).limit.reason, HasSubstr("not known"));
}

TEST(PeerLimit, WhatIsFasterThanTheLinksIsNoFigure) {
  Report report = on_switch(2);
  add_pair_rows(report, kWrite, 460);
  derive_limits(report);
  EXPECT_EQ(row_between(report, kWrite, 0, 1).status, RecordStatus::kInvalid);
}

TEST(LinkStates, SoundNodesHaveNoFault) {
  for (const Report& report : {on_switch(8), on_switch(1), four_direct(), sample_report(4)}) {
    EXPECT_THAT(check_peers(report), IsEmpty());
  }
}

TEST(LinkStates, AGpuBehindASwitchThatLacksLinksIsNamed) {
  Report report = on_switch(8);
  take_switch_link_down(report, 5, 3);
  take_switch_link_down(report, 5, 17);
  judge(report);
  ASSERT_THAT(codes(report), ElementsAre("NVL-01"));
  const Fault& fault = report.faults[0];
  EXPECT_EQ(fault.severity, Severity::kFail);
  EXPECT_EQ(fault.title, "GPU 5: 16 of 18 NVLinks up; down: GPU 5 links 3 17");
  EXPECT_EQ(fault.scope.serial, report.inventory.gpus[5].serial);
  EXPECT_FALSE(fault.peer);
  EXPECT_THAT(fault.evidence, ElementsAre("inventory.gpus[5].nvlinks"));
  expect_verdict(report, JudgedStatus::kFail, 1);
}

TEST(LinkStates, LinksThatNvmlDoesNotListAreMissingToo) {
  Report report = on_switch(2);
  GpuNvlinks& links = *report.inventory.gpus[1].nvlinks;
  links.present = links.active = links.to_switch = 17;
  pair_of(report, 0, 1).nvlinks = 17;
  judge(report);
  ASSERT_THAT(codes(report), ElementsAre("NVL-01"));
  EXPECT_EQ(report.faults[0].title, "GPU 1: 17 of 18 NVLinks up");
  // More than the card ever had, as a driver may list them.
  report = on_switch(2);
  report.inventory.gpus[1].nvlinks->present = 36;
  report.inventory.gpus[1].nvlinks->down = {18, 19};
  EXPECT_THAT(check_peers(report), IsEmpty());
}

TEST(LinkStates, OneGpuAloneIsJudgedByTheLinksThatItHas) {
  Report report = on_switch(1);
  take_switch_link_down(report, 0, 4);
  EXPECT_THAT(check_peers(report), SizeIs(1));
  for (int link = 0; link < 17; ++link) take_switch_link_down(report, 0, link);
  EXPECT_THAT(check_peers(report), IsEmpty()) << "it may have been given without its fabric";
}

TEST(LinkStates, APairOfABoardWithoutASwitch) {
  Report report = four_direct();
  take_link_down(report, 1, 3, 7, 2);
  judge(report);
  ASSERT_THAT(codes(report), ElementsAre("NVL-02"));
  const Fault& fault = report.faults[0];
  EXPECT_EQ(fault.title, "GPU 1 <-> GPU 3: 5 of 6 NVLinks up; down: GPU 1 link 7, GPU 3 link 2");
  EXPECT_EQ(fault.effect, "the other 5 pairs are sound");
  ASSERT_TRUE(fault.peer);
  EXPECT_EQ(fault.peer->gpu, 3);
  EXPECT_EQ(fault.peer->serial, report.inventory.gpus[3].serial);
  EXPECT_THAT(report.verdict->summary, HasSubstr("Clear: GPU 0, GPU 2 only."));
  EXPECT_THAT(render_summary(report, "r.json"),
              HasSubstr("[1] NVL-02  GPU 1 <-> GPU 3  S/N 1650000000011 / 1650000000013  "
                        "modules 2 / 4  bus 29:00.0 / 49:00.0   owner: hardware"));
}

TEST(LinkStates, TwoGpusThatLackTheSameLinks) {
  Report report = joined(sample_report(2), false, 18);
  take_link_down(report, 0, 1, 5, 5);
  EXPECT_THAT(check_peers(report).at(0).title, HasSubstr("17 of 18 NVLinks up"));
  EXPECT_EQ(check_peers(report).at(0).code, "NVL-02");
}

TEST(LinkStates, AllLinksOfOneGpuOfABoardWithoutASwitch) {
  Report report = four_direct();
  take_link_down(report, 0, 2, 1, 1);
  take_link_down(report, 1, 2, 1, 7);
  take_link_down(report, 2, 3, 13, 1);
  ASSERT_THAT(check_peers(report), SizeIs(1));
  EXPECT_EQ(check_peers(report)[0].code, "NVL-01");
  EXPECT_EQ(check_peers(report)[0].scope.gpu, 2);
}

TEST(LinkStates, APairThatIsNotOnNvlinkWhereTheOthersAre) {
  Report report = on_switch(4);
  pair_of(report, 0, 2).p2p_nvlink = "not supported";
  const std::vector<Fault> faults = check_peers(report);
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_EQ(faults[0].code, "NVL-02");
  EXPECT_EQ(faults[0].title, "GPU 0 <-> GPU 2: not on NVLink but over NODE (P2P: not supported)");
}

// One cause, not one a GPU; in a container or a virtual machine the fabric may be kept from us.
TEST(LinkStates, NoNvlinkAnywhereIsOneSharedCause) {
  Report report = on_switch(8);
  for (std::size_t gpu = 0; gpu < 8; ++gpu) {
    for (int link = 0; link < 18; ++link) take_switch_link_down(report, gpu, link);
  }
  judge(report);
  ASSERT_THAT(codes(report), ElementsAre("FAB-01"));
  EXPECT_EQ(report.faults[0].severity, Severity::kFail);
  EXPECT_EQ(report.faults[0].owner, "host");
  EXPECT_EQ(report.faults[0].title, "no two of 8 GPUs are joined by NVLink");
  for (const char* where : {"vm", "container"}) {
    report.inventory.host.virtualisation = where;
    judge(report);
    ASSERT_THAT(codes(report), ElementsAre("FAB-01"));
    EXPECT_EQ(report.faults[0].severity, Severity::kNotJudged) << where;
    expect_verdict(report, JudgedStatus::kInconclusive, 2);
  }
  // A switch that is lost takes some links of each GPU, wherever that is seen from.
  report = on_switch(8);
  report.inventory.host.virtualisation = "container";
  for (std::size_t gpu = 0; gpu < 8; ++gpu) take_switch_link_down(report, gpu, 4);
  ASSERT_THAT(check_peers(report), SizeIs(1));
  EXPECT_EQ(check_peers(report)[0].severity, Severity::kFail);
  EXPECT_THAT(check_peers(report)[0].title, HasSubstr("GPU 0 has 17 of 18 up"));
}

TEST(LinkStates, WhatWasNotReadAndCardsWithoutABoardAreNoFault) {
  Report report = on_switch(4);
  for (GpuPeer& pair : report.inventory.peers) {
    pair.nvlinks.reset();
    pair.p2p_nvlink = "not supported";
  }
  for (GpuInventory& gpu : report.inventory.gpus) gpu.nvlinks.reset();
  EXPECT_THAT(check_peers(report), IsEmpty());
  report = on_switch(4);
  for (int link = 0; link < 18; ++link) take_switch_link_down(report, 1, link);
  EXPECT_THAT(check_peers(report), SizeIs(1));
  for (GpuInventory& gpu : report.inventory.gpus) gpu.sku = "h200-nvl";
  EXPECT_THAT(check_peers(report), IsEmpty()) << "a bridge may be missing";
  for (GpuInventory& gpu : report.inventory.gpus) gpu.sku = "h200-sxm";
  report.inventory.gpus[1].mig = true;
  EXPECT_THAT(check_peers(report), IsEmpty()) << "slices have no peers";
}

TEST(SlowPairs, SoundRowsHaveNoFault) {
  Report report = on_switch(8);
  add_pair_rows(report, kWrite, 390);
  set_rate(report, kWrite, 1, 3, 352);  // 0.903 of the others
  judge(report);
  EXPECT_THAT(codes(report), IsEmpty());
}

TEST(SlowPairs, OnePairBesideTheOthers) {
  Report report = on_switch(4);
  add_pair_rows(report, kWrite, 390);
  set_rate(report, kWrite, 3, 1, 300);
  judge(report);
  ASSERT_THAT(codes(report), ElementsAre("NVL-02"));
  const Fault& fault = report.faults[0];
  EXPECT_EQ(fault.scope.gpu, 1);
  EXPECT_EQ(fault.peer->gpu, 3);
  EXPECT_EQ(fault.title,
            "GPU 1 <-> GPU 3: GPU 3 links/p2p_write/512MiB+to=1/burst 300 GB/s; "
            "the other 5 pairs 390..390");
  EXPECT_EQ(fault.effect, "joined by NV18");
  EXPECT_EQ(fault.confidence, "suspected");
  EXPECT_EQ(fault.confirmed_runs, 5);
  EXPECT_THAT(fault.evidence, ElementsAre(peer_id(kWrite, 1)));
  EXPECT_EQ(report.verdict->exit_code, 1);
}

TEST(SlowPairs, OneFastRunKeepsAPairSound) {
  Report report = on_switch(4);
  add_pair_rows(report, kWrite, 390);
  set_values(report, peer_id(kWrite, 1), 3, {300, 301, 302, 303, 390});
  EXPECT_THAT(check_peers(report), IsEmpty());
}

TEST(SlowPairs, OneGpuWithAllOfItsPairs) {
  Report report = on_switch(8);
  add_pair_rows(report, kWrite, 390);
  for (std::size_t other = 0; other < 8; ++other) {
    if (other == 6) continue;
    set_rate(report, kWrite, 6, other, 200);
    add_floor(report, kWrite, other, 370);
  }
  judge(report);
  ASSERT_THAT(codes(report), ElementsAre("NVL-01"));
  const Fault& fault = report.faults[0];
  EXPECT_EQ(fault.scope.gpu, 6);
  EXPECT_EQ(fault.confidence, "confirmed");
  EXPECT_THAT(fault.title, HasSubstr("200 GB/s, floor 370; the other 27 pairs"));
  EXPECT_THAT(fault.evidence, SizeIs(7));
  EXPECT_THAT(fault.explains, SizeIs(7)) << "no PRF-01 beside it";
  EXPECT_THAT(report.verdict->summary, HasSubstr("1 fault"));
}

// The rows to one GPU have one id: they are no "all GPUs low alike".
TEST(SlowPairs, WhatAllSendToOneGpuIsThatGpus) {
  Report report = on_switch(4);
  add_pair_rows(report, kWrite, 390);
  add_floor(report, kWrite, 2, 370);
  for (const std::size_t from : {0U, 1U, 3U}) set_rate(report, kWrite, from, 2, 200);
  judge(report);
  ASSERT_THAT(codes(report), ElementsAre("NVL-01"));
  EXPECT_EQ(report.faults[0].scope.gpu, 2);
  EXPECT_THAT(report.faults[0].evidence, ElementsAre(peer_id(kWrite, 2)));
  EXPECT_THAT(report.faults[0].title, HasSubstr("GPU 2: GPU 0 links/p2p_write"));
  EXPECT_EQ(report.faults[0].effect, "joined by NV18");
}

TEST(SlowPairs, AllPairsAlikeAreOneSharedCause) {
  Report report = on_switch(4);
  add_pair_rows(report, kWrite, 200);
  for (std::size_t to = 0; to < 4; ++to) add_floor(report, kWrite, to, 370);
  judge(report);
  ASSERT_THAT(codes(report), ElementsAre("PRF-03"));
  EXPECT_THAT(report.faults[0].title, HasSubstr("all 6 pairs of GPUs are slow alike"));
  EXPECT_THAT(report.faults[0].explains, SizeIs(4)) << "each id once";
  for (const Record& record : report.records) {
    if (!is_peer(record.work.pipe)) continue;
    EXPECT_THAT(record.judged.reason, HasSubstr("PRF-03"));
  }
}

TEST(SlowPairs, ALatencyIsSlowWhenItIsLong) {
  Report report = on_switch(4);
  add_pair_rows(report, "latency", 700);
  for (Record& record : report.records) {
    if (!is_peer(record.work.pipe)) continue;
    record.work.loads = 1000;
    Metric metric = record.metrics["gb_per_s"];
    metric.unit = "ns";
    metric.better = Better::kLower;
    record.metrics = {{"latency_ns", metric}};
  }
  set_rate(report, "latency", 0, 1, 500);
  set_rate(report, "latency", 2, 3, 900);
  judge(report);
  ASSERT_THAT(codes(report), ElementsAre("NVL-02"));
  EXPECT_EQ(report.faults[0].scope.gpu, 2);
  EXPECT_EQ(report.faults[0].peer->gpu, 3);
}

TEST(SlowPairs, LinksThatAreDownAndTheirSlowRowsAreOneFault) {
  Report report = four_direct();
  add_pair_rows(report, kWrite, 140);
  take_link_down(report, 1, 3, 7, 2);
  set_rate(report, kWrite, 1, 3, 116);
  set_rate(report, kWrite, 3, 1, 116);
  judge(report);
  ASSERT_THAT(codes(report), ElementsAre("NVL-02"));
  EXPECT_THAT(report.faults[0].title, HasSubstr("5 of 6 NVLinks up"));
  EXPECT_THAT(report.faults[0].effect, HasSubstr("116 GB/s; the other 5 pairs 140..140"));
}

TEST(SlowPairs, TwoPairsAreTwoFaults) {
  Report report = on_switch(8);
  add_pair_rows(report, kWrite, 390);
  set_rate(report, kWrite, 0, 1, 200);
  set_rate(report, kWrite, 0, 2, 200);
  judge(report);
  EXPECT_THAT(codes(report), ElementsAre("NVL-02", "NVL-02")) << "both of GPU 0, not folded";
}

TEST(SlowPairs, WhatSlowsTheGpuItselfIsNoFaultOfItsLinks) {
  Report report = on_switch(4);
  add_pair_rows(report, kWrite, 390);
  add_floor(report, kWrite, 2, 370);
  report.inventory.gpus[2].power_limit_w = 300;
  for (const std::size_t from : {0U, 1U, 3U}) set_rate(report, kWrite, from, 2, 200);
  judge(report);
  EXPECT_THAT(codes(report), ElementsAre("PWR-01"));
  EXPECT_THAT(report.faults[0].explains, Contains(peer_id(kWrite, 2)));
}

TEST(SlowPairs, OverPcieTheHostIsLookedAt) {
  Report report = on_switch(4);
  add_pair_rows(report, kWrite, 50);
  for (GpuInventory& gpu : report.inventory.gpus) {
    gpu.sku = "h200-nvl";
    gpu.acs_redirect = true;
    gpu.sriov_vfs = 4;
  }
  for (Record& record : report.records) record.device.sku = "h200-nvl";
  for (GpuPeer& pair : report.inventory.peers) pair.nvlinks = 0;
  // Another path is another figure, and none to be measured by.
  pair_of(report, 0, 3).path = "SYS";
  set_rate(report, kWrite, 0, 3, 20);
  EXPECT_THAT(check_peers(report), IsEmpty());
  set_rate(report, kWrite, 1, 2, 20);
  const std::vector<Fault> faults = check_peers(report);
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_EQ(faults[0].code, "PCI-03");
  EXPECT_EQ(faults[0].severity, Severity::kWarn) << "without a floor";
  EXPECT_EQ(faults[0].peer->gpu, 2);
  EXPECT_THAT(faults[0].effect, HasSubstr("ACS redirects"));
  EXPECT_THAT(faults[0].effect, HasSubstr("SR-IOV is on (4 functions)"));
}

TEST(SlowPairs, RowsThatAreNoMeasurementSayNothing) {
  const auto faults_after = [](const std::function<void(Record&)>& change) {
    Report report = on_switch(4);
    add_pair_rows(report, kWrite, 390);
    set_rate(report, kWrite, 0, 1, 200);
    change(row_between(report, kWrite, 0, 1));
    return check_peers(report);
  };
  EXPECT_THAT(faults_after([](Record&) {}), SizeIs(1));
  EXPECT_THAT(faults_after([](Record& r) { r.status = RecordStatus::kInvalid; }), IsEmpty());
  EXPECT_THAT(faults_after([](Record& r) { r.wrong_runs = 1; }), IsEmpty());
  EXPECT_THAT(faults_after([](Record& r) { r.verification.status = VerificationStatus::kNotRun; }),
              IsEmpty());
  EXPECT_THAT(faults_after([](Record& r) { r.parameters = Json::object(); }), IsEmpty());
  EXPECT_THAT(faults_after([](Record& r) { r.parameters["peer_uuid"] = 7; }), IsEmpty());
}

TEST(PeerFaults, AGpuIsNotAskedForARowToItself) {
  Report report = on_switch(2);
  report.records.clear();
  report.plan.gate_ids.clear();
  add_pair_rows(report, "p2p_write", 390);
  for (const std::size_t to : {0, 1}) {
    add_floor(report, "p2p_write", to, 350);
    report.plan.gate_ids.push_back(peer_id("p2p_write", to));
  }
  EXPECT_TRUE(missing_rows(report).empty());
  report.records.pop_back();
  EXPECT_EQ(missing_rows(report).size(), 1U);
}

}  // namespace
}  // namespace assay
