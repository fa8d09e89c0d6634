// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner/plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "reports/error.h"
#include "reports/peer_id.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::filesystem::path kSuites = std::filesystem::path(ASSAY_SOURCE_DIR) / "configs/suites";

constexpr const char* kGood = R"(suite: s
title: t
budget_s: 90
conditioning_rounds: 1
rounds: 5
stage2_budget_s: 20
id_timeout_s: 20
processes:
  - family: gemm
    cases: [gemm/a/burst, gemm/b/burst]
)";

class SuiteFile : public ::testing::Test {
 protected:
  void SetUp() override {
    file_ = std::filesystem::temp_directory_path() / std::to_string(getpid()) / "s.yaml";
    std::filesystem::create_directories(file_.parent_path());
  }
  void TearDown() override { std::filesystem::remove_all(file_.parent_path()); }

  // The message with which kGood, with one text replaced, is refused.
  std::string refusal(const std::string& from, const std::string& to) {
    std::string text = kGood;
    text.replace(text.find(from), from.size(), to);
    std::ofstream(file_) << text;
    try {
      (void)load_suite(file_);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      return error.what();
    }
    ADD_FAILURE() << "accepted: " << to;
    return {};
  }
  std::filesystem::path file_;
};

TEST_F(SuiteFile, AGroupInACaseNamesSeveral) {
  std::string text = kGood;
  const std::string cases = "cases: [gemm/a/burst, gemm/b/burst]";
  text.replace(text.find(cases), cases.size(), "cases:\n      - gemm/{a,b}/{1,2}/burst");
  std::ofstream(file_) << text;
  EXPECT_THAT(load_suite(file_).processes.at(0).cases,
              ::testing::ElementsAre("gemm/a/1/burst", "gemm/a/2/burst", "gemm/b/1/burst",
                                     "gemm/b/2/burst"));
  for (const char* bad : {"gemm/{a,{b}}/burst", "gemm/{}/burst", "gemm/{a/burst", "gemm/a}/burst",
                          "gemm/{a,a}/burst", "gemm/{a,}/burst"}) {
    EXPECT_THAT(refusal(cases, std::string("cases:\n      - ") + bad), HasSubstr("gemm/")) << bad;
  }
}

TEST_F(SuiteFile, EveryShippedSuiteLoads) {
  EXPECT_GE(load_all_suites(kSuites).size(), 4U);
  const Suite quick = find_suite(kSuites, "quick");
  EXPECT_EQ(quick.budget_s, 90);
  EXPECT_EQ(quick.rounds, 5);
}

TEST_F(SuiteFile, RefusalsNameTheLine) {
  EXPECT_THAT(refusal("budget_s: 90", "budget_s: 0"), HasSubstr("s.yaml:3"));
  EXPECT_THAT(refusal("rounds: 5", "rounds: 5\nrounds: 6"), HasSubstr("s.yaml:6"));
  EXPECT_THAT(refusal("title: t", "titel: t"), HasSubstr("titel"));
  EXPECT_THAT(refusal("gemm/b/burst", "gemm/a/burst"), HasSubstr("appears twice"));
  EXPECT_THAT(refusal("gemm/b/burst", "memory/b/burst"), HasSubstr("no case of family"));
  EXPECT_THAT(refusal("[gemm/a/burst, gemm/b/burst]", "[]"), HasSubstr("at least one case"));
  EXPECT_THAT(refusal("suite: s", "suite: other"), HasSubstr("file's name"));
  EXPECT_THAT(refusal("rounds: 5", "rounds: five"), HasSubstr("s.yaml:5"));
  EXPECT_THAT(refusal("stage2_budget_s: 20", "stage2_budget_s: 90"), HasSubstr("less than budget"));
  EXPECT_THAT(refusal("id_timeout_s: 20", "id_timeout_s: 91"), HasSubstr("a hang could not"));
}

TEST_F(SuiteFile, NumbersThatNothingCouldKeepAreRefused) {
  EXPECT_THAT(refusal("budget_s: 90", "budget_s: 1e300"), HasSubstr("at most 604800 s"));
  EXPECT_THAT(refusal("id_timeout_s: 20", "id_timeout_s: 1e10"), HasSubstr("at most 604800 s"));
  EXPECT_THAT(refusal("rounds: 5", "rounds: 2147483647"), HasSubstr("s.yaml:5"));
  EXPECT_THAT(refusal("conditioning_rounds: 1", "conditioning_rounds: 2147483647"),
              HasSubstr("s.yaml:4"));
}

