// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "reports/ab.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kBf16 = "gemm/bf16/8192x8192x8192/sustained";

std::string record_line(const std::string& id, double seconds,
                        const std::function<void(RunRecord&)>& change = {}) {
  RunRecord record;
  record.id = id;
  record.device.uuid = "GPU-1";
  record.conditions.power = Power::kSustained;
  record.work = Work(1e12, 1e9, "bf16");
  record.timing.median_s = record.timing.mean_s = seconds;
  if (change) change(record);
  Json line = Json::object();
  line["type"] = "record";
  line["record"] = to_json_value(record);
  return dump_json_line(line) + "\n";
}

std::string operation_line(double ms) {
  return R"({"op": "gemm", "dtype": "bf16", "shape": "8192x8192x8192", "ms": )" +
         std::to_string(ms) + "}\n";
}

// A sitting without processes: each run is the text that it printed.
class Ab : public testing::Test {
 protected:
  void add(Side side, const std::string& text, bool conditioning = false) {
    AbRun run;
    run.number = static_cast<int>(result_.runs.size()) + 1;
    run.side = side;
    run.conditioning = conditioning;
    run.ended = "exit 0";
    run.values = read_ab_output(text).values;
    result_.runs.push_back(run);
  }

  void fix(const std::string& base, const std::string& candidate) {
    add(Side::kBase, base, true);
    add(Side::kCandidate, candidate, true);
    fix_rows(result_);
  }

  using Text = std::function<std::string(double)>;
  // Runs of about 1 ms and `ratio` ms, and 0.3 % apart among themselves.
  void measure(const Text& base, const Text& candidate, double ratio, int runs) {
    for (int i = 0; i < runs; ++i) {
      const double wave = 1 + 0.003 * ((i * 5) % 7 - 3) / 3;
      add(Side::kBase, base(1e-3 * wave));
      add(Side::kCandidate, candidate(1e-3 * ratio * (2 - wave)));
    }
    result_.complete = true;
    judge_rows(result_, InterleavedRule(result_.plan));
  }

  const AbRow& row(const std::string& id) const {
    for (const AbRow& row : result_.rows) {
      if (row.key.id == id) return row;
    }
    throw std::runtime_error("no row " + id);
  }

  static std::string bf16(double seconds) { return record_line(kBf16, seconds); }
  static std::string operation(double seconds) { return operation_line(1000 * seconds); }

  AbResult result_;
};

TEST(AbOutput, ReadsBothForms) {
  const AbOutput output = read_ab_output(
      "{\"type\": \"process\", \"family\": \"gemm\"}\n"
      "Benchmark   Time   CPU\n" +
      record_line(kBf16, 0.5) + "half of a console li" + record_line("a/b/burst", 0.25) +
      R"({"op": "context", "device": "NVIDIA H200"})"
      "\n"
      R"({"op": "gemm", "dtype": "fp8", "shape": "4096x4096x4096", "ms": 0.5, "tflops": 270})"
      "\n"
      R"({"op": "gemm", "dtype": "int8", "shape": "4096x4096x4096", "error": "not supported"})"
      "\n"
      R"({"op": "copy_d2d", "gib": 4, "ms": 2})"
      "\n"
      R"({"op": "copy_d2d", "gib": 0.25, "ms": 0.1})"
      "\n"
      R"({"op": "conv", "dir": "fprop", "dtype": "bf16", "shape": [256, 3, 7], "ms": 1})"
      "\n"
      R"({"op": "train_step", "model": "gpt2-124M", "batch": 16, "compiled": true,)"
      R"( "precision": "bf16-autocast", "ms": 100})"
      "\n"
      R"({"op": "copy_h2d", "gib": 1, "ms": NaN})"
      "\n"
      R"({"op": "copy_h2d", "gib": 1, "ms": 0})"
      "\n{\"type\": \"record\", \"rec\n"
      "{\"type\": \"end\", \"exit_code\": 3, \"message\": \"\"}\n");
  std::vector<std::string> ids;
  for (const AbValue& value : output.values) ids.push_back(value.key.id);
  EXPECT_THAT(
      ids,
      ElementsAre(kBf16, "a/b/burst", "gemm/fp8_e4m3/4096x4096x4096", "gemm/int8/4096x4096x4096",
                  "memory/copy/4GiB", "memory/copy/256MiB", "conv/bf16/fprop/256x3x7",
                  "training/gpt2-124M/bf16-autocast/batch16/compiled", "copy_h2d/1GiB"));
  EXPECT_EQ(output.unreadable, 2);
  EXPECT_EQ(output.values[0].key.device, "GPU-1");
  EXPECT_EQ(output.values[0].time_s, 0.5);
  EXPECT_TRUE(output.values[0].conditions);
  EXPECT_EQ(output.values[2].key.device, std::nullopt);
  EXPECT_EQ(output.values[2].time_s, 0.0005);
  EXPECT_FALSE(output.values[2].conditions);
  EXPECT_EQ(output.values[3].status, RecordStatus::kErrored);
  EXPECT_EQ(output.values[3].message, "not supported");
  EXPECT_EQ(output.values[8].status, RecordStatus::kErrored);
  EXPECT_EQ(output.end_code, 3);
  EXPECT_TRUE(output.explains(3));
  EXPECT_FALSE(output.explains(1));
}

