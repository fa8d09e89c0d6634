// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Cases of the memory family as the harness sees them.
#include <gmock/gmock.h>

#include "bench/memory/cases.h"
#include "reports/error.h"
#include "tests/device/gpu_test.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

class MemoryCase : public GpuTest {
 protected:
  // Poisons, launches and checks every set of buffers.
  void expect_sound(const std::string& id) {
    const auto entry = memory_case(id, device_, stream());
    ASSERT_TRUE(entry) << id;
    const std::unique_ptr<Case> made = entry->make();
    for (int slot = 0; slot < made->slots(); ++slot) {
      made->poison(slot);
      EXPECT_EQ(made->verify(slot, 0).status, VerificationStatus::kWrong) << id;
      made->launch(slot);
      const Verification found = made->verify(slot, 1);
      EXPECT_EQ(found.status, VerificationStatus::kVerified) << id << ": " << found.detail;
    }
  }
};

TEST_F(MemoryCase, EveryOperationIsSoundFromOneElementToFourGiB) {
  for (const char* const op : {"read", "write", "copy", "scale", "add", "triad", "dot"}) {
    for (const char* const size : {"4B", "8B+fp64", "1000004B", "1000008B+fp64",
                                   "1000004B+offset=4", "1000008B+fp64+offset=8", "1MiB+offset=64",
                                   "1000004B+random", "1000004B+stride=5", "4GiB", "4GiB+fp64"}) {
      expect_sound(std::string("memory/") + op + "/" + size + "/burst");
    }
  }
  expect_sound("memory/copy/4GiB+random/burst");
  expect_sound("memory/copy/4GiB+offset=4/burst");
  expect_sound("memory/read/4GiB+stride=32/burst");
}

TEST_F(MemoryCase, ChasesEndWhereTheyMustAndGoOn) {
  for (const char* const id : {"memory/latency/16KiB/burst/warm", "memory/latency/8MiB/burst/warm",
                               "memory/latency/1MiB/burst", "memory/latency/4GiB/burst"}) {
    expect_sound(id);
    const std::unique_ptr<Case> made = memory_case(id, device_, stream())->make();
    for (int i = 0; i < 3; ++i) made->launch(0);
    EXPECT_EQ(made->verify(0, 0).status, VerificationStatus::kVerified) << id;
  }
}

TEST_F(MemoryCase, ABufferIsReadAgainAndAgainWhateverItsSize) {
  for (const char* const size : {"16B", "256KiB", "25165840B", "64MiB", "3GiB"}) {
    expect_sound(std::string("memory/l2_read/") + size + "/burst/warm");
  }
}

TEST_F(MemoryCase, WhatDoesNotFitSaysWhatItNeeds) {
  try {
    (void)memory_case("memory/triad/1024GiB/burst", device_, stream())->make();
    FAIL() << "was made";
  } catch (const Skip& skip) {
    EXPECT_THAT(skip.what(), HasSubstr("needs 6291456 MiB of device memory"));
    EXPECT_THAT(skip.what(), HasSubstr("are free"));
  }
}

TEST_F(MemoryCase, AnotherWhoHoldsMostOfTheMemoryIsAClearAnswer) {
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  constexpr std::size_t kLeft = std::size_t{3} << 30;
  if (free < 2 * kLeft) GTEST_SKIP() << "less than 6 GiB are free";
  const DeviceBuffer held(static_cast<std::int64_t>(free - kLeft));
  EXPECT_THROW((void)memory_case("memory/copy/4GiB/burst", device_, stream())->make(), Skip);
  expect_sound("memory/copy/64MiB/burst");
}

TEST_F(MemoryCase, EveryListedCaseIsItsId) {
  for (const CaseEntry& entry : memory_cases(device_, stream())) {
    const auto parsed = memory_case(entry.info.id, device_, stream());
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->info.id, entry.info.id);
    EXPECT_EQ(parsed->info.work.bytes, entry.info.work.bytes);
  }
}

}  // namespace
}  // namespace assay
