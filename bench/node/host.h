// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reports/inventory.h"

namespace assay {

// From /proc, /sys and uname; what is not readable is null with its reason.
[[nodiscard]] HostInventory read_host();

// Version of the loaded kernel driver from /sys/module or /proc; null if none is loaded.
[[nodiscard]] std::optional<std::string> loaded_driver();

}  // namespace assay
