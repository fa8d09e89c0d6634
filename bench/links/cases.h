// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Transfers between host and GPU, and between GPUs (peers.h), each checked on the side where it
// arrives, against the generator.
//
//   HostLink link = find_host_link();
//   std::vector<CaseEntry> entries = link_cases(device, link, find_peers(), stream);
//
// A copy of page-locked memory is asynchronous and timed behind the gate. One of pageable memory
// synchronises by itself; its launch returns when it has ended, for the step timer (timer.h).
//
// `both`: the copy to the device runs on the timed stream, the one back on a second stream that
// waits for an event before the first and is waited for after it. So the events of the timed stream
// enclose the two, and the figure is the bytes of both over the time until the later one has ended:
// what one direction did while the other was already done counts as the slower's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/harness/case.h"
#include "bench/harness/cuda/device.h"
#include "bench/links/peers.h"
#include "bench/links/spec.h"
#include "bench/node/numa.h"

namespace assay {

// What of the host belongs to the current device.
struct HostLink {
  std::optional<std::string> bus_id;
  NumaNode near;
  std::optional<int> far;  // null: there is no other node with memory, or `near` is not known
  // The host's page tables serve the device, as over NVLink-C2C: the link is not PCIe.
  bool coherent = false;
};
[[nodiscard]] HostLink find_host_link();

// The cases that a list names.
[[nodiscard]] std::vector<CaseEntry> link_cases(const CudaDevice& device, const HostLink& link,
                                                const PeerGpus& peers, cudaStream_t stream);
// Any case by its id; null for one of another family.
[[nodiscard]] std::optional<CaseEntry> link_case(const std::string& id, const CudaDevice& device,
                                                 const HostLink& link, const PeerGpus& peers,
                                                 cudaStream_t stream);

}  // namespace assay
