// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Where reads stop to come from the L2, from the rows `memory/l2_read/<size>/burst/warm` of one
// card: a launch reads the same buffer again and again, and what fits into the cache is read
// faster.
//
//   for (const L2Knee& knee : l2_knees(report.records)) ...   // knee.bytes: 4.6e7
//
// Memory's plateau is the bandwidth of the largest size; the L2's is the median of the sizes that
// are nearer to the fastest than to memory. The knee is where bandwidth falls below nine tenths of
// the L2's for the last time, interpolated between the two sizes round it over the logarithm of the
// size. (Half-way down would be too far: of a buffer that is somewhat larger than the cache, a good
// part still comes from it.)
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/record.h"

namespace assay {

struct L2Knee {
  std::string uuid;
  std::optional<double> bytes;              // null: `reason` says why
  std::optional<std::int64_t> above_bytes;  // the sizes round it
  std::optional<std::int64_t> below_bytes;
  std::optional<double> l2_gb_per_s;
  std::optional<double> dram_gb_per_s;
  std::string reason;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("uuid", self.uuid);
    archive("bytes", self.bytes);
    archive("above_bytes", self.above_bytes);
    archive("below_bytes", self.below_bytes);
    archive("l2_gb_per_s", self.l2_gb_per_s);
    archive("dram_gb_per_s", self.dram_gb_per_s);
    archive("reason", self.reason);
  }
};

// One for each card with two such rows or more that ended ok with a verified result.
[[nodiscard]] std::vector<L2Knee> l2_knees(std::span<const Record> records);

}  // namespace assay
