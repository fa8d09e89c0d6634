// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The built program, from outside: exit codes, what goes to stdout and what to stderr.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/unit/sample_report.h"

namespace assay {
namespace {

using namespace samples;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string error;
};

class Cli : public testing::Test {
 protected:
  Cli() {
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-cli-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Cli() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string write(const std::string& name, Report report) const {
    judge(report);
    write_report(path(name), report);
    return path(name);
  }

  // `arguments` is a shell's: it may redirect.
  [[nodiscard]] Outcome run(const std::string& arguments) const {
    const std::string errors = path("stderr");
    const std::string command =
        std::string(ASSAY_BIN_DIR) + "/assay " + arguments + " 2>'" + errors + "'";
    Outcome outcome;
    std::FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return outcome;
    char buffer[4096];
    while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) {
      outcome.out.append(buffer, n);
    }
    const int status = pclose(pipe);
    outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    outcome.error = read_file(errors);
    return outcome;
  }

  void expect_usage_error(const std::string& arguments, const std::string& what) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 4) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_THAT(outcome.error, StartsWith("assay: ")) << arguments;
    EXPECT_THAT(outcome.error, HasSubstr(what)) << arguments;
    EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
  }

 private:
  std::string folder_;
};

TEST_F(Cli, VersionAndHelp) {
  EXPECT_THAT(run("--version").out, StartsWith("assay "));
  EXPECT_EQ(run("--version").exit_code, 0);
  const Outcome help = run("--help");
  EXPECT_EQ(help.exit_code, 0);
  for (const char* word : {"accept", "run", "ab", "judge", "list", "report", "Exit codes"}) {
    EXPECT_THAT(help.out, HasSubstr(word));
  }
  const Outcome accept = run("accept --help");
  EXPECT_EQ(accept.exit_code, 0);
  for (const char* word : {"--suite", "--gpus", "--targets", "--out", "--format"}) {
    EXPECT_THAT(accept.out, HasSubstr(word));
  }
  const Outcome run_help = run("run --help");
  for (const char* word : {"--filter", "--runs"}) {
    EXPECT_THAT(run_help.out, HasSubstr(word));
    EXPECT_THAT(accept.out, Not(HasSubstr(std::string("\n  ") + word)))
        << "a verdict on a part of the gate set";
  }
}

TEST_F(Cli, BadUsageIsOneLineAndExit4) {
  expect_usage_error("", "no command; commands: accept, run, tune, ab, judge, report, list");
  expect_usage_error(
      "frob", "unknown command 'frob'; commands: accept, run, tune, ab, judge, report, list");
  expect_usage_error("--frob", "");
  expect_usage_error("accept --frob", "--frob");
  expect_usage_error("accept --filter memory", "--filter");
  expect_usage_error("accept --runs 5", "--runs");
  expect_usage_error("run quick --runs 0", "--runs: Value 0 not in range");
  expect_usage_error("run quick --runs 1001", "--runs: Value 1001 not in range");
  expect_usage_error("run quick --runs many", "many");
  expect_usage_error("run quick --filter '('", "not a regular expression");
  expect_usage_error("accept --format xml", "'xml' is not one of text, json");
  expect_usage_error("run", "SUITE");
  expect_usage_error("run quick more", "more");
  expect_usage_error("judge", "REPORT");
  expect_usage_error("ab", "--base");
  expect_usage_error("ab --base true", "--cand");
  expect_usage_error("ab --base true --cand true --runs 1", "--runs");
  expect_usage_error("ab --base true --cand true --runs 7", "take an even number");
  expect_usage_error("ab --base true --cand true --timeout 0", "--timeout");
  expect_usage_error("ab --base '' --cand true", "empty command");
  expect_usage_error("list nonsense", "is not one of suites, benchmarks, gpus, targets, claims");
  expect_usage_error("report", "REPORT");
}

TEST_F(Cli, UnreadableInputIsExit4) {
  expect_usage_error("judge '" + path("missing.json") + "'", "missing.json");
  write_file_atomically(path("broken.json"), "{\"assay\": {\"schema_version\": 1,");
  expect_usage_error("judge '" + path("broken.json") + "'", "broken.json");
  write_file_atomically(path("newer.json"), "{\"assay\": {\"schema_version\": 99}}");
  expect_usage_error("judge '" + path("newer.json") + "'", "99");
  write_file_atomically(path("other.json"), "{\"benchmarks\": []}");
  expect_usage_error("report '" + path("other.json") + "'", "not a report");
}

