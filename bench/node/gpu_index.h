// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Which index NVML, and nvidia-smi, give each GPU: a CUDA program numbers those that it sees its
// own way.
//
//   GpuIndices node = gpu_indices();
//   node.by_uuid.at("GPU-...");   // 3
#pragma once

#include <map>
#include <string>

namespace assay {

struct GpuIndices {
  std::map<std::string, int> by_uuid;
  std::string why;  // one is missing, or all are
};
[[nodiscard]] GpuIndices gpu_indices();

}  // namespace assay