TEST_F(SuiteFile, APeerNeedsAProcessThatRunsInTurn) {
  const std::string cases = "cases: [gemm/a/burst, gemm/b/burst]";
  for (const char* id : {"gemm/a+to=each/burst", "gemm/a+to=3/burst"}) {
    EXPECT_THAT(refusal(cases, fmt::format("cases: [{}]", id)), HasSubstr("needs in_turn: true"));
  }
  for (const char* value : {"yes", "1", "True", "''"}) {
    EXPECT_THAT(refusal(cases, fmt::format("in_turn: {}\n    {}", value, cases)),
                HasSubstr("expected true or false"));
  }
  std::string text = kGood;
  text.replace(text.find(cases), cases.size(), "in_turn: true\n    cases: [gemm/a+to=each/burst]");
  std::ofstream(file_) << text;
  EXPECT_TRUE(load_suite(file_).processes.at(0).in_turn);
  std::ofstream(file_) << kGood;
  EXPECT_FALSE(load_suite(file_).processes.at(0).in_turn);
}

// Ids are joined by commas, logged by line and told apart from their own /alone.
TEST_F(SuiteFile, IdsThatCannotBePassedOnAreRefused) {
  for (const char* id : {"'gemm/a,b'", "'gemm/a b'", "\"gemm/a\\nb\"", "gemm/a/burst/alone"}) {
    EXPECT_THAT(refusal("gemm/b/burst", id), HasSubstr("is no id")) << id;
  }
  EXPECT_THAT(refusal("family: gemm", "family: ../gemm"), HasSubstr("is no family"));
}

TEST_F(SuiteFile, AFolderWithoutSuitesIsSaid) {
  EXPECT_THROW((void)load_all_suites(file_.parent_path()), Error);
}

TEST(Suites, AnUnknownNameListsTheKnownOnes) {
  try {
    (void)find_suite(kSuites, "quik");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("quick"));
  }
}

TEST(Suites, FilterKeepsWhatMatches) {
  Suite suite = find_suite(kSuites, "quick");
  apply_filter(suite, "memory/(read|copy)");
  ASSERT_EQ(suite.processes.size(), 1U);
  EXPECT_EQ(suite.processes[0].cases.size(), 2U);
}

std::vector<DeviceRef> gpus(int count) {
  std::vector<DeviceRef> all;
  for (int i = 0; i < count; ++i) all.push_back({fmt::format("GPU-{}", i), "fake", i, {}});
  return all;
}

TEST(IdsOn, EachPeerIsEachOtherGpu) {
  const SuiteProcess process{"links", {"links/a/1B+to=each/burst", "links/b/burst"}, true};
  EXPECT_THAT(ids_on(process, "GPU-1", gpus(4)),
              ElementsAre("links/a/1B+to=0/burst", "links/a/1B+to=2/burst", "links/a/1B+to=3/burst",
                          "links/b/burst"));
  EXPECT_THAT(ids_on(process, "GPU-0", gpus(1)),
              ElementsAre("links/a/1B+to=each/burst", "links/b/burst"));
  EXPECT_EQ(ids_on(process, "GPU-7", gpus(8)).size(), 8U);
}

// NVML's index is no place in the list, and a host is no peer.
TEST(IdsOn, APeerGoesByItsIndex) {
  const SuiteProcess process{"links", {"links/p2p+to=each/burst"}, true};
  EXPECT_THAT(ids_on(process, "GPU-a",
                     {{"GPU-b", "", 6, {}}, {"GPU-a", "", 2, {}}, {kHostUuid, "", {}, {}}}),
              ElementsAre("links/p2p+to=6/burst"));
}

TEST(IdsOn, AnIdThatTwoGiveComesOnce) {
  const SuiteProcess process{"links", {"links/a+to=1/burst", "links/a+to=each/burst"}, true};
  EXPECT_THAT(ids_on(process, "GPU-0", gpus(3)),
              ElementsAre("links/a+to=1/burst", "links/a+to=2/burst"));
}

TEST(PeerId, IsTheVariantAndNothingElse) {
  EXPECT_EQ(peer_of_id("links/p2p_write/1B+sm+to=3/burst"), "3");
  EXPECT_EQ(peer_of_id("links/p2p_write/1B+to=each"), "each");
  EXPECT_EQ(peer_of_id("links/p2p_write/1B+to=12+x/burst"), "12");
  EXPECT_EQ(peer_of_id("links/to=3/burst"), std::nullopt);
  EXPECT_EQ(with_peer("links/p2p+to=each/burst/alone", 10), "links/p2p+to=10/burst/alone");
  EXPECT_EQ(with_peer("links/h2d/1B/burst", 1), "links/h2d/1B/burst");
}

TEST(Suites, FilterThatMatchesNothingIsNotAPass) {
  Suite suite = find_suite(kSuites, "quick");
  try {
    apply_filter(suite, "convolution");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kNotJudged);
  }
  Suite again = find_suite(kSuites, "quick");
  try {
    apply_filter(again, "[");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
  }
}

}  // namespace
}  // namespace assay
