// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Against tests/fakes/fake_nvml.cc, which CTest puts in the library path.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "bench/harness/sampler.h"
#include "bench/node/environment.h"
#include "bench/node/gpu_index.h"
#include "bench/node/inventory.h"
#include "bench/node/pci.h"
#include "bench/node/sensor.h"
#include "bench/node/xid_watch.h"
#include "tests/unit/fake_nvml_test.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr const char* kGpu0 = "GPU-00000000-0000-0000-0000-000000000000";
constexpr const char* kGpu1 = "GPU-00000000-0000-0000-0000-000000000001";

using Node = FakeNvmlTest;

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
  const auto sensor = make_nvml_sensor(kGpu0);
  const SensorReading reading = sensor->read();
  EXPECT_EQ(reading.sm_clock_mhz, 1500);
  EXPECT_EQ(reading.power_w, 690);
  EXPECT_EQ(reading.utilisation_pct, 99);
  EXPECT_EQ(reading.memory_used_bytes, 771 << 20);
  EXPECT_EQ(reading.pcie_generation, 5);
  EXPECT_EQ(reading.pcie_width, 16);
  EXPECT_GT(reading.energy_j, 0);
  EXPECT_THAT(reading.event_reasons, ElementsAre("sw_power_cap"));
  EXPECT_THAT(reading.unknown, IsEmpty());
}

TEST_F(Node, ReasonsAreNamedByTheirBits) {
  set("FAKE_NVML_REASONS", "0xe2");
  EXPECT_THAT(make_nvml_sensor(kGpu0)->read().event_reasons,
              ElementsAre("applications_clocks_setting", "sw_thermal_slowdown",
                          "hw_thermal_slowdown", "hw_power_brake_slowdown"));
}

TEST_F(Node, WhatCannotBeIsUnknownAndNoFigure) {
  struct Lie {
    const char* setting;
    const char* quantity;
    const char* reason;
  };
  for (const Lie& lie :
       {Lie{"sm_clock=0", "sm_clock_mhz", "implausible: 0"},
        Lie{"sm_clock=2300", "sm_clock_mhz", "implausible: 2300"},
        Lie{"memory_clock=0xFFFFFFFF", "memory_clock_mhz", "implausible: 4294967295"},
        Lie{"power=0", "power_w", "implausible: 0"},
        Lie{"power=2000001", "power_w", "implausible: 2000001"},
        Lie{"temperature=0", "temperature_c", "implausible: 0"},
        Lie{"temperature=151", "temperature_c", "implausible: 151"},
        Lie{"utilisation=101", "utilisation_pct", "implausible: 101"},
        Lie{"memory_used=0xFFFFFFFFFFFFFFFF", "memory_used_bytes",
            "implausible: 18446744073709551615"},
        Lie{"energy=0xFFFFFFFFFFFFFFFF", "energy_j", "implausible: 18446744073709551615"},
        Lie{"pcie_generation=0", "pcie_generation", "implausible: 0"},
        Lie{"reasons=0xFFFFFFFF", "event_reasons", "implausible: 4294967295"}}) {
    set("FAKE_NVML_LIE", lie.setting);
    const SensorReading reading = make_nvml_sensor(kGpu0)->read();
    EXPECT_THAT(reading.unknown, ElementsAre(Pair(lie.quantity, lie.reason))) << lie.setting;
    const Telemetry telemetry = summarise({reading, reading});
    EXPECT_EQ(telemetry.unknown.at(lie.quantity), lie.reason);
  }
}

TEST_F(Node, EnergyIsWhatTheCounterGained) {
  std::vector<SensorReading> readings(3);
  readings[0].energy_j = 100;
  readings[1].energy_j = 100;
  readings[2].energy_j = 170.5;
  readings[0].at_s = 10;
  readings[1].at_s = 10.6;
  readings[2].at_s = 10.8;
  EXPECT_EQ(summarise(readings).energy_j, 70.5);
  EXPECT_DOUBLE_EQ(summarise(readings).energy_s.value(), 10.8 - 10);
  readings[2].at_s = 10.49;
  EXPECT_FALSE(summarise(readings).energy_j.has_value());
  EXPECT_FALSE(summarise(readings).energy_s.has_value());
  EXPECT_EQ(summarise(readings).unknown.at("energy_j"),
            "the counter was read over 0.49 s, less than 0.5 s");
  readings[2].energy_j = 99;
  EXPECT_THAT(summarise(readings).unknown.at("energy_j"), HasSubstr("went down"));
  readings.pop_back();
  EXPECT_FALSE(summarise(readings).energy_j.has_value());
  EXPECT_THAT(summarise(readings).unknown.at("energy_j"), HasSubstr("did not move"));
  EXPECT_THAT(summarise({SensorReading{}}).unknown.at("energy_j"), HasSubstr("not read"));
}

