// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Square matrix products through cuBLASLt: FP32 (IEEE), TF32, BF16 and FP8 E4M3 with fast
// accumulation, 1024^3, 4096^3 and 8192^3, burst and sustained, uniform [-1,1) data. 2 m n k
// operations. Checked in FP64 by kernels/gemm_check.h within the tolerance of tolerance.h.
#pragma once

#include <vector>

#include "bench/harness/case.h"
#include "bench/harness/cuda/device.h"

namespace assay {

[[nodiscard]] std::vector<CaseEntry> gemm_cases(const CudaDevice& device, cudaStream_t stream);

}  // namespace assay
