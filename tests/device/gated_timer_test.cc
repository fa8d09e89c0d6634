// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/cuda/gated_timer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>

#include "reports/statistics.h"
#include "tests/device/gpu_test.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

class GatedTimerTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    timer_.emplace(stream(), device_.sm_count);
    timer_->begin_case("test");
    spun_ = DeviceBuffer(sizeof(std::uint64_t));
    timer_->run(1, spinner(1000));  // loads the kernel
  }
  LaunchFunction spinner(std::uint64_t ns) {
    return [this, ns](int) { check_cuda(spin(ns, spun_.as<std::uint64_t>(), stream()), "spin"); };
  }
  double spun_s() const {
    return static_cast<double>(download<std::uint64_t>(spun_.data(), 1)[0]) * 1e-9;
  }
  static double wall_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  std::optional<GatedTimer> timer_;
  DeviceBuffer spun_;
};

TEST_F(GatedTimerTest, AKernelOfKnownLengthIsMeasuredWithinOnePercentOrOneMicrosecond) {
  for (const std::uint64_t ns : {5'000, 10'000, 50'000, 200'000, 1'000'000, 10'000'000}) {
    const int batch = std::clamp(static_cast<int>(500'000 / ns), 1, timer_->capacity());
    const int samples = std::max(1, timer_->capacity() / batch / 4);
    // A kernel takes longer than what it sees of itself: Nsight Compute gives 6.4 us for one that
    // spins for 5.0. What a launch takes that does not spin is that rest.
    const double launch = median(timer_->sample(samples, batch, spinner(0)));
    const double measured = median(timer_->sample(samples, batch, spinner(ns)));
    const double known = spun_s();
    EXPECT_NEAR(measured - launch, known, std::max(0.01 * known, 1e-6))
        << ns << " ns in batches of " << batch;
    EXPECT_LT(measured - known, 4e-6) << "a launch alone";
    std::printf("spin %8.1f us: measured %8.2f us, of which %.2f us without spinning (batch %d)\n",
                known * 1e6, measured * 1e6, launch * 1e6, batch);
    const std::string suffix = "_ns_" + std::to_string(ns);
    RecordProperty("known" + suffix, std::to_string(known * 1e9));
    RecordProperty("measured" + suffix, std::to_string(measured * 1e9));
    RecordProperty("launch" + suffix, std::to_string(launch * 1e9));
  }
}

TEST_F(GatedTimerTest, ShortLaunchesAreTimedWithoutTheHostsGaps) {
  const double gated = median(timer_->sample(5, 20, spinner(2'000)));
  EXPECT_LT(gated, 4e-6) << "launching alone takes longer than that";
}

TEST_F(GatedTimerTest, ALaunchThatSynchronisesIsRefusedAndLeavesADrainedStream) {
  const double start = wall_s();
  try {
    (void)timer_->sample(2, 1, [&](int) {
      check_cuda(spin(1000, spun_.as<std::uint64_t>(), stream()), "spin");
      check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    });
    FAIL() << "a time was given";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("waits for its stream"));
  }
  EXPECT_LT(wall_s() - start, 5);
  EXPECT_EQ(cudaStreamQuery(stream()), cudaSuccess);
  EXPECT_GT(median(timer_->sample(3, 1, spinner(10'000))), 9e-6) << "the next case is sound";
}

TEST_F(GatedTimerTest, ALaunchThatThrowsLeavesADrainedStream) {
  const double start = wall_s();
  EXPECT_THROW((void)timer_->sample(4, 1,
                                    [&](int launch) {
                                      spinner(1000)(launch);
                                      if (launch == 2) throw std::runtime_error("planted");
                                    }),
               std::runtime_error);
  EXPECT_LT(wall_s() - start, 1);
  EXPECT_EQ(cudaStreamQuery(stream()), cudaSuccess);
  EXPECT_GT(median(timer_->sample(3, 1, spinner(10'000))), 9e-6);
}

TEST_F(GatedTimerTest, WithTheGateOffALaunchMaySynchronise) {
  timer_->start_profiling();
  EXPECT_STREQ(timer_->name(), "events");
  const auto seconds = timer_->sample(2, 1, [&](int launch) {
    spinner(10'000)(launch);
    timer_->wait();
  });
  EXPECT_GT(median(seconds), 9e-6);
}

TEST_F(GatedTimerTest, TheClockIsTheDevicesOwn) {
  timer_->start_clock();
  timer_->run(20, spinner(1'000'000));
  const std::optional<double> mhz = timer_->clock_mhz();
  ASSERT_TRUE(mhz.has_value());
  EXPECT_GT(*mhz, 100);
  EXPECT_LT(*mhz, 1.003 * device_.max_clock_mhz);
  std::printf("clock %.1f MHz of %.0f\n", *mhz, device_.max_clock_mhz);
  timer_->start_clock();
  timer_->run(1, spinner(10'000));
  EXPECT_FALSE(timer_->clock_mhz().has_value()) << "under 1 ms the stamps are too coarse";
}

TEST_F(GatedTimerTest, TheClockAgreesWithItselfOverHalves) {
  std::vector<double> clocks;
  for (int i = 0; i < 6; ++i) {
    timer_->start_clock();
    timer_->run(10, spinner(1'000'000));
    clocks.push_back(timer_->clock_mhz().value_or(0));
  }
  const auto [low, high] = std::minmax_element(clocks.begin(), clocks.end());
  EXPECT_LT(*high / *low, 1.003) << "an idle card holds its clock; the reading must not scatter";
}

}  // namespace
}  // namespace assay
