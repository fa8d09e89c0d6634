// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The cases of device memory: those that are listed, and any other that an id describes (spec.h).
// Source of the operations: McCalpin's STREAM and Deakin and McIntosh-Smith's BabelStream.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/harness/case.h"
#include "bench/harness/cuda/device.h"

namespace assay {

// `device` and `stream` must outlive the entries.
[[nodiscard]] std::vector<CaseEntry> memory_cases(const CudaDevice& device, cudaStream_t stream);

// Null where the id is no case of this family; throws Error(kUsage) where it cannot be.
[[nodiscard]] std::optional<CaseEntry> memory_case(const std::string& id, const CudaDevice& device,
                                                   cudaStream_t stream);

}  // namespace assay
