// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What `assay ab` measured and what it says of it: <out>/ab.json, written anew after every run.
// No processes here; bench/runner/ab.h runs the commands.
//
//   AbOutput output = read_ab_output(text_of_stdout);     // the rows that one run printed
//   fix_rows(result);                                     // after the conditioning round
//   judge_rows(result, InterleavedRule(result.plan));     // after every run; result.rows[i].open
//
// Two kinds of line are read, others are passed over: `{"type": "record", "record": {...}}` of our
// binaries (--log=/dev/stdout), and one object an operation with `op` and `ms` or `error`, as
// scripts around other libraries print it. The latter state no conditions.
// Units: seconds a launch, ln time in `comparison` (interleaved.h).
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/interleaved.h"

namespace assay {

// What a row is found by on one side. No device: the line named none.
struct AbKey {
  std::string id;
  std::optional<std::string> device;

  auto operator<=>(const AbKey&) const = default;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("id", self.id);
    archive("device", self.device);
  }
};

// One row in one run. `time_s` is the run's value, null unless status is ok.
struct AbValue {
  AbKey key;
  RecordStatus status = RecordStatus::kOk;
  std::string message;
  std::optional<double> time_s;
  std::optional<double> mean_s;
  std::optional<Conditions> conditions;  // null: the line states none
  Json work;                             // null likewise
  Json parameters;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("key", self.key);
    archive("status", self.status);
    archive("message", self.message);
    archive("time_s", self.time_s);
    archive("mean_s", self.mean_s);
    archive("conditions", self.conditions);
    archive("work", self.work);
    archive("parameters", self.parameters);
  }
};

struct AbOutput {
  std::vector<AbValue> values;
  int unreadable = 0;     // lines that begin an object and are no JSON, or no record
  bool too_many = false;  // rows: reading stopped
  // Of the last `end` line: what one of our binaries said that it would exit with, and why.
  std::optional<int> end_code;
  std::string end_message;

  // True if `exit_code` tells of nothing but rows that are not ok, which have their own status.
  [[nodiscard]] bool explains(int exit_code) const;
};
[[nodiscard]] AbOutput read_ab_output(std::string_view text);

struct AbRun {
  int number = 0;  // from 1, in the order in which they ran
  Side side = Side::kBase;
  bool conditioning = false;  // recorded, not judged
  bool replaced = false;      // had an invalid row and was run once more: not judged
  bool failed = false;        // the command broke: not judged
  std::string started;        // UTC, RFC 3339
  double duration_s = 0;
  std::string ended;      // "exit 0"
  std::string last_line;  // of its stderr
  std::string output;     // file beside ab.json with its stdout; its stderr likewise in .err
  int unreadable = 0;
  std::vector<AbValue> values;

  [[nodiscard]] bool judged() const { return !conditioning && !replaced && !failed; }

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("number", self.number);
    archive("side", self.side);
    archive("conditioning", self.conditioning);
    archive("replaced", self.replaced);
    archive("failed", self.failed);
    archive("started", self.started);
    archive("duration_s", self.duration_s);
    archive("ended", self.ended);
    archive("last_line", self.last_line);
    archive("output", self.output);
    archive("unreadable", self.unreadable);
    archive("values", self.values);
  }
};

// `look` counts from 1; 0 as long as no look was reached.
struct AbRow {
  AbKey key;  // of the side that states conditions
  std::optional<AbKey> base;
  std::optional<AbKey> candidate;
  ComparedStatus status = ComparedStatus::kInconclusive;
  std::string reason;
  std::vector<std::string> warnings;
  bool open = true;  // more runs may decide it
  int look = 0;
  Comparison comparison;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("key", self.key);
    archive("base", self.base);
    archive("candidate", self.candidate);
    archive("status", self.status);
    archive("reason", self.reason);
    archive("warnings", self.warnings);
    archive("open", self.open);
    archive("look", self.look);
    archive("comparison", self.comparison);
  }
};

// `complete` is false until every run that the plan asks for is in.
struct AbResult {
  int schema_version = 1;
  std::string version;
  std::string revision;
  bool complete = false;
  std::string started;
  double duration_s = 0;
  std::string base;  // shell commands
  std::string candidate;
  std::string filter;     // regular expression on ids; empty: all rows
  double timeout_s = 0;   // a run
  bool mirrored = false;  // the coin: BAAB instead of ABBA
  int runs_asked = 0;     // a side, in one look; 0: two looks by the number of rows
  LookPlan plan;          // without looks until the rows are known
  std::string failure;    // one line: which run broke the sitting; empty: none
  std::string verdict;
  int exit_code = 2;
  std::vector<AbRow> rows;
  std::vector<AbRun> runs;
  Json environment = Json::object();

  [[nodiscard]] const std::string& command(Side side) const {
    return side == Side::kBase ? base : candidate;
  }

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("schema_version", self.schema_version);
    archive("version", self.version);
    archive("revision", self.revision);
    archive("complete", self.complete);
    archive("verdict", self.verdict);
    archive("exit_code", self.exit_code);
    archive("failure", self.failure);
    archive("started", self.started);
    archive("duration_s", self.duration_s);
    archive("base", self.base);
    archive("candidate", self.candidate);
    archive("filter", self.filter);
    archive("timeout_s", self.timeout_s);
    archive("mirrored", self.mirrored);
    archive("runs_asked", self.runs_asked);
    archive("plan", self.plan);
    archive("environment", self.environment);
    archive("rows", self.rows);
    archive("runs", self.runs);
  }
};

// The rows and m, from the union of what both conditioning runs printed, and with them the plan:
// before the first judged run. A row without conditions is matched with the other side's row whose
// id is the same but for its condition part. Throws Error(kUsage) where two would match and for a
// filter that is no regular expression; Error(kNotJudged) where there is no row.
void fix_rows(AbResult& result);

// Judges each row by the runs so far, then verdict and exit code. `rule` is of result.plan.
void judge_rows(AbResult& result, const InterleavedRule& rule);

// Verdict and exit code from rows, failure and `complete`.
void conclude(AbResult& result);

[[nodiscard]] const AbValue* find_value(const AbRun& run, const AbKey& key);

// {"ab": {...}}, and back. Reading throws Error(kUsage) for what is no ab.json.
[[nodiscard]] Json ab_to_json(const AbResult& result);
[[nodiscard]] AbResult ab_from_json(const Json& json, const std::string& source);

// `where` names ab.json. The rows form is that of every command: verdict, rows, counts.
[[nodiscard]] std::string render_ab(const AbResult& result, const std::string& where);
[[nodiscard]] Json render_ab_rows_json(const AbResult& result);

}  // namespace assay
