// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// NVLinks and pairs as bench/node reads them from tests/fakes/fake_nvml_links.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "bench/node/inventory.h"
#include "tests/unit/fake_nvml_test.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

using TopologyTest = FakeNvmlTest;

TEST_F(TopologyTest, OneGpuHasLinksAndNoPeer) {
  set("FAKE_NVML_TOPOLOGY", "switch");
  const Inventory found = inventory();
  ASSERT_TRUE(found.gpus.at(0).nvlinks);
  EXPECT_EQ(found.gpus[0].nvlinks->active, 18);
  EXPECT_THAT(found.peers, IsEmpty());
}

TEST_F(TopologyTest, EightGpusOnASwitch) {
  set("FAKE_NVML_GPUS", "8");
  set("FAKE_NVML_TOPOLOGY", "switch");
  set("FAKE_NVML_LINK_DOWN", "5:3,5:17");
  const Inventory found = inventory();
  const GpuNvlinks& sound = *found.gpus.at(0).nvlinks;
  EXPECT_EQ(sound.present, 18);
  EXPECT_EQ(sound.to_switch, 18);
  EXPECT_EQ(sound.version, 4);
  EXPECT_THAT(sound.down, IsEmpty());
  EXPECT_THAT(sound.to_gpus, IsEmpty());
  const GpuNvlinks& hurt = *found.gpus.at(5).nvlinks;
  EXPECT_EQ(hurt.present, 18);
  EXPECT_EQ(hurt.active, 16);
  EXPECT_THAT(hurt.down, ElementsAre(3, 17));
  ASSERT_THAT(found.peers, SizeIs(28));
  for (const GpuPeer& pair : found.peers) {
    const bool at_hurt = pair.gpu == found.gpus[5].uuid || pair.peer == found.gpus[5].uuid;
    EXPECT_EQ(pair.nvlinks, at_hurt ? 16 : 18);
    EXPECT_EQ(pair.p2p_read, "ok");
    EXPECT_EQ(pair.p2p_nvlink, "ok");
    EXPECT_THAT(pair.unreadable, IsEmpty());
  }
  EXPECT_EQ(found.peers.front().path, "NODE");
  EXPECT_EQ(found.peers[6].peer, found.gpus[7].uuid);
  EXPECT_EQ(found.peers[6].path, "SYS");
}

TEST_F(TopologyTest, FourGpusJoinedDirectlyWithOneLinkDown) {
  set("FAKE_NVML_GPUS", "4");
  set("FAKE_NVML_TOPOLOGY", "direct");
  set("FAKE_NVML_LINK_DOWN", "1:7,3:8");  // of 1 to 3 and of 3 to 1
  const Inventory found = inventory();
  EXPECT_THAT(
      found.gpus.at(0).nvlinks->to_gpus,
      ElementsAre(Pair("0000:11:00.0", 6), Pair("0000:12:00.0", 6), Pair("0000:13:00.0", 6)));
  EXPECT_THAT(found.gpus.at(1).nvlinks->to_gpus, testing::Contains(Pair("0000:13:00.0", 5)));
  EXPECT_THAT(found.gpus.at(1).nvlinks->down, ElementsAre(7));
  std::vector<int> links;
  for (const GpuPeer& pair : found.peers) links.push_back(pair.nvlinks.value_or(-1));
  EXPECT_THAT(links, ElementsAre(6, 6, 6, 6, 5, 6));
  EXPECT_EQ(found.peers[4].gpu, found.gpus[1].uuid);
  EXPECT_EQ(found.peers[4].peer, found.gpus[3].uuid);
}

TEST_F(TopologyTest, PcieOnly) {
  set("FAKE_NVML_GPUS", "2");
  const Inventory found = inventory();
  EXPECT_FALSE(found.gpus.at(0).nvlinks);
  EXPECT_EQ(found.gpus[0].unreadable.at("nvlinks"), "nvmlDeviceGetNvLinkState: Not Supported");
  const GpuPeer& pair = found.peers.at(0);
  EXPECT_FALSE(pair.nvlinks);
  EXPECT_EQ(pair.path, "NODE");
  EXPECT_EQ(pair.p2p_write, "ok");
  EXPECT_EQ(pair.p2p_nvlink, "not supported");
  EXPECT_EQ(pair.unreadable.at("nvlinks"), "nvmlDeviceGetNvLinkState: Not Supported");
}

