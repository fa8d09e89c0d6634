// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/links/zerocopy_case.h"

#include <fmt/format.h>

#include "kernels/chase.h"

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
  check_cuda(check_link_sums(output(slot).as<std::uint32_t>(), bytes_, link_seed(slot, true),
                             report, stream()),
             "check_link_sums");
  const auto found = read_back<MismatchReport>(report, stream());
  return exact_verification(
      "exact: sum of each 2 KiB against the generator; unit: wrong sums",
      static_cast<double>(found.count),
      fmt::format("zero-copy read, buffer set {}: {} sums wrong, the first at {}", slot,
                  found.count, found.first));
}

HostChaseCase::HostChaseCase(const LinkSpec& spec, std::optional<int> node, cudaStream_t stream)
    : ChaseCase(kChaseLoads, kChaseLoads, stream),
      host_(kChaseLoads * kChaseSpacing, node, spec.far, true) {
  add_chain(host_.data());
}

}  // namespace assay
