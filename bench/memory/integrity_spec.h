// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A test of whether device memory keeps what is written (kernels/integrity.h), and its id:
//
//   memory/integrity/<1-99>pct/<burst|sustained>      of the device's memory, free or not
//   memory/integrity/<size>/<burst|sustained>         64GiB; 1GiB or more
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reports/record.h"

namespace assay {

struct IntegritySpec {
  int share_pct = 0;       // 0: `bytes` says how much
  std::int64_t bytes = 0;  // 0: the share does
  Conditions conditions;

  // What is tested on a device with that much memory: of a share, whole pages of 2 MiB.
  [[nodiscard]] std::int64_t tested_bytes(std::int64_t memory_bytes) const;
};

[[nodiscard]] std::string id_of(const IntegritySpec& spec);

// Null where the id is no such test. Throws Error(kUsage) for one that cannot be.
[[nodiscard]] std::optional<IntegritySpec> parse_integrity_id(std::string_view id);

// "17", "0 3 63": the bits that are set.
[[nodiscard]] std::string bits_text(std::uint64_t bits);

}  // namespace assay
