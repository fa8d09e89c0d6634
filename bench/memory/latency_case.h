// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The latency of device memory: chains in buffers of their own.
#pragma once

#include <vector>

#include "bench/harness/cuda/chase_case.h"
#include "bench/memory/latency_spec.h"

namespace assay {

class LatencyCase : public ChaseCase {
 public:
  // Throws Skip where the buffers do not fit into what is free.
  LatencyCase(const LatencySpec& spec, int slots, cudaStream_t stream);

 private:
  std::vector<DeviceBuffer> buffers_;
};

}  // namespace assay
