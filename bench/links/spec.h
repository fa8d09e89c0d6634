// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Which transfer between host and GPU a case does, and its id:
//
//   links/<h2d|d2h|both>/<size>[+sm][+pageable][+far]/burst     links/h2d/512MiB/burst
//   links/zerocopy/<size>[+far]/burst                           links/zerocopy/512MiB/burst
//   links/latency/<h2d|d2h|zerocopy>[+far]/burst                links/latency/zerocopy/burst
//
// h2d and d2h copy from the host to the device and back, by the copy engines or (+sm) by the
// processors; both does the two at once; zerocopy is processors that read host memory and keep only
// sums. Host memory is page-locked, or not (+pageable: one way, by the copy engines), on the GPU's
// NUMA node or (+far) on the one that is farthest from it. Sizes are whole numbers of B, KiB, MiB
// or GiB, in the largest unit that fits.
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

enum class Transfer { kH2d, kD2h, kBoth, kZeroCopy };

// A latency: copies of this size, or a chase through so many cache lines of host memory.
inline constexpr std::int64_t kLatencyCopyBytes = 64;
inline constexpr int kChaseLoads = 8192;

struct LinkSpec {
  Transfer transfer = Transfer::kH2d;
  bool latency = false;
  std::int64_t bytes = 0;  // of each direction; of a latency 0
  bool sm = false;
  bool pageable = false;
  bool far = false;

  bool operator==(const LinkSpec&) const = default;

  [[nodiscard]] double bytes_moved() const;  // of one launch, both directions together
};

[[nodiscard]] std::string id_of(const LinkSpec& spec);

// {"transfer", "bytes", "engine": "copy engine" | "processors", "host_memory": ...}.
[[nodiscard]] Json parameters_of(const LinkSpec& spec);

// Null for an id of another family. Throws Error(kUsage) for one that is of this family but cannot
// be: an unknown transfer or variant, a size of 0 or above 2^40 bytes, variants that exclude each
// other. The canonical id alone is taken: id_of(*parse_link_id(id)) == id.
[[nodiscard]] std::optional<LinkSpec> parse_link_id(std::string_view id);

}  // namespace assay
