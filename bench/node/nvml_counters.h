// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/node/counters.h"
#include "bench/node/nvml.h"

namespace assay {

// Every counter of CounterReading, through NVML: 2 to 5 ms.
[[nodiscard]] CounterReading read_nvml_counters(const Nvml& nvml, nvml_abi::Device device);

// nvlink_replays, nvlink_recoveries and nvlink_crc_errors alone, over all links.
void read_nvlink_counters(const Nvml& nvml, nvml_abi::Device device, CounterReading& reading);

}  // namespace assay
