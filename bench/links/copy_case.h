// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Copies between host and device in buffer sets of their own; every byte is checked where it
// arrives, and that nothing beyond was touched.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/case.h"
#include "bench/harness/cuda/device.h"
#include "bench/harness/cuda/handles.h"
#include "bench/links/both_ways.h"
#include "bench/links/host_memory.h"
#include "bench/links/spec.h"

namespace assay {

// Host memory that the device reaches at the same address, or not (pageable).
class LinkedMemory {
 public:
  LinkedMemory(std::int64_t bytes, std::optional<int> node, bool must_bind, bool locked);
  ~LinkedMemory();
  // Owns a registration.
  LinkedMemory(const LinkedMemory&) = delete;
  LinkedMemory& operator=(const LinkedMemory&) = delete;

  [[nodiscard]] const HostMemory& memory() const { return memory_; }
  [[nodiscard]] unsigned char* data() const { return memory_.data(); }
  // {"node": 0, "placement": "bound to node 0", "lock_s": 0.1}
  [[nodiscard]] Json facts() const;

 private:
  HostMemory memory_;
  bool locked_ = false;
  double lock_s_ = 0;
};

class CopyCase : public Case {
 public:
  // `node`: of the host's buffers, null for wherever they come to lie.
  CopyCase(const LinkSpec& spec, const CudaDevice& device, std::optional<int> node,
           cudaStream_t stream);

  [[nodiscard]] int slots() const override { return slots_; }
  [[nodiscard]] int kernels_per_launch() const override;
  void launch(int slot) override;
  void poison(int slot) override;
  [[nodiscard]] Verification verify(int slot, int attempt) override;
  [[nodiscard]] std::vector<std::uint64_t> hash_outputs(const std::vector<int>& slots) override;
  [[nodiscard]] Json preparation() const override;

  // For tests, which plant faults: where a slot arrives, null if it does not arrive there.
  [[nodiscard]] unsigned char* arrived_on_host(int slot) const;
  [[nodiscard]] unsigned char* arrived_on_device(int slot) const;
  // Likewise: a copy that leaves out so many bytes at its end.
  void shorten(std::int64_t bytes) { left_out_ = bytes; }

 private:
  // One direction: its source and its destination hold all slots, `capacity_` bytes each.
  struct Direction {
    bool to_device = false;
    std::unique_ptr<LinkedMemory> host;
    DeviceBuffer device;
  };

  void add_direction(bool to_device, std::optional<int> node);
  void copy(const Direction& direction, int slot, cudaStream_t stream) const;
  [[nodiscard]] Verification verify_on_device(const Direction& direction, int slot);
  [[nodiscard]] Verification verify_on_host(const Direction& direction, int slot) const;
  [[nodiscard]] const Direction* find(bool to_device) const;
  [[nodiscard]] std::int64_t offset(int slot) const { return slot * capacity_; }

  LinkSpec spec_;
  std::int64_t bytes_;
  std::int64_t capacity_;  // of a slot
  int slots_;
  int blocks_;  // of a copy by the processors
  std::int64_t left_out_ = 0;
  cudaStream_t stream_;
  BothWays both_ways_;
  std::vector<Direction> directions_;
  DeviceBuffer mismatches_;
  DeviceBuffer hashes_;
};

// What a check of a slot found; `where`: "to the device".
[[nodiscard]] Verification copy_verdict(std::int64_t wrong, const std::string& where, int slot,
                                        std::uint64_t first);

// A direction by the processors takes half of the 2048 threads that each of them holds.
inline constexpr int kLinkBlocksPerSm = 2;
// Buffer sets of a transfer: as many as are twice the L2, but no more than kMostLinkSlots, since a
// link is slower than either memory.
inline constexpr int kMostLinkSlots = 64;
[[nodiscard]] int link_slots(std::int64_t l2_bytes, std::int64_t bytes);
// What a slot takes: whole pages, at least one byte more than is copied.
[[nodiscard]] std::int64_t link_capacity(std::int64_t bytes);
// Of slot and direction: to the device (the peer) or from it.
[[nodiscard]] std::uint64_t link_seed(int slot, bool to_device);
inline constexpr std::uint64_t kLinkSeed = 20261201;

}  // namespace assay
