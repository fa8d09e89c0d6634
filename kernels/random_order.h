// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A random order of 0 .. count-1 that needs no table: place i is computed, on the host and on the
// device alike.
//
//   const RandomOrder order(1000);
//   order(0), order(1), ... order(999)     // each of 0..999 once
//
// Odd multiplications and shifted exclusive-ors, each a bijection of [0, 2^bits), the least such
// range that holds the count; a value beyond the count is mapped again until it is below
// ("cycle walking": Black and Rogaway, 2002), fewer than two times on average.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/counter_random.h"

namespace assay {

class RandomOrder {
 public:
  // count >= 1
  explicit RandomOrder(std::int64_t count)
      : count_(static_cast<std::uint64_t>(count)),
        bits_(static_cast<int>(std::bit_width(count_ - 1))) {}

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(count_); }

  // 0 <= i < count
  ASSAY_HOST_DEVICE std::int64_t operator()(std::int64_t i) const {
    auto place = static_cast<std::uint64_t>(i);
    do {
      place = mixed(place);
    } while (place >= count_);
    return static_cast<std::int64_t>(place);
  }

 private:
  [[nodiscard]] ASSAY_HOST_DEVICE std::uint64_t mixed(std::uint64_t x) const {
    const std::uint64_t mask = (std::uint64_t{1} << bits_) - 1;
    const int half = (bits_ + 1) / 2;
    x = (x + 0x632BE59BD9B4E019ULL) & mask;
    x = (x * 0x9E3779B97F4A7C15ULL) & mask;
    x ^= x >> half;
    x = (x * 0xD6E8FEB86659FD93ULL) & mask;
    x ^= x >> half;
    x = (x * 0xBF58476D1CE4E5B9ULL) & mask;
    return x ^ (x >> half);
  }

  std::uint64_t count_;
  int bits_;
};

}  // namespace assay
