// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// How long one load takes that another waits for, and the id of such a case:
//
//   memory/latency/<size>/<burst|sustained>[/warm]
//   memory/latency/4GiB/burst        memory/latency/16KiB/burst/warm
//
// Warm: one buffer, gone through again and again, so that what holds it (L1, L2) answers. Cold:
// buffers in turn, none of whose lines a launch reads twice, so that memory does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reports/record.h"

namespace assay {

struct LatencySpec {
  std::int64_t bytes = 0;
  Conditions conditions;

  [[nodiscard]] std::int64_t nodes() const;
  [[nodiscard]] std::int64_t loads() const;  // of a launch
};

[[nodiscard]] std::string id_of(const LatencySpec& spec);

// Null where the id is no latency. Throws Error(kUsage) for one that cannot be: a size that is no
// multiple of 2 KiB, a cold chase of less than 1 MiB.
[[nodiscard]] std::optional<LatencySpec> parse_latency_id(std::string_view id);

}  // namespace assay
