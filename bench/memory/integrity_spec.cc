// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/memory/integrity_spec.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "reports/error.h"
#include "reports/size_text.h"
#include "reports/text.h"

namespace assay {
namespace {

constexpr std::string_view kPrefix = "memory/integrity/";
constexpr std::string_view kShare = "pct";
constexpr std::int64_t kPage = std::int64_t{2} << 20;
constexpr std::int64_t kLeast = std::int64_t{1} << 30;  // less would be tested in the caches
constexpr std::int64_t kAccess = 16;

[[noreturn]] void refuse(std::string_view id, const std::string& why) {
  throw Error(ExitCode::kUsage, fmt::format("case '{}': {}", id, why));
}

void read_amount(std::string_view id, std::string_view text, IntegritySpec& spec) {
  if (text.ends_with(kShare)) {
    const std::string_view number = text.substr(0, text.size() - kShare.size());
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), spec.share_pct);
    if (error == std::errc() && end == number.data() + number.size() && spec.share_pct >= 1 &&
        spec.share_pct <= 99) {
      return;
    }
    refuse(id, fmt::format("'{}': expected 1pct to 99pct of the memory", text));
  }
  const auto bytes = parse_size(text);
  if (!bytes) refuse(id, fmt::format("'{}': expected a share or a size: 90pct, 64GiB", text));
  if (*bytes < kLeast || *bytes % kAccess != 0) {
    refuse(id, fmt::format("{} bytes: expected 1GiB or more, a multiple of {}", *bytes, kAccess));
  }
  spec.bytes = *bytes;
}

}  // namespace

std::int64_t IntegritySpec::tested_bytes(std::int64_t memory_bytes) const {
  if (share_pct == 0) return bytes;
  return memory_bytes / 100 * share_pct / kPage * kPage;
}

std::string id_of(const IntegritySpec& spec) {
  return fmt::format(
      "{}{}/{}", kPrefix,
      spec.share_pct != 0 ? fmt::format("{}{}", spec.share_pct, kShare) : size_text(spec.bytes),
      condition_suffix(spec.conditions));
}

std::optional<IntegritySpec> parse_integrity_id(std::string_view id) {
  if (!id.starts_with(kPrefix)) return std::nullopt;
  const std::vector<std::string> parts = split(id.substr(kPrefix.size()), '/');
  if (parts.size() != 2) refuse(id, "expected memory/integrity/<share or size>/<burst|sustained>");
  IntegritySpec spec;
  read_amount(id, parts[0], spec);
  const auto power = parse_enum<Power>(parts[1]);
  if (!power) refuse(id, fmt::format("'{}': expected burst or sustained", parts[1]));
  spec.conditions.power = *power;
  if (id_of(spec) != id) refuse(id, fmt::format("write it {}", id_of(spec)));
  return spec;
}

std::string bits_text(std::uint64_t bits) {
  std::string text;
  for (int bit = 0; bit < 64; ++bit) {
    if ((bits >> bit & 1U) != 0) text += fmt::format("{}{}", text.empty() ? "" : " ", bit);
  }
  return text;
}

}  // namespace assay