TEST_F(TopologyTest, WhatNvmlRefusesIsNullWithItsReason) {
  set("FAKE_NVML_GPUS", "2");
  set("FAKE_NVML_TOPOLOGY", "switch");
  for (const auto& [function, field] :
       {std::pair("nvmlDeviceGetNvLinkVersion", "nvlink_version"),
        std::pair("nvmlDeviceGetNvLinkRemoteDeviceType", "nvlink_ends")}) {
    set("FAKE_NVML_FAIL", function);
    const Inventory found = inventory();
    EXPECT_EQ(found.gpus[0].unreadable.at(field), std::string(function) + ": Not Supported");
    EXPECT_EQ(found.gpus[0].nvlinks->active, 18);
  }
  EXPECT_EQ(inventory().gpus[0].nvlinks->to_other, 18);
  EXPECT_FALSE(inventory().peers[0].nvlinks);
  EXPECT_THAT(inventory().peers[0].unreadable.at("nvlinks"), HasSubstr("18 links of GPU 0"));
  for (const auto& [function, fields] : {std::pair("nvmlDeviceGetTopologyCommonAncestor", 1),
                                         std::pair("nvmlDeviceGetP2PStatus", 3)}) {
    set("FAKE_NVML_FAIL", function);
    EXPECT_THAT(inventory().peers[0].unreadable, SizeIs(fields)) << function;
    EXPECT_EQ(inventory().peers[0].nvlinks, 18);
  }
  set("FAKE_NVML_TOPOLOGY", "direct");
  set("FAKE_NVML_FAIL", "nvmlDeviceGetNvLinkRemotePciInfo_v2");
  EXPECT_EQ(inventory().gpus[0].nvlinks->to_other, 18);
}

TEST_F(TopologyTest, AnEndOfUnknownTypeIsNoSwitchAndNoGpu) {
  set("FAKE_NVML_TOPOLOGY", "switch");
  set("FAKE_NVML_LINK_END", "255");
  const GpuNvlinks links = *inventory().gpus.at(0).nvlinks;
  EXPECT_EQ(links.to_other, 18);
  EXPECT_EQ(links.to_switch, 0);
  EXPECT_THAT(links.to_gpus, IsEmpty());
}

TEST_F(TopologyTest, AVersionThatTheSiliconDoesNotHaveIsNotBelieved) {
  set("FAKE_NVML_TOPOLOGY", "switch");
  for (const char* raw : {"7", "0", "99"}) {
    set("FAKE_NVML_LINK_VERSION", raw);
    const Inventory found = inventory();
    EXPECT_FALSE(found.gpus[0].nvlinks->version) << raw;
    EXPECT_THAT(found.gpus[0].unreadable.at("nvlink_version"), HasSubstr("implausible")) << raw;
  }
  set("FAKE_NVML_LINK_VERSION", "5");
  EXPECT_EQ(inventory().gpus[0].nvlinks->version, 3);
}

TEST_F(TopologyTest, LinksOfACardThatGoesAreNotCounted) {
  set("FAKE_NVML_TOPOLOGY", "switch");
  bool seen = false;
  for (int calls = 1; calls < 120; ++calls) {
    set("FAKE_NVML_FAIL_AFTER", std::to_string(calls).c_str());
    const Inventory found = inventory();
    setenv("FAKE_NVML_FAIL_AFTER", "0", 1);
    unsetenv("FAKE_NVML_FAIL_AFTER");
    static_cast<void>(inventory());  // sets the count back
    if (found.gpus.empty()) continue;
    const GpuInventory& gpu = found.gpus[0];
    // All of them or none: a part would be links that are missing.
    if (gpu.nvlinks) {
      EXPECT_EQ(gpu.nvlinks->present, 18) << calls;
    } else if (gpu.unreadable.at("nvlinks") == "nvmlDeviceGetNvLinkState: GPU is lost") {
      seen = true;
    }
  }
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace assay
