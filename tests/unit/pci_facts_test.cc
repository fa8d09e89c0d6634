// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/node/pci_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <vector>

namespace assay {
namespace {

using testing::HasSubstr;

class PciFactsTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ =
        std::filesystem::path(testing::TempDir()) /
        (std::string("pci_facts_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(device());
    std::filesystem::create_directories(root_ / "bus/pci/devices");
    std::filesystem::create_directory_symlink(device(), root_ / "bus/pci/devices" / kId);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  [[nodiscard]] std::filesystem::path port() const {
    return root_ / "devices/pci0000:15/0000:15:01.0";
  }
  [[nodiscard]] std::filesystem::path device() const { return port() / kId; }

  // Configuration space with an Express capability behind another one, and ACS behind another.
  static std::vector<char> config(unsigned char device_control, unsigned char acs_control) {
    std::vector<char> bytes(4096);
    bytes[0x34] = 0x40;
    bytes[0x40] = 0x01;
    bytes[0x41] = 0x60;
    bytes[0x60] = 0x10;
    bytes[0x68] = static_cast<char>(device_control);
    bytes[0x100] = 0x01;  // next at 0x148
    bytes[0x102] = static_cast<char>(0x81);
    bytes[0x103] = 0x14;
    bytes[0x148] = 0x0D;
    bytes[0x14E] = static_cast<char>(acs_control);
    return bytes;
  }
  static void write(const std::filesystem::path& path, const std::vector<char>& bytes) {
    std::ofstream(path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  [[nodiscard]] PciFacts facts() const { return read_pci_facts(root_, kId); }

  static constexpr const char* kId = "0000:19:00.0";
  std::filesystem::path root_;
};

TEST_F(PciFactsTest, ReadsTheSettingsOfDeviceAndPorts) {
  write(device() / "config", config(0x10, 0));
  write(port() / "config", config(0, 0x04));
  EXPECT_EQ(facts().relaxed_ordering, true);
  EXPECT_EQ(facts().acs_redirect, true);
  write(device() / "config", config(0x0F, 0));
  write(port() / "config", config(0, 0x11));
  EXPECT_EQ(facts().relaxed_ordering, false);
  EXPECT_EQ(facts().acs_redirect, false);
  EXPECT_TRUE(facts().unreadable.empty());
}

TEST_F(PciFactsTest, TheIommuIsItsGroupsType) {
  EXPECT_EQ(facts().iommu, "none");
  std::filesystem::create_directories(device() / "iommu_group");
  EXPECT_FALSE(facts().iommu);
  EXPECT_THAT(facts().unreadable.at("iommu"), HasSubstr("not readable"));
  std::ofstream(device() / "iommu_group/type") << "DMA-FQ\n";
  EXPECT_EQ(facts().iommu, "DMA-FQ");
}

TEST_F(PciFactsTest, VirtualFunctionsAreCountedWhereTheDeviceHasAny) {
  EXPECT_EQ(facts().sriov_vfs, 0);
  EXPECT_EQ(facts().sriov_vfs_max, 0);
  std::ofstream(device() / "sriov_totalvfs") << "16\n";
  EXPECT_FALSE(facts().sriov_vfs);
  EXPECT_THAT(facts().unreadable.at("sriov_vfs"), HasSubstr("not readable"));
  std::ofstream(device() / "sriov_numvfs") << "4\n";
  EXPECT_EQ(facts().sriov_vfs, 4);
  EXPECT_EQ(facts().sriov_vfs_max, 16);
  EXPECT_FALSE(facts().unreadable.contains("sriov_vfs"));
  EXPECT_TRUE(read_pci_facts(root_, "0000:77:00.0").unreadable.contains("sriov_vfs"));
}

TEST_F(PciFactsTest, WhatIsNotShownIsUnknownAndNoFact) {
  std::vector<char> shown = config(0x10, 0x04);
  shown.resize(64);
  write(device() / "config", shown);
  write(port() / "config", shown);
  EXPECT_FALSE(facts().relaxed_ordering);
  EXPECT_FALSE(facts().acs_redirect);
  EXPECT_THAT(facts().unreadable.at("relaxed_ordering"), HasSubstr("root"));
  EXPECT_THAT(facts().unreadable.at("acs_redirect"), HasSubstr("root"));
  EXPECT_TRUE(read_pci_facts(root_, "0000:77:00.0").unreadable.contains("iommu"));
}

TEST_F(PciFactsTest, AListInACircleEnds) {
  std::vector<char> bytes = config(0, 0);
  bytes[0x61] = 0x40;
  bytes[0x60] = 0x05;
  bytes[0x148] = 0x02;
  bytes[0x14A] = 0x01;
  bytes[0x14B] = 0x10;  // next: 0x100
  write(device() / "config", bytes);
  write(port() / "config", bytes);
  EXPECT_FALSE(facts().relaxed_ordering);
  EXPECT_FALSE(facts().acs_redirect) << "its end was not seen";
}

TEST_F(PciFactsTest, AListThatIsCutOffIsUnknown) {
  std::vector<char> cut = config(0x10, 0x04);
  cut.resize(0x140);  // before ACS
  write(port() / "config", cut);
  EXPECT_FALSE(facts().acs_redirect);
  write(port() / "config", std::vector<char>(4096, static_cast<char>(0xFF)));  // nobody answers
  EXPECT_FALSE(facts().acs_redirect);
  std::vector<char> none = config(0, 0);
  none[0x102] = none[0x103] = 0;  // the list ends
  write(port() / "config", none);
  EXPECT_EQ(facts().acs_redirect, false);
}

TEST_F(PciFactsTest, AFileThatOpensAndCannotBeReadIsUnknown) {
  std::filesystem::create_directories(device() / "config");
  std::filesystem::create_directories(device() / "iommu_group" / "type");
  std::filesystem::create_directories(device() / "sriov_totalvfs");
  EXPECT_FALSE(facts().relaxed_ordering);
  EXPECT_FALSE(facts().iommu);
  EXPECT_FALSE(facts().sriov_vfs);
}

}  // namespace
}  // namespace assay
