// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner/supervise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "bench/harness/run_log.h"
#include "bench/runner/process.h"
#include "reports/error.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

// Runs tests/fakes/fake_family.cc with a planted fault.
class Supervise : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("assay-sup-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    unsetenv("FAKE_FAMILY");
    std::filesystem::remove_all(folder_);
  }

  TaskResult supervised(const std::string& fault) {
    setenv("FAKE_FAMILY", fault.c_str(), 1);
    Task task;
    task.program = std::filesystem::path(ASSAY_BIN_DIR) / "fake-family";
    task.family = "gemm";
    task.ids = {"gemm/bf16/a/sustained", "gemm/tf32/b/burst", "gemm/fp32/c/burst/alone"};
    task.device.uuid = "GPU-1";
    task.round = 2;
    task.log = folder_ / "run.jsonl";
    task.output = folder_ / "output.log";
    task.id_timeout_s = 0.5;
    task.start_timeout_s = 1;
    return supervise(task, stop_);
  }

  static const RunRecord& of(const TaskResult& result, const std::string& id) {
    for (const RunRecord& record : result.records) {
      if (record.id == id) return record;
    }
    throw std::runtime_error("no record of " + id);
  }

  // Every case asked for has exactly one record, with the runner's device and round.
  static void expect_whole(const TaskResult& result) {
    ASSERT_EQ(result.records.size(), 3U);
    for (const RunRecord& record : result.records) {
      EXPECT_EQ(record.device.uuid, "GPU-1");
      EXPECT_EQ(record.round, 2);
    }
  }

  std::filesystem::path folder_;
  std::atomic<bool> stop_{false};
};

TEST_F(Supervise, ASoundProcess) {
  const TaskResult result = supervised("");
  expect_whole(result);
  for (const RunRecord& record : result.records) EXPECT_EQ(record.status, RecordStatus::kOk);
  EXPECT_EQ(result.versions["fake"], "1.0");
}

TEST_F(Supervise, AHangIsNamedAndTheOthersStillRun) {
  const TaskResult result = supervised("hang:gemm/tf32/b/burst");
  expect_whole(result);
  EXPECT_EQ(of(result, "gemm/bf16/a/sustained").status, RecordStatus::kOk);
  EXPECT_EQ(of(result, "gemm/tf32/b/burst").status, RecordStatus::kErrored);
  EXPECT_THAT(of(result, "gemm/tf32/b/burst").message, HasSubstr("hung"));
  EXPECT_EQ(of(result, "gemm/fp32/c/burst/alone").status, RecordStatus::kOk);
}

TEST_F(Supervise, ACrashIsNamedWithItsSignal) {
  const TaskResult result = supervised("crash:gemm/bf16/a/sustained");
  expect_whole(result);
  EXPECT_EQ(of(result, "gemm/bf16/a/sustained").status, RecordStatus::kErrored);
  EXPECT_THAT(of(result, "gemm/bf16/a/sustained").message, HasSubstr("signal 6"));
  EXPECT_EQ(of(result, "gemm/tf32/b/burst").status, RecordStatus::kOk);
}

TEST_F(Supervise, ALostProcessKeepsItsRecordAndTheOthersRunInAFreshOne) {
  const TaskResult result = supervised("lost:gemm/bf16/a/sustained");
  expect_whole(result);
  EXPECT_THAT(of(result, "gemm/bf16/a/sustained").message, HasSubstr("IllegalAddress"));
  EXPECT_EQ(of(result, "gemm/fp32/c/burst/alone").status, RecordStatus::kOk);
}

TEST_F(Supervise, ABrokenLineIsNoResult) {
  const TaskResult result = supervised("garbage:gemm/tf32/b/burst");
  expect_whole(result);
  EXPECT_EQ(of(result, "gemm/tf32/b/burst").status, RecordStatus::kErrored);
}

TEST_F(Supervise, ARecordOfAnotherDeviceOrOfNoTimeIsNotBelieved) {
  TaskResult result = supervised("elsewhere:gemm/tf32/b/burst");
  expect_whole(result);
  EXPECT_EQ(of(result, "gemm/tf32/b/burst").status, RecordStatus::kErrored);
  EXPECT_THAT(of(result, "gemm/tf32/b/burst").message, HasSubstr("ran on GPU-another"));
  result = supervised("zero:gemm/tf32/b/burst");
  expect_whole(result);
  EXPECT_THAT(of(result, "gemm/tf32/b/burst").message, HasSubstr("is no result"));
}

TEST_F(Supervise, ARecordCountsOnce) { expect_whole(supervised("twice:gemm/tf32/b/burst")); }

