// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A number of bytes as ids write it.
//
//   size_text(4LL << 30)      // "4GiB"
//   parse_size("1000001B")    // 1000001
#pragma once

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

struct SizeUnit {
  std::string_view name;
  int shift;
};
inline constexpr std::array<SizeUnit, 4> kSizeUnits = {
    {{"GiB", 30}, {"MiB", 20}, {"KiB", 10}, {"B", 0}}};
inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 50;

// The largest unit of which it is a multiple.
[[nodiscard]] inline std::string size_text(std::int64_t bytes) {
  for (const SizeUnit& unit : kSizeUnits) {
    if (bytes == 0 || bytes % (std::int64_t{1} << unit.shift) != 0) continue;
    return fmt::format("{}{}", bytes >> unit.shift, unit.name);
  }
  return "0B";
}

// Null for what is no whole number with one of the units, or is above kLargestSize.
[[nodiscard]] inline std::optional<std::int64_t> parse_size(std::string_view text) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || count < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  for (const SizeUnit& unit : kSizeUnits) {
    if (unit.name != text) continue;
    if (count > kLargestSize >> unit.shift) return std::nullopt;
    return count << unit.shift;
  }
  return std::nullopt;
}

}  // namespace assay
