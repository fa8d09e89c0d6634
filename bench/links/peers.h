// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The other GPUs that this process sees, by the index under which the node knows them, and the
// cases that transfer to and from one of them.
//
//   PeerGpus peers = find_peers();
//   CaseEntry entry = peer_case(*parse_link_id("links/p2p_read/512MiB+to=3/burst"), device, peers,
//                               stream);
//
// Where the driver takes a copy through the host its launch waits for its end, and the step timer
// times it: what queues such a copy may itself have to wait, and would for ever behind a gate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/harness/case.h"
#include "bench/harness/cuda/device.h"
#include "bench/links/spec.h"

namespace assay {

struct PeerGpu {
  int ordinal = 0;  // CUDA's
  std::string uuid;
  std::optional<int> index;  // NVML's
  bool direct = false;       // the own GPU reaches its memory
};

struct PeerGpus {
  std::optional<int> own_index;  // of device 0
  std::vector<PeerGpu> others;
  std::string why;  // an index is not known

  [[nodiscard]] const PeerGpu* find(int index) const;
};
[[nodiscard]] PeerGpus find_peers();

// Skipped, with the reason, where the peer is not there, is the own GPU, or cannot be reached by
// what does not work without.
[[nodiscard]] CaseEntry peer_case(const LinkSpec& spec, const CudaDevice& device,
                                  const PeerGpus& peers, cudaStream_t stream);

// The transfers that `spec` names: one for each other GPU if it says so, and there are any.
[[nodiscard]] std::vector<LinkSpec> each_peer(const LinkSpec& spec, const PeerGpus& peers);

// Of a case by its id, "/alone" behind it or not.
[[nodiscard]] bool waits_for_its_end(const std::string& id, const PeerGpus& peers);

}  // namespace assay
