// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Processes that run on one GPU after the other, for each pair of the node. Against
// tests/fakes/fake_family.cc, whose records say when they ran and what they saw.
#include "bench/runner/schedule.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kWrite = "links/p2p_write/1MiB+to=each/burst";
constexpr const char* kLatency = "links/latency/p2p+to=each/burst";
constexpr const char* kBf16 = "gemm/bf16/a/burst";

class InTurn : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("assay-turn-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_ / "logs");
    for (const char* family : {"links", "gemm"}) {
      std::filesystem::create_symlink(std::filesystem::path(ASSAY_BIN_DIR) / "fake-family",
                                      folder_ / fmt::format("assay-{}", family));
    }
  }
  void TearDown() override {
    for (const char* name : {"FAKE_FAMILY", "FAKE_WORK_MS"}) unsetenv(name);
    std::filesystem::remove_all(folder_);
  }

  Schedule& schedule(int gpus, std::vector<std::string> cases = {kWrite, kLatency}) {
    Crew crew;
    crew.suite.processes = {{"links", std::move(cases), true}};
    crew.suite.id_timeout_s = 1;
    if (with_gemm_) crew.suite.processes.push_back({"gemm", {kBf16}, false});
    crew.programs = folder_;
    crew.logs = folder_ / "logs";
    crew.host.uuid = kHostUuid;
    crew.deadline = deadline_;
    for (int i = 0; i < gpus; ++i) crew.gpus.push_back({fmt::format("GPU-{}", i), "fake", i, {}});
    schedule_.emplace(std::move(crew), stop_, progress_);
    return *schedule_;
  }

  static std::vector<std::string> ids_of(const Pass& pass, const std::string& uuid) {
    std::vector<std::string> ids;
    for (const assay::Run& run : pass.runs) {
      if (run.record.device.uuid == uuid) ids.push_back(run.record.id);
    }
    return ids;
  }
  static const RunRecord& of(const Pass& pass, const std::string& uuid, const std::string& id) {
    for (const assay::Run& run : pass.runs) {
      if (run.record.device.uuid == uuid && run.record.id == id) return run.record;
    }
    throw std::runtime_error("no record of " + id);
  }
  // Whether any two of these ran at the same time.
  static bool overlap(const std::vector<assay::Run>& runs) {
    std::vector<std::pair<double, double>> spans;
    for (const assay::Run& run : runs) {
      const Json& parameters = run.record.parameters;
      spans.emplace_back(parameters.at("start_s").get<double>(),
                         parameters.at("end_s").get<double>());
    }
    std::ranges::sort(spans);
    for (std::size_t i = 1; i < spans.size(); ++i) {
      if (spans[i].first < spans[i - 1].second) return true;
    }
    return false;
  }

  std::filesystem::path folder_;
  std::atomic<bool> stop_{false};
  std::vector<std::string> lines_;
  Progress progress_ = [this](const std::string& line) { lines_.push_back(line); };
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
  bool with_gemm_ = false;
  std::optional<Schedule> schedule_;
};

TEST_F(InTurn, OneGpuKeepsTheIdAsItIs) {
  const Pass pass = schedule(1).round(0, "round");
  EXPECT_THAT(ids_of(pass, "GPU-0"), ElementsAre(kWrite, kLatency));
  EXPECT_EQ(pass.runs[0].record.parameters["shown"], "GPU-0");
}

TEST_F(InTurn, TwoGpusAreEachOthersPeers) {
  setenv("FAKE_WORK_MS", "40", 1);
  const Pass pass = schedule(2).round(0, "round");
  EXPECT_THAT(ids_of(pass, "GPU-0"),
              ElementsAre("links/p2p_write/1MiB+to=1/burst", "links/latency/p2p+to=1/burst"));
  EXPECT_THAT(ids_of(pass, "GPU-1"),
              ElementsAre("links/p2p_write/1MiB+to=0/burst", "links/latency/p2p+to=0/burst"));
  EXPECT_EQ(of(pass, "GPU-1", "links/latency/p2p+to=0/burst").parameters["shown"], "GPU-1,GPU-0");
  EXPECT_FALSE(overlap(pass.runs));
}

TEST_F(InTurn, EightGpusHaveFiftySixPairsAndNoTwoAtOnce) {
  setenv("FAKE_WORK_MS", "10", 1);
  const Pass pass = schedule(8, {kWrite}).round(0, "round");
  ASSERT_EQ(pass.runs.size(), 56U);
  for (const assay::Run& run : pass.runs) {
    EXPECT_EQ(run.record.status, RecordStatus::kOk) << run.record.message;
    EXPECT_EQ(run.record.conditions.peers, Peers::kPair);
    EXPECT_FALSE(run.record.parameters["waits"]) << "there is nobody to start with";
    EXPECT_FALSE(run.load_only);
  }
  EXPECT_FALSE(overlap(pass.runs));
  EXPECT_EQ(of(pass, "GPU-5", "links/p2p_write/1MiB+to=7/burst").parameters["shown"],
            "GPU-5,GPU-0,GPU-1,GPU-2,GPU-3,GPU-4,GPU-6,GPU-7");
  EXPECT_EQ(lines_.size(), 8U);
  EXPECT_THAT(lines_[3], HasSubstr("round: links, GPU 3"));
}

