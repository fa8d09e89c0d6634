// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/memory/latency_spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/error.h"
#include "reports/size_text.h"
#include "reports/text.h"

namespace assay {
namespace {

constexpr std::string_view kPrefix = "memory/latency/";
constexpr std::int64_t kNodeBytes = 128;
constexpr std::int64_t kUnit = 16 * kNodeBytes;  // a launch makes a multiple of 16 loads
constexpr std::int64_t kLeastCold = std::int64_t{1} << 20;
// Cold: long enough that starting the kernel is less than a thousandth, short enough that few
// launches fill a window. Warm, a launch goes round at least once; in a small buffer so often that
// its first round, which the L1 misses, is less than a hundredth.
constexpr std::int64_t kColdLoads = std::int64_t{1} << 15;
constexpr std::int64_t kWarmLoads = std::int64_t{1} << 16;
constexpr std::int64_t kMostWarmLoads = std::int64_t{1} << 20;
constexpr std::int64_t kSmall = std::int64_t{1} << 20;
constexpr std::int64_t kSmallLoads = std::int64_t{1} << 18;

[[noreturn]] void refuse(std::string_view id, const std::string& why) {
  throw Error(ExitCode::kUsage, fmt::format("case '{}': {}", id, why));
}

}  // namespace

std::int64_t LatencySpec::nodes() const { return bytes / kNodeBytes; }

std::int64_t LatencySpec::loads() const {
  if (conditions.cache == Cache::kCold) return std::min(nodes(), kColdLoads);
  if (bytes <= kSmall) return kSmallLoads;
  return std::clamp(nodes(), kWarmLoads, kMostWarmLoads);
}

std::string id_of(const LatencySpec& spec) {
  return fmt::format("{}{}/{}", kPrefix, size_text(spec.bytes), condition_suffix(spec.conditions));
}

std::optional<LatencySpec> parse_latency_id(std::string_view id) {
  if (!id.starts_with(kPrefix)) return std::nullopt;
  const std::vector<std::string> parts = split(id.substr(kPrefix.size()), '/');
  const bool warm = parts.size() == 3 && parts[2] == "warm";
  if (parts.size() != 2 && !warm) {
    refuse(id, "expected memory/latency/<size>/<burst|sustained>[/warm]");
  }
  const auto bytes = parse_size(parts[0]);
  const auto power = parse_enum<Power>(parts[1]);
  if (!bytes) refuse(id, fmt::format("'{}': expected a size such as 4GiB or 16KiB", parts[0]));
  if (!power) refuse(id, fmt::format("'{}': expected burst or sustained", parts[1]));
  if (*bytes == 0 || *bytes % kUnit != 0) {
    refuse(id, fmt::format("{} bytes: expected a multiple of {}", *bytes, kUnit));
  }
  if (!warm && *bytes < kLeastCold) {
    refuse(id, "a cold chase needs 1MiB or more; of a cache, write .../warm");
  }
  LatencySpec spec;
  spec.bytes = *bytes;
  spec.conditions.power = *power;
  spec.conditions.cache = warm ? Cache::kWarm : Cache::kCold;
  if (id_of(spec) != id) refuse(id, fmt::format("write it {}", id_of(spec)));
  return spec;
}

}  // namespace assay
