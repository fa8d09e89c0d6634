// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The harness on a real device: cold is cold, and what goes wrong in a repetition is seen.
#include <gmock/gmock.h>

#include <algorithm>

#include "bench/harness/cuda/cuda_case.h"
#include "bench/harness/cuda/gated_timer.h"
#include "bench/harness/measure.h"
#include "bench/memory/cases.h"
#include "bench/node/inventory.h"
#include "kernels/stream.h"
#include "reports/config_dir.h"
#include "tests/device/gpu_test.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

class Conditions : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    timer_.emplace(stream(), device_.sm_count);
    sensor_ = make_nvml_sensor(device_.ref.uuid);
  }
  RunRecord measured(const CaseEntry& entry) {
    Bench bench{.timer = *timer_,
                .clock = clock_,
                .sensor = *sensor_,
                .budget = {},
                .family = "test",
                .device = device_.ref,
                .max_clock_mhz = device_.max_clock_mhz};
    RunRecord record;
    measure(entry, bench, record);
    return record;
  }
  double gb_per_s(const RunRecord& record) const {
    return record.work.bytes / record.timing.median_s / 1e9;
  }

  SteadyClock clock_;
  std::optional<GatedTimer> timer_;
  std::unique_ptr<Sensor> sensor_;
};

// What the memory can give at most: NVML's clock and width, and the data sheet.
double dram_peak_gb_per_s(const std::string& uuid) {
  const GpuTable table = load_gpu_table(config_dir() / "gpus");
  double peak = 0;
  for (const GpuInventory& gpu : read_inventory(table).gpus) {
    if (gpu.uuid != uuid) continue;
    if (gpu.sku) peak = table.find(*gpu.sku)->dram_gb_per_s;
    if (gpu.memory_clock_max_mhz && gpu.memory_bus_bits) {
      peak = std::max(peak, 2 * *gpu.memory_clock_max_mhz * *gpu.memory_bus_bits / 8e3);
    }
  }
  return peak;
}

TEST_F(Conditions, AReadOfHalfTheL2IsNoFasterThanMemoryWhenColdAndFasterWhenWarm) {
  const double peak = dram_peak_gb_per_s(device_.ref.uuid);
  if (peak <= 0) GTEST_SKIP() << "no figure for this card's memory";
  int looked_at = 0;
  for (const CaseEntry& entry : memory_cases(device_, stream())) {
    const std::string operation = entry.info.parameters["operation"];
    if (operation != "read" && operation != "l2_read") continue;
    if (entry.info.parameters["tensor_bytes"] > device_.l2_bytes) continue;
    ++looked_at;
    const RunRecord record = measured(entry);
    ASSERT_EQ(record.status, RecordStatus::kOk) << record.message;
    std::printf("%s: %.0f GB/s, memory %.0f\n", record.id.c_str(), gb_per_s(record), peak);
    if (record.conditions.cache == Cache::kCold) {
      EXPECT_LE(gb_per_s(record), peak) << "what was timed came from the cache";
    } else {
      EXPECT_GT(gb_per_s(record), peak) << "a warm cache is faster than memory";
    }
  }
  EXPECT_EQ(looked_at, 2) << "cold and warm";
}

// A copy that plants faults: in one of its launches it writes something else into one place.
class FaultyCopy : public CudaCase {
 public:
  static constexpr StreamShape kShape{.elements = 1 << 19};
  static constexpr std::int64_t kBytes = kShape.elements * 4;
  FaultyCopy(cudaStream_t stream, int faulty_launch, std::uint8_t value)
      : CudaCase(stream), faulty_launch_(faulty_launch), value_(value) {
    for (int i = 0; i < 2; ++i) {
      in_.emplace_back(kBytes);
      out_.emplace_back(kBytes);
      check_cuda(stream_fill(StreamOp::kCopy, kShape, in_.back().data(), 3, stream), "stream_fill");
    }
  }
  [[nodiscard]] int slots() const override { return 2; }
  void launch(int slot) override {
    const auto at = static_cast<std::size_t>(slot);
    check_cuda(stream_run(StreamOp::kCopy, kShape, {in_[at].data(), nullptr, out_[at].data()}, 3,
                          stream()),
               "stream_run");
    if (++launches_ < faulty_launch_ || launches_ > faulty_launch_ + lasting_) return;
    check_cuda(cudaMemsetAsync(out_[at].as<char>() + 4711, value_, 1, stream()), "memset");
  }
  [[nodiscard]] Verification verify(int, int) override {
    // Coarse on purpose: only the hash can see one changed bit.
    Verification result;
    result.status = VerificationStatus::kVerified;
    result.method = "none";
    return result;
  }
  int lasting_ = 100'000;  // launches, so that it is not overwritten within the spell

 protected:
  [[nodiscard]] const DeviceBuffer& output(int slot) const override {
    return out_[static_cast<std::size_t>(slot)];
  }

 private:
  int faulty_launch_;
  std::uint8_t value_;
  int launches_ = 0;
  std::vector<DeviceBuffer> in_;
  std::vector<DeviceBuffer> out_;
};

TEST_F(Conditions, OneChangedByteInARepetitionIsAWrongResult) {
  CaseEntry entry;
  entry.info.id = "test/copy/burst";
  entry.info.work.bytes = 2 * FaultyCopy::kBytes;
  entry.info.work.pipe = "dram";
  entry.make = [this] { return std::make_unique<FaultyCopy>(stream(), 1 << 30, 0); };
  const RunRecord sound = measured(entry);
  EXPECT_EQ(sound.status, RecordStatus::kOk) << sound.message;
  EXPECT_GT(sound.verification.repetitions, 0);
  ASSERT_TRUE(sound.verification.hash.has_value());
  EXPECT_EQ(measured(entry).verification.hash, sound.verification.hash);

  entry.make = [this] { return std::make_unique<FaultyCopy>(stream(), 2000, 0x5A); };
  const RunRecord wrong = measured(entry);
  EXPECT_EQ(wrong.status, RecordStatus::kInvalid);
  EXPECT_THAT(wrong.message, HasSubstr("differs from the first"));
}

TEST_F(Conditions, ARealCardsRecordIsComplete) {
  std::vector<CaseEntry> cases = memory_cases(device_, stream());
  const RunRecord record = measured(cases.front());
  ASSERT_EQ(record.status, RecordStatus::kOk) << record.message;
  EXPECT_EQ(record.timing.timer, "gated");
  ASSERT_TRUE(record.timing.sm_clock_mhz.has_value());
  EXPECT_GT(record.busy_s, 0.1);
  EXPECT_GE(record.idle_s, 0.25);
  EXPECT_GE(record.telemetry.samples, 5) << "50 a second and more over 0.12 s";
  EXPECT_FALSE(record.warm_up.stop_reason.empty());
  EXPECT_THAT(record.timing.rule, HasSubstr("half-width"));
}

}  // namespace
}  // namespace assay
