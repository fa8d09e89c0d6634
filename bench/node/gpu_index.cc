// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/node/gpu_index.h"

#include <array>

#include "bench/node/nvml.h"

namespace assay {

GpuIndices gpu_indices() {
  GpuIndices found;
  const std::shared_ptr<const Nvml> nvml = Nvml::open(&found.why);
  if (nvml == nullptr) return found;
  unsigned count = 0;
  found.why = nvml->call(nvml->nvmlDeviceGetCount_v2, "nvmlDeviceGetCount_v2", &count);
  for (unsigned i = 0; i < count; ++i) {
    nvml_abi::Device device = nullptr;
    std::array<char, 96> uuid{};
    std::string error = nvml->call(nvml->nvmlDeviceGetHandleByIndex_v2,
                                   "nvmlDeviceGetHandleByIndex_v2", i, &device);
    if (error.empty()) {
      error = nvml->call(nvml->nvmlDeviceGetUUID, "nvmlDeviceGetUUID", device, uuid.data(),
                         static_cast<unsigned>(uuid.size()));
    }
    if (error.empty()) {
      found.by_uuid.emplace(uuid.data(), static_cast<int>(i));
    } else if (found.why.empty()) {
      found.why = error;  // the others are still to be told
    }
  }
  return found;
}

}  // namespace assay
