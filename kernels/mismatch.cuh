// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// How a check fills a MismatchReport.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/mismatch.h"

namespace assay {

inline cudaError_t reset_mismatches(MismatchReport* report, cudaStream_t stream) {
  const cudaError_t error = cudaMemsetAsync(report, 0, sizeof(*report), stream);
  if (error != cudaSuccess) return error;
  return cudaMemsetAsync(&report->first, 0xFF, sizeof(report->first), stream);
}

__device__ inline void report_if(bool wrong, std::int64_t index, MismatchReport* report) {
  if (!wrong) return;
  atomicAdd(&report->count, 1ULL);
  atomicMin(&report->first, static_cast<unsigned long long>(index));
}

}  // namespace assay
