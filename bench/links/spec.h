// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Which transfer between host and GPU, or between two GPUs, a case does, and its id:
//
//   links/<h2d|d2h|both>/<size>[+sm][+pageable][+far]/burst     links/h2d/512MiB/burst
//   links/zerocopy/<size>[+far]/burst                           links/zerocopy/512MiB/burst
//   links/latency/<h2d|d2h|zerocopy>[+far]/burst                links/latency/zerocopy/burst
//   links/<p2p_write|p2p_read|p2p_both>/<size>[+sm]+to=<peer>/burst
//                                                               links/p2p_write/512MiB+to=3/burst
//   links/latency/p2p+to=<peer>/burst                           links/latency/p2p+to=3/burst
//
// h2d and d2h copy from the host to the device and back, by the copy engines or (+sm) by the
// processors; both does the two at once; zerocopy is processors that read host memory and keep only
// sums. Host memory is page-locked, or not (+pageable: one way, by the copy engines), on the GPU's
// NUMA node or (+far) on the one that is farthest from it. Sizes are whole numbers of B, KiB, MiB
// or GiB, in the largest unit that fits.
//
// p2p_write copies from the own GPU's memory into the peer's, p2p_read the other way, p2p_both does
// the two at once; the own GPU's copy engines or (+sm) processors do all of it. p2p is a chase of
// the own GPU through the peer's memory. The peer goes by NVML's index; `to=each`, which suites
// write, stands for each other GPU, and the runner puts the index there.
//
// Bytes count what crosses the link: a copy of 512 MiB is 512 MiB, both is twice that. So
// does nvbandwidth count, which gives one of the two directions for both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reports/json.h"

namespace assay {

enum class Transfer { kH2d, kD2h, kBoth, kZeroCopy, kP2pWrite, kP2pRead, kP2pBoth, kP2p };

// LinkSpec::to of an id that says `to=each`.
inline constexpr int kEachPeer = -1;

// A latency: copies of this size, or a chase through so many cache lines a launch.
inline constexpr std::int64_t kLatencyCopyBytes = 64;
inline constexpr int kChaseLoads = 8192;

struct LinkSpec {
  Transfer transfer = Transfer::kH2d;
  bool latency = false;
  std::int64_t bytes = 0;  // of each direction; of a latency 0
  bool sm = false;
  bool pageable = false;
  bool far = false;
  std::optional<int> to;  // the peer's index or kEachPeer; null of transfers with the host

  bool operator==(const LinkSpec&) const = default;

  [[nodiscard]] bool chases() const;  // a latency by loads, not by copies
  [[nodiscard]] bool both_ways() const;
  [[nodiscard]] double bytes_moved() const;  // of one launch, both directions together
};

[[nodiscard]] std::string id_of(const LinkSpec& spec);

// {"transfer", "bytes", "engine": "copy engine" | "processors"}, and of transfers with the host
// {"host_memory", "host_node"}. What the node knows of the other end (cases.h) is not in it.
[[nodiscard]] Json parameters_of(const LinkSpec& spec);

// Null for an id of another family. Throws Error(kUsage) for one that is of this family but cannot
// be: an unknown transfer or variant, a size of 0 or above 2^40 bytes, variants that exclude each
// other, a peer that is missing or that no transfer with the host has. The canonical id alone is
// taken: id_of(*parse_link_id(id)) == id.
[[nodiscard]] std::optional<LinkSpec> parse_link_id(std::string_view id);

}  // namespace assay