TEST_F(InTurn, TheOtherProcessesStillStartTogether) {
  with_gemm_ = true;
  const Pass pass = schedule(4, {kWrite}).round(0, "round");
  double first = 1e300;
  double last = 0;
  for (int i = 0; i < 4; ++i) {
    const double start =
        of(pass, fmt::format("GPU-{}", i), kBf16).parameters.at("start_s").get<double>();
    first = std::min(first, start);
    last = std::max(last, start);
  }
  EXPECT_LT(last - first, 0.25);
}

TEST_F(InTurn, ARowIsTriedAgainWithoutALoad) {
  Schedule& all = schedule(4);
  (void)all.round(0, "round");
  const std::string id = "links/p2p_write/1MiB+to=3/burst";
  const Pass pass = all.again(1, "again", {{"GPU-1", id}});
  ASSERT_EQ(pass.runs.size(), 1U);
  EXPECT_EQ(pass.runs[0].record.device.uuid, "GPU-1");
  EXPECT_EQ(pass.runs[0].record.id, id);
  EXPECT_FALSE(pass.runs[0].load_only);
}

TEST_F(InTurn, AloneSeesThePeersAndSaysSo) {
  const std::string id = "links/p2p_write/1MiB+to=0/burst";
  const Pass pass = schedule(3).alone(7, "alone", {{"GPU-2", id}});
  ASSERT_EQ(pass.runs.size(), 1U);
  const RunRecord record = of(pass, "GPU-2", id + "/alone");
  EXPECT_EQ(record.status, RecordStatus::kOk) << record.message;
  EXPECT_EQ(record.conditions.peers, Peers::kAlone);
  EXPECT_EQ(record.parameters["shown"], "GPU-2,GPU-0,GPU-1");
}

// A round takes what its GPUs take together, and another of one row no more than its GPU did.
TEST_F(InTurn, TheCostOfARoundIsThatOfAllGpus) {
  setenv("FAKE_WORK_MS", "100", 1);
  Schedule& all = schedule(4, {kWrite});
  (void)all.round(0, "round");
  EXPECT_GE(all.expected_s(), 1.2);
  const double one_s = all.expected_s({{"GPU-2", "links/p2p_write/1MiB+to=3/burst"}});
  EXPECT_GE(one_s, 0.3);
  EXPECT_LT(one_s, 0.5 * all.expected_s());
  EXPECT_EQ(all.expected_s({{"GPU-2", "links/p2p_write/1MiB+to=2/burst"}}), 0) << "no such row";
}

TEST_F(InTurn, AHungPairCostsItsTimeOutAndNoOther) {
  const std::string id = "links/p2p_write/1MiB+to=1/burst";
  setenv("FAKE_FAMILY", ("gpu:0+hang:" + id).c_str(), 1);
  Schedule& all = schedule(3);
  const Pass pass = all.round(0, "round");
  EXPECT_EQ(pass.runs.size(), 12U);
  for (const assay::Run& run : pass.runs) {
    const bool hung = run.record.device.uuid == "GPU-0" && run.record.id == id;
    EXPECT_EQ(run.record.status, hung ? RecordStatus::kErrored : RecordStatus::kOk);
    if (!hung) continue;
    EXPECT_THAT(run.record.message, HasSubstr("hung"));
    EXPECT_EQ(run.record.conditions.peers, Peers::kPair) << "although it never said so";
  }
  EXPECT_GE(all.expected_s(), 1.0);
  EXPECT_EQ(all.round(1, "round").runs.size(), 12U);
  EXPECT_LT(all.expected_s(), 1.0) << "it is not tried again";
  EXPECT_EQ(all.round(2, "round").runs.size(), 11U);
}

TEST_F(InTurn, TheDeadlineLetsNoFurtherGpuBegin) {
  setenv("FAKE_WORK_MS", "300", 1);
  deadline_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(450);
  const Pass pass = schedule(4, {kLatency}).round(0, "round");
  EXPECT_TRUE(pass.out_of_time);
  EXPECT_THAT(ids_of(pass, "GPU-2"), IsEmpty());
  EXPECT_THAT(ids_of(pass, "GPU-3"), IsEmpty());
  EXPECT_FALSE(pass.runs.empty());
  EXPECT_LE(lines_.size(), 2U);
}

}  // namespace
}  // namespace assay
