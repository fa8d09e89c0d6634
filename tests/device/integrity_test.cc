// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The integrity test finds one flipped bit, wherever and whenever it flips. ASSAY_INTEGRITY_GIB in
// the environment sets how much memory it is planted in (3).
#include <gmock/gmock.h>

#include <cstdlib>

#include "bench/memory/cases.h"
#include "bench/memory/integrity_case.h"
#include "tests/device/gpu_test.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

std::int64_t tested_bytes() {
  const char* const gib = std::getenv("ASSAY_INTEGRITY_GIB");
  return static_cast<std::int64_t>(gib == nullptr ? 3 : std::atoi(gib)) << 30;
}

class Integrity : public GpuTest {
 protected:
  // One launch; after `step` of `pattern` a bit of word `place` flips.
  Verification with_flip(IntegrityCase& test, IntegrityPattern pattern, IntegrityStep step,
                         std::int64_t place, int bit) {
    test.begin();
    for (int p = 0; p < kIntegrityPatterns; ++p) {
      for (int s = 0; s < kIntegritySteps; ++s) {
        test.run_step(static_cast<IntegrityPattern>(p), static_cast<IntegrityStep>(s));
        if (p != static_cast<int>(pattern) || s != static_cast<int>(step)) continue;
        auto* const word = static_cast<std::uint64_t*>(test.buffer().data) + place;
        upload<std::uint64_t>(word, 0, download<std::uint64_t>(word, 1)[0] ^ (1ULL << bit));
      }
    }
    return test.verify(0, 0);
  }
};

TEST_F(Integrity, SoundMemoryIsSoundAgainAndAgain) {
  IntegrityCase test(tested_bytes(), stream());
  EXPECT_EQ(test.verify(0, 0).status, VerificationStatus::kWrong) << "nothing was run yet";
  for (int i = 0; i < 3; ++i) {
    test.poison(0);
    EXPECT_EQ(test.verify(0, 0).status, VerificationStatus::kWrong) << "poisoned";
    test.launch(0);
    const Verification found = test.verify(0, 0);
    EXPECT_EQ(found.status, VerificationStatus::kVerified) << found.detail;
  }
}

TEST_F(Integrity, OneFlippedBitIsFoundAndNamed) {
  const std::int64_t words = tested_bytes() / 8;
  for (const std::int64_t place : {std::int64_t{0}, words / 3, words - 1}) {
    for (int pattern = 0; pattern < kIntegrityPatterns; ++pattern) {
      for (const IntegrityStep step :
           {IntegrityStep::kStore, IntegrityStep::kInvert, IntegrityStep::kRestore}) {
        IntegrityCase test(tested_bytes(), stream());
        const int bit = static_cast<int>(place % 64);
        const Verification found =
            with_flip(test, static_cast<IntegrityPattern>(pattern), step, place, bit);
        ASSERT_EQ(found.status, VerificationStatus::kWrong) << pattern << ' ' << place;
        EXPECT_EQ(found.error, 1.0);
        EXPECT_THAT(found.detail, HasSubstr("offset " + std::to_string(8 * place) + ":"));
        EXPECT_THAT(found.detail, HasSubstr("flipped bits " + std::to_string(bit) + " ("));
        test.poison(0);
        test.launch(0);
        EXPECT_EQ(test.verify(0, 0).status, VerificationStatus::kWrong) << "it stays in the report";
      }
    }
  }
}

TEST_F(Integrity, AStepThatWasLeftOutIsNoTest) {
  IntegrityCase test(std::int64_t{1} << 30, stream());
  test.poison(0);
  test.begin();
  test.run_step(IntegrityPattern::kZeros, IntegrityStep::kStore);
  test.run_step(IntegrityPattern::kZeros, IntegrityStep::kLook);
  const Verification found = test.verify(0, 0);
  EXPECT_EQ(found.status, VerificationStatus::kWrong);
  EXPECT_THAT(found.detail, HasSubstr("not all of its 16 steps"));
}

// An address line that does nothing: two places are one.
TEST_F(Integrity, AnAddressThatAnswersForAnotherIsFound) {
  IntegrityCase test(std::int64_t{1} << 30, stream());
  test.begin();
  test.run_step(IntegrityPattern::kAddress, IntegrityStep::kStore);
  auto* const words = static_cast<std::uint64_t*>(test.buffer().data);
  upload<std::uint64_t>(words, 4096, download<std::uint64_t>(words, 1)[0]);
  test.run_step(IntegrityPattern::kAddress, IntegrityStep::kLook);
  EXPECT_THAT(test.verify(0, 0).detail, HasSubstr("offset 32768:"));
}

TEST_F(Integrity, WhatDoesNotFitSaysWhatItNeeds) {
  EXPECT_THROW((void)memory_case("memory/integrity/1024GiB/burst", device_, stream())->make(),
               Skip);
}

}  // namespace
}  // namespace assay