TEST(AbOutput, BlanksInAnObjectAreNoDifference) {
  EXPECT_EQ(read_ab_output("log: {not ours} { \t\"op\" : \"a\", \"ms\" : 1 }").values.size(), 1U);
  EXPECT_EQ(read_ab_output("{ }\n{\n{ 7\n").unreadable, 0);
}

TEST(AbOutput, WhatIsNoBenchmarkIsBounded) {
  // An id on which a regular expression would exhaust the stack.
  const AbOutput long_id =
      read_ab_output(R"({"op": ")" + std::string(1'000'000, 'a') + R"(", "ms": 1})");
  EXPECT_EQ(long_id.values.size(), 0U);
  EXPECT_EQ(long_id.unreadable, 1);
  std::string rows;
  for (int i = 0; i < 6000; ++i) rows += R"({"op": "a)" + std::to_string(i) + "\", \"ms\": 1}\n";
  EXPECT_TRUE(read_ab_output(rows).too_many);
  EXPECT_LE(read_ab_output(rows).values.size(), 5000U);
}

TEST(AbOutput, NoControlCharacterGetsIntoAnId) {
  const AbOutput output = read_ab_output(R"({"op": "a\u001b[2Jb\u0000c\nd", "ms": 1})");
  ASSERT_EQ(output.values.size(), 1U);
  EXPECT_EQ(output.values[0].key.id, "a [2Jb c d");
  EXPECT_EQ(read_ab_output(record_line("a\tb", 1)).values.at(0).key.id, "a b");
}

// A sitting of thousands of rows is judged after each run.
TEST_F(Ab, ManyRowsAreJudgedInTime) {
  std::string text;
  for (int i = 0; i < 4000; ++i) text += R"({"op": "a)" + std::to_string(i) + "\", \"ms\": 1}\n";
  fix(text, text);
  for (int i = 0; i < 12; ++i) {
    add(Side::kBase, text);
    add(Side::kCandidate, text);
  }
  const auto begin = std::chrono::steady_clock::now();
  judge_rows(result_, InterleavedRule(result_.plan));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  for (const AbRow& row : result_.rows) EXPECT_EQ(row.status, ComparedStatus::kUnchanged);
}

TEST(AbOutput, AnExitCodeIsExplainedByRowsAlone) {
  const std::string end = "{\"type\": \"end\", \"exit_code\": 1, \"message\": \"\"}\n";
  EXPECT_FALSE(read_ab_output(record_line(kBf16, 1) + end).explains(1));
  const std::string wrong =
      record_line(kBf16, 0, [](RunRecord& r) { r.status = RecordStatus::kInvalid; });
  EXPECT_TRUE(read_ab_output(wrong + end).explains(1));
  EXPECT_FALSE(read_ab_output(wrong).explains(1));
  EXPECT_FALSE(
      read_ab_output(wrong + "{\"type\": \"end\", \"exit_code\": 1, \"message\": \"lost\"}\n")
          .explains(1));
}

