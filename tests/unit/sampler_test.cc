// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/sampler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/unit/fake_clock.h"

namespace assay {
namespace {

class OneClock : public Sensor {
 public:
  [[nodiscard]] SensorReading read() override {
    SensorReading reading;
    reading.sm_clock_mhz = mhz.load();
    return reading;
  }
  std::atomic<double> mhz = 1500;
};

TEST(Telemetry, RangesAndReasonsOverTheReadings) {
  std::vector<SensorReading> readings(4);
  for (std::size_t i = 0; i < 4; ++i)
    readings[i].sm_clock_mhz = 1400 + 100 * static_cast<double>(i);
  readings[2].sm_clock_mhz.reset();
  readings[0].event_reasons = {"sw_power_cap"};
  const Telemetry telemetry = summarise(readings);
  EXPECT_EQ(telemetry.samples, 4);
  EXPECT_EQ(telemetry.sm_clock_mhz->min, 1400);
  EXPECT_EQ(telemetry.sm_clock_mhz->max, 1700);
  EXPECT_NEAR(telemetry.sm_clock_mhz->mean, (1400 + 1500 + 1700) / 3.0, 1e-9);
  EXPECT_EQ(telemetry.event_reasons.at("sw_power_cap"), 0.25);
  EXPECT_FALSE(telemetry.power_w.has_value());
}

TEST(Telemetry, IsCutToTheWindows) {
  OneClock sensor;
  FakeClock clock;
  TelemetrySampler sampler(sensor, clock, 10);
  while (!sampler.latest()) std::this_thread::yield();  // its thread's one reading, before all
  const auto read_at = [&](double mhz) {
    clock.advance(1);
    sensor.mhz = mhz;
    const double begin_s = clock.now_s();
    sampler.read_now();
    return Window{begin_s, clock.now_s()};
  };
  const Window first = read_at(1000);
  (void)read_at(700);
  const Window third = read_at(1200);
  EXPECT_EQ(sampler.mean_sm_clock_mhz(third), 1200);
  EXPECT_FALSE(sampler.mean_sm_clock_mhz({0, 1}).has_value());
  EXPECT_TRUE(sampler.latest().has_value());
  const Telemetry telemetry = sampler.stop({first, third});
  EXPECT_EQ(telemetry.samples, 2);
  EXPECT_EQ(telemetry.sm_clock_mhz->mean, 1100);
}

}  // namespace
}  // namespace assay
