// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What the load did to the GPUs, for the terminal summary.
#pragma once

#include <string>

#include "reports/report.h"

namespace assay {

// "Xid 0  ECC +0  remap +0  PCIe replay +0  NVLink not read", over all GPUs. What one of them could
// not tell is "not read", unless another counted something: then it is the least.
[[nodiscard]] std::string counters_text(const Report& report);

// "hottest 64 C, 23 C below slowdown; power cap in up to 71 % of the time (normal at 700 W)"
[[nodiscard]] std::string heat_and_power_text(const Report& report);

}  // namespace assay