TEST_F(Ab, RegressionAtTheFirstLook) {
  fix(bf16(1), bf16(1));
  EXPECT_EQ(result_.plan.m, 1);
  EXPECT_EQ(result_.plan.looks.front().runs, 6);
  measure(bf16, bf16, 1.03, 5);
  EXPECT_EQ(row(kBf16).reason, "5 of 6 runs a side");
  EXPECT_TRUE(row(kBf16).open);
  EXPECT_EQ(result_.exit_code, 2);
  measure(bf16, bf16, 1.03, 1);
  EXPECT_EQ(row(kBf16).status, ComparedStatus::kRegression);
  EXPECT_EQ(row(kBf16).look, 1);
  EXPECT_FALSE(row(kBf16).open);
  EXPECT_EQ(result_.exit_code, 1);
  EXPECT_EQ(result_.verdict, "regression");
}

TEST_F(Ab, TheSecondLookTakesWhatTheFirstLeft) {
  fix(bf16(1), bf16(1));
  const Text noisy = [n = 0](double s) mutable { return bf16(s * (n++ % 2 ? 1.05 : 0.95)); };
  measure(noisy, bf16, 1.03, 6);
  EXPECT_TRUE(row(kBf16).open);
  measure(noisy, bf16, 1.03, 1);
  EXPECT_EQ(row(kBf16).reason, "7 of 12 runs a side");
  measure(noisy, bf16, 1.03, 5);
  EXPECT_FALSE(row(kBf16).open);
  EXPECT_EQ(row(kBf16).look, 2);
  EXPECT_EQ(row(kBf16).status, ComparedStatus::kInconclusive);
  EXPECT_THAT(render_ab(result_, "out/ab.json"), HasSubstr("a 3 % loss may be missed"));
}

TEST_F(Ab, UnchangedAndImprovement) {
  fix(bf16(1), bf16(1));
  measure(bf16, bf16, 1, 6);
  EXPECT_EQ(result_.verdict, "unchanged");
  EXPECT_EQ(result_.exit_code, 0);
  result_ = {};
  fix(bf16(1), bf16(1));
  measure(bf16, bf16, 0.95, 6);
  EXPECT_EQ(result_.verdict, "improvement");
  EXPECT_EQ(result_.exit_code, 0);
}

TEST_F(Ab, RowsWithoutConditionsMatchByTheRestOfTheId) {
  fix(bf16(1) + record_line("memory/copy/4GiB/burst/warm/alone", 1),
      operation(1) + "{\"op\": \"copy_d2d\", \"gib\": 4, \"ms\": 1}\n");
  ASSERT_EQ(result_.rows.size(), 2U);
  EXPECT_EQ(result_.rows[0].key.id, kBf16);
  EXPECT_EQ(result_.rows[0].candidate->id, "gemm/bf16/8192x8192x8192");
  EXPECT_EQ(result_.rows[1].key.id, "memory/copy/4GiB/burst/warm/alone");
  measure([](double s) { return bf16(s) + record_line("memory/copy/4GiB/burst/warm/alone", s); },
          [](double s) { return operation(s) + "{\"op\": \"copy_d2d\", \"gib\": 4, \"ms\": 1}\n"; },
          1.05, 6);
  EXPECT_EQ(row(kBf16).status, ComparedStatus::kRegression);
  EXPECT_THAT(row(kBf16).warnings,
              ElementsAre("the candidate states no conditions: matched by id alone"));
  result_ = {};
  fix(operation(1), bf16(1));
  EXPECT_EQ(result_.rows.at(0).key.id, kBf16);
  EXPECT_EQ(result_.rows.at(0).key.device, "GPU-1");
}

std::string message_of(const std::function<void()>& action, ExitCode code) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "no error";
}

TEST_F(Ab, TwoConditionsForOneRowAskForAChoice) {
  const std::string both = bf16(1) + record_line("gemm/bf16/8192x8192x8192/burst", 1);
  const auto refused = [&] { fix(both, operation(1)); };
  const std::string message = message_of(refused, ExitCode::kUsage);
  EXPECT_THAT(message, HasSubstr("gemm/bf16/8192x8192x8192/burst"));
  EXPECT_THAT(message, EndsWith("choose one of them with --rows RE"));
  result_ = {};
  result_.filter = "sustained$";
  fix(both, operation(1));
  ASSERT_EQ(result_.rows.size(), 1U);
  EXPECT_TRUE(result_.rows[0].base && result_.rows[0].candidate);
  result_ = {};
  const std::string two_devices =
      bf16(1) + record_line(kBf16, 1, [](RunRecord& r) { r.device.uuid = "GPU-2"; });
  EXPECT_THAT(message_of([&] { fix(two_devices, operation(1)); }, ExitCode::kUsage),
              HasSubstr("CUDA_VISIBLE_DEVICES"));
}

