// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What of the host's PCI settings slows the transfers of a device, as far as this process may read
// it: IOMMU and SR-IOV from sysfs, the others from configuration space, of which the kernel shows
// the first 64 bytes alone to all but root.
//
//   PciFacts facts = read_pci_facts(sysfs_root(), "0000:19:00.0");
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace assay {

struct PciFacts {
  // Type of the device's IOMMU group as the kernel names it ("identity": passed through, "DMA",
  // "DMA-FQ": translated), "none" for a device that is in no group.
  std::optional<std::string> iommu;
  // Whether a port between the device and its root redirects requests or completions upstream.
  std::optional<bool> acs_redirect;
  std::optional<bool> relaxed_ordering;  // whether the device may ask for it
  // Virtual functions that are switched on, and that the device offers: 0 and 0 without SR-IOV.
  std::optional<int> sriov_vfs;
  std::optional<int> sriov_vfs_max;
  std::map<std::string, std::string> unreadable;
};

[[nodiscard]] PciFacts read_pci_facts(const std::filesystem::path& sysfs,
                                      const std::string& bus_id);

}  // namespace assay
