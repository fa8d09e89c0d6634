// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What each rank gives to a collective operation and what must come out, element by element, so
// that host and device can make and check it. A pure function of a seed, the rank and the place.
//
//   const RankValues values{.kind = ValueKind::kSum, .limit = largest_whole(type), .ranks = 8,
//                           .seed = seed};
//   int given = values.addend(rank, i);       // exact in the type
//   int summed = values.sum(i);               // likewise, and so is every partial sum
//   std::uint64_t bits = values.bits(rank, i);   // of operations that only move
//
// Why sums are exact. Every addend is a whole number, and the absolute values of all ranks'
// addends of an element add up to at most `limit`, below which the type holds every whole number.
// So each partial sum, of whichever ranks in whichever order, is a whole number that the type
// holds: no addition rounds, in a tree, in a ring, in a switch, or in a wider type in between.
//
//   kSum, limit 2^24 (FP32, FP64, INT32): rank r gives a + r b, with a in 1..1023 and b in 1..15 by
//     the place. Over 1024 ranks that is at most 1024 x 1023 + 15 x 523776 = 8.9e6 < 2^24. No
//     addend is 0 and no two ranks' are the same, so that one that is missing, or there twice in
//     place of another, changes the sum.
//   kSum, limit 2^11, 2^8, 2^4, 2^3 (FP16, BF16, FP8 E4M3, FP8 E5M2): of each element at most four
//     ranks that follow each other give something, 1..limit/4 each, and the others 0. The four
//     move on by four from element to element: all ranks matter within ranks/4 elements.
//   kCancel: two neighbouring ranks give v and -v, the others 0, and the sum is 0. The pair moves
//     on by one. For a sum in place, whose output is its next input: from the second launch on it
//     adds zeros, and what is there does not depend on how many launches there were. One rank alone
//     gives v, and keeps it.
#pragma once

#include <cstdint>

#include "kernels/counter_random.h"
#include "kernels/element.h"

namespace assay {

inline constexpr int kMostRanks = 1024;
inline constexpr int kFewContributors = 4;
inline constexpr int kWideLimit = 1 << 24;

// The type holds every whole number up to this one: 2 to the power of its significand's bits. For
// the widest types FP32's, which is enough.
[[nodiscard]] constexpr int largest_whole(ElementType type) {
  switch (type) {
    case ElementType::kFp16:
      return 1 << 11;
    case ElementType::kBf16:
      return 1 << 8;
    case ElementType::kFp8E4M3:
      return 1 << 4;
    case ElementType::kFp8E5M2:
      return 1 << 3;
    default:
      return kWideLimit;
  }
}

enum class ValueKind { kBits, kSum, kCancel };

struct RankValues {
  ValueKind kind = ValueKind::kSum;
  int limit = kWideLimit;
  int ranks = 1;
  std::uint64_t seed = 0;

  // The low bits are those of an element that is only moved. Any pattern may occur.
  [[nodiscard]] ASSAY_HOST_DEVICE std::uint64_t bits(int rank, std::int64_t element) const {
    return random_bits(seed + static_cast<std::uint64_t>(rank) * 0xD1B54A32D192ED03ULL,
                       static_cast<std::uint64_t>(element));
  }

  [[nodiscard]] ASSAY_HOST_DEVICE int addend(int rank, std::int64_t element) const {
    const std::uint64_t random = random_bits(seed, static_cast<std::uint64_t>(element));
    if (kind == ValueKind::kCancel) {
      const int place = place_after(element % ranks, rank);
      const int v = 1 + static_cast<int>(random % static_cast<unsigned>(limit / kFewContributors));
      if (place == 0) return v;
      return place == 1 ? -v : 0;
    }
    if (limit == kWideLimit) return first_of(random) + rank * step_of(random);
    const int place = place_after(first_contributor(element), rank);
    return place < kFewContributors ? few_value(random, place) : 0;
  }

  [[nodiscard]] ASSAY_HOST_DEVICE int sum(std::int64_t element) const {
    const std::uint64_t random = random_bits(seed, static_cast<std::uint64_t>(element));
    if (kind == ValueKind::kCancel) return ranks == 1 ? addend(0, element) : 0;
    if (limit == kWideLimit) {
      return ranks * first_of(random) + ranks * (ranks - 1) / 2 * step_of(random);
    }
    int total = 0;
    for (int place = 0; place < kFewContributors && place < ranks; ++place) {
      total += few_value(random, place);
    }
    return total;
  }

 private:
  [[nodiscard]] ASSAY_HOST_DEVICE static int first_of(std::uint64_t random) {
    return 1 + static_cast<int>((random & 0xFFFFFFFFU) % 1023);
  }
  [[nodiscard]] ASSAY_HOST_DEVICE static int step_of(std::uint64_t random) {
    return 1 + static_cast<int>((random >> 32) % 15);
  }
  [[nodiscard]] ASSAY_HOST_DEVICE int few_value(std::uint64_t random, int place) const {
    const auto bits = static_cast<std::uint32_t>(random >> (16 * place)) & 0xFFFFU;
    return 1 + static_cast<int>(bits % static_cast<unsigned>(limit / kFewContributors));
  }
  [[nodiscard]] ASSAY_HOST_DEVICE std::int64_t first_contributor(std::int64_t element) const {
    return kFewContributors * (element % ranks) % ranks;
  }
  [[nodiscard]] ASSAY_HOST_DEVICE int place_after(std::int64_t first, int rank) const {
    return static_cast<int>((rank - first + ranks) % ranks);
  }
};

}  // namespace assay
