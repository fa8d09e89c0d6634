// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/ranks/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace assay {
namespace {

constexpr char kGoesOn = '+';
constexpr char kGaveUp = '!';

std::vector<double> numbers_of(const std::string& text, std::size_t count, int rank) {
  if (text.size() != count * sizeof(double)) {
    throw RanksLost(
        fmt::format("rank {} is out of step with this one: another program or version", rank));
  }
  std::vector<double> numbers(count);
  std::memcpy(numbers.data(), text.data(), text.size());
  return numbers;
}

}  // namespace

std::string_view gave_up(std::string_view part) {
  return part.starts_with(kGaveUp) ? part.substr(1) : std::string_view();
}

std::vector<std::string> Agreement::gather(const std::string& mine) {
  std::vector<std::string> parts = exchange_.all_gather(kGoesOn + mine);
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    if (const std::string_view why = gave_up(parts[rank]); !why.empty()) {
      throw RankGaveUp(fmt::format("rank {}: {}", rank, why));
    }
    parts[rank].erase(0, 1);
  }
  return parts;
}

std::vector<std::vector<double>> Agreement::gather(const std::vector<double>& mine) {
  std::string bytes(mine.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), mine.data(), bytes.size());
  std::vector<std::vector<double>> all;
  for (const std::string& part : gather(bytes)) {
    all.push_back(numbers_of(part, mine.size(), static_cast<int>(all.size())));
  }
  return all;
}

double Agreement::largest(double mine) {
  double most = mine;
  for (const std::vector<double>& one : gather(std::vector<double>{mine})) {
    most = std::max(most, one.front());
  }
  return most;
}

bool Agreement::any(bool mine) { return largest(mine ? 1 : 0) > 0; }

void Agreement::give_up(const std::string& why) {
  (void)exchange_.all_gather(kGaveUp + (why.empty() ? "gave up" : why));
}

}  // namespace assay
