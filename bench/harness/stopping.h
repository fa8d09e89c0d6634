// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// When a case has warmed up, and when it has been timed long enough. Both rules are declared before
// the first launch, bounded, and say in a record why they stopped. They spend a budget: nothing
// about errors follows from them, since the samples of one process are not independent.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace assay {

// Half the distance between the order statistics that enclose the median of n independent samples
// with about 95 %, over the median; infinite below 6 samples.
[[nodiscard]] double relative_half_width(std::vector<double> samples);

// Batch and counts of a timed window.
struct StoppingRule {
  int per_sample = 1;         // launches a sample
  int samples = 1;            // wanted
  int max_samples = 1;        // until the half-width is reached
  double half_width = 0.005;  // wanted, of the median
  double cap_s = 10;          // wall time, whatever the timer says

  // "60 samples x 1 launches, more until the median's half-width is 0.5 %, at most 120 or 10 s"
  [[nodiscard]] std::string text() const;
  // Why to stop now; null to go on.
  [[nodiscard]] std::optional<std::string> reached(const std::vector<double>& samples,
                                                   double elapsed_s) const;
};

// Steady: the means of clock and power over two successive spells differ by less than their
// tolerances. Whichever of the two is not readable does not take part; with neither, nothing is
// ever steady.
struct SteadyRule {
  double least_s = 1.0;
  double most_s = 4.0;
  double blind_s = 2.0;  // instead, where neither clock nor power is readable
  double spell_s = 0.4;
  double clock_tolerance = 0.01;
  double power_tolerance = 0.03;
};

class Settling {
 public:
  explicit Settling(const SteadyRule& rule) : rule_(rule) {}

  void add(double at_s, std::optional<double> clock_mhz, std::optional<double> power_w);
  // Why the warm-up ends now, `at_s` seconds after its start; null to go on.
  [[nodiscard]] std::optional<std::string> reached(double at_s) const;

 private:
  struct Reading {
    double at_s;
    std::optional<double> clock_mhz;
    std::optional<double> power_w;
  };
  struct Change {
    bool known = false;
    double relative = 0;  // between the last two spells
  };
  [[nodiscard]] Change change(std::optional<double> Reading::* quantity, double at_s) const;

  SteadyRule rule_;
  std::deque<Reading> readings_;  // of the last two spells
};

}  // namespace assay
