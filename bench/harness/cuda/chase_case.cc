// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/cuda/chase_case.h"

#include <fmt/format.h>

#include "kernels/chase.h"

namespace assay {

void ChaseCase::add_chain(void* nodes) {
  Chain& chain = chains_.emplace_back();
  chain.nodes = nodes;
  chain.end = DeviceBuffer(sizeof(std::uint64_t));
  check_cuda(chase_build(nodes, order_, stream()), "chase_build");
}

void ChaseCase::launch(int slot) {
  Chain& chain = chains_[static_cast<std::size_t>(slot)];
  check_cuda(
      chase_run(chain.nodes, order_(chain.place), loads_, chain.end.as<std::uint64_t>(), stream()),
      "chase_run");
  chain.place = (chain.place + loads_) % order_.count();
}

Verification ChaseCase::verify(int slot, int) {
  const Chain& chain = chains_[static_cast<std::size_t>(slot)];
  const auto end = read_back<std::uint64_t>(chain.end.data(), stream());
  const std::uint64_t expected = chase_node(chain.nodes, order_(chain.place));
  return exact_verification(
      "exact: the node where the last chase has to end; unit: wrong ends", end == expected ? 0 : 1,
      fmt::format("chase of buffer set {} ended at {:#x}, expected {:#x}", slot, end, expected));
}

}  // namespace assay
