// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// main() of a benchmark program, with a family that needs no device.
#include "bench/harness/family_main.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "reports/text.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class QuietCase : public Case {
 public:
  explicit QuietCase(bool lost) : lost_(lost) {}
  [[nodiscard]] int slots() const override { return 1; }
  void launch(int) override {
    if (lost_) throw ProcessLost("planted");
  }
  void poison(int) override {}
  [[nodiscard]] Verification verify(int, int) override {
    return {VerificationStatus::kVerified, "none", 0.0, 0.0, "", {}, 0};
  }

 private:
  bool lost_;
};

// A millisecond a launch, and none of it passes.
class QuickTimer : public Timer {
 public:
  [[nodiscard]] const char* name() const override { return "quick"; }
  [[nodiscard]] std::vector<double> sample(int samples, int per_sample,
                                           const LaunchFunction& launch) override {
    for (int i = 0; i < samples * per_sample; ++i) launch(i);
    return std::vector<double>(static_cast<std::size_t>(samples), 0.001);
  }
  void wait() override {}
};

class QuickFamily : public Family {
 public:
  [[nodiscard]] DeviceRef device() const override { return {kHostUuid, "quick", {}, {}}; }
  [[nodiscard]] Json versions() const override { return Json::object(); }
  [[nodiscard]] std::vector<CaseEntry> cases() override {
    std::vector<CaseEntry> entries;
    for (const char* name : {"quick/a/burst", "quick/b/burst", "quick/lost/burst"}) {
      CaseEntry entry;
      entry.info.id = name;
      entry.info.work = {0, 1e6, "host_memory"};
      const bool lost = entry.info.id == "quick/lost/burst";
      entry.make = [lost] { return std::make_unique<QuietCase>(lost); };
      entries.push_back(std::move(entry));
    }
    return entries;
  }
  [[nodiscard]] std::optional<CaseEntry> parse(const std::string& id) override {
    if (!id.starts_with("quick/any/")) return std::nullopt;
    CaseEntry entry = cases().front();
    entry.info.id = id;
    return entry;
  }
  [[nodiscard]] Timer& timer() override { return timer_; }
  [[nodiscard]] Sensor& sensor() override { return *sensor_; }

 private:
  QuickTimer timer_;
  std::unique_ptr<Sensor> sensor_ = make_blind_sensor("none");
};

