// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/memory/latency_case.h"

#include "bench/memory/stream_case.h"
#include "kernels/chase.h"

namespace assay {

LatencyCase::LatencyCase(const LatencySpec& spec, int slots, cudaStream_t stream)
    : ChaseCase(spec.nodes(), spec.loads(), stream) {
  require_free_memory(slots * spec.bytes);
  for (int slot = 0; slot < slots; ++slot) {
    buffers_.emplace_back(spec.nodes() * kChaseSpacing);
    add_chain(buffers_.back().data());
  }
}

}  // namespace assay
