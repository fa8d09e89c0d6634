// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Collective operations over NCCL, each checked on every rank, element by element.
//
//   CollectiveSite site{.device = smallest_device(exchange, device), .ranks = exchange.size(),
//   ...}; std::vector<CaseEntry> entries = collective_cases(site);
//
// `work.bytes` is the size times bus_factor(), so that the rate is nccl-tests' busbw, and
// `parameters.bus_factor` gives back its algbw. With one rank nothing crosses a link: the rate is
// that of the size, of a copy within the device, and the pipe is "collective_local". A size up to
// kLargestLatencyBytes is rated by its time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/collectives/nccl.h"
#include "bench/collectives/spec.h"
#include "bench/harness/case.h"
#include "bench/harness/cuda/device.h"

namespace assay {

inline constexpr const char* kCollectivePipe = "collective";
inline constexpr const char* kLocalCollectivePipe = "collective_local";

struct CollectiveSite {
  CudaDevice device;
  int ranks = 1;
  cudaStream_t stream = nullptr;
  // Made when the first case is: a list of ids needs none.
  std::function<Communicator&()> group;
};

// The own device with the least memory and compute capability and the largest L2 of all ranks: what
// they all can, and what they derive buffer sets from alike. Every rank calls it.
[[nodiscard]] CudaDevice smallest_device(Exchange& exchange, const CudaDevice& own);

// The cases that a list names.
[[nodiscard]] std::vector<CaseEntry> collective_cases(const CollectiveSite& site);
// Any case by its id; null for one of another family.
[[nodiscard]] std::optional<CaseEntry> collective_case(const std::string& id,
                                                       const CollectiveSite& site);

}  // namespace assay
