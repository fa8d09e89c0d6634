// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Counter-based random numbers: a pure function of (seed, index), so that any element can be made
// again without its neighbours, on the host and on the device alike.
#pragma once

#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define ASSAY_HOST_DEVICE __host__ __device__
#else
#define ASSAY_HOST_DEVICE
#endif

namespace assay {

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014) over a Weyl sequence.
ASSAY_HOST_DEVICE inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

// Uniform in [-1, 1) on a grid of 2^-23: exact in FP32.
ASSAY_HOST_DEVICE inline float random_uniform(std::uint64_t seed, std::uint64_t index) {
  const auto bits = static_cast<std::uint32_t>(random_bits(seed, index) >> 40);  // 24 bits
  return static_cast<float>(bits) * 0x1p-23F - 1.0F;
}

// The same on a grid of 2^-52: all the bits of an FP64 significand.
ASSAY_HOST_DEVICE inline double random_uniform_double(std::uint64_t seed, std::uint64_t index) {
  return static_cast<double>(random_bits(seed, index) >> 11) * 0x1p-52 - 1.0;  // 53 bits
}

// Each of -128..127 alike.
ASSAY_HOST_DEVICE inline std::int8_t random_int8(std::uint64_t seed, std::uint64_t index) {
  return static_cast<std::int8_t>(static_cast<int>(random_bits(seed, index) >> 56) - 128);
}

// Normal, mean 0 and variance 1, by Box and Muller (1958); |value| < 6. Host and device agree to
// rounding, not to the bit.
ASSAY_HOST_DEVICE inline float random_normal(std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t bits = random_bits(seed, index);
  const float u = (static_cast<float>(bits >> 40) + 0.5F) * 0x1p-24F;  // (0, 1)
  const float v = static_cast<float>(bits & 0xFFFFFFU) * 0x1p-24F;
  return sqrtf(-2.0F * logf(u)) * cosf(6.2831853F * v);
}

// +1 or -1.
ASSAY_HOST_DEVICE inline double random_sign(std::uint64_t seed, std::uint64_t index) {
  return (random_bits(seed, index) & 1U) != 0 ? 1.0 : -1.0;
}

}  // namespace assay
