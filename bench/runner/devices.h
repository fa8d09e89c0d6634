// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Which devices a suite runs on.
#pragma once

#include <string>
#include <vector>

#include "reports/inventory.h"
#include "reports/record.h"

namespace assay {

[[nodiscard]] DeviceRef ref_of(const GpuInventory& gpu);
[[nodiscard]] DeviceRef host_ref(const Inventory& inventory);

// Whether the GPU can be told from the others, and be shown alone to a process.
[[nodiscard]] bool has_own_uuid(const Inventory& inventory, const GpuInventory& gpu);

// The GPUs that `wanted` names by index or UUID, in NVML's order; all of them if it is empty.
// Error(kUsage) names one that is not there.
[[nodiscard]] std::vector<const GpuInventory*> chosen_gpus(const Inventory& inventory,
                                                           const std::vector<std::string>& wanted);

}  // namespace assay
