// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives/collective_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/hash.h"

namespace assay {
namespace {

constexpr std::int64_t kPage = 4096;
constexpr double kMostOfMemory = 0.9;

using Graph = Owner<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = Owner<cudaGraphExec_t, cudaGraphExecDestroy>;

BufferKind buffer_kind(CollectiveMode mode) {
  if (mode == CollectiveMode::kRegistered) return BufferKind::kRegistered;
  return mode == CollectiveMode::kSymmetric ? BufferKind::kSymmetric : BufferKind::kPlain;
}

ValueKind value_kind(const CollectiveSpec& spec) {
  if (!spec.reduces()) return ValueKind::kBits;
  return spec.in_place ? ValueKind::kCancel : ValueKind::kSum;
}

struct SlotBytes {
  std::int64_t in = 0;
  std::int64_t out = 0;
};
SlotBytes slot_bytes(const CollectiveSpec& spec, int ranks) {
  const CollectiveCounts counts = counts_of(spec, ranks);
  const std::int64_t element = element_bytes(spec.type);
  return {.in = spec.in_place ? 0 : collective_capacity(counts.input * element),
          .out = collective_capacity(counts.output * element)};
}

// An open group would take in whatever the next caller does: it is closed before an error is told.
template <class Body>
void grouped(ncclComm_t communicator, const Body& body) {
  check_nccl(ncclGroupStart(), "ncclGroupStart", communicator);
  const ncclResult_t inside = body();
  const ncclResult_t end = ncclGroupEnd();
  check_nccl(inside != ncclSuccess ? inside : end, "a group of ncclSend and ncclRecv",
             communicator);
}

}  // namespace

std::int64_t collective_capacity(std::int64_t bytes) { return (bytes / kPage + 1) * kPage; }

std::int64_t collective_set_bytes(const CollectiveSpec& spec, int ranks) {
  const SlotBytes bytes = slot_bytes(spec, ranks);
  return bytes.in + bytes.out;
}

int collective_slots(const CollectiveSpec& spec, int ranks, std::int64_t l2_bytes,
                     std::int64_t memory_bytes) {
  const std::int64_t set = collective_set_bytes(spec, ranks);
  const auto fit =
      static_cast<std::int64_t>(kMostOfMemory * static_cast<double>(memory_bytes)) / set;
  const std::int64_t wanted = std::min(rotation_slots(l2_bytes, set), kMostCollectiveSlots);
  return static_cast<int>(std::min(wanted, fit));
}

CollectiveCase::CollectiveCase(const CollectiveSpec& spec, int slots, Communicator& group,
                               cudaStream_t stream)
    : spec_(spec),
      slots_(slots),
      group_(group),
      stream_(stream),
      counts_(counts_of(spec, group.ranks())),
      element_bytes_(element_bytes(spec.type)),
      in_capacity_(slot_bytes(spec, group.ranks()).in),
      out_capacity_(slot_bytes(spec, group.ranks()).out),
      memory_(group, buffer_kind(spec.mode), slots * (in_capacity_ + out_capacity_)),
      mismatches_(sizeof(MismatchReport)) {
  for (int slot = 0; slot < slots_; ++slot) {
    poison(slot);
    fill(slot);
  }
  if (spec_.mode == CollectiveMode::kGraph) {
    // The library connects the ranks at their first operation, which no capture should hold.
    call(0);
    group_.wait(stream_);
    for (int slot = 0; slot < slots_; ++slot) capture(slot);
  }
  group_.wait(stream_);
}

CollectiveCase::~CollectiveCase() {
  // What is still under way, after an error, must not find its memory gone.
  try {
    group_.wait(stream_);
  } catch (const std::exception&) {
  }
}

unsigned char* CollectiveCase::output(int slot) const {
  return memory_.data() + slots_ * in_capacity_ + slot * out_capacity_;
}

unsigned char* CollectiveCase::input(int slot) const {
  if (!spec_.in_place) return memory_.data() + slot * in_capacity_;
  const bool own_block = spec_.op == CollectiveOp::kAllGather;
  return output(slot) + (own_block ? group_.rank() * counts_.call * element_bytes_ : 0);
}

RankValues CollectiveCase::values(int slot) const {
  return {.kind = value_kind(spec_),
          .limit = largest_whole(spec_.type),
          .ranks = group_.ranks(),
          .seed = kCollectiveSeed + static_cast<std::uint64_t>(slot)};
}

CollectiveLayout CollectiveCase::layout() const {
  CollectiveLayout layout{.elements = counts_.output, .block = counts_.call};
  switch (spec_.op) {
    case CollectiveOp::kAllReduce:
    case CollectiveOp::kAllGather:
      break;
    case CollectiveOp::kBroadcast:
      layout.source = kCollectiveRoot;
      break;
    case CollectiveOp::kReduce:
      // The others' outputs are not given to the library: they must stay as they are.
      if (group_.rank() != kCollectiveRoot) layout.elements = 0;
      break;
    case CollectiveOp::kReduceScatter:
    case CollectiveOp::kAllToAll:
      layout.offset = group_.rank() * counts_.call;
      break;
    case CollectiveOp::kSendRecv:
      layout.source = (group_.rank() + group_.ranks() - 1) % group_.ranks();
      break;
  }
  return layout;
}

void CollectiveCase::fill(int slot) {
  check_cuda(
      collective_fill(spec_.type, values(slot), group_.rank(), input(slot), counts_.input, stream_),
      "collective_fill");
}

void CollectiveCase::poison(int slot) {
  check_cuda(cudaMemsetAsync(output(slot), kCollectivePoison,
                             static_cast<std::size_t>(out_capacity_), stream_),
             "cudaMemsetAsync");
  if (spec_.in_place) fill(slot);
}

void CollectiveCase::exchange_blocks(const unsigned char* from, unsigned char* to,
                                     std::int64_t count) {
  const ncclDataType_t type = nccl_type(spec_.type);
  const std::int64_t block_bytes = counts_.call * element_bytes_;
  const auto elements = static_cast<std::size_t>(count);
  grouped(group_.get(), [&] {
    ncclResult_t result = ncclSuccess;
    for (int peer = 0; peer < group_.ranks() && result == ncclSuccess; ++peer) {
      result = ncclSend(from + peer * block_bytes, elements, type, peer, group_.get(), stream_);
      if (result != ncclSuccess) break;
      result = ncclRecv(to + peer * block_bytes, elements, type, peer, group_.get(), stream_);
    }
    return result;
  });
}

void CollectiveCase::send_to_next(const unsigned char* from, unsigned char* to,
                                  std::int64_t count) {
  const ncclDataType_t type = nccl_type(spec_.type);
  const auto elements = static_cast<std::size_t>(count);
  const int ranks = group_.ranks();
  const int next = (group_.rank() + 1) % ranks;
  const int before = (group_.rank() + ranks - 1) % ranks;
  grouped(group_.get(), [&] {
    const ncclResult_t sent = ncclSend(from, elements, type, next, group_.get(), stream_);
    if (sent != ncclSuccess) return sent;
    return ncclRecv(to, elements, type, before, group_.get(), stream_);
  });
}

void CollectiveCase::call(int slot) {
  const ncclDataType_t type = nccl_type(spec_.type);
  const std::int64_t left = counts_.call - left_out_;
  const auto count = static_cast<std::size_t>(left);
  const unsigned char* const from = input(slot);
  unsigned char* const to = output(slot);
  ncclComm_t const group = group_.get();
  switch (spec_.op) {
    case CollectiveOp::kAllReduce:
      return check_nccl(ncclAllReduce(from, to, count, type, ncclSum, group, stream_),
                        "ncclAllReduce", group);
    case CollectiveOp::kAllGather:
      return check_nccl(ncclAllGather(from, to, count, type, group, stream_), "ncclAllGather",
                        group);
    case CollectiveOp::kReduceScatter:
      return check_nccl(ncclReduceScatter(from, to, count, type, ncclSum, group, stream_),
                        "ncclReduceScatter", group);
    case CollectiveOp::kBroadcast:
      return check_nccl(ncclBroadcast(from, to, count, type, kCollectiveRoot, group, stream_),
                        "ncclBroadcast", group);
    case CollectiveOp::kReduce:
      return check_nccl(ncclReduce(from, group_.rank() == kCollectiveRoot ? to : nullptr, count,
                                   type, ncclSum, kCollectiveRoot, group, stream_),
                        "ncclReduce", group);
    case CollectiveOp::kAllToAll:
      return exchange_blocks(from, to, left);
    case CollectiveOp::kSendRecv:
      return send_to_next(from, to, left);
  }
}

void CollectiveCase::capture(int slot) {
  // Of this thread alone: the library's own threads may allocate meanwhile.
  check_cuda(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal),
             "cudaStreamBeginCapture");
  cudaGraph_t captured = nullptr;
  try {
    call(slot);
  } catch (...) {
    (void)cudaStreamEndCapture(stream_, &captured);
    const Graph given_back(captured);
    throw;
  }
  check_cuda(cudaStreamEndCapture(stream_, &captured), "cudaStreamEndCapture");
  const Graph graph(captured);
  cudaGraphExec_t executable = nullptr;
  check_cuda(cudaGraphInstantiate(&executable, graph.get(), 0), "cudaGraphInstantiate");
  graphs_.emplace_back(executable);
}

