// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Network cards by sysfs: RDMA devices (/sys/class/infiniband) and network interfaces
// (/sys/class/net) that belong to a PCI device. No address of a card is read.
//
//   for (const Nic& nic : read_nics(sysfs_root())) ...
#pragma once

#include <filesystem>
#include <vector>

#include "reports/topology.h"

namespace assay {

// One a PCI function, by bus id.
[[nodiscard]] std::vector<Nic> read_nics(const std::filesystem::path& sysfs);

}  // namespace assay
