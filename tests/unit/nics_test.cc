// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/node/nics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace assay {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class NicsTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) /
            (std::string("nics_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(root_);
    fs::create_directories(root_ / "bus/pci/devices");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const fs::path& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << '\n';
  }
  fs::path add_device(const std::string& bus_id) const {
    const fs::path folder = root_ / "devices/pci0000:15/0000:15:01.0" / bus_id;
    fs::create_directories(folder);
    fs::create_directory_symlink(folder, root_ / "bus/pci/devices" / bus_id);
    return folder;
  }
  // As the kernel has it: the class's entry is a folder with a link to its device.
  void add_entry(const fs::path& entry, const fs::path& device) const {
    fs::create_directories(root_ / entry);
    fs::create_directory_symlink(device, root_ / entry / "device");
  }
  [[nodiscard]] std::vector<Nic> nics() const { return read_nics(root_); }

  fs::path root_;
};

TEST_F(NicsTest, AnRdmaDeviceWithItsPortAndInterfaceIsOneCard) {
  const fs::path device = add_device("0000:18:00.0");
  const fs::path at = fs::relative(device, root_);
  write(at / "numa_node", "1");
  write(at / "current_link_width", "8");
  write(at / "max_link_width", "16");
  write(at / "current_link_speed", "16.0 GT/s PCIe");
  write(at / "max_link_speed", "32.0 GT/s PCIe");
  add_entry("class/infiniband/mlx5_0", device);
  write("class/infiniband/mlx5_0/fw_ver", "28.39.1002");
  write("class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE");
  write("class/infiniband/mlx5_0/ports/1/phys_state", "5: LinkUp");
  write("class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)");
  write("class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand");
  add_entry("class/net/ib0", device);
  write("class/net/ib0/operstate", "down");
  write("class/net/ib0/speed", "-1");
  ASSERT_THAT(nics(), SizeIs(1));
  const Nic nic = nics()[0];
  EXPECT_EQ(nic.bus_id, "0000:18:00.0");
  EXPECT_EQ(nic.rdma, "mlx5_0");
  EXPECT_EQ(nic.firmware, "28.39.1002");
  EXPECT_EQ(nic.numa_node, 1);
  EXPECT_EQ(nic.pcie_width, 8);
  EXPECT_EQ(nic.pcie_width_max, 16);
  EXPECT_EQ(nic.pcie_gt_per_s, 16);
  EXPECT_EQ(nic.pcie_gt_per_s_max, 32);
  ASSERT_THAT(nic.ports, SizeIs(1));
  EXPECT_EQ(nic.ports[0].port, 1);
  EXPECT_EQ(nic.ports[0].state, "ACTIVE");
  EXPECT_EQ(nic.ports[0].physical_state, "LinkUp");
  EXPECT_EQ(nic.ports[0].gbit_per_s, 400);
  EXPECT_EQ(nic.ports[0].link_layer, "InfiniBand");
  ASSERT_THAT(nic.interfaces, SizeIs(1));
  EXPECT_EQ(nic.interfaces[0].state, "down");
  EXPECT_FALSE(nic.interfaces[0].gbit_per_s);
  EXPECT_THAT(nic.unreadable, IsEmpty());
}

TEST_F(NicsTest, InterfacesWithoutAPciDeviceAreNoCards) {
  const fs::path device = add_device("0000:5e:00.1");
  add_entry("class/net/eth1", device);
  write("class/net/eth1/operstate", "up");
  write("class/net/eth1/speed", "100000");
  // A virtio device hangs on a PCI device.
  fs::create_directories(add_device("0000:00:03.0") / "virtio0");
  add_entry("class/net/eth0", root_ / "devices/pci0000:15/0000:15:01.0/0000:00:03.0/virtio0");
  fs::create_directories(root_ / "class/net/lo");
  fs::create_directories(root_ / "devices/usb1/1-1");
  add_entry("class/net/usb0", root_ / "devices/usb1/1-1");
  ASSERT_THAT(nics(), SizeIs(2));
  EXPECT_EQ(nics()[0].bus_id, "0000:00:03.0");
  EXPECT_EQ(nics()[0].interfaces.at(0).name, "eth0");
  EXPECT_FALSE(nics()[0].interfaces.at(0).state);
  EXPECT_EQ(nics()[1].interfaces.at(0).name, "eth1");
  EXPECT_EQ(nics()[1].interfaces.at(0).gbit_per_s, 100);
  EXPECT_FALSE(nics()[1].rdma);
}

// The kernel answers a read with an error, as for the speed of an interface that is switched off.
TEST_F(NicsTest, AFileThatOpensAndCannotBeReadIsUnknown) {
  const fs::path device = add_device("0000:18:00.0");
  add_entry("class/net/eth0", device);
  write("class/net/eth0/operstate", "down");
  fs::create_directories(root_ / "class/net/eth0/speed");
  fs::create_directories(device / "numa_node");
  ASSERT_THAT(nics(), SizeIs(1));
  EXPECT_EQ(nics()[0].interfaces.at(0).state, "down");
  EXPECT_FALSE(nics()[0].interfaces.at(0).gbit_per_s);
  EXPECT_FALSE(nics()[0].numa_node);
}

TEST_F(NicsTest, ARateThatIsNoNumberIsNone) {
  add_entry("class/net/eth0", add_device("0000:18:00.0"));
  for (const char* const text : {"inf", "nan", "-inf", "1e999", "0", "-1", ""}) {
    write("class/net/eth0/speed", text);
    EXPECT_FALSE(nics().at(0).interfaces.at(0).gbit_per_s) << text;
  }
}

TEST_F(NicsTest, WhatIsNotReadableIsNullWithItsReason) {
  add_entry("class/infiniband/mlx5_1", add_device("0000:18:00.0"));
  write("class/infiniband/mlx5_1/ports/1/rate", "broken");
  const Nic nic = nics().at(0);
  EXPECT_FALSE(nic.pcie_width || nic.pcie_gt_per_s || nic.numa_node || nic.firmware);
  std::vector<std::string> fields;
  for (const auto& [field, why] : nic.unreadable) fields.push_back(field);
  EXPECT_THAT(fields, ElementsAre("firmware", "numa_node", "pcie_gt_per_s", "pcie_width"));
  EXPECT_FALSE(nic.ports.at(0).gbit_per_s || nic.ports.at(0).state);
  EXPECT_THAT(read_nics(root_ / "nowhere"), IsEmpty());
}

}  // namespace
}  // namespace assay
