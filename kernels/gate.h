// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What a timer needs on the device: a gate that holds a stream back until the host has queued its
// work, stamps of the processors' own counters, and a kernel of known length to check timers by.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace assay {

// In pinned host memory that the device sees. The gate with ticket t opens once `opened` >= t, so
// that a gate that is opened early, or late, never lets another through.
struct GateState {
  std::uint32_t opened;     // written by the host
  std::uint32_t timed_out;  // written by the device: the last ticket that waited too long
};

// Holds `stream` back until the host sets state->opened to `ticket`, at most `timeout_ns`: a host
// that waits for the stream while the gate is shut would else wait for ever. One thread; it leaves
// the clock of an idle card where it is.
[[nodiscard]] cudaError_t launch_gate(GateState* state, std::uint32_t ticket,
                                      std::uint64_t timeout_ns, cudaStream_t stream);

// The cycle counter of one processor and the time, read together. Zero where no block ran.
struct ClockStamp {
  std::uint64_t cycles;
  std::uint64_t time_ns;
};

// Fills stamps[0 .. sm_count), one a processor, indexed by its hardware id.
[[nodiscard]] cudaError_t stamp_clocks(ClockStamp* stamps, int sm_count, cudaStream_t stream);

// Runs for `duration_ns` by the device's clock (its resolution: 32 ns on Hopper, up to 1 us on
// older cards) and stores how long that was, between its own first and last reading.
[[nodiscard]] cudaError_t spin(std::uint64_t duration_ns, std::uint64_t* spun_ns,
                               cudaStream_t stream);

}  // namespace assay
