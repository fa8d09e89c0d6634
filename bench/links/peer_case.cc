// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/links/peer_case.h"

#include <algorithm>

#include "bench/links/copy_case.h"
#include "kernels/chase.h"
#include "kernels/counter_random.h"
#include "kernels/hash.h"
#include "kernels/link.h"
#include "kernels/stream.h"

namespace assay {
namespace {

// For the rest of the process, where `from` can reach `to` at all.
void open_access(int from, int to) {
  if (from == to || !can_reach(from, to)) return;
  const CurrentDevice on(from);
  const cudaError_t error = cudaDeviceEnablePeerAccess(to, 0);
  if (error == cudaErrorPeerAccessAlreadyEnabled) {
    (void)cudaGetLastError();
  } else {
    check_cuda(error, "cudaDeviceEnablePeerAccess");
  }
}

void open_access(const PeerEnds& ends) {
  open_access(ends.own, ends.peer);
  open_access(ends.peer, ends.own);
}

}  // namespace

bool can_reach(int from, int to) {
  if (from == to) return true;
  int can = 0;
  check_cuda(cudaDeviceCanAccessPeer(&can, from, to), "cudaDeviceCanAccessPeer");
  return can != 0;
}

LinkEnd::LinkEnd(int ordinal, std::string name) : ordinal_(ordinal), name_(std::move(name)) {
  const CurrentDevice on(ordinal_);
  stream_ = make_stream();
  report_ = DeviceBuffer(sizeof(MismatchReport));
  hash_ = DeviceBuffer(sizeof(std::uint64_t));
}

unsigned char* LinkEnd::allocate(std::int64_t bytes) {
  const CurrentDevice on(ordinal_);
  try {
    return buffers_.emplace_back(bytes).as<unsigned char>();
  } catch (const Skip& skip) {
    throw Skip(name_ + ": " + skip.what());
  }
}

void LinkEnd::wait() const {
  check_cuda(cudaStreamSynchronize(stream_->get()), "cudaStreamSynchronize");
}

void LinkEnd::fill(void* data, std::int64_t capacity, std::uint64_t seed) {
  const CurrentDevice on(ordinal_);
  check_cuda(stream_fill(StreamOp::kCopy, {.elements = capacity / 4}, data, seed, stream_->get()),
             "stream_fill");
  wait();
}

void LinkEnd::poison(void* data, std::int64_t capacity) {
  const CurrentDevice on(ordinal_);
  check_cuda(cudaMemsetAsync(data, 0xFF, static_cast<std::size_t>(capacity), stream_->get()),
             "cudaMemsetAsync");
  wait();
}

MismatchReport LinkEnd::check(const void* data, std::int64_t bytes, std::int64_t capacity,
                              std::uint64_t seed) {
  const CurrentDevice on(ordinal_);
  auto* const report = report_.as<MismatchReport>();
  check_cuda(check_link_copy(data, bytes, capacity, seed, report, stream_->get()),
             "check_link_copy");
  return read_back<MismatchReport>(report, stream_->get());
}

std::uint64_t LinkEnd::hash(const void* data, std::int64_t bytes) {
  const CurrentDevice on(ordinal_);
  check_cuda(hash_bytes(data, bytes, hash_.as<std::uint64_t>(), stream_->get()), "hash_bytes");
  return read_back<std::uint64_t>(hash_.data(), stream_->get());
}

PeerCopyCase::PeerCopyCase(const LinkSpec& spec, const CudaDevice& device, const PeerEnds& ends,
                           cudaStream_t stream)
    : spec_(spec),
      ends_(ends),
      capacity_(link_capacity(spec.bytes)),
      slots_(link_slots(device.l2_bytes, spec.bytes)),
      blocks_(kLinkBlocksPerSm * device.sm_count),
      stream_(stream),
      own_(ends.own, "this GPU"),
      peer_(ends.peer, "the peer"),
      both_ways_(stream) {
  if (ends_.direct) open_access(ends_);
  if (spec.transfer != Transfer::kP2pRead) add_direction(true);
  if (spec.transfer != Transfer::kP2pWrite) add_direction(false);
}

void PeerCopyCase::add_direction(bool to_peer) {
  LinkEnd& from = to_peer ? own_ : peer_;
  LinkEnd& to = to_peer ? peer_ : own_;
  const std::int64_t all = slots_ * capacity_;
  const Direction& direction =
      directions_.emplace_back(Direction{to_peer, from.allocate(all), to.allocate(all)});
  for (int slot = 0; slot < slots_; ++slot) {
    from.fill(direction.source + offset(slot), capacity_, link_seed(slot, to_peer));
  }
}

void PeerCopyCase::copy(const Direction& direction, int slot, cudaStream_t stream) const {
  const unsigned char* const from = direction.source + offset(slot);
  unsigned char* const to = direction.destination + offset(slot);
  const std::int64_t bytes = spec_.bytes - left_out_;
  if (spec_.sm) {
    check_cuda(link_copy(from, to, bytes, blocks_, stream), "link_copy");
  } else if (ends_.direct) {
    check_cuda(
        cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream),
        "cudaMemcpyAsync");
  } else {
    check_cuda(cudaMemcpyPeerAsync(to, direction.to_peer ? ends_.peer : ends_.own, from,
                                   direction.to_peer ? ends_.own : ends_.peer,
                                   static_cast<std::size_t>(bytes), stream),
               "cudaMemcpyPeerAsync");
  }
}

