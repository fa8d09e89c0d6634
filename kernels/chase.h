// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A pointer chase: one thread, each load of which needs the one before. The chain visits every node
// of a buffer once, in random order (random_order.h), and closes:
//
//   chase_build(buffer, RandomOrder(nodes), stream);
//   chase_run(buffer, order(7), 1000, end, stream);   // *end == chase_node(buffer, order(1007))
//
// A node is kChaseSpacing bytes, a line of the caches, and holds the address of the next. Loads go
// through the L1. Asynchronous on `stream`; the launch's error is returned.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/random_order.h"

namespace assay {

inline constexpr std::int64_t kChaseSpacing = 128;

// Address of a node, as the chain holds it.
[[nodiscard]] inline std::uint64_t chase_node(const void* buffer, std::int64_t node) {
  return reinterpret_cast<std::uint64_t>(buffer) + static_cast<std::uint64_t>(node * kChaseSpacing);
}

// Place i of the order is followed by place i + 1, the last one by the first.
[[nodiscard]] cudaError_t chase_build(void* buffer, const RandomOrder& order, cudaStream_t stream);

// From node `start`, `loads` times on; a multiple of 16. `end` receives the address that the last
// one gave.
[[nodiscard]] cudaError_t chase_run(const void* buffer, std::int64_t start, std::int64_t loads,
                                    std::uint64_t* end, cudaStream_t stream);

}  // namespace assay
