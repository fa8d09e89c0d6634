// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/interleaved.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "reports/statistics.h"
#include "reports/text.h"

namespace assay {
namespace {

constexpr double kReportLevel = 0.01;  // of a false REGRESSION in a report, all looks together
constexpr double kRowLevel = 0.05;     // of a row's own margin, all looks together
constexpr double kNoticedLoss = 0.01;  // below it nothing is called a regression
constexpr double kWantedLoss = 0.03;   // the loss that "unchanged" excludes
// Runs that agree to the last digit are a coarse timer or a cache, not a certainty.
constexpr double kLeastSd = 0.0005;

// The smallest tail that n runs a side can have: 1 / C(2n, n).
double least_rank_p(int n) {
  double p = 1;
  for (int i = 1; i <= n; ++i) p *= static_cast<double>(i) / (n + i);
  return p;
}

bool guard_can_reject(int runs, double level, int m) { return least_rank_p(runs) <= level / m; }

int least_runs(double level, int m) {
  int runs = 2;
  while (!guard_can_reject(runs, level, m)) runs += 2;
  return runs;
}

void require_rows(int m) {
  if (m < 1) throw Error(ExitCode::kUsage, fmt::format("{} rows: nothing to compare", m));
}

double upper_t(double degrees_of_freedom, double tail) {
  const boost::math::students_t_distribution<double> t(degrees_of_freedom);
  return boost::math::quantile(boost::math::complement(t, tail));
}

// Pairs with candidate < base, ties half, and the mirror image; both rounded up.
std::pair<std::int64_t, std::int64_t> rank_counts(std::span<const double> base,
                                                  std::span<const double> candidate) {
  std::int64_t twice_faster = 0;
  for (const double b : base) {
    for (const double c : candidate) twice_faster += c < b ? 2 : c == b ? 1 : 0;
  }
  const auto pairs = static_cast<std::int64_t>(base.size() * candidate.size());
  return {(twice_faster + 1) / 2, (2 * pairs - twice_faster + 1) / 2};
}

void estimate(Comparison& c, std::span<const double> base, std::span<const double> candidate) {
  const Moments a = moments(base);
  const Moments b = moments(candidate);
  const auto n = static_cast<double>(c.runs);
  const double a_variance = std::pow(std::max(a.sd, kLeastSd), 2) / n;
  const double b_variance = std::pow(std::max(b.sd, kLeastSd), 2) / n;
  const double sum = a_variance + b_variance;
  c.base_sd = a.sd;
  c.candidate_sd = b.sd;
  c.difference = b.mean - a.mean;
  c.standard_error = std::sqrt(sum);
  c.degrees_of_freedom =
      sum * sum / ((a_variance * a_variance + b_variance * b_variance) / (n - 1));
}

void bound(Comparison& c, const Look& look, int m) {
  const double report_t = upper_t(c.degrees_of_freedom, look.level / m);
  const double row_t = upper_t(c.degrees_of_freedom, kRowLevel * look.fraction);
  c.report_low = c.difference - report_t * c.standard_error;
  c.report_high = c.difference + report_t * c.standard_error;
  c.row_low = c.difference - row_t * c.standard_error;
  c.row_high = c.difference + row_t * c.standard_error;
  // The estimate scatters too, and so does SE: the more the fewer the runs.
  const double spread = c.runs <= 10 ? 2.5 : 1.8;
  c.detectable = std::max((report_t + spread) * c.standard_error,
                          kNoticedLoss + (row_t + 1.5) * c.standard_error);
}

void decide(Comparison& c, const Look& look, int m) {
  const double guard = look.level / m;
  const double margin = std::log1p(kNoticedLoss);
  if (c.report_low > 0 && c.row_low > margin && c.slower_p <= guard) {
    c.status = ComparedStatus::kRegression;
  } else if (c.report_high < 0 && c.row_high < -margin && c.faster_p <= guard) {
    c.status = ComparedStatus::kImprovement;
  } else if (c.row_high < std::log1p(kWantedLoss)) {
    c.status = ComparedStatus::kUnchanged;
  } else if (!guard_can_reject(c.runs, look.level, m)) {
    c.reason = fmt::format("{} runs a side cannot carry {}: at least {} are needed", c.runs,
                           counted(m, "row"), least_runs(look.level, m));
  } else {
    c.reason = "neither a regression nor a loss of less than 3 % is shown";
  }
}

// 1-based place of the first value that is no time; 0 if there is none.
std::size_t place_of_non_finite(std::span<const double> x) {
  const auto found = std::ranges::find_if_not(x, [](double v) { return std::isfinite(v); });
  return found == x.end() ? 0 : static_cast<std::size_t>(found - x.begin()) + 1;
}

}  // namespace

std::vector<Side> interleaved_order(int runs_a_side, bool mirrored) {
  constexpr std::array<Side, 4> kAbba = {Side::kBase, Side::kCandidate, Side::kCandidate,
                                         Side::kBase};
  const std::size_t blocks = static_cast<std::size_t>(std::max(runs_a_side, 0) + 1) / 2;
  std::vector<Side> order;
  order.reserve(4 * blocks);
  for (std::size_t i = 0; i < 4 * blocks; ++i) {
    const bool candidate = (kAbba[i % 4] == Side::kCandidate) != mirrored;
    order.push_back(candidate ? Side::kCandidate : Side::kBase);
  }
  return order;
}

LookPlan two_looks(int m) {
  require_rows(m);
  const double level = kReportLevel / 2;
  const int first = least_runs(level, m);
  return {m, {{first, level, 0.5}, {2 * first, level, 0.5}}};
}

LookPlan one_look(int m, int runs) {
  require_rows(m);
  if (runs < 1) throw Error(ExitCode::kUsage, fmt::format("{} runs: at least 1 is needed", runs));
  return {m, {{runs, kReportLevel, 1.0}}};
}

std::vector<double> log_times(std::span<const double> values, Better better) {
  std::vector<double> result;
  result.reserve(values.size());
  for (const double value : values) {
    const bool usable = std::isfinite(value) && value > 0;
    const double log = usable ? std::log(value) : std::numeric_limits<double>::quiet_NaN();
    result.push_back(better == Better::kLower ? log : -log);
  }
  return result;
}

double Comparison::sd() const {
  return std::sqrt((base_sd * base_sd + candidate_sd * candidate_sd) / 2);
}

std::string weakness(const Comparison& comparison) {
  if (comparison.runs < 2 || !(comparison.detectable > kWantedLoss)) return {};
  const double sd_pct = 100 * comparison.sd();
  return fmt::format(
      "a 3 % loss may be missed: needs about {:.0f} runs a side (8 s^2, s = {:.2f} %), or a "
      "steadier "
      "regime",
      std::ceil(8 * sd_pct * sd_pct), sd_pct);
}

std::vector<double> rank_distribution(int n) {
  // As probabilities, not counts: no n overflows. The largest of i + j values is one of the i with
  // probability i / (i + j), and then above all j of the other side.
  const auto size = static_cast<std::size_t>(n);
  std::vector<std::vector<double>> row(size + 1);  // by j, for the current i
  for (std::size_t j = 0; j <= size; ++j) row[j] = {1.0};
  for (std::size_t i = 1; i <= size; ++i) {
    for (std::size_t j = 1; j <= size; ++j) {
      const double share = static_cast<double>(i) / static_cast<double>(i + j);
      std::vector<double> next(i * j + 1, 0.0);
      for (std::size_t u = 0; u < row[j].size(); ++u) next[u + j] += share * row[j][u];
      for (std::size_t u = 0; u < row[j - 1].size(); ++u) next[u] += (1 - share) * row[j - 1][u];
      row[j] = std::move(next);
    }
  }
  std::vector<double> tail = std::move(row[size]);
  for (std::size_t u = 1; u < tail.size(); ++u) tail[u] += tail[u - 1];
  return tail;
}

InterleavedRule::InterleavedRule(LookPlan plan) : plan_(std::move(plan)) {
  require_rows(plan_.m);
  for (const Look& look : plan_.looks) rank_p_.push_back(rank_distribution(look.runs));
}

Comparison InterleavedRule::judge(std::size_t look, std::span<const double> base,
                                  std::span<const double> candidate) const {
  const Look& now = plan_.looks.at(look);
  const auto wanted = static_cast<std::size_t>(now.runs);
  Comparison c;
  for (const auto& [name, x] : {std::pair{"base", base}, std::pair{"candidate", candidate}}) {
    if (const std::size_t place = place_of_non_finite(x.first(std::min(wanted, x.size())))) {
      c.status = ComparedStatus::kErrored;
      c.reason = fmt::format("run {} of the {} gave no time", place, name);
      return c;
    }
  }
  const std::size_t there = std::min(base.size(), candidate.size());
  c.runs = static_cast<int>(std::min(there, wanted));
  if (there < wanted || wanted < 2) {
    c.reason = there < wanted ? fmt::format("{} of {} runs a side", there, wanted)
                              : "1 run a side has no spread";
    return c;
  }
  const auto a = base.first(wanted);
  const auto b = candidate.first(wanted);
  estimate(c, a, b);
  bound(c, now, plan_.m);
  const auto [faster, slower] = rank_counts(a, b);
  c.rank_u = faster;
  c.slower_p = rank_p_[look][static_cast<std::size_t>(faster)];
  c.faster_p = rank_p_[look][static_cast<std::size_t>(slower)];
  decide(c, now, plan_.m);
  return c;
}

}  // namespace assay