void PeerCopyCase::launch(int slot) {
  if (spec_.both_ways()) {
    both_ways_.run([&](cudaStream_t stream) { copy(directions_[0], slot, stream); },
                   [&](cudaStream_t stream) { copy(directions_[1], slot, stream); });
  } else {
    copy(directions_[0], slot, stream_);
  }
  if (!ends_.direct) check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

void PeerCopyCase::poison(int slot) {
  // The ends have streams of their own: what was launched comes first.
  check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  for (const Direction& direction : directions_) {
    end_of(direction).poison(direction.destination + offset(slot), capacity_);
  }
}

unsigned char* PeerCopyCase::arrived(bool to_peer, int slot) const {
  const auto found = std::ranges::find(directions_, to_peer, &Direction::to_peer);
  return found == directions_.end() ? nullptr : found->destination + offset(slot);
}

unsigned char* PeerCopyCase::arrived_at_peer(int slot) const { return arrived(true, slot); }
unsigned char* PeerCopyCase::arrived_at_own(int slot) const { return arrived(false, slot); }

Verification PeerCopyCase::verify(int slot, int) {
  Verification worst;
  for (const Direction& direction : directions_) {
    const MismatchReport found =
        end_of(direction).check(direction.destination + offset(slot), spec_.bytes, capacity_,
                                link_seed(slot, direction.to_peer));
    Verification one =
        copy_verdict(static_cast<std::int64_t>(found.count),
                     direction.to_peer ? "to the peer" : "from the peer", slot, found.first);
    if (one.status == VerificationStatus::kWrong) return one;
    worst = std::move(one);
  }
  return worst;
}

std::vector<std::uint64_t> PeerCopyCase::hash_outputs(const std::vector<int>& slots) {
  std::vector<std::uint64_t> hashes(slots.size());
  for (const Direction& direction : directions_) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const std::uint64_t hash =
          end_of(direction).hash(direction.destination + offset(slots[i]), spec_.bytes);
      hashes[i] = random_bits(hashes[i], 0) + hash;
    }
  }
  return hashes;
}

PeerChaseCase::PeerChaseCase(const CudaDevice& device, const PeerEnds& ends, cudaStream_t stream)
    : ChaseCase(peer_chain_nodes(device.l2_bytes), kChaseLoads, stream),
      peer_(ends.peer, "the peer"),
      nodes_(peer_.allocate(peer_chain_nodes(device.l2_bytes) * kChaseSpacing)) {
  open_access(ends);
  add_chain(nodes_);
}

std::int64_t peer_chain_nodes(std::int64_t l2_bytes) {
  return std::max<std::int64_t>(2 * l2_bytes / kChaseSpacing, kChaseLoads);
}

}  // namespace assay
