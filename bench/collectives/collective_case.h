// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// One rank's part of a collective operation, in buffer sets of its own; every element of its output
// is checked, and that nothing beyond it was touched.
//
// In place, poison() also restores the input, which the operation changes. Gathers and broadcasts
// leave what they find again; a sum in place adds up to 0 (ValueKind::kCancel), and to 0 again at
// every later launch: what is right after one launch is right after any number of them.
#pragma once

#include <vector>

#include "bench/collectives/nccl.h"
#include "bench/collectives/spec.h"
#include "bench/harness/case.h"
#include "bench/harness/cuda/device.h"
#include "kernels/collective.h"

namespace assay {

inline constexpr std::uint64_t kCollectiveSeed = 20261207;
// Of a message of a few bytes so many buffer sets are not twice the L2: it is a latency, and what
// the cache holds is no matter.
inline constexpr int kMostCollectiveSlots = 256;

// Of one buffer: whole pages, at least one byte more than is used.
[[nodiscard]] std::int64_t collective_capacity(std::int64_t bytes);
// Both buffers of one slot, or the one of an operation in place.
[[nodiscard]] std::int64_t collective_set_bytes(const CollectiveSpec& spec, int ranks);
// As many as are twice the L2; fewer, down to one, where no more fit into 0.9 of the memory. Of one
// slot that is larger than twice the L2 nothing is left in it either. 0: not even one fits. A
// function of what all ranks know, since they must agree.
[[nodiscard]] int collective_slots(const CollectiveSpec& spec, int ranks, std::int64_t l2_bytes,
                                   std::int64_t memory_bytes);

class CollectiveCase : public Case {
 public:
  CollectiveCase(const CollectiveSpec& spec, int slots, Communicator& group, cudaStream_t stream);
  ~CollectiveCase() override;

  [[nodiscard]] int slots() const override { return slots_; }
  void launch(int slot) override;
  void poison(int slot) override;
  [[nodiscard]] Verification verify(int slot, int attempt) override;
  [[nodiscard]] std::vector<std::uint64_t> hash_outputs(const std::vector<int>& slots) override;

  // For tests, which plant faults.
  [[nodiscard]] unsigned char* input(int slot) const;
  [[nodiscard]] unsigned char* output(int slot) const;
  // Likewise: operations that leave out so many elements at their end; not of graphs.
  void shorten(std::int64_t elements) { left_out_ = elements; }

 private:
  [[nodiscard]] RankValues values(int slot) const;
  [[nodiscard]] CollectiveLayout layout() const;
  void fill(int slot);
  void call(int slot);
  void exchange_blocks(const unsigned char* from, unsigned char* to, std::int64_t count);
  void send_to_next(const unsigned char* from, unsigned char* to, std::int64_t count);
  void capture(int slot);

  CollectiveSpec spec_;
  int slots_;
  Communicator& group_;
  cudaStream_t stream_;
  CollectiveCounts counts_;
  std::int64_t element_bytes_;
  std::int64_t in_capacity_;  // of a slot; in place the output holds the input
  std::int64_t out_capacity_;
  std::int64_t left_out_ = 0;
  CollectiveBuffer memory_;  // all inputs, then all outputs
  DeviceBuffer mismatches_;
  DeviceBuffer hashes_;
  std::vector<Owner<cudaGraphExec_t, cudaGraphExecDestroy>> graphs_;
};

}  // namespace assay
