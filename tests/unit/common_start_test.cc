// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner/common_start.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace assay {
namespace {

constexpr int kGpus = 8;

TEST(CommonStart, NobodyGoesBeforeAllAreReady) {
  CommonStart start(kGpus);
  for (int i = 0; i < kGpus - 1; ++i) start.ready(i);
  for (int i = 0; i < kGpus - 1; ++i) EXPECT_FALSE(start.may_go(i));
  start.ready(kGpus - 1);
  for (int i = 0; i < kGpus; ++i) EXPECT_TRUE(start.may_go(i));
}

TEST(CommonStart, OneThatLeavesHoldsNobodyUp) {
  CommonStart start(kGpus);
  for (int i = 0; i < kGpus - 2; ++i) start.ready(i);
  start.leave(kGpus - 1);  // never came
  EXPECT_FALSE(start.may_go(0));
  start.leave(kGpus - 2);
  EXPECT_TRUE(start.may_go(0));
  // Nor at the next case, and leaving twice is no harm.
  start.leave(kGpus - 2);
  for (int i = 0; i < kGpus - 2; ++i) start.ready(i);
  EXPECT_TRUE(start.may_go(0));
}

TEST(CommonStart, AllLeaving) {
  CommonStart start(2);
  start.ready(0);
  start.leave(0);
  start.leave(1);
  EXPECT_TRUE(start.may_go(0));
}

TEST(CommonStart, AStragglerCostsTheWaitOnceAndIsBackAtTheNextCase) {
  CommonStart start(3, 0.05);
  start.ready(0);
  start.ready(1);
  EXPECT_FALSE(start.may_go(0));
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_TRUE(start.may_go(1));
  EXPECT_TRUE(start.may_go(0));
  // Second case: member 2 is not heard of, and not waited for.
  start.ready(0);
  EXPECT_FALSE(start.may_go(0));
  start.ready(1);
  EXPECT_TRUE(start.may_go(0));
  // It catches up without waiting, first and second case, and is waited for at the third.
  start.ready(2);
  EXPECT_TRUE(start.may_go(2));
  start.ready(2);
  EXPECT_TRUE(start.may_go(2));
  start.ready(0);
  start.ready(1);
  EXPECT_FALSE(start.may_go(0));
  start.ready(2);
  EXPECT_TRUE(start.may_go(0));
}

TEST(CommonStart, AProcessThatIsReplacedWhileItWaitsIsStillAtTheSameStart) {
  CommonStart start(2);
  start.ready(0);
  start.ready(0);  // the fresh one
  EXPECT_FALSE(start.may_go(0));
  start.ready(1);
  EXPECT_TRUE(start.may_go(0));
  start.ready(0);
  EXPECT_FALSE(start.may_go(0));
}

TEST(CommonStart, EightThreadsStayInStepUntilTheyLeave) {
  CommonStart start(kGpus);
  constexpr int kCases = 50;
  std::atomic<int> begun[kCases] = {};
  std::vector<std::jthread> threads;
  for (int member = 0; member < kGpus; ++member) {
    threads.emplace_back([&, member] {
      // The GPUs have between 43 and 50 cases.
      for (int k = 0; k < kCases - member; ++k) {
        ++begun[k];
        start.ready(member);
        while (!start.may_go(member)) std::this_thread::yield();
        // All who have a k-th case have begun it.
        EXPECT_EQ(begun[k], std::min(kGpus, kCases - k));
      }
      start.leave(member);
    });
  }
}

}  // namespace
}  // namespace assay
