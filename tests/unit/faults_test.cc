// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/unit/sample_report.h"

namespace assay {
namespace {

using namespace samples;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

Inventory sample_inventory(int gpus) { return sample_report(gpus).inventory; }

TEST(Catalogue, EveryCodeOnceAndWithAnAction) {
  std::set<std::string_view> codes;
  for (const FaultKind& kind : fault_catalogue()) {
    EXPECT_TRUE(codes.insert(kind.code).second) << kind.code;
    EXPECT_FALSE(kind.meaning.empty()) << kind.code;
    EXPECT_FALSE(kind.actions.empty()) << kind.code;
    EXPECT_THAT((std::set<std::string_view>{"operator", "hardware", "host", "suite"}),
                testing::Contains(kind.owner))
        << kind.code;
  }
  EXPECT_THAT(codes, SizeIs(30));
}

TEST(Catalogue, UnknownNeverFails) {
  for (const FaultKind& kind : fault_catalogue()) {
    if (kind.code == "UNK-01" || kind.code == "ENV-01" || kind.code == "GPU-01") {
      EXPECT_EQ(kind.severity, Severity::kNotJudged) << kind.code;
    }
  }
}

TEST(MakeFault, FillsFromTheCatalogueAndTheGpu) {
  const GpuInventory gpu = h200(3);
  const Fault fault = make_fault("MEM-03", &gpu, "title");
  EXPECT_EQ(fault.owner, "hardware");
  EXPECT_EQ(fault.severity, Severity::kFail);
  EXPECT_EQ(fault.scope.gpu, 3);
  EXPECT_EQ(fault.scope.serial, gpu.serial);
  EXPECT_EQ(fault.scope.module_id, gpu.module_id);
  EXPECT_EQ(fault.scope.bus_id, gpu.bus_id);
  EXPECT_EQ(fault.scope.uuid, gpu.uuid);
  EXPECT_THROW((void)make_fault("FOO-01", nullptr, ""), Error);
}

TEST(Gates, SoundNodePasses) {
  for (const int gpus : {1, 8}) {
    const GateResults gates = check_gates(sample_inventory(gpus));
    EXPECT_THAT(gates.faults, IsEmpty());
    EXPECT_EQ(gates.passed, gates.total);
    EXPECT_EQ(gates.unread, 0);
  }
}

struct GateCase {
  const char* code;
  Severity severity;
  std::function<void(Inventory&)> change;
  const char* title;
};

TEST(Gates, OneChangeOneFault) {
  using I = Inventory;
  const std::vector<GateCase> cases = {
      {"GPU-02", Severity::kFail, [](I& i) { i.gpus.pop_back(); },
       "2 GPUs on the PCI bus, 1 in NVML; missing: 0000:29:00.0"},
      {"GPU-02", Severity::kNotJudged,
       [](I& i) {
         i.gpus.pop_back();
         i.host.virtualisation = "container";
       },
       "hidden from this container, or lost"},
      {"UNK-01", Severity::kNotJudged,
       [](I& i) {
         i.gpus.clear();
         i.nvml.reset();
         i.nvml_error = "nvmlInit: Driver/library version mismatch";
       },
       "version mismatch"},
      {"ENV-01", Severity::kNotJudged, [](I& i) { i.gpus[1].mig = true; },
       "GPU 1 is in MIG mode (no slices)"},
      {"ENV-01", Severity::kNotJudged, [](I& i) { i.gpus[1].processes = {{77, std::nullopt}}; },
       "GPU 1 is busy: pid 77"},
      {"ECC-01", Severity::kFail, [](I& i) { i.gpus[1].ecc = false; },
       "ECC is off (on after the next reset)"},
      {"MEM-01", Severity::kFail, [](I& i) { i.gpus[1].after.ecc_uncorrected_volatile = 1; },
       "uncorrectable memory errors +1"},
      {"MEM-01", Severity::kFail, [](I& i) { i.gpus[1].after.ecc_uncorrected_aggregate = 4; },
       "uncorrectable memory errors +4"},
      {"MEM-01", Severity::kFail, [](I& i) { i.gpus[1].after.remapped_rows_uncorrected = 1; },
       "+1 during load"},
      {"MEM-02", Severity::kFail, [](I& i) { i.gpus[1].after.remap_pending = true; }, "waits"},
      {"MEM-02", Severity::kFail, [](I& i) { i.gpus[1].before.remap_pending = true; }, "waits"},
      {"MEM-03", Severity::kFail, [](I& i) { i.gpus[1].before.remap_failure = true; }, "failed"},
      {"PWR-01", Severity::kFail, [](I& i) { i.gpus[1].power_limit_w = 500; },
       "GPU 1: power limit 500 W; board default 700 W; peers 700 W"},
      {"PWR-01", Severity::kFail, [](I& i) { i.gpus[1].after.power_limit_w = 650; }, "650 W"},
      {"GPU-05", Severity::kFail, [](I& i) { i.gpus[1].recovery_action = "reset"; }, "'reset'"},
      {"PCI-01", Severity::kWarn, [](I& i) { i.gpus[1].pcie_width = 8; }, "PCIe x8 of x16"},
      {"PCI-02", Severity::kWarn, [](I& i) { i.gpus[1].after.pcie_replays = 9; }, "replays +9"},
  };
  for (const GateCase& c : cases) {
    Inventory inventory = sample_inventory(2);
    c.change(inventory);
    const GateResults gates = check_gates(inventory);
    ASSERT_THAT(gates.faults, SizeIs(1)) << c.code << " " << c.title;
    EXPECT_EQ(gates.faults[0].code, c.code);
    EXPECT_EQ(gates.faults[0].severity, c.severity) << c.code;
    EXPECT_THAT(gates.faults[0].title, HasSubstr(c.title)) << c.code;
    EXPECT_THAT(gates.faults[0].evidence, Not(IsEmpty())) << c.code;
    EXPECT_THAT(gates.faults[0].evidence, Each(HasSubstr("inventory."))) << c.code;
  }
}

TEST(Gates, CountersThatWereHighBeforeAreNoFault) {
  Inventory inventory = sample_inventory(1);
  inventory.gpus[0].before.pcie_replays = inventory.gpus[0].after.pcie_replays = 12;
  inventory.gpus[0].before.ecc_uncorrected_aggregate = 1;
  inventory.gpus[0].after.ecc_uncorrected_aggregate = 1;
  EXPECT_THAT(check_gates(inventory).faults, IsEmpty());
}

TEST(Gates, LimitBelowPeersAtItsDefault) {
  Inventory inventory = sample_inventory(2);
  inventory.gpus[0].power_limit_default_w = 600;
  inventory.gpus[0].power_limit_w = 600;
  const GateResults gates = check_gates(inventory);
  ASSERT_THAT(gates.faults, SizeIs(1));
  EXPECT_EQ(gates.faults[0].scope.gpu, 0);
  EXPECT_THAT(gates.faults[0].actions.front(), HasSubstr("nvidia-smi -i 0000:19:00.0 -pl 700"));
}

TEST(Gates, WhatIsUnreadIsNeitherPassedNorAFault) {
  Inventory inventory;
  inventory.gpus.emplace_back();
  inventory.nvml = "13.580";
  inventory.gpus[0].unreadable["processes"] = "No Permission";
  const GateResults gates = check_gates(inventory);
  EXPECT_THAT(gates.faults, IsEmpty());
  EXPECT_EQ(gates.total, 0);
  EXPECT_EQ(gates.unread, 11);
}

TEST(Gates, BusIdsOfDifferentForm) {
  Inventory inventory = sample_inventory(2);
  inventory.pci_gpus = {"0000:19:00.0", "0000:29:00.0", "0000:AB:00.0"};
  inventory.gpus.push_back(h200(2));
  inventory.gpus[2].bus_id = "00000000:ab:00.0";
  EXPECT_THAT(check_gates(inventory).faults, IsEmpty());
}

TEST(Load, PowerBrakeAndThermalSlowdown) {
  Report report = sample_report(2);
  record_of(report, kBf16, 1).telemetry.event_reasons["hw_power_brake_slowdown"] = 0.3;
  record_of(report, kFp8, 1).telemetry.event_reasons["sw_thermal_slowdown"] = 0.001;
  record_of(report, kBf16, 1).telemetry.event_reasons["hw_thermal_slowdown"] = 0.25;
  const std::vector<Fault> faults = check_load(report);
  ASSERT_THAT(faults, SizeIs(2));
  EXPECT_EQ(faults[0].code, "PWR-02");
  EXPECT_THAT(faults[0].evidence, ElementsAre(kBf16));
  EXPECT_EQ(faults[1].code, "THM-01");
  EXPECT_EQ(faults[1].scope.gpu, 1);
  EXPECT_THAT(faults[1].evidence, ElementsAre(kBf16, kFp8));
  EXPECT_EQ(faults[1].title,
            "GPU 1: thermal slowdown in up to 25 % of the samples; hottest 64 C; slowdown at 87 C");
}

TEST(Load, SoftwarePowerCapIsNormal) {
  Report report = sample_report(1);
  record_of(report, kBf16, 0).telemetry.event_reasons = {{"sw_power_cap", 1.0}};
  EXPECT_THAT(check_load(report), IsEmpty());
}

}  // namespace
}  // namespace assay
