// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner/supervise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <future>
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
    for (const char* name : {"FAKE_FAMILY", "FAKE_SETUP_MS", "FAKE_WORK_MS"}) unsetenv(name);
    std::filesystem::remove_all(folder_);
  }

  [[nodiscard]] Task task(int gpu = 1) const {
    Task task;
    task.program = std::filesystem::path(ASSAY_BIN_DIR) / "fake-family";
    task.family = "gemm";
    task.ids = {"gemm/bf16/a/sustained", "gemm/tf32/b/burst", "gemm/fp32/c/burst/alone"};
    task.device.uuid = "GPU-" + std::to_string(gpu);
    task.round = 2;
    task.log = folder_ / ("run" + std::to_string(gpu) + ".jsonl");
    task.output = folder_ / ("output" + std::to_string(gpu) + ".log");
    task.id_timeout_s = 0.5;
    task.start_timeout_s = 1;
    return task;
  }

  TaskResult supervised(const std::string& fault) {
    setenv("FAKE_FAMILY", fault.c_str(), 1);
    return supervise(task(), stop_);
  }

  // On `gpus` GPUs at once, with a common start.
  std::vector<TaskResult> together(int gpus, const std::string& fault, double wait_s = 10,
                                   double id_timeout_s = 5) {
    setenv("FAKE_FAMILY", fault.c_str(), 1);
    CommonStart start(gpus, wait_s);
    std::vector<std::future<TaskResult>> running;
    for (int i = 0; i < gpus; ++i) {
      running.push_back(std::async(std::launch::async, [&, i] {
        Task one = task(i);
        one.start = &start;
        one.id_timeout_s = id_timeout_s;
        one.member = i;
        return supervise(one, stop_);
      }));
    }
    std::vector<TaskResult> results;
    for (auto& result : running) results.push_back(result.get());
    return results;
  }

  static double start_of(const TaskResult& result, const std::string& id) {
    return of(result, id).parameters.at("start_s").get<double>();
  }
  // Seconds between the first and the last to start this case.
  static double spread_s(const std::vector<TaskResult>& results, const std::string& id) {
    double first = 1e300;
    double last = 0;
    for (const TaskResult& result : results) {
      if (of(result, id).status != RecordStatus::kOk) continue;
      first = std::min(first, start_of(result, id));
      last = std::max(last, start_of(result, id));
    }
    return last - first;
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

TEST_F(Supervise, IntroductionsAreNoSignOfLife) {
  const TaskResult result = supervised("hello:gemm/tf32/b/burst");
  expect_whole(result);
  EXPECT_EQ(of(result, "gemm/fp32/c/burst/alone").status, RecordStatus::kOk);
}

TEST_F(Supervise, AFloodedLogHidesNoResult) {
  const TaskResult result = supervised("flood:gemm/tf32/b/burst");
  expect_whole(result);
  EXPECT_EQ(of(result, "gemm/tf32/b/burst").status, RecordStatus::kOk);
  EXPECT_EQ(of(result, "gemm/fp32/c/burst/alone").status, RecordStatus::kOk);
}

TEST_F(Supervise, EightGpusStartEachCaseTogether) {
  setenv("FAKE_SETUP_MS", "80", 1);  // GPU 0: none, GPU 7: 0.56 s
  const std::vector<TaskResult> results = together(8, "");
  for (const TaskResult& result : results) {
    ASSERT_EQ(result.records.size(), 3U);
    for (const RunRecord& record : result.records) EXPECT_EQ(record.status, RecordStatus::kOk);
  }
  for (const std::string& id : task().ids) EXPECT_LT(spread_s(results, id), 0.25) << id;
  EXPECT_GE(start_of(results[0], task().ids[1]) - start_of(results[0], task().ids[0]), 0.5);
}

TEST_F(Supervise, ACrashedOrSkippedNeighbourHoldsNobodyUp) {
  for (const char* fault : {"gpu:3+crash:*", "gpu:3+die:", "gpu:3+skip:no device",
                            "gpu:3+error:gemm/tf32/b/burst", "gpu:3+teardown:"}) {
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<TaskResult> results = together(4, fault);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5)) << fault;
    for (const int sound : {0, 1, 2}) {
      for (const RunRecord& record : results[static_cast<std::size_t>(sound)].records) {
        EXPECT_EQ(record.status, RecordStatus::kOk) << fault;
      }
    }
    EXPECT_EQ(results[3].records.size(), 3U) << fault;
    for (const std::string& id : task().ids) EXPECT_LT(spread_s(results, id), 0.25) << fault;
  }
}

TEST_F(Supervise, AHungNeighbourCostsABoundedWaitWhichIsNoHang) {
  // The wait is longer than the time-out of a case: who waits does not hang.
  const std::vector<TaskResult> results = together(4, "gpu:3+hang:gemm/bf16/a/sustained", 1.0, 0.8);
  for (const int sound : {0, 1, 2}) {
    for (const RunRecord& record : results[static_cast<std::size_t>(sound)].records) {
      EXPECT_EQ(record.status, RecordStatus::kOk) << record.message;
    }
  }
  EXPECT_THAT(of(results[3], "gemm/bf16/a/sustained").message, HasSubstr("hung"));
  EXPECT_EQ(of(results[3], "gemm/tf32/b/burst").status, RecordStatus::kOk);
}

