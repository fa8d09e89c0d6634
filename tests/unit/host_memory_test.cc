// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/links/host_memory.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstdint>
#include <system_error>
#include <thread>

#include "bench/harness/case.h"
#include "kernels/hash.h"
#include "kernels/pattern.h"

namespace assay {
namespace {

constexpr std::int64_t kCapacity = std::int64_t{5} << 20;  // several threads
constexpr std::uint64_t kSeed = 7;

// As a copy of `bytes` leaves it.
void receive(const HostMemory& memory, std::int64_t bytes) {
  fill_pattern(memory.data(), kCapacity, kSeed);
  for (std::int64_t i = bytes; i < kCapacity; ++i) memory.data()[i] = 0xFF;
}

TEST(HostMemory, TheFillIsTheGeneratorsWordForWord) {
  const HostMemory memory(kCapacity, std::nullopt, false);
  EXPECT_EQ(memory.placement(), "first touch");
  fill_pattern(memory.data(), kCapacity, kSeed);
  const auto* words = reinterpret_cast<const std::uint32_t*>(memory.data());
  for (std::int64_t i = 0; i < kCapacity / 4; ++i) {
    ASSERT_EQ(words[i], pattern_word(pattern_seed(kSeed), i)) << i;
  }
}

TEST(HostMemory, OneWrongByteAnywhereIsFound) {
  HostMemory memory(kCapacity, std::nullopt, false);
  for (const std::int64_t bytes : {kCapacity, kCapacity - 1, kCapacity - 4097, std::int64_t{1}}) {
    receive(memory, bytes);
    EXPECT_EQ(check_copied(memory.data(), bytes, kCapacity, kSeed).count, 0) << bytes;
    for (const std::int64_t at : {std::int64_t{0}, bytes / 2, bytes - 1, bytes, kCapacity - 1}) {
      if (at >= kCapacity) continue;
      memory.data()[at] ^= 0x10;
      const HostMismatch found = check_copied(memory.data(), bytes, kCapacity, kSeed);
      EXPECT_EQ(found.count, 1) << at << " of " << bytes;
      EXPECT_EQ(found.first, at / 4) << at << " of " << bytes;
      memory.data()[at] ^= 0x10;
    }
  }
}

TEST(HostMemory, ACopyThatIsShortOrLongIsFound) {
  HostMemory memory(kCapacity, std::nullopt, false);
  receive(memory, 1000);
  EXPECT_EQ(check_copied(memory.data(), 1001, kCapacity, kSeed).count, 1);
  EXPECT_EQ(check_copied(memory.data(), 999, kCapacity, kSeed).count, 1);
  EXPECT_GT(check_copied(memory.data(), 1000, kCapacity, kSeed + 1).count, 200);
}

TEST(HostMemory, TheHashOfThePiecesIsThatOfTheWhole) {
  const HostMemory memory(kCapacity, std::nullopt, false);
  fill_pattern(memory.data(), kCapacity, kSeed);
  for (const std::int64_t bytes : {kCapacity, kCapacity - 3, std::int64_t{9}}) {
    EXPECT_EQ(hash_in_parallel(memory.data(), bytes), hash_bytes_on_host(memory.data(), bytes));
  }
  const std::uint64_t before = hash_in_parallel(memory.data(), kCapacity);
  memory.data()[kCapacity - 1] ^= 1;
  EXPECT_NE(hash_in_parallel(memory.data(), kCapacity), before);
}

// The next threads are to have stacks that no address space holds.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 50);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  // Puts back what was set before.
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_{};
};

TEST(HostMemory, IsFilledAndCheckedWhereNoThreadIsToBeHad) {
  const NoThreads until_the_end;
  EXPECT_THROW(std::jthread([] {}), std::system_error);
  const HostMemory memory(kCapacity, std::nullopt, false);
  receive(memory, 1000);
  EXPECT_EQ(check_copied(memory.data(), 1000, kCapacity, kSeed).count, 0);
  memory.data()[kCapacity - 1] ^= 1;
  EXPECT_EQ(check_copied(memory.data(), 1000, kCapacity, kSeed).count, 1);
  EXPECT_EQ(hash_in_parallel(memory.data(), kCapacity),
            hash_bytes_on_host(memory.data(), kCapacity));
}

TEST(HostMemory, WhatDoesNotFitIsSkipped) {
  EXPECT_THROW(HostMemory(std::int64_t{1} << 46, std::nullopt, false), Skip);
  EXPECT_THROW(HostMemory(kCapacity, 1000, true), Skip) << "there is no such node";
  const HostMemory anywhere(kCapacity, 1000, false);
  EXPECT_NE(anywhere.placement().find("first touch ("), std::string::npos) << anywhere.placement();
}

}  // namespace
}  // namespace assay
