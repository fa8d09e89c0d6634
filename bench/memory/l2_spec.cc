// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/memory/l2_spec.h"

#include <fmt/format.h>

#include "reports/error.h"
#include "reports/size_text.h"
#include "reports/text.h"

namespace assay {
namespace {

constexpr std::string_view kPrefix = "memory/l2_read/";
constexpr std::int64_t kVector = 16;

[[noreturn]] void refuse(std::string_view id, const std::string& why) {
  throw Error(ExitCode::kUsage, fmt::format("case '{}': {}", id, why));
}

}  // namespace

std::string id_of(const L2Spec& spec) {
  return fmt::format("{}{}/{}", kPrefix, size_text(spec.bytes), condition_suffix(spec.conditions));
}

std::optional<L2Spec> parse_l2_id(std::string_view id) {
  if (!id.starts_with(kPrefix)) return std::nullopt;
  const std::vector<std::string> parts = split(id.substr(kPrefix.size()), '/');
  if (parts.size() != 3 || parts[2] != "warm") {
    refuse(id, "expected memory/l2_read/<size>/<burst|sustained>/warm");
  }
  const auto bytes = parse_size(parts[0]);
  const auto power = parse_enum<Power>(parts[1]);
  if (!bytes) refuse(id, fmt::format("'{}': expected a size such as 24MiB", parts[0]));
  if (!power) refuse(id, fmt::format("'{}': expected burst or sustained", parts[1]));
  if (*bytes == 0 || *bytes % kVector != 0) {
    refuse(id, fmt::format("{} bytes: expected a multiple of {}", *bytes, kVector));
  }
  L2Spec spec;
  spec.bytes = *bytes;
  spec.conditions.power = *power;
  spec.conditions.cache = Cache::kWarm;
  if (id_of(spec) != id) refuse(id, fmt::format("write it {}", id_of(spec)));
  return spec;
}

}  // namespace assay
