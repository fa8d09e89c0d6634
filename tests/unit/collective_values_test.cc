// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What ranks give adds up exactly, in every type, order and tree: shown by rounding to the type
// after every addition.
#include "kernels/collective_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

namespace assay {
namespace {

struct Format {
  ElementType type;
  int significand;  // bits, the hidden one too; 0: whole numbers of 32 bits
  double largest;
};
const Format kFormats[] = {{ElementType::kFp64, 53, 1.7e308},    {ElementType::kFp32, 24, 3.4e38},
                           {ElementType::kInt32, 0, 2147483647}, {ElementType::kFp16, 11, 65504},
                           {ElementType::kBf16, 8, 3.3e38},      {ElementType::kFp8E4M3, 4, 448},
                           {ElementType::kFp8E5M2, 3, 57344}};
const int kRanks[] = {1, 2, 3, 4, 5, 7, 8, 16, 72, 1000, 1024};

// To the nearest, ties to even; all that occurs is far above what is subnormal.
double rounded(double value, const Format& format) {
  if (value == 0) return 0;
  EXPECT_LE(std::abs(value), format.largest);
  if (format.significand == 0) return std::trunc(value);
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, format.significand)),
                    exponent - format.significand);
}

RankValues values_of(const Format& format, ValueKind kind, int ranks, std::uint64_t seed = 7) {
  return {.kind = kind, .limit = largest_whole(format.type), .ranks = ranks, .seed = seed};
}

std::vector<double> addends(const RankValues& values, std::int64_t element) {
  std::vector<double> all;
  for (int rank = 0; rank < values.ranks; ++rank) all.push_back(values.addend(rank, element));
  return all;
}

double sum_in_turn(const std::vector<double>& parts, const Format& format) {
  double total = 0;
  for (const double part : parts) total = rounded(total + part, format);
  return total;
}

double sum_in_a_tree(std::vector<double> parts, const Format& format) {
  while (parts.size() > 1) {
    std::vector<double> halves;
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
      halves.push_back(rounded(parts[i] + parts[i + 1], format));
    }
    if (parts.size() % 2 != 0) halves.push_back(parts.back());
    parts = std::move(halves);
  }
  return parts.front();
}

void shuffle(std::vector<double>& parts, std::uint64_t seed) {
  for (std::size_t i = parts.size(); i > 1; --i) {
    std::swap(parts[i - 1], parts[random_bits(seed, i) % i]);
  }
}

TEST(CollectiveValues, RoundingIsThatOfTheType) {
  EXPECT_EQ(rounded(17, kFormats[5]), 16);    // E4M3 holds 16 and 18
  EXPECT_EQ(rounded(9, kFormats[6]), 8);      // E5M2 holds 8 and 10
  EXPECT_EQ(rounded(257, kFormats[4]), 256);  // BF16
  EXPECT_EQ(rounded(2049, kFormats[3]), 2048);
  EXPECT_EQ(rounded(16777217, kFormats[1]), 16777216);
}

// The bound from which all the rest follows: no partial sum can leave it.
TEST(CollectiveValues, AbsoluteValuesStayWhereTheTypeHoldsEveryWholeNumber) {
  for (const Format& format : kFormats) {
    for (const ValueKind kind : {ValueKind::kSum, ValueKind::kCancel}) {
      for (const int ranks : kRanks) {
        const RankValues values = values_of(format, kind, ranks);
        for (std::int64_t i = 0; i < 300; ++i) {
          double all = 0;
          for (const double part : addends(values, i)) {
            all += std::abs(part);
            ASSERT_EQ(rounded(part, format), part);
          }
          ASSERT_LE(all, largest_whole(format.type)) << ranks << " ranks, element " << i;
        }
      }
    }
  }
}

TEST(CollectiveValues, EveryOrderAndTreeGivesTheSameSum) {
  for (const Format& format : kFormats) {
    for (const ValueKind kind : {ValueKind::kSum, ValueKind::kCancel}) {
      for (const int ranks : kRanks) {
        const RankValues values = values_of(format, kind, ranks);
        for (std::int64_t i = 0; i < 40; ++i) {
          std::vector<double> parts = addends(values, i);
          for (std::uint64_t order = 0; order < 5; ++order) {
            ASSERT_EQ(sum_in_turn(parts, format), values.sum(i)) << ranks << " ranks, " << i;
            ASSERT_EQ(sum_in_a_tree(parts, format), values.sum(i)) << ranks << " ranks, " << i;
            shuffle(parts, order);
          }
        }
      }
    }
  }
}

