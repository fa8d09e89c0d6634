// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/l2_knee.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "reports/statistics.h"
#include "reports/text.h"

namespace assay {
namespace {

// Nearer than this two neighbours have to be for a plateau.
constexpr double kPlateau = 0.05;
// A cache that is not faster than this is none that a knee can be seen of.
constexpr double kFaster = 1.25;

// Of the plateau: below it, the cache no longer holds the whole buffer.
constexpr double kEdge = 0.9;

using Curve = std::map<std::int64_t, double>;  // GB/s by bytes

// Bytes of the buffer, if the row is one of the curve.
std::optional<std::int64_t> size_of(const Record& record) {
  const std::vector<std::string> parts = split(record.id, '/');
  if (parts.size() != 5 || parts[0] != "memory" || parts[1] != "l2_read" || parts[3] != "burst" ||
      parts[4] != "warm") {
    return std::nullopt;
  }
  const Json size = member_of(record.parameters, "tensor_bytes");
  if (!size.is_number_integer() || size.get<std::int64_t>() <= 0) return std::nullopt;
  return size.get<std::int64_t>();
}

bool differ(const Curve::value_type& a, const Curve::value_type& b) {
  return std::fabs(a.second / b.second - 1) > kPlateau;
}

// The median of the sizes that are read faster than that.
double plateau_of(const Curve& curve, double half) {
  std::vector<double> fast;
  for (const auto& [bytes, gb_per_s] : curve) {
    if (gb_per_s >= half) fast.push_back(gb_per_s);
  }
  return median(fast);
}

L2Knee knee_of(const Curve& curve) {
  L2Knee knee;
  const auto fastest = std::ranges::max_element(curve, {}, &Curve::value_type::second);
  const auto largest = std::prev(curve.end());
  const auto before = std::prev(largest);
  knee.dram_gb_per_s = largest->second;
  if (!(fastest->second >= kFaster * largest->second)) {
    knee.reason = fmt::format("no size is read {} times as fast as the largest", kFaster);
  } else if (fastest == curve.begin() && differ(*fastest, *std::next(fastest))) {
    knee.reason = "the smallest size is the fastest by far: the cache's plateau may lie below it";
  } else if (differ(*before, *largest)) {
    knee.reason = fmt::format(
        "the two largest sizes differ by more than {:.0f} %: memory's plateau is not reached",
        100 * kPlateau);
  }
  if (!knee.reason.empty()) return knee;

  knee.l2_gb_per_s = plateau_of(curve, std::midpoint(fastest->second, largest->second));
  const double edge = kEdge * *knee.l2_gb_per_s;
  auto above = largest;
  while (above->second < edge) --above;
  const auto below = std::next(above);
  const double share = (above->second - edge) / (above->second - below->second);
  const auto low = static_cast<double>(above->first);
  const auto high = static_cast<double>(below->first);
  knee.bytes = low * std::pow(high / low, share);
  knee.above_bytes = above->first;
  knee.below_bytes = below->first;
  return knee;
}

}  // namespace

std::vector<L2Knee> l2_knees(std::span<const Record> records) {
  std::vector<std::string> order;
  std::map<std::string, Curve> curves;
  for (const Record& record : records) {
    const std::optional<std::int64_t> bytes = size_of(record);
    const Metric* metric = primary_metric(record);
    if (!bytes || metric == nullptr || metric->values.empty() || !(metric->value > 0) ||
        record.status != RecordStatus::kOk ||
        record.verification.status != VerificationStatus::kVerified) {
      continue;
    }
    if (!curves.contains(record.device.uuid)) order.push_back(record.device.uuid);
    curves[record.device.uuid][*bytes] = metric->value;
  }
  std::vector<L2Knee> knees;
  for (const std::string& uuid : order) {
    if (curves[uuid].size() < 2) continue;
    knees.push_back(knee_of(curves[uuid]));
    knees.back().uuid = uuid;
  }
  return knees;
}

}  // namespace assay
