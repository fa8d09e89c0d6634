// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Copies between the memories of two GPUs, and a chase through the other's. Whatever is timed the
// own GPU does, on its streams; every byte is checked by the GPU on which it arrived.
//
//   PeerEnds ends{.own = 0, .peer = 2, .direct = true};       // CUDA's ordinals
//   PeerCopyCase copy(spec, device, ends, stream);            // `stream` is of the own GPU
//
// The own GPU is current wherever one of these is made or called, and afterwards too. The two ends
// may be one device: so the copies are tested where there is but one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/harness/case.h"
#include "bench/harness/cuda/chase_case.h"
#include "bench/harness/cuda/device.h"
#include "bench/harness/cuda/handles.h"
#include "bench/links/both_ways.h"
#include "bench/links/spec.h"
#include "kernels/mismatch.h"

namespace assay {

struct PeerEnds {
  int own = 0;
  int peer = 0;
  // The own GPU reaches the peer's memory. If not, the driver takes a copy through the host, and
  // whoever queues it may have to wait.
  bool direct = true;
};

// Whether `from` can reach the memory of `to`.
[[nodiscard]] bool can_reach(int from, int to);

// One of the two GPUs, what lies in its memory, and what it does outside the timed part: each of
// these calls waits until it is done.
class LinkEnd {
 public:
  LinkEnd(int ordinal, std::string name);

  // Kept as long as the end. Throws Skip, with the end's name, if it does not fit.
  [[nodiscard]] unsigned char* allocate(std::int64_t bytes);
  void fill(void* data, std::int64_t capacity, std::uint64_t seed);
  void poison(void* data, std::int64_t capacity);
  [[nodiscard]] MismatchReport check(const void* data, std::int64_t bytes, std::int64_t capacity,
                                     std::uint64_t seed);
  [[nodiscard]] std::uint64_t hash(const void* data, std::int64_t bytes);

 private:
  void wait() const;

  int ordinal_;
  std::string name_;
  std::optional<CudaStream> stream_;
  DeviceBuffer report_;
  DeviceBuffer hash_;
  std::vector<DeviceBuffer> buffers_;
};

class PeerCopyCase : public Case {
 public:
  PeerCopyCase(const LinkSpec& spec, const CudaDevice& device, const PeerEnds& ends,
               cudaStream_t stream);

  [[nodiscard]] int slots() const override { return slots_; }
  [[nodiscard]] int kernels_per_launch() const override { return spec_.both_ways() ? 4 : 1; }
  void launch(int slot) override;
  void poison(int slot) override;
  [[nodiscard]] Verification verify(int slot, int attempt) override;
  [[nodiscard]] std::vector<std::uint64_t> hash_outputs(const std::vector<int>& slots) override;

  // For tests, which plant faults: where a slot arrives, null if it does not arrive there.
  [[nodiscard]] unsigned char* arrived_at_peer(int slot) const;
  [[nodiscard]] unsigned char* arrived_at_own(int slot) const;
  // Likewise: a copy that leaves out so many bytes at its end.
  void shorten(std::int64_t bytes) { left_out_ = bytes; }

 private:
  // One direction: its source and its destination hold all slots, `capacity_` bytes each.
  struct Direction {
    bool to_peer = false;
    unsigned char* source = nullptr;
    unsigned char* destination = nullptr;
  };

  void add_direction(bool to_peer);
  void copy(const Direction& direction, int slot, cudaStream_t stream) const;
  [[nodiscard]] LinkEnd& end_of(const Direction& direction) {
    return direction.to_peer ? peer_ : own_;
  }
  [[nodiscard]] unsigned char* arrived(bool to_peer, int slot) const;
  [[nodiscard]] std::int64_t offset(int slot) const { return slot * capacity_; }

  LinkSpec spec_;
  PeerEnds ends_;
  std::int64_t capacity_;  // of a slot
  int slots_;
  int blocks_;  // of a copy by the processors
  std::int64_t left_out_ = 0;
  cudaStream_t stream_;
  LinkEnd own_;
  LinkEnd peer_;
  BothWays both_ways_;  // both on the own GPU
  std::vector<Direction> directions_;
};

// A chain through the peer's memory that is twice as long as its L2, and goes on where the last
// launch ended: were the lines in the L2 of either GPU, they are not any more when they are due
// again. The L1 is emptied between launches, of which each loads a line once.
class PeerChaseCase : public ChaseCase {
 public:
  PeerChaseCase(const CudaDevice& device, const PeerEnds& ends, cudaStream_t stream);

  [[nodiscard]] unsigned char* nodes() const { return nodes_; }  // for tests, which plant faults

 private:
  LinkEnd peer_;
  unsigned char* nodes_;
};
// Lines of the chain: no fewer than a launch loads.
[[nodiscard]] std::int64_t peer_chain_nodes(std::int64_t l2_bytes);

}  // namespace assay
