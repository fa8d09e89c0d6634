// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/pcie_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "reports/faults.h"
#include "reports/format_text.h"

namespace assay {
namespace {

// Whether the link had its full generation and width at some time of the row; null if unread.
std::optional<bool> link_is_full(const GpuInventory& gpu, const Record& record) {
  const Telemetry& telemetry = record.telemetry;
  if (!telemetry.pcie_generation || !telemetry.pcie_width || !gpu.pcie_generation_max ||
      !gpu.pcie_width_max) {
    return std::nullopt;
  }
  return telemetry.pcie_generation->max >= *gpu.pcie_generation_max &&
         telemetry.pcie_width->max >= *gpu.pcie_width_max;
}

std::vector<const Record*> pcie_rows(const Report& report, const GpuInventory& gpu) {
  std::vector<const Record*> rows;
  for (const Record& record : report.records) {
    if (record.device.uuid == gpu.uuid && is_pcie(record.work.pipe)) rows.push_back(&record);
  }
  return rows;
}

// The host's memory lay elsewhere than the case wanted it; empty if not, or if nobody knows.
std::string misplaced(const Record& record) {
  const Json wanted = member_of(record.parameters, "host_numa_node");
  const Json found = member_of(record.preparation, "node");
  if (!wanted.is_number_integer() || !found.is_number_integer() || wanted == found) return {};
  return fmt::format("host memory on NUMA node {} instead of {}", found.dump(), wanted.dump());
}

void add_rows(Fault& fault, const std::vector<const Record*>& rows) {
  fault.confirmed_runs = static_cast<int>(rows.size());
  for (const Record* row : rows) fault.evidence.push_back(row->id);
}

// Of rows over a link below its own maximum.
Fault narrow_link(const GpuInventory& gpu, const std::vector<const Record*>& rows) {
  const Telemetry& seen = rows.front()->telemetry;
  Fault fault =
      make_fault("PCI-01", &gpu,
                 fmt::format("{}: PCIe generation {:.0f} x{:.0f} under load, of {} x{}",
                             name_of(gpu), seen.pcie_generation->max, seen.pcie_width->max,
                             *gpu.pcie_generation_max, *gpu.pcie_width_max));
  add_rows(fault, rows);
  return fault;
}

Fault slow_transfers(const GpuInventory& gpu, const std::vector<const Record*>& rows) {
  const Record& first = *rows.front();
  Fault fault = make_fault(
      "PCI-03", &gpu,
      fmt::format("{}: PCIe generation {:.0f} x{:.0f} as it should be, {} {}", name_of(gpu),
                  first.telemetry.pcie_generation->max, first.telemetry.pcie_width->max,
                  case_title(first.id), first.judged.reason));
  fault.effect = host_causes(gpu, rows);
  fault.confidence = "suspected";
  add_rows(fault, rows);
  return fault;
}

}  // namespace

std::string host_causes(const GpuInventory& gpu, const std::vector<const Record*>& rows) {
  std::vector<std::string> causes;
  std::vector<std::string> unread;
  if (!gpu.iommu) unread.emplace_back("IOMMU");
  if (gpu.iommu && gpu.iommu->starts_with("DMA")) {
    causes.push_back(fmt::format("the IOMMU translates ({})", *gpu.iommu));
  }
  if (!gpu.acs_redirect) unread.emplace_back("ACS");
  if (gpu.acs_redirect == true) causes.emplace_back("ACS redirects on the way to the root");
  if (!gpu.relaxed_ordering) unread.emplace_back("relaxed ordering");
  if (gpu.relaxed_ordering == false) causes.emplace_back("relaxed ordering is off");
  if (!gpu.sriov_vfs) unread.emplace_back("SR-IOV");
  if (gpu.sriov_vfs.value_or(0) > 0) {
    causes.push_back(fmt::format("SR-IOV is on ({})", counted(*gpu.sriov_vfs, "function")));
  }
  if (!gpu.numa_node) unread.emplace_back("NUMA node");
  for (const Record* row : rows) {
    const std::string why = misplaced(*row);
    if (!why.empty() && std::ranges::find(causes, why) == causes.end()) causes.push_back(why);
  }
  std::string text = "host: " + (causes.empty() ? "no cause seen" : join(causes, ", "));
  if (!unread.empty()) text += "; not read: " + join(unread, ", ");
  return text;
}

std::vector<Fault> check_pcie(const Report& report) {
  std::vector<Fault> faults;
  for (const GpuInventory& gpu : report.inventory.gpus) {
    std::vector<const Record*> narrow;
    std::vector<const Record*> slow;
    for (const Record* row : pcie_rows(report, gpu)) {
      const std::optional<bool> full = link_is_full(gpu, *row);
      const bool failed =
          row->status == RecordStatus::kOk && row->judged.status == JudgedStatus::kFail;
      if (full == false) narrow.push_back(row);
      if (full == true && failed && row->wrong_runs == 0) slow.push_back(row);
    }
    if (!narrow.empty()) faults.push_back(narrow_link(gpu, narrow));
    if (!slow.empty()) faults.push_back(slow_transfers(gpu, slow));
  }
  return faults;
}

}  // namespace assay
