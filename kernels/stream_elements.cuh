// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What the streams do to one element, and what their inputs hold; of stream.cu alone.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/counter_random.h"
#include "kernels/pattern.h"
#include "kernels/random_order.h"
#include "kernels/stream.h"

namespace assay {

// As constants, which device code may use where it may not call a function of the host.
template <StreamOp op>
inline constexpr int kInputs = stream_inputs(op);
template <StreamOp op>
inline constexpr bool kIsArithmetic = is_arithmetic(op);

// Of pattern.h; 64 bits are two words.
template <class T>
__device__ T pattern(std::uint32_t folded, std::int64_t at) {
  if constexpr (sizeof(T) == 4) {
    return static_cast<T>(pattern_word(folded, at));
  } else {
    return static_cast<T>(pattern_word(folded, 2 * at)) |
           static_cast<T>(pattern_word(folded, 2 * at + 1)) << 32;
  }
}

// From -32 to 31. A block of dot sums at most 2048 x 4 products of at most 2^10 each: 2^23, exact
// in FP32 in any order; 2^43 elements would be needed to leave what FP64 holds exactly.
__device__ inline int small_integer(std::uint64_t seed, std::int64_t at) {
  return static_cast<int>(random_bits(seed, static_cast<std::uint64_t>(at)) >> 58) - 32;
}

template <StreamOp op, class T>
__device__ T input(std::uint64_t seed, std::uint32_t folded, std::int64_t at) {
  const auto index = static_cast<std::uint64_t>(at);
  if constexpr (op == StreamOp::kDot) {
    return static_cast<T>(small_integer(seed, at));
  } else if constexpr (std::is_same_v<T, float>) {
    return random_uniform(seed, index);
  } else if constexpr (std::is_same_v<T, double>) {
    return random_uniform_double(seed, index);
  } else {
    return pattern<T>(folded, at);
  }
}

__device__ inline float multiply_add(float x, float y, float z) { return fmaf(x, y, z); }
__device__ inline double multiply_add(double x, double y, double z) { return fma(x, y, z); }

template <StreamOp op, class T>
__device__ T mapped(T a, T b) {
  if constexpr (op == StreamOp::kScale) {
    return static_cast<T>(kStreamScalar) * a;
  } else if constexpr (op == StreamOp::kAdd) {
    return a + b;
  } else if constexpr (op == StreamOp::kTriad) {
    return multiply_add(static_cast<T>(kStreamScalar), b, a);
  } else {
    return a;
  }
}

// What a reduction keeps of a block.
template <StreamOp op, class T>
using SumOf = std::conditional_t<op == StreamOp::kDot, T, std::uint32_t>;

__device__ inline std::uint32_t words_of(std::uint32_t value) { return value; }
__device__ inline std::uint32_t words_of(std::uint64_t value) {
  return static_cast<std::uint32_t>(value) + static_cast<std::uint32_t>(value >> 32);
}

__device__ inline bool same_bits(std::uint32_t a, std::uint32_t b) { return a == b; }
__device__ inline bool same_bits(std::uint64_t a, std::uint64_t b) { return a == b; }
__device__ inline bool same_bits(float a, float b) {
  return __float_as_uint(a) == __float_as_uint(b);
}
__device__ inline bool same_bits(double a, double b) {
  return __double_as_longlong(a) == __double_as_longlong(b);
}

}  // namespace assay
