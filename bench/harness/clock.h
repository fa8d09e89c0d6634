// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The host's monotonic clock, as a seam: tests of the harness put their own in its place.
#pragma once

#include <chrono>
#include <thread>

namespace assay {

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual double now_s() const = 0;
  virtual void sleep_s(double seconds) = 0;
};

class SteadyClock : public Clock {
 public:
  [[nodiscard]] double now_s() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  void sleep_s(double seconds) override {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
};

}  // namespace assay