TEST_F(Ab, NoRowsAndBadFilters) {
  EXPECT_THAT(message_of([&] { fix("hello\n", ""); }, ExitCode::kNotJudged),
              HasSubstr("--log=/dev/stdout"));
  result_ = {};
  result_.filter = "nothing";
  EXPECT_EQ(message_of([&] { fix(bf16(1), bf16(1)); }, ExitCode::kNotJudged),
            "no row matches --rows 'nothing'");
  result_ = {};
  result_.filter = "(";
  EXPECT_THAT(message_of([&] { fix(bf16(1), bf16(1)); }, ExitCode::kUsage),
              HasSubstr("not a regular expression"));
}

TEST_F(Ab, MissingRowsCountInM) {
  std::string base = bf16(1);
  for (const char* id : {"a/1/burst", "a/2/burst", "a/3/burst", "a/4/burst"}) {
    base += record_line(id, 1);
  }
  fix(base, bf16(1) + operation_line(1));
  // The line without conditions finds its counterpart taken, and is a row of its own.
  EXPECT_EQ(result_.plan.m, 6);
  EXPECT_EQ(result_.plan.looks.front().runs, 8);
  EXPECT_EQ(row("a/1/burst").status, ComparedStatus::kMissing);
  EXPECT_EQ(row("a/1/burst").reason, "only the base has it");
  measure(bf16, bf16, 1, 8);
  EXPECT_EQ(row(kBf16).status, ComparedStatus::kUnchanged);
  EXPECT_EQ(result_.exit_code, 2);
  EXPECT_EQ(render_ab_rows_json(result_)["counts"]["missing"], 5);
  EXPECT_EQ(result_.verdict, "inconclusive");
}

TEST_F(Ab, OtherDevicesAreOtherRows) {
  fix(bf16(1), record_line(kBf16, 1, [](RunRecord& r) { r.device.uuid = "GPU-2"; }));
  ASSERT_EQ(result_.rows.size(), 2U);
  EXPECT_EQ(result_.rows[0].reason, "only the base has it on this device");
}

TEST_F(Ab, WhatARunSaysOfARow) {
  struct Case {
    std::string line;
    ComparedStatus status;
    int exit_code;
  };
  const auto with = [](RecordStatus status) {
    return record_line(kBf16, 0, [=](RunRecord& r) {
      r.status = status;
      r.message = "why";
    });
  };
  for (const Case& c :
       {Case{with(RecordStatus::kErrored), ComparedStatus::kErrored, 3},
        Case{with(RecordStatus::kInvalid), ComparedStatus::kErrored, 3},
        Case{with(RecordStatus::kSkipped), ComparedStatus::kSkipped, 2},
        Case{bf16(0), ComparedStatus::kErrored, 3}, Case{"", ComparedStatus::kMissing, 2},
        Case{bf16(1) + bf16(1), ComparedStatus::kDuplicate, 2}}) {
    result_ = {};
    fix(bf16(1), bf16(1));
    measure(bf16, [&](double) { return c.line; }, 1, 6);
    EXPECT_EQ(row(kBf16).status, c.status) << c.line;
    EXPECT_EQ(result_.exit_code, c.exit_code) << c.line;
    EXPECT_THAT(row(kBf16).reason, StartsWith("run 4 of the candidate: "));
    EXPECT_FALSE(row(kBf16).open);
  }
}

TEST_F(Ab, TroubleAfterTheDecisionTakesBackAGoodOneOnly) {
  for (const double ratio : {1.0, 1.05}) {
    result_ = {};
    fix(bf16(1), bf16(1));
    measure(bf16, bf16, ratio, 6);
    add(Side::kBase, "");
    judge_rows(result_, InterleavedRule(result_.plan));
    EXPECT_EQ(row(kBf16).status,
              ratio > 1 ? ComparedStatus::kRegression : ComparedStatus::kMissing);
    EXPECT_EQ(row(kBf16).warnings.size(), ratio > 1 ? 1U : 0U);
  }
}