TEST_F(Node, NvmlThatFailsMidwayLeavesReasons) {
  const auto sensor = make_nvml_sensor(kGpu0);
  set("FAKE_NVML_FAIL_AFTER", "2");
  const SensorReading reading = sensor->read();
  EXPECT_EQ(reading.sm_clock_mhz, 1500);
  EXPECT_EQ(reading.memory_clock_mhz, 3201);
  EXPECT_FALSE(reading.power_w.has_value());
  EXPECT_EQ(reading.unknown.at("power_w"), "nvmlDeviceGetPowerUsage: GPU is lost");
  EXPECT_EQ(reading.unknown.size(), 8U);
  const CounterReading counters = sensor->counters();
  EXPECT_THAT(counters.values, IsEmpty());
  EXPECT_EQ(counters.unknown.size(), 12U);
  // The inventory of a card that went is no crash either.
  set("FAKE_NVML_FAIL_AFTER", "20");
  EXPECT_LE(inventory().gpus.size(), 1U);
}

TEST_F(Node, CountersByName) {
  const CounterReading reading = make_nvml_sensor(kGpu0)->counters();
  for (const char* name : {"power_cap_ns", "thermal_slowdown_ns", "power_brake_ns", "sync_boost_ns",
                           "pcie_replays", "ecc_corrected", "ecc_uncorrected",
                           "remapped_rows_corrected", "remapped_rows_uncorrected"}) {
    EXPECT_TRUE(reading.values.contains(name)) << name;
  }
  EXPECT_EQ(reading.unknown.size(), 3U);
  EXPECT_EQ(reading.unknown.at("nvlink_crc_errors"), "nvmlDeviceGetNvLinkState: Not Supported");
  EXPECT_THAT(make_blind_sensor("host")->counters().values, IsEmpty());
}

// Drivers number the slowdown times differently; what is not certain is unknown.
TEST_F(Node, FieldIdsAreProbedAndCrossChecked) {
  const auto sensor = make_nvml_sensor(kGpu0);
  set("FAKE_NVML_BRAKE_NS", "1000");
  for (const char* ids : {"251", "269"}) {
    set("FAKE_NVML_FIELDS", ids);
    Telemetry telemetry;
    const CounterReading before = sensor->counters();
    add_deltas(telemetry, before, sensor->counters());
    EXPECT_EQ(telemetry.deltas.at("power_brake_ns"), 1000) << ids;
  }
  set("FAKE_NVML_FIELDS", "both");
  EXPECT_THAT(sensor->counters().unknown.at("power_brake_ns"), HasSubstr("both answer"));
  set("FAKE_NVML_FIELDS", "none");
  EXPECT_EQ(sensor->counters().unknown.at("power_brake_ns"), "NVML field 269: Not Supported");
  EXPECT_EQ(sensor->counters().values.at("thermal_slowdown_ns"), 0) << "of the older counter";
  set("FAKE_NVML_FIELDS", "269");
  set("FAKE_NVML_LIE", "74=9000000000000");
  EXPECT_THAT(sensor->counters().unknown.at("power_cap_ns"), HasSubstr("9000000000000 ns"));
  set("FAKE_NVML_LIE", "74=0xFFFFFFFFFFFFFFFF,271=0xFFFFFFFFFFFFFFFF,ecc=0xFFFFFFFF");
  CounterReading lying = sensor->counters();
  EXPECT_TRUE(lying.values.contains("power_cap_ns")) << "of the violation status";
  EXPECT_THAT(lying.unknown.at("power_brake_ns"), HasSubstr("implausible"));
  EXPECT_EQ(lying.unknown.at("ecc_corrected"), "implausible: 4294967295");
  set("FAKE_NVML_FAIL", "nvmlDeviceGetViolationStatus");
  set("FAKE_NVML_LIE", "75=8000000000");
  lying = sensor->counters();
  EXPECT_THAT(lying.unknown.at("thermal_slowdown_ns"),
              HasSubstr("disagree: 0 ns and 8000000000 ns"));
}

TEST_F(Node, NvlinkErrorsAreSummedOverAllLinks) {
  set("FAKE_NVML_NVLINK", "total");
  CounterReading reading = make_nvml_sensor(kGpu0)->counters();
  EXPECT_EQ(reading.values.at("nvlink_replays"), 7);
  EXPECT_EQ(reading.values.at("nvlink_recoveries"), 2);
  EXPECT_EQ(reading.values.at("nvlink_crc_errors"), 5);
  set("FAKE_NVML_NVLINK", "link");
  reading = make_nvml_sensor(kGpu0)->counters();
  EXPECT_EQ(reading.values.at("nvlink_replays"), 2);
  EXPECT_EQ(reading.values.at("nvlink_recoveries"), 4);
  EXPECT_EQ(reading.values.at("nvlink_crc_errors"), 6);
  EXPECT_EQ(inventory().gpus[0].before.nvlink_crc_errors, 6);
}

