// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/render_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/render.h"
#include "tests/unit/sample_peers.h"

namespace assay {
namespace {

using namespace samples;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Nic nic(const std::string& bus_id, std::vector<NicPort> ports) {
  Nic one;
  one.bus_id = bus_id;
  one.rdma = "mlx5_0";
  one.pcie_width = one.pcie_width_max = 16;
  one.ports = std::move(ports);
  return one;
}

TEST(TopologyLines, NvlinkOfANode) {
  EXPECT_THAT(topology_lines(sample_report(0)), IsEmpty());
  EXPECT_THAT(topology_lines(sample_report(1)), ElementsAre("NVLink: one GPU, no peer"));
  EXPECT_THAT(topology_lines(on_switch(1)),
              ElementsAre("NVLink 4: one GPU, no peer; 18 of 18 links to a switch"));
  EXPECT_THAT(topology_lines(on_switch(8)),
              ElementsAre("NVLink 4: 18 of 18 links to a switch on each of 8 GPUs; 28 pairs NV18"));
  Report report = four_direct();
  take_link_down(report, 1, 3, 7, 2);
  EXPECT_THAT(topology_lines(report),
              ElementsAre("NVLink 4: 18 of 18 links to GPUs on GPU 0 2; 17 of 18 links to GPUs on "
                          "GPU 1 3; 5 pairs NV6; 1 pair NV5"));
  report = sample_report(2);
  EXPECT_THAT(topology_lines(report), ElementsAre("NVLink: not read on each of 2 GPUs"));
  for (GpuInventory& gpu : report.inventory.gpus) gpu.unreadable["nvlinks"] = "Not Supported";
  report.inventory.peers.push_back({"a", "b", {}, "SYS", "ok", "ok", "not supported", {}});
  EXPECT_THAT(topology_lines(report),
              ElementsAre("NVLink: not read (Not Supported) on each of 2 GPUs; 1 pair SYS"));
}

TEST(TopologyLines, NetworkCards) {
  Report report = sample_report(0);
  const NicPort up = {1, "ACTIVE", "LinkUp", 400, "InfiniBand"};
  const NicPort down = {1, "DOWN", "Polling", 10, "InfiniBand"};
  report.inventory.nics = {nic("0000:18:00.0", {up}), nic("0000:2a:00.0", {down})};
  EXPECT_THAT(topology_lines(report),
              ElementsAre("NICs: 2 InfiniBand RDMA ports, 1 active at 400 Gb/s"));
  Nic plain;
  plain.bus_id = "0000:5e:00.0";
  plain.interfaces = {{"eth0", "up", 100}, {"eth1", "up", 25}, {"eth2", "down", {}}};
  report.inventory.nics[1].pcie_width = 8;
  report.inventory.nics.push_back(plain);
  EXPECT_THAT(
      topology_lines(report),
      ElementsAre("NICs: 2 InfiniBand RDMA ports, 1 active at 400 Gb/s; 3 other interfaces, "
                  "2 up at 25 to 100 Gb/s; 2a:00.0 on PCIe x8 of x16"));
  EXPECT_THAT(render_summary(report, "r"), HasSubstr("\nlinks             NICs: "));
  EXPECT_THAT(render_markdown(report), HasSubstr("| links | NICs: "));
}

}  // namespace
}  // namespace assay
