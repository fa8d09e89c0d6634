// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The collectives family on a real device, as its only rank: what comes out is right, and a planted
// fault is seen.
#include "bench/collectives/collective_case.h"

#include <gmock/gmock.h>

#include <cstdio>

#include "bench/collectives/cases.h"
#include "bench/collectives/timer.h"
#include "bench/harness/measure.h"
#include "kernels/gate.h"
#include "reports/merge.h"
#include "tests/device/gpu_test.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

class Collectives : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    group_.emplace(exchange_);
    gated_.emplace(stream(), device_.sm_count);
    timer_.emplace(*gated_, clock_, [this] { group_->wait(stream()); });
    sensor_ = make_nvml_sensor(device_.ref.uuid);
    site_ = {.device = device_, .ranks = 1, .stream = stream(), .group = [this]() -> Communicator& {
               return *group_;
             }};
  }
  [[nodiscard]] std::unique_ptr<CollectiveCase> made(const std::string& id) {
    return std::make_unique<CollectiveCase>(*parse_collective_id(id), 2, *group_, stream());
  }
  // Of slot 0, launched so often after it was poisoned.
  [[nodiscard]] Verification launched(CollectiveCase& one, int times = 1) {
    one.poison(0);
    for (int i = 0; i < times; ++i) one.launch(0);
    group_->wait(stream());
    return one.verify(0, 0);
  }
  [[nodiscard]] RunRecord measured(const std::string& id) {
    Bench bench{.timer = *timer_,
                .clock = clock_,
                .sensor = *sensor_,
                .budget = {},
                .family = "collectives",
                .device = device_.ref,
                .max_clock_mhz = device_.max_clock_mhz,
                .cache_bytes = device_.l2_bytes};
    RunRecord record;
    measure(*collective_case(id, site_), bench, record);
    return record;
  }
  void flip(unsigned char* byte) const {
    const auto before = download<unsigned char>(byte, 1).front();
    upload<unsigned char>(byte, 0, static_cast<unsigned char>(before ^ 0x01));
  }

  SteadyClock clock_;
  SoloExchange exchange_;
  std::optional<Communicator> group_;
  std::optional<GatedTimer> gated_;
  std::optional<StreamStepTimer> timer_;
  std::unique_ptr<Sensor> sensor_;
  CollectiveSite site_;
};

constexpr const char* kOps[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast",
                                "reduce",     "all_to_all", "send_recv"};

std::string id_with(const std::string& op, const std::string& size, const std::string& variants) {
  return "collectives/" + op + "/" + size + variants + "/burst";
}

TEST_F(Collectives, EveryOperationOfEveryTypeIsRightInAnySize) {
  for (const char* op : kOps) {
    for (const char* type : {"", "+float16", "+bfloat16", "+float64", "+int32"}) {
      for (const char* size : {"8B", "33000B", "4MiB"}) {
        const std::string id = id_with(op, size, type);
        const auto one = made(id);
        const Verification found = launched(*one);
        EXPECT_EQ(found.status, VerificationStatus::kVerified) << id << ": " << found.detail;
        const auto hashes = one->hash_outputs({0});
        EXPECT_EQ(launched(*one, 3).status, VerificationStatus::kVerified) << id;
        EXPECT_EQ(one->hash_outputs({0}), hashes) << id;
        EXPECT_NE(one->input(0), one->output(0)) << id;
      }
    }
  }
}

TEST_F(Collectives, Fp8IsRightWhereItCanBe) {
  if (why_no_fp8()) GTEST_SKIP() << *why_no_fp8();
  for (const char* op : kOps) {
    for (const char* type : {"+fp8_e4m3", "+fp8_e5m2"}) {
      for (const char* size : {"1B", "33001B"}) {
        const std::string id = id_with(op, size, type);
        if (collective_case(id, site_)->skip) continue;
        const Verification found = launched(*made(id));
        EXPECT_EQ(found.status, VerificationStatus::kVerified) << id << ": " << found.detail;
      }
    }
  }
}

TEST_F(Collectives, InPlaceIsRightAfterAnyNumberOfLaunches) {
  for (const char* op : {"all_reduce", "all_gather", "broadcast"}) {
    const auto one = made(id_with(op, "33000B", "+in_place"));
    for (const int times : {1, 2, 7}) {
      const Verification found = launched(*one, times);
      EXPECT_EQ(found.status, VerificationStatus::kVerified) << op << ": " << found.detail;
    }
    flip(one->output(0) + 100);
    EXPECT_EQ(one->verify(0, 0).error, 1) << op;
  }
}

TEST_F(Collectives, TheModesAreRight) {
  for (const char* op : {"all_reduce", "all_gather", "reduce_scatter"}) {
    for (const char* mode : {"+registered", "+symmetric", "+graph"}) {
      const std::string id = id_with(op, "1MiB", mode);
      if (const auto why = collective_case(id, site_)->skip) {
        std::printf("%s: skipped: %s\n", id.c_str(), why->c_str());
        continue;
      }
      try {
        const auto one = made(id);
        const Verification found = launched(*one);
        EXPECT_EQ(found.status, VerificationStatus::kVerified) << id << ": " << found.detail;
        one->launch(1);
        group_->wait(stream());
        EXPECT_EQ(one->verify(1, 0).status, VerificationStatus::kVerified) << id;
      } catch (const Skip& skip) {
        std::printf("%s: skipped: %s\n", id.c_str(), skip.what());
      }
    }
  }
}