// Up to eight ranks: every subset, so every order and tree there can be.
TEST(CollectiveValues, EveryPartialSumIsHeld) {
  for (const Format& format : kFormats) {
    for (int ranks = 1; ranks <= 8; ++ranks) {
      const RankValues values = values_of(format, ValueKind::kSum, ranks);
      for (std::int64_t i = 0; i < 50; ++i) {
        const std::vector<double> parts = addends(values, i);
        for (unsigned subset = 0; subset < 1U << ranks; ++subset) {
          double sum = 0;
          for (int r = 0; r < ranks; ++r) {
            if ((subset >> r & 1U) != 0) sum += parts[static_cast<std::size_t>(r)];
          }
          ASSERT_EQ(rounded(sum, format), sum);
        }
      }
    }
  }
}

TEST(CollectiveValues, ARankThatIsMissingOrThereTwiceIsSeen) {
  for (const Format& format : kFormats) {
    for (const ValueKind kind : {ValueKind::kSum, ValueKind::kCancel}) {
      for (const int ranks : kRanks) {
        const RankValues values = values_of(format, kind, ranks);
        for (int rank = 0; rank < ranks; ++rank) {
          int seen = 0;
          for (std::int64_t i = 0; i < ranks; ++i) seen += values.addend(rank, i) != 0 ? 1 : 0;
          ASSERT_GE(seen, 1) << "rank " << rank << " of " << ranks;
        }
      }
    }
  }
  // Of the wide types already in one element, and one rank never stands for another.
  const RankValues wide{.ranks = 1024, .seed = 3};
  for (std::int64_t i = 0; i < 20; ++i) {
    std::set<int> different;
    for (int rank = 0; rank < wide.ranks; ++rank) different.insert(wide.addend(rank, i));
    EXPECT_EQ(different.size(), 1024U);
    EXPECT_FALSE(different.contains(0));
  }
}

// How likely what is one place off, or of another buffer set, looks right by accident.
TEST(CollectiveValues, PlacesAndSeedsDiffer) {
  constexpr int kElements = 4096;
  const auto alike = [&](const RankValues& a, const RankValues& b, int shift) {
    int same = 0;
    for (std::int64_t i = 0; i < kElements; ++i) same += a.sum(i) == b.sum(i + shift) ? 1 : 0;
    return static_cast<double>(same) / kElements;
  };
  for (const Format& format : kFormats) {
    const RankValues values = values_of(format, ValueKind::kSum, 8);
    const RankValues others = values_of(format, ValueKind::kSum, 8, 8);
    const double most = largest_whole(format.type) == kWideLimit ? 0.01 : 0.35;
    EXPECT_LT(alike(values, values, 1), most);
    EXPECT_LT(alike(values, values, 1 << 16), most);
    EXPECT_LT(alike(values, others, 0), most);
  }
}

TEST(CollectiveValues, WhatIsOnlyMovedDiffersByRankAndPlace) {
  const RankValues values{.kind = ValueKind::kBits, .ranks = 8, .seed = 5};
  std::set<std::uint64_t> seen;
  for (int rank = 0; rank < 8; ++rank) {
    for (std::int64_t i = 0; i < 1000; ++i) seen.insert(values.bits(rank, i));
  }
  EXPECT_EQ(seen.size(), 8000U);
}

// What a sum in place leaves is what it finds again.
TEST(CollectiveValues, ASumInPlaceStaysWhatItIs) {
  for (const int ranks : {2, 3, 8}) {
    const RankValues values{.kind = ValueKind::kCancel, .ranks = ranks, .seed = 1};
    for (std::int64_t i = 0; i < 100; ++i) EXPECT_EQ(ranks * values.sum(i), values.sum(i));
  }
  const RankValues alone{.kind = ValueKind::kCancel, .ranks = 1, .seed = 1};
  EXPECT_EQ(alone.sum(3), alone.addend(0, 3));
  EXPECT_NE(alone.sum(3), 0);
}

}  // namespace
}  // namespace assay
