// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/links/peers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/links/copy_case.h"
#include "bench/links/peer_case.h"
#include "bench/node/gpu_index.h"
#include "kernels/chase.h"

namespace assay {
namespace {

std::string visible(const PeerGpus& peers) {
  std::vector<int> indices;
  for (const PeerGpu& peer : peers.others) {
    if (peer.index) indices.push_back(*peer.index);
  }
  return indices.empty() ? "none" : fmt::format("{}", fmt::join(indices, " "));
}

double memory_needed(const LinkSpec& spec, const CudaDevice& device) {
  if (spec.chases()) return 0;
  return link_slots(device.l2_bytes, spec.bytes) * spec.bytes_moved();
}

std::string why_not(const LinkSpec& spec, const CudaDevice& device, const PeerGpus& peers) {
  const int to = spec.to.value_or(kEachPeer);
  if (peers.others.empty()) return "one GPU: there is no peer";
  if (to == kEachPeer) {
    return fmt::format("to=each is for suites; visible are: {}", visible(peers));
  }
  if (to == peers.own_index) return fmt::format("GPU {} is this GPU, no peer", to);
  const PeerGpu* const peer = peers.find(to);
  if (peer == nullptr && !peers.why.empty()) {
    return fmt::format("which GPU is {} is not known: {}", to, peers.why);
  }
  if (peer == nullptr) {
    return fmt::format("no GPU {} beside this one; visible are: {}", to, visible(peers));
  }
  if (!peer->direct && (spec.sm || spec.chases())) {
    return fmt::format("no direct access to the memory of GPU {}: only copies reach it", to);
  }
  const double needed = memory_needed(spec, device);
  if (needed <= 0.9 * static_cast<double>(device.memory_bytes)) return {};
  return fmt::format("needs {:.0f} GiB of device memory, the device has {:.0f}", needed / (1 << 30),
                     static_cast<double>(device.memory_bytes) / (1 << 30));
}

}  // namespace

const PeerGpu* PeerGpus::find(int index) const {
  const auto found = std::ranges::find(others, index, &PeerGpu::index);
  return found == others.end() ? nullptr : &*found;
}

PeerGpus find_peers() {
  int count = 0;
  check_cuda(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  PeerGpus peers;
  if (count < 2) return peers;
  GpuIndices node = gpu_indices();
  peers.why = std::move(node.why);
  const auto index_of = [&](const std::string& uuid) {
    const auto found = node.by_uuid.find(uuid);
    return found == node.by_uuid.end() ? std::nullopt : std::optional(found->second);
  };
  peers.own_index = index_of(device_uuid(0));
  for (int ordinal = 1; ordinal < count; ++ordinal) {
    PeerGpu peer{.ordinal = ordinal, .uuid = device_uuid(ordinal), .index = {}, .direct = {}};
    peer.index = index_of(peer.uuid);
    peer.direct = can_reach(0, ordinal);
    peers.others.push_back(std::move(peer));
  }
  return peers;
}

CaseEntry peer_case(const LinkSpec& spec, const CudaDevice& device, const PeerGpus& peers,
                    cudaStream_t stream) {
  const PeerGpu* const peer = peers.find(spec.to.value_or(kEachPeer));
  CaseEntry entry;
  entry.info.id = id_of(spec);
  entry.info.parameters = parameters_of(spec);
  entry.info.parameters["peer_index"] = peer == nullptr ? Json() : Json(*peer->index);
  entry.info.parameters["peer_uuid"] = peer == nullptr ? Json() : Json(peer->uuid);
  entry.info.parameters["direct"] = peer == nullptr ? Json() : Json(peer->direct);
  entry.info.conditions.peers = Peers::kPair;
  if (spec.chases()) {
    entry.info.parameters["span_bytes"] = peer_chain_nodes(device.l2_bytes) * kChaseSpacing;
    entry.info.work.loads = kChaseLoads;
  }
  entry.info.work.bytes = spec.bytes_moved();
  entry.info.work.pipe = spec.both_ways() ? kPeerBoth : kPeer;
  entry.info.data = {{"fill", spec.chases() ? "random cycle" : "32-bit counter pattern"},
                     {"seed", kLinkSeed}};
  if (const std::string why = why_not(spec, device, peers); !why.empty()) {
    entry.skip = why;
    return entry;
  }
  const PeerEnds ends{.own = 0, .peer = peer->ordinal, .direct = peer->direct};
  entry.make = [spec, device, ends, stream]() -> std::unique_ptr<Case> {
    if (spec.chases()) return std::make_unique<PeerChaseCase>(device, ends, stream);
    return std::make_unique<PeerCopyCase>(spec, device, ends, stream);
  };
  return entry;
}

std::vector<LinkSpec> each_peer(const LinkSpec& spec, const PeerGpus& peers) {
  std::vector<LinkSpec> all;
  for (const PeerGpu& peer : peers.others) {
    if (spec.to != kEachPeer || !peer.index) continue;
    all.push_back(spec);
    all.back().to = *peer.index;
  }
  if (all.empty()) all.push_back(spec);
  return all;
}

bool waits_for_its_end(const std::string& id, const PeerGpus& peers) {
  std::string plain = id;
  if (plain.ends_with(kAloneSuffix)) plain.resize(plain.size() - std::string(kAloneSuffix).size());
  const std::optional<LinkSpec> spec = parse_link_id(plain);
  if (!spec || !spec->to) return spec && spec->pageable;
  const PeerGpu* const peer = peers.find(*spec->to);
  return peer != nullptr && !peer->direct;
}

}  // namespace assay
