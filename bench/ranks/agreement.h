// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What ranks that measure together must decide alike: how many samples they take, when they are
// warm, whether a result was wrong. Each rank gives what it found and gets what holds for all.
//
//   Agreement agreement(exchange);
//   double cost_s = agreement.largest(my_cost_s);       // the same on every rank
//   bool hot = agreement.any(my_clock_mhz < full_mhz);
//
// Where one rank cannot go on it gives up instead of calling what the others call, and they get
// RankGaveUp from whatever they call: after that all are in step again.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/ranks/exchange.h"

namespace assay {

// Another rank gave up; what() is "rank 2: why", one line.
class RankGaveUp : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Agreement {
 public:
  explicit Agreement(Exchange& exchange) : exchange_(exchange) {}

  [[nodiscard]] int rank() const { return exchange_.rank(); }
  [[nodiscard]] int size() const { return exchange_.size(); }

  // Each of these throws RankGaveUp where another rank gave up, and RanksLost.
  [[nodiscard]] std::vector<std::string> gather(const std::string& mine);
  // The numbers of all, by rank, bit for bit; every rank gives the same count of them.
  [[nodiscard]] std::vector<std::vector<double>> gather(const std::vector<double>& mine);
  [[nodiscard]] double largest(double mine);
  [[nodiscard]] bool any(bool mine);

  // Throws RanksLost alone.
  void give_up(const std::string& why);

 private:
  Exchange& exchange_;
};

// Why the part of a rank says that it gave up; empty of one that goes on.
[[nodiscard]] std::string_view gave_up(std::string_view part);

}  // namespace assay
