// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "bench/harness/clock.h"

namespace assay {

// Time passes only when somebody measures or sleeps. Read from the sampler's thread too.
class FakeClock : public Clock {
 public:
  [[nodiscard]] double now_s() const override { return now_; }
  void sleep_s(double seconds) override {
    advance(seconds);
    slept_s += seconds;
  }
  void advance(double seconds) { now_ = now_ + seconds; }
  double slept_s = 0;

 private:
  std::atomic<double> now_ = 100;
};

}  // namespace assay