TEST_F(Ab, ReplacedAndConditioningRunsAreNotJudged) {
  fix(bf16(7), bf16(9));
  measure(bf16, bf16, 1, 3);
  add(Side::kBase, record_line(kBf16, 0, [](RunRecord& r) { r.status = RecordStatus::kInvalid; }));
  result_.runs.back().replaced = true;
  measure(bf16, bf16, 1, 3);
  EXPECT_EQ(row(kBf16).status, ComparedStatus::kUnchanged);
}

TEST_F(Ab, OtherConditionsOrWorkAreNotCompared) {
  const auto other_work = [](double s) {
    return record_line(kBf16, s, [](RunRecord& r) { r.work.operations = 2e12; });
  };
  const auto other_conditions = [](double s) {
    return record_line(kBf16, s, [](RunRecord& r) { r.conditions.peers = Peers::kAlone; });
  };
  const auto other_parameters = [](double s) {
    return record_line(kBf16, s, [](RunRecord& r) { r.parameters["k"] = 1; });
  };
  for (const Text& candidate : {Text(other_work), Text(other_conditions), Text(other_parameters)}) {
    result_ = {};
    fix(bf16(1), candidate(1));
    measure(bf16, candidate, 1, 1);
    EXPECT_EQ(row(kBf16).status, ComparedStatus::kNotComparable);
    EXPECT_THAT(row(kBf16).reason, StartsWith("the sides differ in "));
    EXPECT_FALSE(row(kBf16).open);
    EXPECT_EQ(result_.exit_code, 2);
  }
}

TEST_F(Ab, StallsAreAWarning) {
  const auto stalling = [](double s) {
    return record_line(kBf16, s, [](RunRecord& r) { r.timing.mean_s *= 1.05; });
  };
  fix(bf16(1), bf16(1));
  measure(bf16, stalling, 1, 6);
  EXPECT_EQ(row(kBf16).status, ComparedStatus::kUnchanged);
  ASSERT_EQ(row(kBf16).warnings.size(), 1U);
  EXPECT_THAT(row(kBf16).warnings[0], HasSubstr("0 of the base, 6 of the candidate"));
}

TEST_F(Ab, TheFileReadsBack) {
  fix(bf16(1), operation(1));
  measure(bf16, operation, 1.03, 6);
  const std::string text = dump_json(ab_to_json(result_));
  AbResult copy = ab_from_json(parse_json(text, "ab.json"), "ab.json");
  EXPECT_EQ(dump_json(ab_to_json(copy)), text);
  judge_rows(copy, InterleavedRule(copy.plan));
  EXPECT_EQ(dump_json(ab_to_json(copy)), text);
  EXPECT_THROW((void)ab_from_json(Json::array(), "x"), Error);
}

TEST_F(Ab, TextNamesThePromiseAndTheOrder) {
  result_.mirrored = true;
  result_.base = "first\nsecond";
  result_.candidate = "third";
  fix(bf16(1), bf16(1));
  measure(bf16, bf16, 1.03, 6);
  const std::string text = render_ab(result_, "out/ab.json");
  EXPECT_THAT(text, HasSubstr("REGRESSION   1 regression   exit 1\n"));
  EXPECT_THAT(text, HasSubstr("BAAB BAAB ..."));
  EXPECT_THAT(text, HasSubstr("error rate not verified on this machine\n"));
  EXPECT_THAT(text, HasSubstr("base       first second\n"));
  EXPECT_THAT(text, Not(HasSubstr(" \n")));
  const Json json = render_ab_rows_json(result_);
  EXPECT_EQ(json["verdict"], "regression");
  EXPECT_EQ(json["rows"][0]["id"], kBf16);
  EXPECT_EQ(json["rows"][0]["device"], "GPU-1");
  EXPECT_EQ(json["rows"][0]["status"], "regression");
  EXPECT_EQ(json["counts"]["regression"], 1);
}

}  // namespace
}  // namespace assay
