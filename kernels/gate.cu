// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gate.h"

namespace assay {
namespace {

__device__ std::uint64_t global_time_ns() {
  std::uint64_t ns = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
  return ns;
}

__device__ std::uint32_t processor_id() {
  std::uint32_t id = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

__global__ void gate_kernel(GateState* state, std::uint32_t ticket, std::uint64_t timeout_ns) {
  const volatile std::uint32_t* const opened = &state->opened;
  const std::uint64_t start = global_time_ns();
  // Tickets wrap round after 2^32 gates; the difference does not mind.
  while (static_cast<std::int32_t>(*opened - ticket) < 0) {
    if (global_time_ns() - start > timeout_ns) {
      *static_cast<volatile std::uint32_t*>(&state->timed_out) = ticket;
      __threadfence_system();
      return;
    }
  }
}

// Several blocks may meet on one processor: each writes a whole stamp of that processor, and any of
// them will do.
__global__ void stamp_kernel(ulonglong2* stamps, int sm_count) {
  const std::uint32_t id = processor_id();
  if (threadIdx.x != 0 || id >= static_cast<std::uint32_t>(sm_count)) return;
  const auto cycles = static_cast<std::uint64_t>(clock64());
  stamps[id] = make_ulonglong2(cycles, global_time_ns());
}

__global__ void spin_kernel(std::uint64_t duration_ns, std::uint64_t* spun_ns) {
  const std::uint64_t start = global_time_ns();
  std::uint64_t now = start;
  while (now - start < duration_ns) now = global_time_ns();
  *spun_ns = now - start;
}

}  // namespace

cudaError_t launch_gate(GateState* state, std::uint32_t ticket, std::uint64_t timeout_ns,
                        cudaStream_t stream) {
  gate_kernel<<<1, 1, 0, stream>>>(state, ticket, timeout_ns);
  return cudaGetLastError();
}

cudaError_t stamp_clocks(ClockStamp* stamps, int sm_count, cudaStream_t stream) {
  static_assert(sizeof(ClockStamp) == sizeof(ulonglong2));
  constexpr unsigned kBlocksAProcessor = 4;  // so that hardly any is left without one
  stamp_kernel<<<kBlocksAProcessor* static_cast<unsigned>(sm_count), 32, 0, stream>>>(
      reinterpret_cast<ulonglong2*>(stamps), sm_count);
  return cudaGetLastError();
}

cudaError_t spin(std::uint64_t duration_ns, std::uint64_t* spun_ns, cudaStream_t stream) {
  spin_kernel<<<1, 1, 0, stream>>>(duration_ns, spun_ns);
  return cudaGetLastError();
}

}  // namespace assay
