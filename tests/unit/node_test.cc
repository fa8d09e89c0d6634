// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Against tests/fakes/fake_nvml.cc, which CTest puts in the library path.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "bench/node/environment.h"
#include "bench/node/inventory.h"
#include "bench/node/pci.h"
#include "bench/node/sensor.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class Node : public ::testing::Test {
 protected:
  void set(const char* name, const char* value) {
    setenv(name, value, 1);
    names_.push_back(name);
  }
  void TearDown() override {
    for (const char* name : names_) unsetenv(name);
  }
  static Inventory inventory() {
    return read_inventory(load_gpu_table(std::filesystem::path(ASSAY_SOURCE_DIR) / "configs/gpus"));
  }

 private:
  std::vector<const char*> names_;
};

TEST_F(Node, ReadsACardWhole) {
  const Inventory found = inventory();
  ASSERT_EQ(found.gpus.size(), 1U) << found.nvml_error;
  const GpuInventory& gpu = found.gpus[0];
  EXPECT_EQ(gpu.sku, "h200-sxm");
  EXPECT_EQ(gpu.sm_count, 132);
  EXPECT_EQ(gpu.bus_id, "0000:10:00.0");
  EXPECT_EQ(gpu.power_limit_w, 700);
  EXPECT_EQ(gpu.memory_bus_bits, 6016);
  EXPECT_EQ(gpu.ecc, true);
  EXPECT_EQ(gpu.before.remap_failure, false);
  EXPECT_EQ(found.cuda_driver, "13.0");
  EXPECT_THAT(gpu.unreadable.at("inforom"), HasSubstr("not in this NVML"));
}

TEST_F(Node, WhatFailsIsNullWithItsReason) {
  set("FAKE_NVML_FAIL", "nvmlDeviceGetSerial");
  const Inventory found = inventory();
  EXPECT_FALSE(found.gpus[0].serial.has_value());
  EXPECT_EQ(found.gpus[0].unreadable.at("serial"), "nvmlDeviceGetSerial: Not Supported");
}

TEST_F(Node, NvmlThatDoesNotStartIsSaid) {
  set("FAKE_NVML_INIT_ERROR", "9");
  const Inventory found = inventory();
  EXPECT_TRUE(found.gpus.empty());
  EXPECT_EQ(found.nvml_error, "nvmlInit_v2: Driver Not Loaded");
  EXPECT_THAT(make_nvml_sensor("GPU-x")->read().unknown.at("power_w"), HasSubstr("Not Loaded"));
}

TEST_F(Node, MigSlicesAreNamedAcrossGaps) {
  set("FAKE_NVML_MIG", "1");
  const Inventory found = inventory();
  ASSERT_EQ(found.gpus[0].mig_slices.size(), 2U);
  EXPECT_THAT(found.gpus[0].mig_slices[1].name, HasSubstr("MIG 1g.18gb"));
  EXPECT_THAT(found.gpus[0].mig_slices[1].uuid, HasSubstr("MIG-"));
}

TEST_F(Node, AnUnknownNameIsNoCard) {
  set("FAKE_NVML_NAME", "NVIDIA H20");
  EXPECT_FALSE(inventory().gpus[0].sku.has_value());
}

TEST_F(Node, HealthAfterFindsTheCardByUuidAndSaysWhenItIsGone) {
  set("FAKE_NVML_GPUS", "2");
  Inventory found = inventory();
  set("FAKE_NVML_GPUS", "1");
  read_health_after(found);
  EXPECT_EQ(found.gpus[0].after.temperature_c, 60);
  EXPECT_FALSE(found.gpus[1].after.temperature_c.has_value());
  EXPECT_TRUE(found.gpus[1].unreadable.contains("after"));
}

TEST_F(Node, SensorReadsClocksAndReasons) {
  const auto sensor = make_nvml_sensor("GPU-00000000-0000-0000-0000-000000000000");
  const SensorReading reading = sensor->read();
  EXPECT_EQ(reading.sm_clock_mhz, 1500);
  EXPECT_EQ(reading.power_w, 690);
  EXPECT_THAT(reading.event_reasons, ElementsAre("sw_power_cap"));
}

TEST_F(Node, OnlyListedVariablesAreRecorded) {
  set("NCCL_ALGO", "Ring");
  set("SECRET_TOKEN", "x");
  const Json recorded = recorded_environment();
  EXPECT_EQ(recorded["NCCL_ALGO"], "Ring");
  EXPECT_FALSE(recorded.contains("SECRET_TOKEN"));
  EXPECT_THAT(utc_now(), MatchesRegex("20..-..-..T..:..:..Z"));
}

TEST(Pci, FindsNvidiaDisplayControllersOnly) {
  const auto root =
      std::filesystem::temp_directory_path() / ("assay-pci-" + std::to_string(getpid()));
  const auto add = [&](const char* id, const char* vendor, const char* device_class) {
    const auto device = root / "bus/pci/devices" / id;
    std::filesystem::create_directories(device);
    std::ofstream(device / "vendor") << vendor << '\n';
    std::ofstream(device / "class") << device_class << '\n';
  };
  add("0000:19:00.0", "0x10de", "0x030200");
  add("0000:03:00.0", "0x10de", "0x030000");
  add("0000:05:00.0", "0x10de", "0x068000");  // an NVSwitch
  add("0000:06:00.0", "0x1002", "0x030000");
  EXPECT_THAT(nvidia_gpus_on_pci(root), ElementsAre("0000:03:00.0", "0000:19:00.0"));
  std::filesystem::remove_all(root);
  EXPECT_TRUE(nvidia_gpus_on_pci(root).empty());
}

}  // namespace
}  // namespace assay
