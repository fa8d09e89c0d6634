// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/links/zerocopy_case.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

namespace assay {

ZeroCopyCase::ZeroCopyCase(const LinkSpec& spec, const CudaDevice& device, std::optional<int> node,
                           cudaStream_t stream)
    : CudaCase(stream),
      bytes_(spec.bytes),
      capacity_(link_capacity(spec.bytes)),
      host_(link_slots(device.l2_bytes, spec.bytes) * capacity_, node, spec.far, true),
      mismatches_(sizeof(MismatchReport)) {
  const int slots = link_slots(device.l2_bytes, spec.bytes);
  for (int slot = 0; slot < slots; ++slot) {
    sums_.emplace_back(link_sums(bytes_) * 4);
    fill_pattern(source(slot), capacity_, link_seed(slot, true));
  }
}

unsigned char* ZeroCopyCase::source(int slot) const { return host_.data() + slot * capacity_; }

void ZeroCopyCase::launch(int slot) {
  check_cuda(link_read(source(slot), output(slot).as<std::uint32_t>(), bytes_, stream()),
             "link_read");
}

Verification ZeroCopyCase::verify(int slot, int) {
  auto* const report = mismatches_.as<MismatchReport>();
  check_cuda(reset_mismatches(report, stream()), "reset_mismatches");
  check_cuda(check_link_sums(output(slot).as<std::uint32_t>(), bytes_, link_seed(slot, true),
                             report, stream()),
             "check_link_sums");
  MismatchReport found{};
  check_cuda(cudaMemcpyAsync(&found, report, sizeof(found), cudaMemcpyDeviceToHost, stream()),
             "cudaMemcpyAsync");
  check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
  Verification result;
  result.method = "exact: sum of each 2 KiB against the generator; unit: wrong sums";
  result.error = static_cast<double>(found.count);
  result.tolerance = 0;
  result.status = found.count == 0 ? VerificationStatus::kVerified : VerificationStatus::kWrong;
  if (found.count != 0) {
    result.detail = fmt::format("zero-copy read, buffer set {}: {} sums wrong, the first at {}",
                                slot, found.count, found.first);
  }
  return result;
}

std::vector<std::uint32_t> random_cycle(int count, std::uint64_t seed) {
  std::vector<std::uint32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t i = order.size() - 1; i > 0; --i) {
    std::swap(order[i], order[random_bits(seed, i) % i]);
  }
  return order;
}

ChaseCase::ChaseCase(const LinkSpec& spec, std::optional<int> node, cudaStream_t stream)
    : CudaCase(stream),
      host_(kChaseLoads * static_cast<std::int64_t>(sizeof(ChaseNode)), node, spec.far, true),
      result_(sizeof(ChaseResult)) {
  const std::vector<std::uint32_t> cycle = random_cycle(kChaseLoads, kLinkSeed);
  for (std::size_t i = 0; i < cycle.size(); ++i) nodes()[i].next = cycle[i];
}

ChaseNode* ChaseCase::nodes() const { return reinterpret_cast<ChaseNode*>(host_.data()); }

void ChaseCase::launch(int) {
  check_cuda(link_chase(nodes(), kChaseLoads, result_.as<ChaseResult>(), stream()), "link_chase");
}

Verification ChaseCase::verify(int, int) {
  ChaseResult found{};
  check_cuda(
      cudaMemcpyAsync(&found, result_.data(), sizeof(found), cudaMemcpyDeviceToHost, stream()),
      "cudaMemcpyAsync");
  check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
  // From the generator, not from the memory that was read.
  const std::vector<std::uint32_t> cycle = random_cycle(kChaseLoads, kLinkSeed);
  ChaseResult expected{0, 0};
  for (int i = 0; i < kChaseLoads; ++i) {
    expected.last = cycle[expected.last];
    expected.trace = chase_trace(expected.trace, expected.last);
  }
  const bool same = found.last == expected.last && found.trace == expected.trace;
  Verification result;
  result.method = "exact: the nodes met, in their order, against the generator; unit: wrong chases";
  result.error = same ? 0 : 1;
  result.tolerance = 0;
  result.status = same ? VerificationStatus::kVerified : VerificationStatus::kWrong;
  if (!same) {
    result.detail =
        fmt::format("the chase ended in node {} with trace {:08x}, expected {} and {:08x}",
                    found.last, found.trace, expected.last, expected.trace);
  }
  return result;
}

}  // namespace assay
