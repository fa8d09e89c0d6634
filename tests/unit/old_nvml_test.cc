// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Against a fake NVML that lacks all that is asked about links, as an old driver's may.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "bench/node/inventory.h"

namespace assay {
namespace {

TEST(OldNvml, FunctionsThatAreMissingLeaveReasons) {
  setenv("FAKE_NVML_GPUS", "2", 1);
  const Inventory found =
      read_inventory(load_gpu_table(std::filesystem::path(ASSAY_SOURCE_DIR) / "configs/gpus"));
  ASSERT_EQ(found.gpus.size(), 2U) << found.nvml_error;
  EXPECT_EQ(found.gpus[0].sku, "h200-sxm");
  EXPECT_FALSE(found.gpus[0].nvlinks);
  EXPECT_EQ(found.gpus[0].unreadable.at("nvlinks"), "nvmlDeviceGetNvLinkState: not in this NVML");
  ASSERT_EQ(found.peers.size(), 1U);
  const GpuPeer& pair = found.peers[0];
  EXPECT_FALSE(pair.nvlinks || pair.path || pair.p2p_read || pair.p2p_write || pair.p2p_nvlink);
  EXPECT_EQ(pair.unreadable.at("path"), "nvmlDeviceGetTopologyCommonAncestor: not in this NVML");
  EXPECT_EQ(pair.unreadable.at("p2p_nvlink"), "nvmlDeviceGetP2PStatus: not in this NVML");
  EXPECT_EQ(pair.unreadable.size(), 5U);
}

}  // namespace
}  // namespace assay