TEST_F(Cli, JudgeGivesTheVerdictsExitCode) {
  const std::string good = write("good.json", sample_report(1));
  const Outcome pass = run("judge '" + good + "'");
  EXPECT_EQ(pass.exit_code, 0) << pass.error;
  EXPECT_EQ(pass.error, "");
  EXPECT_THAT(pass.out, HasSubstr("\nPASS   1 of 1 GPU"));
  EXPECT_THAT(pass.out, EndsWith("report            " + good + "\n"));

  Report slow = sample_report(2);
  set_values(slow, kBf16, 1, {500, 501, 502, 503, 504});
  EXPECT_EQ(run("judge '" + write("slow.json", slow) + "'").exit_code, 1);
  EXPECT_EQ(run("judge '" + write("none.json", sample_report(0)) + "'").exit_code, 2);
  Report errored = sample_report(1);
  record_of(errored, kBf16, 0).status = RecordStatus::kErrored;
  EXPECT_EQ(run("judge '" + write("errored.json", errored) + "'").exit_code, 3);
}

// The verdict in the file is not believed.
TEST_F(Cli, JudgeDerivesTheVerdictAgain) {
  Report report = sample_report(1);
  judge(report);
  set_values(report, kBf16, 0, {500, 501, 502, 503, 504});
  write_report(path("edited.json"), report);
  EXPECT_EQ(run("judge '" + path("edited.json") + "'").exit_code, 1);
}

TEST_F(Cli, JudgeAsJson) {
  const std::string good = write("good.json", sample_report(1));
  const Outcome outcome = run("judge '" + good + "' --format json");
  EXPECT_EQ(outcome.exit_code, 0);
  const Json json = parse_json(outcome.out, "stdout");
  EXPECT_EQ(json["verdict"], "pass");
  EXPECT_EQ(json["rows"].size(), 5U);
  EXPECT_EQ(json["counts"]["pass"], 4);
}

TEST_F(Cli, JudgeByOtherTargets) {
  const std::string good = write("good.json", sample_report(1));
  write_file_atomically(path("strict.yaml"),
                        "sku: h200-sxm\n"
                        "targets:\n"
                        "  - id: " +
                            kBf16 +
                            "\n"
                            "    metric: tflops\n"
                            "    pipe: bf16\n"
                            "    floor: 780\n"
                            "    usual: 850\n"
                            "    run_sd_pct: 0.8\n"
                            "    chip_sd_pct: 1.2\n"
                            "    cards: 1\n"
                            "    source: test\n"
                            "    date: 2026-11-30\n");
  const Outcome strict = run("judge '" + good + "' --targets '" + path("strict.yaml") + "'");
  EXPECT_EQ(strict.exit_code, 1) << strict.error << strict.out;
  Report other = sample_report(1);
  other.inventory.gpus[0].sku.reset();
  for (Record& record : other.records) record.device.sku.reset();
  expect_usage_error(
      "judge '" + write("other.json", other) + "' --targets '" + path("strict.yaml") + "'",
      "targets for 'h200-sxm', but the cards here are: none that is known");
  expect_usage_error("judge '" + good + "' --targets '" + path("missing.yaml") + "'",
                     "missing.yaml");
}

TEST_F(Cli, ReportRendersAndRedacts) {
  const std::string good = write("good.json", sample_report(1));
  EXPECT_THAT(run("report '" + good + "'").out, HasSubstr("PASS   1 of 1 GPU"));
  EXPECT_THAT(run("report '" + good + "' --md -").out, StartsWith("# assay quick: pass\n"));
  EXPECT_EQ(run("report '" + good + "' --json -").out, read_file(good));

  const Outcome outcome = run("report '" + good + "' --redact --json '" + path("public.json") +
                              "' --md '" + path("public.md") + "'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(outcome.out, "");
  for (const char* file : {"public.json", "public.md"}) {
    const std::string text = read_file(path(file));
    EXPECT_THAT(text, Not(HasSubstr("1650000000010")));
    EXPECT_THAT(text, Not(HasSubstr("rack7-node12")));
    EXPECT_THAT(text, HasSubstr("redacted-"));
  }
  EXPECT_EQ(run("judge '" + path("public.json") + "'").exit_code, 0);
  expect_usage_error("report '" + good + "' --md - --json -", "only one of them");
}

TEST_F(Cli, OutputThatCannotBeWritten) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  const std::string good = write("good.json", sample_report(1));
  const Outcome outcome = run("judge '" + good + "' >/dev/full");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.error, HasSubstr("could not write"));
  EXPECT_EQ(
      run("report '" + good + "' --md '" + path("good.json/inside-a-file.md") + "'").exit_code, 3);
}

}  // namespace
}  // namespace assay