TEST(Deltas, OnlyWhatIsKnownOnBothSides) {
  Telemetry telemetry;
  const CounterReading before = {
      10,
      {{"pcie_replays", 3}, {"ecc_corrected", 5}, {"power_cap_ns", 0}, {"nvlink_replays", 1}},
      {{"ecc_uncorrected", "Not Supported"}}};
  const CounterReading after = {12,
                                {{"pcie_replays", 5},
                                 {"ecc_corrected", 4},
                                 {"power_cap_ns", 9'000'000'000},
                                 {"ecc_uncorrected", 7}},
                                {{"nvlink_replays", "GPU is lost"}}};
  add_deltas(telemetry, before, after);
  EXPECT_THAT(telemetry.deltas, ElementsAre(Pair("pcie_replays", 2)));
  EXPECT_EQ(telemetry.load_s, 2);
  EXPECT_EQ(telemetry.unknown.at("ecc_corrected"), "went down from 5 to 4");
  EXPECT_EQ(telemetry.unknown.at("ecc_uncorrected"), "before the load: Not Supported");
  EXPECT_EQ(telemetry.unknown.at("nvlink_replays"), "after the load: GPU is lost");
  EXPECT_THAT(telemetry.unknown.at("power_cap_ns"), HasSubstr("implausible: +9000000000 ns"));
  EXPECT_THAT(telemetry.unknown, SizeIs(4));
}

class XidWatching : public Node {
 protected:
  XidWatching() { set("FAKE_NVML_GPUS", "2"); }
};

TEST_F(XidWatching, AnXidInTheRunIsTheGpus) {
  Inventory found = inventory();
  EXPECT_EQ(found.gpus[0].unreadable.at("xids"), "not watched");
  XidWatch watch({kGpu0, kGpu1});
  set("FAKE_NVML_XID", "79");
  set("FAKE_NVML_XID_GPU", "1");
  watch.stop_into(found);
  ASSERT_TRUE(found.gpus[0].xids && found.gpus[1].xids);
  EXPECT_THAT(*found.gpus[0].xids, IsEmpty());
  ASSERT_THAT(*found.gpus[1].xids, SizeIs(1));
  EXPECT_EQ(found.gpus[1].xids->front().xid, 79);
  EXPECT_THAT(found.gpus[1].xids->front().time, MatchesRegex("20..-..-..T..:..:..Z"));
  EXPECT_FALSE(found.gpus[0].unreadable.contains("xids"));
}

TEST_F(XidWatching, WhatIsNotWatchedSaysWhy) {
  Inventory found = inventory();
  XidWatch({kGpu0}).stop_into(found);
  EXPECT_TRUE(found.gpus[0].xids.has_value());
  EXPECT_EQ(found.gpus[1].unreadable.at("xids"), "not watched");
  for (const char* function : {"nvmlEventSetCreate", "nvmlDeviceRegisterEvents"}) {
    set("FAKE_NVML_FAIL", function);
    found = inventory();
    XidWatch({kGpu0}).stop_into(found);
    EXPECT_FALSE(found.gpus[0].xids.has_value());
    EXPECT_EQ(found.gpus[0].unreadable.at("xids"), std::string(function) + ": Not Supported");
  }
  set("FAKE_NVML_INIT_ERROR", "9");
  XidWatch({kGpu0}).stop_into(found);
  EXPECT_EQ(found.gpus[0].unreadable.at("xids"), "nvmlInit_v2: Driver Not Loaded");
}

TEST_F(XidWatching, NvmlThatFailsMidwayEndsTheWatchAndItEndsSoon) {
  Inventory found = inventory();
  XidWatch watch({kGpu0});
  set("FAKE_NVML_FAIL_AFTER", "0");
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto before = std::chrono::steady_clock::now();
  watch.stop_into(found);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(1));
  EXPECT_THAT(found.gpus[0].unreadable.at("xids"), HasSubstr("ended early"));
}

TEST_F(Node, IndicesOfGpusAreFoundByUuid) {
  set("FAKE_NVML_GPUS", "3");
  const GpuIndices node = gpu_indices();
  EXPECT_EQ(node.by_uuid.size(), 3U);
  EXPECT_EQ(node.by_uuid.at(kGpu0), 0);
  EXPECT_EQ(node.by_uuid.at("GPU-00000000-0000-0000-0000-000000000002"), 2);
  EXPECT_EQ(node.why, "");
}

TEST_F(Node, IndicesThatNvmlDoesNotTellSayWhy) {
  set("FAKE_NVML_FAIL", "nvmlDeviceGetUUID");
  EXPECT_THAT(gpu_indices().why, HasSubstr("nvmlDeviceGetUUID: Not Supported"));
  EXPECT_TRUE(gpu_indices().by_uuid.empty());
  set("FAKE_NVML_INIT_ERROR", "9");
  EXPECT_THAT(gpu_indices().why, HasSubstr("Driver Not Loaded"));
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
