// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The pattern of bits that streams and links carry, word by word, so that the host
// can make and check it, too.
//
//   const std::uint32_t folded = pattern_seed(seed);
//   word_i == pattern_word(folded, i)
#pragma once

#include <cstdint>

#include "kernels/counter_random.h"

namespace assay {

// Folded so that the pattern differs in more than the low word of the seed.
inline std::uint32_t pattern_seed(std::uint64_t seed) {
  return static_cast<std::uint32_t>(random_bits(seed, 0));
}

// One multiply-add a word: cheap enough that a write stays bound by memory. The odd multiplier
// makes it a bijection, so that words of different places differ.
ASSAY_HOST_DEVICE inline std::uint32_t pattern_word(std::uint32_t folded, std::int64_t word) {
  return static_cast<std::uint32_t>(word) * 2654435761U + folded;
}

}  // namespace assay
