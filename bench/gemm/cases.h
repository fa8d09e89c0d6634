// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The cases of the family, by id (spec.h, linear_spec.h, ceiling_case.h). What --list prints is a
// choice: squares in every precision, sparse ones where there are, and three layers; any other
// product or layer is made from its id.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/harness/case.h"
#include "bench/harness/cuda/device.h"

namespace assay {

[[nodiscard]] std::vector<CaseEntry> gemm_cases(const CudaDevice& device, cudaStream_t stream);

// Null for an id of no product; throws Error(kUsage) as parse_gemm_id does. `device` must outlive
// the entry.
[[nodiscard]] std::optional<CaseEntry> gemm_case(const std::string& id, const CudaDevice& device,
                                                 cudaStream_t stream);

}  // namespace assay
