// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "bench/host/triad.h"
#include "kernels/counter_random.h"

namespace assay {
namespace {

constexpr std::int64_t kElements = 100'003;  // no multiple of any thread count

TEST(HostTriad, ComputesAndVerifies) {
  HostTriad triad(kElements, 1);
  triad.poison(0);
  triad.launch(0);
  EXPECT_EQ(triad.verify(0, 0).status, VerificationStatus::kVerified);
  EXPECT_EQ(triad.output()[5], random_uniform(1, 5) + 0.5F * random_uniform(2, 5));
  EXPECT_GE(triad.threads(), 1);
}

TEST(HostTriad, FindsOneFlippedBit) {
  HostTriad triad(kElements, 1);
  triad.launch(0);
  triad.output()[77'777] = std::nextafter(triad.output()[77'777], 10.0F);
  const Verification found = triad.verify(0, 0);
  EXPECT_EQ(found.status, VerificationStatus::kWrong);
  EXPECT_EQ(*found.error, 1);
  EXPECT_THAT(found.detail, ::testing::HasSubstr("77777"));
}

TEST(HostTriad, FindsWhatWasNotWritten) {
  HostTriad triad(kElements, 1);
  triad.poison(0);
  EXPECT_EQ(*triad.verify(0, 0).error, kElements);
}

TEST(HostTriad, SkipsWhenMemoryIsShort) { EXPECT_THROW(HostTriad(std::int64_t{1} << 50, 1), Skip); }

TEST(CounterRandom, IsUniformOnItsRange) {
  constexpr int kCount = 100'000;
  constexpr int kBins = 20;
  std::array<int, kBins> bins{};
  double sum = 0;
  for (int i = 0; i < kCount; ++i) {
    const float value = random_uniform(42, static_cast<std::uint64_t>(i));
    ASSERT_GE(value, -1.0F);
    ASSERT_LT(value, 1.0F);
    ++bins[static_cast<std::size_t>((value + 1) * kBins / 2)];
    sum += value;
  }
  EXPECT_NEAR(sum / kCount, 0, 5 * std::sqrt(1.0 / 3 / kCount));
  double chi_squared = 0;
  for (const int count : bins) {
    const double expected = static_cast<double>(kCount) / kBins;
    chi_squared += (count - expected) * (count - expected) / expected;
  }
  EXPECT_LT(chi_squared, 43.8) << "19 degrees of freedom: 0.1 %";
}

}  // namespace
}  // namespace assay
