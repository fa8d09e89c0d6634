// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gate.h"

#include "tests/device/gpu_test.h"

namespace assay {
namespace {

class Gate : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    pinned_.emplace(sizeof(GateState));
    *state() = {};
  }
  GateState* state() { return pinned_->as<GateState>(); }
  void run(std::uint32_t ticket, std::uint64_t timeout_ns) {
    check_cuda(launch_gate(state(), ticket, timeout_ns, stream()), "launch_gate");
    check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
  }

 private:
  std::optional<PinnedBuffer> pinned_;
};

TEST_F(Gate, OneThatWasOpenedBeforeLetsThrough) {
  state()->opened = 7;
  run(7, 1'000'000'000);
  run(6, 1'000'000'000);
  EXPECT_EQ(state()->timed_out, 0U);
}

TEST_F(Gate, OneThatNobodyOpensGivesUpAndSaysWhich) {
  state()->opened = 7;
  run(8, 1'000'000);
  EXPECT_EQ(state()->timed_out, 8U);
}

TEST_F(Gate, TicketsMayWrapRound) {
  state()->opened = 1;
  run(0xFFFFFFFFU, 1'000'000);
  EXPECT_EQ(state()->timed_out, 0U) << "the last ticket before the wrap came before this one";
}

TEST_F(Gate, EveryProcessorIsStampedAndItsCounterRuns) {
  const auto count = static_cast<std::size_t>(device_.sm_count);
  DeviceBuffer stamps(static_cast<std::int64_t>(count * sizeof(ClockStamp)));
  const auto stamped = [&] {
    check_cuda(cudaMemsetAsync(stamps.data(), 0, count * sizeof(ClockStamp), stream()), "memset");
    check_cuda(stamp_clocks(stamps.as<ClockStamp>(), device_.sm_count, stream()), "stamp_clocks");
    return download<ClockStamp>(stamps.data(), count);
  };
  const auto first = stamped();
  const auto second = stamped();
  std::size_t both = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (first[i].time_ns == 0 || second[i].time_ns == 0) continue;
    ++both;
    EXPECT_GT(second[i].cycles, first[i].cycles) << i;
    EXPECT_GT(second[i].time_ns, first[i].time_ns) << i;
  }
  EXPECT_GT(both, count / 2) << "the clock is a median over the processors with both stamps";
}

TEST_F(Gate, ASpinIsAsLongAsItWasAsked) {
  DeviceBuffer spun(sizeof(std::uint64_t));
  check_cuda(spin(50'000, spun.as<std::uint64_t>(), stream()), "spin");
  EXPECT_GE(download<std::uint64_t>(spun.data(), 1)[0], 50'000U);
}

}  // namespace
}  // namespace assay