TEST_F(Supervise, ANeighbourThatDoesNotListenIsFoundByItsTimeOut) {
  const std::vector<TaskResult> deaf = together(2, "gpu:1+deaf:gemm/tf32/b/burst", 10, 1);
  EXPECT_EQ(of(deaf[0], "gemm/tf32/b/burst").status, RecordStatus::kOk);
  EXPECT_THAT(of(deaf[1], "gemm/tf32/b/burst").message, HasSubstr("hung"));
  EXPECT_EQ(of(deaf[1], "gemm/fp32/c/burst/alone").status, RecordStatus::kOk);
  const std::vector<TaskResult> rude = together(2, "gpu:1+rude:*");
  for (const TaskResult& result : rude) {
    for (const RunRecord& record : result.records) EXPECT_EQ(record.status, RecordStatus::kOk);
  }
}

TEST_F(Supervise, AloneIsPartOfTheIdAndOfTheConditions) {
  Task one = task();
  one.ids.pop_back();
  one.alone = true;
  const TaskResult result = supervise(one, stop_);
  ASSERT_EQ(result.records.size(), 2U);
  EXPECT_EQ(of(result, "gemm/tf32/b/burst/alone").status, RecordStatus::kOk);
  EXPECT_EQ(of(result, "gemm/tf32/b/burst/alone").conditions.peers, Peers::kAlone);
}

TEST_F(Supervise, PeersAreSeenBehindTheOwnGpu) {
  Task one = task();
  one.ids = {"gemm/a+to=2/burst"};
  one.peers = {"GPU-2", "GPU-0"};
  const TaskResult result = supervise(one, stop_);
  const RunRecord record = of(result, "gemm/a+to=2/burst");
  EXPECT_EQ(record.status, RecordStatus::kOk) << record.message;
  EXPECT_EQ(record.parameters["shown"], "GPU-1,GPU-2,GPU-0");
}

TEST_F(Supervise, WhatNeverReportedItselfRanAsItsIdSays) {
  EXPECT_EQ(conditions_of_id("links/p2p_write/1MiB+to=2/burst").peers, Peers::kPair);
  EXPECT_EQ(conditions_of_id("links/p2p_write/1MiB+to=2/burst/alone").peers, Peers::kAlone);
  EXPECT_EQ(conditions_of_id("links/h2d/1MiB/burst").peers, Peers::kNode);
  EXPECT_EQ(condition_suffix(conditions_of_id("links/latency/p2p+to=2/burst")), "burst");
}

TEST_F(Supervise, TheDeadlineLetsTheRunningCaseEndAndNoOtherBegin) {
  setenv("FAKE_WORK_MS", "1000", 1);
  Task one = task();
  one.id_timeout_s = 5;
  one.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  TaskResult result = supervise(one, stop_);
  ASSERT_EQ(result.records.size(), 1U);
  EXPECT_EQ(result.records[0].status, RecordStatus::kOk);
  EXPECT_TRUE(result.out_of_time);
  // Past it nothing begins at all.
  result = supervise(one, stop_);
  EXPECT_TRUE(result.records.empty());
  EXPECT_TRUE(result.out_of_time);
}

TEST_F(Supervise, AHangCostsNoMoreThanItsTimeOutBeyondTheDeadline) {
  setenv("FAKE_FAMILY", "hang:*", 1);
  Task one = task();
  const auto begin = std::chrono::steady_clock::now();
  one.deadline = begin + std::chrono::milliseconds(900);  // two time-outs of 0.5 s begin before
  const TaskResult result = supervise(one, stop_);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(3000));
  EXPECT_EQ(result.hung.size(), 2U);
  EXPECT_TRUE(result.out_of_time);
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

TEST(ChildProcess, HearsWhatIsSaidAndTheEnd) {
  const std::filesystem::path output =
      std::filesystem::temp_directory_path() / ("assay-say-" + std::to_string(getpid()));
  {
    Child child({.arguments = {"/bin/sh", "-c", "read word && echo \"$word\" && sleep 60"},
                 .environment = {},
                 .output = output,
                 .spoken_to = true});
    EXPECT_TRUE(child.say("go\n"));
    for (int i = 0; i < 200 && read_file(output) != "go\n"; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  EXPECT_EQ(read_file(output), "go\n");
  std::filesystem::remove(output);
}

TEST(ChildProcess, SayingToTheDeadIsNoSignal) {
  Child child(
      {.arguments = {"/bin/true"}, .environment = {}, .output = "/dev/null", .spoken_to = true});
  while (!child.poll()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_FALSE(child.say("go\n"));
}

// A grandchild that keeps the stdin and outlives its parent's group keeps nobody waiting.
TEST(ChildProcess, AGrandchildThatHoldsTheInputHoldsUpNobody) {
  const auto begin = std::chrono::steady_clock::now();
  Child child({.arguments = {"/bin/sh", "-c", "setsid sleep 3 & exit 0"},
               .environment = {},
               .output = "/dev/null",
               .spoken_to = true});
  while (!child.poll()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  child.end();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
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
