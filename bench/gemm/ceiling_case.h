// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The ceilings of kernels/ceiling.h as cases, each checked like any product:
//
//   gemm/ceiling/bf16/burst          wgmma (fp16, bf16, tf32, fp8, int8; compute capability 9.0)
//   gemm/ceiling/bf16_mma/burst      mma.sync (fp16, bf16, tf32, int8)
//   gemm/ceiling/fp64_tc/burst       mma.sync on the FP64 tensor cores
//   gemm/ceiling/fp32/burst          fused multiply-adds (fp32, fp64)
#pragma once

#include <vector>

#include "bench/harness/case.h"
#include "bench/harness/cuda/device.h"

namespace assay {

// All of them, burst and sustained; `device` must outlive the entries.
[[nodiscard]] std::vector<CaseEntry> ceiling_cases(const CudaDevice& device, cudaStream_t stream);

}  // namespace assay