void CollectiveCase::launch(int slot) {
  if (graphs_.empty()) return call(slot);
  check_cuda(cudaGraphLaunch(graphs_[static_cast<std::size_t>(slot)].get(), stream_),
             "cudaGraphLaunch");
}

Verification CollectiveCase::verify(int slot, int) {
  auto* const report = mismatches_.as<MismatchReport>();
  const CollectiveLayout expected = layout();
  check_cuda(check_collective(spec_.type, values(slot), expected, output(slot), out_capacity_,
                              report, stream_),
             "check_collective");
  const auto found = read_back<MismatchReport>(report, stream_);
  const bool beyond = found.first >= static_cast<unsigned long long>(expected.elements);
  return exact_verification(
      "exact: every element against the ranks' inputs, and none beyond the last; unit: wrong "
      "elements",
      static_cast<double>(found.count),
      fmt::format("rank {} of {}, {} bytes, buffer set {}: {} wrong, the first at element {}{}",
                  group_.rank(), group_.ranks(), spec_.bytes, slot, found.count, found.first,
                  beyond ? ", beyond the end" : ""));
}

std::vector<std::uint64_t> CollectiveCase::hash_outputs(const std::vector<int>& slots) {
  std::vector<std::uint64_t> hashes(slots.size());
  const auto bytes = static_cast<std::int64_t>(hashes.size() * sizeof(std::uint64_t));
  if (hashes_.bytes() < bytes) hashes_ = DeviceBuffer(bytes);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    check_cuda(hash_bytes(output(slots[i]), layout().elements * element_bytes_,
                          hashes_.as<std::uint64_t>() + i, stream_),
               "hash_bytes");
  }
  check_cuda(cudaMemcpyAsync(hashes.data(), hashes_.data(), static_cast<std::size_t>(bytes),
                             cudaMemcpyDeviceToHost, stream_),
             "cudaMemcpyAsync");
  check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  return hashes;
}

}  // namespace assay
