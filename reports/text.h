// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Text helpers that know nothing of reports. None of them asks the locale.
//
//   counted(2, "GPU")      // "2 GPUs"
//   split("a/b", '/')      // {"a", "b"}
//   expand_braces("x/{a,b}")   // {"x/a", "x/b"}
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

[[nodiscard]] inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// Every choice of one item of each group, the last group's fastest, as a shell does it. Null for a
// group that is empty, nested or not closed, or for more than `most` texts.
[[nodiscard]] inline std::optional<std::vector<std::string>> expand_braces(std::string_view text,
                                                                           std::size_t most) {
  std::vector<std::string> texts = {std::string()};
  while (true) {
    const auto at = text.find_first_of("{}");
    for (std::string& so_far : texts) so_far += text.substr(0, at);
    if (at == std::string_view::npos) return texts;
    const auto end = text.find_first_of("{}", at + 1);
    if (text[at] != '{' || end == std::string_view::npos || text[end] != '}' || end == at + 1) {
      return std::nullopt;
    }
    const std::vector<std::string> items = split(text.substr(at + 1, end - at - 1), ',');
    if (texts.size() * items.size() > most) return std::nullopt;
    std::vector<std::string> longer;
    for (const std::string& so_far : texts) {
      for (const std::string& item : items) longer.push_back(so_far + item);
    }
    texts = std::move(longer);
    text.remove_prefix(end + 1);
  }
}

[[nodiscard]] inline std::string join(const std::vector<std::string>& parts,
                                      std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

[[nodiscard]] constexpr bool is_control(char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }

// For a message of one line, whatever a user's text or a program's output held: no control
// character ends it, moves a terminal's cursor or hides what follows.
[[nodiscard]] inline std::string one_line(std::string text) {
  for (char& c : text) c = is_control(c) ? ' ' : c;
  return text;
}

// Likewise, for a text of many lines.
[[nodiscard]] inline std::string plain_lines(std::string text) {
  for (char& c : text) c = is_control(c) && c != '\n' ? ' ' : c;
  return text;
}

// "1 GPU", "2 GPUs".
template <class Number>
[[nodiscard]] std::string counted(Number n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

[[nodiscard]] constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] inline std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

// "00000000:AB:00.0", as NVML writes it, and "0000:ab:00.0", as sysfs does -> the latter.
[[nodiscard]] inline std::string plain_bus_id(std::string_view id) {
  constexpr std::size_t kLength = std::string_view("0000:19:00.0").size();
  if (id.size() > kLength) id.remove_prefix(id.size() - kLength);
  return lower(id);
}

// "ab:00.0" in the first PCI domain, for people.
[[nodiscard]] inline std::string short_bus_id(std::string_view id) {
  std::string plain = plain_bus_id(id);
  if (plain.starts_with("0000:")) plain.erase(0, 5);
  return plain;
}

}  // namespace assay
