// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The node's inventory and the counters round a load, read through NVML and sysfs: no CUDA context,
// well under a second.
#pragma once

#include "reports/gpus.h"
#include "reports/inventory.h"

namespace assay {

// Everything but `after` of each GPU. `table` names the cards.
[[nodiscard]] Inventory read_inventory(const GpuTable& table);

// Fills `after` of each GPU of `inventory`, found again by UUID; a GPU that is gone leaves nulls
// and `unreadable["after"]`.
void read_health_after(Inventory& inventory);

}  // namespace assay
