// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Streaming bandwidth of device memory: read, write, copy and triad of 4 GiB a tensor, and a read
// of 24 MiB from memory (cold) and from the L2 (warm); each exact result checked against the
// generator (kernels/stream.h). Bytes count what is read plus what is written. Source of the
// pattern: McCalpin's STREAM, with 16-byte accesses.
#pragma once

#include <vector>

#include "bench/harness/case.h"
#include "bench/harness/cuda/device.h"

namespace assay {

[[nodiscard]] std::vector<CaseEntry> memory_cases(const CudaDevice& device, cudaStream_t stream);

}  // namespace assay
