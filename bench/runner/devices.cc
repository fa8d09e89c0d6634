// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner/devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "reports/error.h"

namespace assay {

DeviceRef ref_of(const GpuInventory& gpu) { return {gpu.uuid, gpu.name, gpu.index, gpu.sku}; }

DeviceRef host_ref(const Inventory& inventory) {
  DeviceRef ref;
  ref.uuid = kHostUuid;
  ref.name = inventory.host.cpu_model;
  return ref;
}

bool has_own_uuid(const Inventory& inventory, const GpuInventory& gpu) {
  return !gpu.uuid.empty() &&
         std::ranges::count(inventory.gpus, gpu.uuid, &GpuInventory::uuid) == 1;
}

std::vector<const GpuInventory*> chosen_gpus(const Inventory& inventory,
                                             const std::vector<std::string>& wanted) {
  std::vector<const GpuInventory*> chosen;
  std::set<std::string> known;
  for (const GpuInventory& gpu : inventory.gpus) {
    const std::string index = std::to_string(gpu.index);
    known.insert({index, gpu.uuid});
    const bool named = std::find(wanted.begin(), wanted.end(), index) != wanted.end() ||
                       std::find(wanted.begin(), wanted.end(), gpu.uuid) != wanted.end();
    if (wanted.empty() || named) chosen.push_back(&gpu);
  }
  for (const std::string& name : wanted) {
    if (!known.contains(name)) {
      throw Error(ExitCode::kUsage,
                  fmt::format("--gpus {}: no such GPU; there are: {}", name,
                              known.empty() ? "none" : fmt::format("{}", fmt::join(known, " "))));
    }
  }
  return chosen;
}

}  // namespace assay
