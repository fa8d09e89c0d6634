// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/faults.h"

namespace assay {
namespace {

constexpr std::string_view kRma =
    "run nvidia-bug-report.sh, open an RMA with the serial and this report";
constexpr std::string_view kRecheck = "rerun assay accept";

using enum Severity;

// What any load of the GPU suffers from it, and whether this program raises it yet.
constexpr bool kSlowsLoad = true;
constexpr bool kNone = false;
constexpr bool kRaised = true;
constexpr bool kNotYet = false;

// clang-format off: one value a line otherwise.
constexpr FaultKind kCatalogue[] = {
    {"GPU-01", kNotJudged, "operator", kNone, kRaised, "no GPU visible",
     {"lspci -d 10de: on the host", "seating and power", "containers need --gpus all"}},
    {"GPU-02", kFail, "hardware", kNone, kRaised, "fewer GPUs than expected",
     {"power-cycle, rerun assay accept", "reseat the missing board", kRma}},
    {"GPU-03", kFail, "hardware", kNone, kRaised, "GPU lost during the run",
     {"power-cycle, rerun assay accept", "check the power path", kRma}},
    {"GPU-04", kFail, "hardware", kNone, kNotYet, "wrong SKU, or mixed VBIOS or InfoROM",
     {"vendor firmware update", "return the wrong part"}},
    {"GPU-05", kFail, "operator", kNone, kNotYet, "the driver asks for a recovery action",
     {"do what the driver asks", kRecheck}},
    {"PWR-01", kFail, "operator", kSlowsLoad, kRaised, "power limit below the default or the peers",
     {"set the limit back, rerun assay accept", "do not RMA"}},
    {"PWR-02", kFail, "host", kSlowsLoad, kRaised, "power brake asserted",
     {"power supplies and feed", "power cap in the BMC", kRecheck}},
    {"CLK-01", kFail, "operator", kSlowsLoad, kRaised, "clock held without a reason",
     {"nvidia-smi -rgc", kRecheck}},
    {"THM-01", kFail, "host", kSlowsLoad, kRaised, "thermal slowdown",
     {"airflow or cold plate, inlet temperature", kRecheck, kRma}},
    {"ECC-01", kFail, "operator", kNone, kRaised, "ECC is off",
     {"nvidia-smi -e 1, then reset the GPU", kRecheck}},
    {"MEM-01", kFail, "hardware", kNone, kRaised, "uncorrectable memory error under load",
     {"reset the GPU, rerun assay accept", "field diagnostic", kRma}},
    {"MEM-02", kFail, "operator", kNone, kRaised, "a row remap waits for a reset",
     {"reset the GPU, rerun assay accept"}},
    {"MEM-03", kFail, "hardware", kNone, kRaised, "a row remap failed",
     {kRma}},
    {"SDC-01", kFail, "hardware", kNone, kRaised, "wrong result, confirmed by a fresh process",
     {"take the GPU out of service now", kRma}},
    {"PRF-01", kFail, "hardware", kNone, kRaised, "below the floor, nothing found that explains it",
     {"rerun assay accept --gpus with this GPU alone", "field diagnostic", kRma}},
    {"PRF-02", kWarn, "hardware", kNone, kNotYet, "slower than its peers, above the floor",
     {"watch"}},
    {"PRF-03", kFail, "operator", kNone, kRaised, "all GPUs low alike",
     {"check the floor's source, the driver and the cooling", "do not RMA the GPUs"}},
    {"PCI-01", kFail, "host", kNone, kRaised, "PCIe width or generation down",
     {"reseat the board", "riser and slot", "BIOS settings"}},
    {"PCI-02", kWarn, "hardware", kNone, kRaised, "PCIe replays or AER errors rising",
     {"reseat the board", "cable or retimer"}},
    {"PCI-03", kFail, "host", kNone, kRaised, "PCIe link as it should be, transfers slow",
     {"NUMA binding, ACS, IOMMU, relaxed ordering", "do not RMA"}},
    {"NVL-01", kFail, "hardware", kNone, kRaised, "one GPU slow, or its links down, to all others",
     {"reset the GPU", "reseat the board", kRma}},
    {"NVL-02", kFail, "hardware", kNone, kRaised, "one pair slow, or not on NVLink",
     {"reset both GPUs", "power-cycle, rerun assay accept", "board or bridge: open an RMA for it and both GPUs"}},
    {"NVL-03", kWarn, "hardware", kNone, kRaised, "NVLink replay, recovery or CRC errors rising",
     {"reset the GPU", "field diagnostic"}},
    {"FAB-01", kFail, "host", kNone, kRaised, "fabric manager or fabric state not ready",
     {"start the fabric manager", "match its version with the driver"}},
    {"NCC-01", kFail, "operator", kNone, kNotYet, "collectives slow, pairs sound",
     {"NCCL environment variables", "NVLS switched off?"}},
    {"NCC-02", kFail, "hardware", kNone, kNotYet, "a rank hung or was lost",
     {"recheck without it"}},
    {"NIC-01", kFail, "host", kNone, kNotYet, "port down, slow or erring",
     {"cable", "optic", "switch port"}},
    {kAnyXid, kFail, "hardware", kNone, kRaised, "another Xid during the run",
     {"NVIDIA's Xid catalogue says which action"}},
    {"ENV-01", kNotJudged, "operator", kSlowsLoad, kRaised, "GPU busy, in MIG mode or shared",
     {"free the GPU", kRecheck}},
    {"UNK-01", kNotJudged, "operator", kNone, kRaised, "could not be read or run",
     {"mend what is named", kRecheck}},
};
// clang-format on

}  // namespace

std::span<const FaultKind> fault_catalogue() { return kCatalogue; }

}  // namespace assay
