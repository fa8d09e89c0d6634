// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/memory/stream_case.h"

#include <fmt/format.h>

namespace assay {
namespace {

StreamSeeds seeds_of(int slot) {
  const std::uint64_t first = kMemorySeed + 2 * static_cast<std::uint64_t>(slot);
  return {first, first + 1};
}

std::string method_of(StreamOp op) {
  switch (op) {
    case StreamOp::kRead:
      return "exact: sum of each 2048 accesses against the generator; unit: wrong sums";
    case StreamOp::kDot:
      return "exact: sum of each 2048 accesses and the total against the generator; unit: wrong "
             "sums";
    default:
      return "exact: every element against the generator; unit: wrong elements";
  }
}

}  // namespace

void require_free_memory(std::int64_t bytes) {
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  if (bytes <= static_cast<std::int64_t>(free)) return;
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  throw Skip(fmt::format("needs {} MiB of device memory, {} of {} MiB are free",
                         (bytes - 1) / kMiB + 1, free >> 20, total >> 20));
}

StreamCase::StreamCase(const MemorySpec& spec, int slots, cudaStream_t stream)
    : CudaCase(stream), spec_(spec), shape_(spec.shape()) {
  require_free_memory(slots * spec.set_bytes());
  mismatches_ = DeviceBuffer(sizeof(MismatchReport));
  sets_.reserve(static_cast<std::size_t>(slots));
  for (int slot = 0; slot < slots; ++slot) sets_.push_back(made(slot));
}

StreamCase::Buffers StreamCase::made(int slot) const {
  Buffers set;
  const StreamSeeds seeds = seeds_of(slot);
  for (int i = 0; i < stream_inputs(spec_.op); ++i) {
    DeviceBuffer& buffer = set.in[static_cast<std::size_t>(i)];
    buffer = DeviceBuffer(spec_.offset + spec_.tensor_bytes);
    check_cuda(stream_fill(spec_.op, shape_, tensor(buffer), i == 0 ? seeds.a : seeds.b, stream()),
               "stream_fill");
  }
  const std::int64_t offset = is_reduction(spec_.op) ? 0 : spec_.offset;
  set.out = DeviceBuffer(offset + stream_output_bytes(spec_.op, shape_));
  return set;
}

void* StreamCase::tensor(const DeviceBuffer& buffer) const {
  return buffer.as<char>() + spec_.offset;
}

void* StreamCase::result(int slot) const {
  return is_reduction(spec_.op) ? set(slot).out.data() : tensor(set(slot).out);
}

void StreamCase::launch(int slot) {
  StreamTensors tensors;
  if (stream_inputs(spec_.op) > 0) tensors.a = tensor(set(slot).in[0]);
  if (stream_inputs(spec_.op) > 1) tensors.b = tensor(set(slot).in[1]);
  tensors.out = result(slot);
  check_cuda(stream_run(spec_.op, shape_, tensors, seeds_of(slot).a, stream()), "stream_run");
}

Verification StreamCase::verify(int slot, int) {
  auto* const report = mismatches_.as<MismatchReport>();
  check_cuda(stream_check(spec_.op, shape_, result(slot), seeds_of(slot), report, stream()),
             "stream_check");
  const auto found = read_back<MismatchReport>(report, stream());
  return exact_verification(
      method_of(spec_.op), static_cast<double>(found.count),
      fmt::format("{} of buffer set {}: {} wrong, the first at {} {}", op_name(spec_.op), slot,
                  found.count, is_reduction(spec_.op) ? "block" : "element", found.first));
}

}  // namespace assay
