// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A buffer that one launch reads again and again (kernels/reread.h), and the id of such a case:
//
//   memory/l2_read/<size>/<burst|sustained>/warm      memory/l2_read/24MiB/burst/warm
//
// Bandwidth by size is that of the L2 as long as the buffer fits into it, then that of memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reports/record.h"

namespace assay {

struct L2Spec {
  std::int64_t bytes = 0;
  Conditions conditions;
};

[[nodiscard]] std::string id_of(const L2Spec& spec);

// Null where the id is none of these. Throws Error(kUsage) for one that cannot be: a size that is
// no multiple of 16 bytes, or not warm.
[[nodiscard]] std::optional<L2Spec> parse_l2_id(std::string_view id);

}  // namespace assay
