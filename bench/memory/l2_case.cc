// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/memory/l2_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/memory/stream_case.h"
#include "kernels/stream.h"

namespace assay {
namespace {

constexpr int kThreadsOfSm = 2048;
constexpr std::int64_t kLeastBytes = std::int64_t{2} << 30;

}  // namespace

RereadShape reread_shape(const L2Spec& spec, const CudaDevice& device) {
  RereadShape shape;
  shape.vectors = spec.bytes / kVectorBytes;
  shape.blocks = kThreadsOfSm / kRereadThreads * device.sm_count;
  const std::int64_t bytes_of_step = shape.accesses() * kVectorBytes;
  shape.steps = (std::max(spec.bytes, kLeastBytes) - 1) / bytes_of_step + 1;
  return shape;
}

L2Case::L2Case(const L2Spec& spec, const RereadShape& shape, cudaStream_t stream)
    : CudaCase(stream), shape_(shape) {
  require_free_memory(spec.bytes);
  buffer_ = DeviceBuffer(spec.bytes);
  sums_ = DeviceBuffer(shape.blocks * static_cast<std::int64_t>(sizeof(std::uint32_t)));
  mismatches_ = DeviceBuffer(sizeof(MismatchReport));
  check_cuda(stream_fill(StreamOp::kRead, {.elements = spec.bytes / 4}, buffer_.data(), kMemorySeed,
                         stream),
             "stream_fill");
}

void L2Case::launch(int) {
  check_cuda(reread(shape_, buffer_.data(), sums_.as<std::uint32_t>(), stream()), "reread");
}

Verification L2Case::verify(int, int) {
  auto* const report = mismatches_.as<MismatchReport>();
  check_cuda(reread_check(shape_, sums_.as<std::uint32_t>(), kMemorySeed, report, stream()),
             "reread_check");
  const auto found = read_back<MismatchReport>(report, stream());
  return exact_verification(
      "exact: sum of each block against the generator; unit: wrong sums",
      static_cast<double>(found.count),
      fmt::format("{} sums wrong, the first of block {}", found.count, found.first));
}

}  // namespace assay