class FamilyMain : public ::testing::Test {
 protected:
  FamilyMain() {
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-main-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~FamilyMain() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  // The exit code; `records` holds what the log says.
  int run(std::vector<std::string> arguments) {
    const std::string log = folder_ + "/run.jsonl";
    std::filesystem::remove(log);
    // A profiler's few launches: nothing rests.
    arguments.insert(arguments.begin(), {"assay-quick", "--profile", "--log=" + log});
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const std::string errors = folder_ + "/stderr";
    // Google Benchmark runs once a process.
    const pid_t child = fork();
    if (child == 0) {
      (void)!std::freopen("/dev/null", "w", stdout);
      (void)!std::freopen(errors.c_str(), "w", stderr);
      const int ended = family_main(static_cast<int>(arguments.size()), argv.data(), "quick",
                                    [](Clock&) { return std::make_unique<QuickFamily>(); });
      std::fflush(nullptr);
      _exit(ended);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    error = read_file(errors);
    records.clear();
    if (!std::filesystem::exists(log)) return code;
    for (const std::string& line : split(read_file(log), '\n')) {
      if (line.empty()) continue;
      const Json json = parse_json(line, "log");
      if (json["type"] == "record") {
        records.push_back(from_json_value<RunRecord>(json["record"], "record"));
      }
    }
    return code;
  }

  [[nodiscard]] std::vector<std::string> ids() const {
    std::vector<std::string> result;
    for (const RunRecord& record : records) result.push_back(record.id);
    return result;
  }

  std::vector<RunRecord> records;
  std::string error;

 private:
  std::string folder_;
};

TEST_F(FamilyMain, RunsTheCasesThatAreNamedInTheirOrder) {
  EXPECT_EQ(run({"--ids=quick/b/burst,quick/a/burst", "--round=3"}), 0) << error;
  EXPECT_THAT(ids(), ElementsAre("quick/b/burst", "quick/a/burst"));
  EXPECT_EQ(records[0].round, 3);
  EXPECT_EQ(records[0].status, RecordStatus::kOk) << records[0].message;
  EXPECT_EQ(run({"--filter=/a/"}), 0);
  EXPECT_THAT(ids(), ElementsAre("quick/a/burst"));
  EXPECT_EQ(run({"--benchmark_filter=/b/"}), 0);
  EXPECT_THAT(ids(), ElementsAre("quick/b/burst"));
  EXPECT_EQ(run({"--filter=/a/", "--ids=quick/b/burst"}), 4) << "not among the filtered";
}

TEST_F(FamilyMain, AloneIsPartOfTheIdThatIsAskedFor) {
  EXPECT_EQ(run({"--alone", "--ids=quick/a/burst/alone"}), 0) << error;
  EXPECT_THAT(ids(), ElementsAre("quick/a/burst/alone"));
  EXPECT_EQ(records[0].conditions.peers, Peers::kAlone);
  EXPECT_EQ(condition_suffix(records[0].conditions), "burst/alone") << "the id ends in it";
  EXPECT_EQ(run({"--alone", "--ids=quick/a/burst"}), 4);
  EXPECT_EQ(run({"--ids=quick/a/burst/alone"}), 4);
}

TEST_F(FamilyMain, ACaseThatIsNotListedIsMadeFromItsId) {
  EXPECT_EQ(run({"--ids=quick/any/7/burst,quick/a/burst"}), 0) << error;
  EXPECT_THAT(ids(), ElementsAre("quick/any/7/burst", "quick/a/burst"));
  EXPECT_EQ(run({"--alone", "--ids=quick/any/7/burst/alone"}), 0) << error;
  EXPECT_EQ(records[0].conditions.peers, Peers::kAlone);
  EXPECT_EQ(run({"--alone", "--ids=quick/any/7/burst"}), 4) << "not alone by its id";
  EXPECT_EQ(run({"--filter=/a/", "--ids=quick/any/7/burst"}), 4) << "not among the filtered";
}

TEST_F(FamilyMain, WhatNamesNoCaseRunsNone) {
  for (const char* bad : {"--ids=", "--ids=quick/z/burst", "--ids=quick/a/burst,quick/a/burst",
                          "--round=-1", "--round=x", "--filter=(", "--start=file", "--bogus",
                          "--benchmark_repetitions=2", "--algorithms=/nowhere"}) {
    EXPECT_EQ(run({bad}), 4) << bad;
    EXPECT_THAT(records, IsEmpty()) << bad;
  }
  EXPECT_EQ(run({"--filter=nothing"}), 2) << "matching nothing is no success";
}

// Google Benchmark reads them too; a filter that drops a case silently would be a success.
TEST_F(FamilyMain, VariablesOfTheEnvironmentNeitherDropNorRepeatACase) {
  // They are read before main(): by a fresh process of this program.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("BENCHMARK_FILTER", "nothing", 1);
  setenv("BENCHMARK_REPETITIONS", "3", 1);
  EXPECT_EXIT(
      {
        const int code = run({"--ids=quick/a/burst"});
        std::exit(code == 0 && ids() == std::vector<std::string>{"quick/a/burst"} ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
  unsetenv("BENCHMARK_FILTER");
  unsetenv("BENCHMARK_REPETITIONS");
}

TEST_F(FamilyMain, AfterALostProcessNothingElseRuns) {
  EXPECT_EQ(run({"--ids=quick/a/burst,quick/lost/burst,quick/b/burst"}), 3);
  EXPECT_THAT(ids(), ElementsAre("quick/a/burst", "quick/lost/burst"));
  EXPECT_EQ(records[1].status, RecordStatus::kErrored);
  EXPECT_THAT(error, HasSubstr("planted"));
}

}  // namespace
}  // namespace assay
