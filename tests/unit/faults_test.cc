// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

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

Inventory sample_inventory(int gpus) { return sample_report(gpus).inventory; }

TEST(Catalogue, EveryCodeOnceAndWithAnAction) {
  std::set<std::string_view> codes;
  for (const FaultKind& kind : fault_catalogue()) {
    EXPECT_TRUE(codes.insert(kind.code).second) << kind.code;
    EXPECT_FALSE(kind.meaning.empty()) << kind.code;
    EXPECT_FALSE(kind.actions.front().empty()) << kind.code;
    EXPECT_THAT((std::set<std::string_view>{"operator", "hardware", "host"}),
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

// Each code that is declared reachable is raised by some change of a sound report, and no other.
TEST(Catalogue, ReachableCodesAreTheOnesRaised) {
  const std::vector<double> slow = {500, 501, 502, 503, 504};
  const std::vector<std::function<void(Report&)>> changes = {
      [](Report& r) { r = sample_report(0); },
      [](Report& r) { r.inventory.gpus.pop_back(); },
      [](Report& r) {
        r.inventory.gpus[1].unreadable["after"] = "nvmlDeviceGetHandleByUUID: lost";
      },
      [](Report& r) { r.inventory.gpus[1].power_limit_w = 500; },
      [](Report& r) { r.records[0].telemetry.event_reasons["hw_power_brake_slowdown"] = 1; },
      [](Report& r) { r.records[0].telemetry.event_reasons["hw_thermal_slowdown"] = 1; },
      [](Report& r) { r.records[0].telemetry.event_reasons["hw_slowdown"] = 1; },
      [](Report& r) { r.inventory.gpus[1].ecc = false; },
      [](Report& r) { r.inventory.gpus[1].after.ecc_uncorrected_volatile = 1; },
      [](Report& r) { r.inventory.gpus[1].after.remap_pending = true; },
      [](Report& r) { r.inventory.gpus[1].after.remap_failure = true; },
      [](Report& r) { r.records[0].wrong_runs = 2; },
      [&](Report& r) { set_values(r, kBf16, 1, slow); },
      [&](Report& r) {
        for (const int gpu : {0, 1}) set_values(r, kBf16, gpu, slow);
      },
      [](Report& r) { r.inventory.gpus[1].pcie_width = 8; },
      [](Report& r) {
        r.records[0].work.pipe = kPcie;
        r.records[0].telemetry.pcie_generation = Range{5, 5, 5};
        r.records[0].telemetry.pcie_width = Range{16, 16, 16};
        for (Target& one : r.targets[0].targets) {
          if (one.id == r.records[0].id)
            one = {one.id, "gb_per_s", "pcie", 50, 55, 0.2, 1, 1, "x", "2026-12-01"};
        }
        r.records[0].metrics = {{"gb_per_s", {}}};
        Metric& metric = r.records[0].metrics["gb_per_s"];
        metric.unit = "GB/s";
        metric.primary = true;
        metric.values = {30, 30.1, 30.2, 30.3, 30.4};
      },
      [](Report& r) { r.inventory.gpus[1].after.pcie_replays = 9; },
      [](Report& r) {
        r = on_switch(2);
        take_switch_link_down(r, 1, 3);
      },
      [](Report& r) {
        r = four_direct();
        take_link_down(r, 0, 1, 3, 3);
      },
      [](Report& r) {
        r = on_switch(2);
        for (const std::size_t gpu : {0U, 1U}) take_switch_link_down(r, gpu, 3);
      },
      [](Report& r) { r.inventory.gpus[1].xids = {{{62, "2026-11-30T17:05:12Z"}}}; },
      [](Report& r) { r.records[0].telemetry.deltas["nvlink_replays"] = 1; },
      [](Report& r) { r.inventory.gpus[1].mig = true; },
      [](Report& r) {
        r.inventory.gpus.clear();
        r.inventory.nvml.reset();
      },
  };
  std::set<std::string> raised;
  for (const auto& change : changes) {
    Report report = sample_report(2);
    change(report);
    judge(report);
    for (const Fault& fault : report.faults) raised.emplace(find_kind(fault.code)->code);
  }
  std::set<std::string> reachable;
  for (const FaultKind& kind : fault_catalogue()) {
    if (kind.reachable) reachable.insert(std::string(kind.code));
  }
  EXPECT_EQ(raised, reachable);
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
    EXPECT_THAT(gates.unread, IsEmpty());
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
       "hidden from this container or job, or lost"},
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
      {"GPU-03", Severity::kFail,
       [](I& i) { i.gpus[1].unreadable["after"] = "nvmlDeviceGetHandleByUUID: GPU is lost"; },
       "GPU 1 was lost during the run: nvmlDeviceGetHandleByUUID: GPU is lost"},
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

TEST(Gates, AGpuThatIsNotOursIsHiddenAndOneThatIsIsMissing) {
  Inventory inventory = sample_inventory(2);
  inventory.host.virtualisation = "bare metal";
  const std::string lost = inventory.pci_gpus[1];
  inventory.gpus.pop_back();
  EXPECT_EQ(check_gates(inventory).faults[0].severity, Severity::kFail);
  inventory.hidden_gpus = {lost};
  EXPECT_EQ(check_gates(inventory).faults[0].severity, Severity::kNotJudged);
}

TEST(Gates, WhatNvmlSaysOfItselfIsNotPassedOver) {
  Inventory inventory = sample_inventory(1);
  inventory.nvml_error = "GPU 1: nvmlDeviceGetHandleByIndex_v2: GPU is lost";
  ASSERT_THAT(check_gates(inventory).faults, SizeIs(1));
  EXPECT_EQ(check_gates(inventory).faults[0].code, "UNK-01");
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
  EXPECT_THAT(gates.unread, SizeIs(10));
  EXPECT_THAT(gates.unread, Contains("GPU count: the PCI bus could not be listed"));
  EXPECT_THAT(gates.unread, Contains("GPU 0 other processes: No Permission"));
  EXPECT_THAT(gates.unread, Contains("GPU 0 ECC mode: not read"));
}

// One card that is gone is lost; when NVML itself went, nobody knows.
TEST(Gates, GoneAfterTheLoad) {
  const auto codes = [](const Inventory& inventory) {
    std::vector<std::string> all;
    for (const Fault& fault : check_gates(inventory).faults) all.push_back(fault.code);
    return all;
  };
  Inventory inventory = sample_inventory(2);
  for (GpuInventory& gpu : inventory.gpus) {
    gpu.after = {};
    gpu.unreadable["after"] = "nvmlInit_v2: Driver Not Loaded";
  }
  EXPECT_THAT(codes(inventory), ElementsAre("UNK-01", "UNK-01"));
  const GateResults gates = check_gates(inventory);
  EXPECT_EQ(gates.passed, gates.total);
  EXPECT_THAT(gates.unread, Contains("GPU 1 after the load: nvmlInit_v2: Driver Not Loaded"));
  EXPECT_THAT(gates.unread, Contains("GPU 1 PCIe replays: nvmlInit_v2: Driver Not Loaded"));
  for (const char* why : {"libnvidia-ml.so.1: gone", "nvmlDeviceGetHandleByUUID: not in this NVML",
                          "nvmlDeviceGetHandleByUUID: Driver Not Loaded"}) {
    for (GpuInventory& gpu : inventory.gpus) gpu.unreadable["after"] = why;
    EXPECT_THAT(codes(inventory), ElementsAre("UNK-01", "UNK-01")) << why;
  }
  inventory.gpus[0].unreadable.clear();  // NVML answers for this one
  EXPECT_THAT(codes(inventory), ElementsAre("GPU-03"));
  inventory.gpus[1].uuid.clear();  // it was never looked for
  EXPECT_THAT(codes(inventory), ElementsAre("UNK-01"));
  inventory = sample_inventory(1);
  inventory.gpus[0].unreadable["after"] = "nvmlDeviceGetHandleByUUID: GPU is lost";
  EXPECT_THAT(codes(inventory), ElementsAre("GPU-03"));
}

TEST(NotChecked, SaysWhatNothingLooksAt) {
  EXPECT_THAT(not_checked(sample_report(0)), IsEmpty());
  EXPECT_THAT(not_checked(sample_report(1)),
              ElementsAre("NVLink (one GPU); kernel log (not read)"));
  Report report = sample_report(2);
  report.inventory.gpus[1].ecc.reset();
  report.inventory.gpus[1].unreadable["ecc"] = "nvmlDeviceGetEccMode: Not Supported";
  report.inventory.gpus[1].xids.reset();
  report.inventory.gpus[1].unreadable["xids"] = "not watched";
  EXPECT_THAT(
      not_checked(report),
      ElementsAre("GPU 1 ECC mode: nvmlDeviceGetEccMode: Not Supported", "GPU 1 Xid: not watched",
                  "NVLink (not measured); kernel log (not read)"));
  report = on_switch(2);
  add_pair_rows(report, "p2p_write", 390);
  EXPECT_THAT(not_checked(report), ElementsAre("kernel log (not read)"));
}

TEST(Gates, BusIdsOfDifferentForm) {
  Inventory inventory = sample_inventory(2);
  inventory.pci_gpus = {"0000:19:00.0", "0000:29:00.0", "0000:AB:00.0"};
  inventory.gpus.push_back(h200(2));
  inventory.gpus[2].bus_id = "00000000:ab:00.0";
  EXPECT_THAT(check_gates(inventory).faults, IsEmpty());
}

}  // namespace
}  // namespace assay