TEST_F(Collectives, AFlippedBitIsFoundWhereItIs) {
  for (const char* op : kOps) {
    const auto one = made(id_with(op, "1MiB", ""));
    ASSERT_EQ(launched(*one).status, VerificationStatus::kVerified) << op;
    const auto hashes = one->hash_outputs({0});
    flip(one->output(0) + 777'776);
    EXPECT_NE(one->hash_outputs({0}), hashes) << op;
    const Verification wrong = one->verify(0, 0);
    EXPECT_EQ(wrong.status, VerificationStatus::kWrong) << op;
    EXPECT_EQ(wrong.error, 1) << op;
    EXPECT_THAT(wrong.detail, HasSubstr("rank 0 of 1, 1048576 bytes")) << op;
    EXPECT_THAT(wrong.detail, HasSubstr("the first at element 194444")) << op;
    EXPECT_EQ(one->verify(1, 0).status, VerificationStatus::kWrong) << "never launched";
  }
}

TEST_F(Collectives, AnElementThatIsLeftOutOrTooManyIsSeen) {
  for (const char* op : kOps) {
    const auto one = made(id_with(op, "33000B", ""));
    one->shorten(1);
    const Verification wrong = launched(*one);
    EXPECT_EQ(wrong.error, 1) << op;
    EXPECT_THAT(wrong.detail, HasSubstr("the first at element 8249")) << op;
    one->shorten(-1);
    const Verification beyond = launched(*one);
    EXPECT_EQ(beyond.error, 1) << op;
    EXPECT_THAT(beyond.detail, HasSubstr("beyond the end")) << op;
  }
}

TEST_F(Collectives, AnInputThatChangedIsSeen) {
  for (const char* op : kOps) {
    const auto one = made(id_with(op, "1MiB", ""));
    flip(one->input(0) + 4096);
    EXPECT_THAT(launched(*one).detail, HasSubstr("1 wrong, the first at element 1024")) << op;
  }
}

// A gate that nobody opens stands for ranks that do not come.
TEST_F(Collectives, WhatDoesNotEndIsGivenUp) {
  const PinnedBuffer gate(sizeof(GateState));
  *gate.as<GateState>() = {};
  check_cuda(launch_gate(gate.as<GateState>(), 1, 2'000'000'000, stream()), "launch_gate");
  try {
    group_->wait(stream(), 0.2);
    FAIL() << "it ended";
  } catch (const ProcessLost& lost) {
    EXPECT_THAT(lost.what(), HasSubstr("rank 0 of 1: a collective did not end within 0.2 s"));
  }
  EXPECT_THROW(group_->wait(stream()), ProcessLost);
}

TEST_F(Collectives, WhatIsListedRunsOrSaysWhyNot) {
  for (const CaseEntry& entry : collective_cases(site_)) {
    const RunRecord record = measured(entry.info.id);
    if (record.status == RecordStatus::kSkipped) {
      EXPECT_FALSE(record.message.empty());
      std::printf("%s: skipped: %s\n", record.id.c_str(), record.message.c_str());
      continue;
    }
    ASSERT_EQ(record.status, RecordStatus::kOk) << record.id << ": " << record.message;
    EXPECT_EQ(record.timing.timer, "step") << record.id;
    EXPECT_EQ(record.work.pipe, kLocalCollectivePipe) << record.id;
    EXPECT_TRUE(record.verification.hash) << record.id;
    const PrimaryMetric metric = primary_metric_of(record.work, record.timing.median_s);
    std::printf("%s: %.1f %s, %zu samples\n", record.id.c_str(), metric.value, metric.unit.c_str(),
                record.timing.samples_s.size());
  }
}

TEST_F(Collectives, WhatCannotRunIsSkippedWithTheReason) {
  const auto why = [&](const std::string& id, CollectiveSite site) {
    return collective_case(id, site)->skip.value_or("");
  };
  EXPECT_THAT(why("collectives/all_reduce/1MiB+in_place/burst", site_), HasSubstr("nothing to do"));
  CollectiveSite eight = site_;
  eight.ranks = 8;
  EXPECT_EQ(why("collectives/all_reduce/1MiB+in_place/burst", eight), "");
  EXPECT_THAT(why("collectives/all_gather/8B/burst", eight), HasSubstr("cannot share"));
  CollectiveSite small = site_;
  small.device.memory_bytes = std::int64_t{8} << 30;
  EXPECT_THAT(why("collectives/all_reduce/8GiB/burst", small), HasSubstr("needs 16 GiB"));
  small.device.compute_capability = 80;
  EXPECT_FALSE(why("collectives/all_reduce/8B+fp8_e4m3/burst", small).empty());
  EXPECT_EQ(collective_case("collectives/all_reduce/1GiB/burst", eight)->info.work.bytes,
            1.75 * (1 << 30));
}

TEST_F(Collectives, ManySmallBufferSetsAndOneLargeOne) {
  const auto slots = [&](const char* id, std::int64_t memory_gib) {
    return collective_slots(*parse_collective_id(id), 8, std::int64_t{50} << 20, memory_gib << 30);
  };
  EXPECT_EQ(slots("collectives/all_reduce/8B/burst", 80), kMostCollectiveSlots);
  EXPECT_EQ(slots("collectives/all_reduce/1MiB/burst", 80), 50);
  EXPECT_EQ(slots("collectives/all_reduce/1GiB/burst", 80), 2);
  EXPECT_EQ(slots("collectives/all_reduce/32GiB/burst", 80), 1);
  EXPECT_EQ(slots("collectives/all_reduce/64GiB/burst", 80), 0);
  EXPECT_EQ(slots("collectives/all_reduce/32GiB+in_place/burst", 80), 2);
}

}  // namespace
}  // namespace assay
