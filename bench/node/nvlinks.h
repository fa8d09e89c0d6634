// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// NVLinks of each GPU and how each pair is joined, as NVML says it.
//
//   read_nvlinks(nvml, device, gpu);                 // of each GPU, once its capability was read
//   inventory.peers = read_peers(nvml, devices, inventory.gpus);
#pragma once

#include <vector>

#include "bench/node/nvml.h"
#include "reports/inventory.h"

namespace assay {

// Fills gpu.nvlinks; what was not read is in gpu.unreadable as "nvlinks", "nvlink_version" and
// "nvlink_ends".
void read_nvlinks(const Nvml& nvml, nvml_abi::Device device, GpuInventory& gpu);

// Each pair once. `devices` are the handles of `gpus`.
[[nodiscard]] std::vector<GpuPeer> read_peers(const Nvml& nvml,
                                              const std::vector<nvml_abi::Device>& devices,
                                              const std::vector<GpuInventory>& gpus);

}  // namespace assay
