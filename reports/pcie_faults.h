// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What slow transfers over PCIe have in common, to the host and between GPUs.
#pragma once

#include <string>
#include <vector>

#include "reports/report.h"

namespace assay {

// "host: the IOMMU translates (DMA-FQ); not read: ACS": what of the host may slow this GPU's
// transfers, and what could not be looked at.
[[nodiscard]] std::string host_causes(const GpuInventory& gpu,
                                      const std::vector<const Record*>& rows);

}  // namespace assay