TEST_F(Supervise, ChatterIsNoSignOfLife) {
  const TaskResult result = supervised("chatter:gemm/fp32/c/burst/alone");
  expect_whole(result);
  EXPECT_EQ(of(result, "gemm/tf32/b/burst").status, RecordStatus::kOk);
}

TEST_F(Supervise, DeathAfterTheLastCaseSpoilsIt) {
  const TaskResult result = supervised("teardown:");
  expect_whole(result);
  EXPECT_EQ(of(result, "gemm/tf32/b/burst").status, RecordStatus::kOk);
  EXPECT_THAT(of(result, "gemm/fp32/c/burst/alone").message, HasSubstr("signal 6"));
}

TEST_F(Supervise, AnErrorAtTheVeryEndSpoilsTheLastCase) {
  const TaskResult result = supervised("lastgasp:");
  expect_whole(result);
  EXPECT_EQ(of(result, "gemm/tf32/b/burst").status, RecordStatus::kOk);
  EXPECT_THAT(of(result, "gemm/fp32/c/burst/alone").message, HasSubstr("ECCUncorrectable"));
}

TEST_F(Supervise, AnErroredCaseCostsNoOther) {
  const TaskResult result = supervised("error:gemm/bf16/a/sustained");
  expect_whole(result);
  EXPECT_EQ(of(result, "gemm/bf16/a/sustained").status, RecordStatus::kErrored);
  EXPECT_EQ(of(result, "gemm/tf32/b/burst").status, RecordStatus::kOk);
  EXPECT_EQ(of(result, "gemm/fp32/c/burst/alone").status, RecordStatus::kOk);
}

TEST_F(Supervise, WhatAProcessLeavesBehindIsEnded) {
  expect_whole(supervised("orphan:"));
  const auto orphan_lives = [] {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::ifstream file(entry.path() / "environ", std::ios::binary);
      std::string variables((std::istreambuf_iterator<char>(file)), {});
      // Not ourselves, and not a zombie, whose environment is empty.
      const bool other = entry.path().filename() != std::to_string(getpid());
      if (other && variables.find("FAKE_FAMILY=orphan:") != std::string::npos) return true;
    }
    return false;
  };
  for (int i = 0; i < 100 && orphan_lives(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_FALSE(orphan_lives());
}

TEST_F(Supervise, DeathBeforeTheFirstCase) {
  const TaskResult result = supervised("die:");
  expect_whole(result);
  for (const RunRecord& record : result.records) {
    EXPECT_EQ(record.status, RecordStatus::kErrored);
    EXPECT_THAT(record.message, HasSubstr("signal 6"));
  }
  EXPECT_EQ(of(result, "gemm/fp32/c/burst/alone").conditions.peers, Peers::kAlone);
}

TEST_F(Supervise, AProgramWithoutADeviceSkipsWithItsReason) {
  const TaskResult result = supervised("skip:the driver serves CUDA 12.2");
  expect_whole(result);
  for (const RunRecord& record : result.records) {
    EXPECT_EQ(record.status, RecordStatus::kSkipped);
    EXPECT_THAT(record.message, HasSubstr("CUDA 12.2"));
  }
}

TEST_F(Supervise, AMissingProgramIsSaid) {
  Task task;
  task.program = folder_ / "assay-none";
  task.ids = {"none/a/burst"};
  task.log = folder_ / "run.jsonl";
  task.output = folder_ / "output.log";
  const TaskResult result = supervise(task, stop_);
  ASSERT_EQ(result.records.size(), 1U);
  EXPECT_EQ(result.records[0].status, RecordStatus::kErrored);
  EXPECT_THAT(result.records[0].message, HasSubstr("assay-none: cannot run"));
}

TEST_F(Supervise, StopEndsAtOnceAndInventsNothing) {
  std::jthread stopper([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    stop_ = true;
  });
  const TaskResult result = supervised("hang:gemm/tf32/b/burst");
  ASSERT_EQ(result.records.size(), 1U);
  EXPECT_EQ(result.records[0].id, "gemm/bf16/a/sustained");
}

TEST(ChildProcess, EndsAGroupThatIgnoresTerm) {
  Child child({.arguments = {"/bin/sh", "-c", "trap '' TERM; sleep 60"},
               .environment = {},
               .output = "/dev/null"});
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  child.end();
  EXPECT_THAT(*child.poll(), HasSubstr("signal 9"));
}

TEST(RunLog, AFullDiskIsAnErrorThatNamesTheFile) {
  RunLog log("/dev/full");
  try {
    log.append({{"type", "begin"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kMeasurement);
    EXPECT_THAT(error.what(), HasSubstr("/dev/full"));
  }
}

}  // namespace
}  // namespace assay
