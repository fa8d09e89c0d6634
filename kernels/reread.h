// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// One kernel that reads a buffer again and again past the L1, so that what holds the buffer (the
// L2, or memory) answers and starting the kernel costs nothing beside it. Access j of thread t, of
// T threads, reads vector (t + j T) mod `vectors`; a sum of the words is stored a block.
//
//   stream_fill(StreamOp::kRead, {.elements = 4 * shape.vectors}, buffer, seed, stream);
//   reread(shape, buffer, sums, stream);
//   reread_check(shape, sums, seed, report, stream);
//
// Asynchronous on `stream`; the launch's error is returned.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/mismatch.h"

namespace assay {

inline constexpr int kRereadThreads = 512;  // a block
inline constexpr int kRereadLoads = 8;      // of a thread in flight

struct RereadShape {
  std::int64_t vectors = 0;  // of 16 bytes, that the buffer holds
  int blocks = 0;            // all of which run at once
  std::int64_t steps = 1;    // of kRereadLoads accesses a thread

  [[nodiscard]] constexpr std::int64_t accesses() const {
    return std::int64_t{kRereadThreads} * blocks * steps * kRereadLoads;
  }
};

[[nodiscard]] cudaError_t reread(const RereadShape& shape, const void* buffer, std::uint32_t* sums,
                                 cudaStream_t stream);

// Every block's sum against the generator.
[[nodiscard]] cudaError_t reread_check(const RereadShape& shape, const std::uint32_t* sums,
                                       std::uint64_t seed, MismatchReport* report,
                                       cudaStream_t stream);

}  // namespace assay
