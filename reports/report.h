// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// report.json, whole: docs/SCHEMA.md describes it for readers, reports/report.schema.json for
// programs. The targets and the cards' limits that were used are embedded, so that a report is
// judged alike everywhere.
//
//   Report report = read_report("out/report.json");
//   judge(report);                                   // of reports/judge.h
//   write_report("out/report.json", report);
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/gpus.h"
#include "reports/inventory.h"
#include "reports/json_fields.h"
#include "reports/l2_knee.h"
#include "reports/record.h"
#include "reports/targets.h"

namespace assay {

inline constexpr int kSchemaVersion = 1;

// Declared before the first measurement (docs/METHOD.md, Verdicts).
struct Plan {
  int stages = 1;  // 1: stage 1 sufficed; 2: some rows were extended
  int m = 0;       // rows of the gate set, all GPUs: (id, GPU) with a floor
  int stage1_runs = 5;
  int stage2_runs = 12;   // N
  int allowed_below = 2;  // b
  double budget_s = 0;
  bool out_of_time = false;           // the budget cut a round or stage 2 off
  std::vector<std::string> gate_ids;  // ids of the gate set; a missing row counts
  std::vector<std::string> gpus;      // UUIDs under test (--gpus); empty: all of the node

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("stages", self.stages);
    archive("m", self.m);
    archive("stage1_runs", self.stage1_runs);
    archive("stage2_runs", self.stage2_runs);
    archive("allowed_below", self.allowed_below);
    archive("budget_s", self.budget_s);
    archive("out_of_time", self.out_of_time);
    archive("gate_ids", self.gate_ids);
    archive("gpus", self.gpus);
  }
};

struct Verdict {
  JudgedStatus status = JudgedStatus::kNotMeasured;
  int exit_code = 2;
  std::string summary;  // one line, "1 of 1 GPU: 10 of 10 gates, 6 of 6 measurements."

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("status", self.status);
    archive("exit_code", self.exit_code);
    archive("summary", self.summary);
  }
};

enum class Severity { kFail, kWarn, kNotJudged };
constexpr std::array<EnumName<Severity>, 3> enum_names(Severity) {
  return {
      {{Severity::kFail, "fail"}, {Severity::kWarn, "warn"}, {Severity::kNotJudged, "not_judged"}}};
}

// The part. Serial, module and bus id name it; the index is for the eye.
struct FaultScope {
  std::optional<int> gpu;
  std::optional<std::string> serial;
  std::optional<int> module_id;
  std::optional<std::string> bus_id;
  std::optional<std::string> uuid;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("gpu", self.gpu);
    archive("serial", self.serial);
    archive("module_id", self.module_id);
    archive("bus_id", self.bus_id);
    archive("uuid", self.uuid);
  }
};

// One code, one cause, one owner. `actions` is a ladder: stop at the first that clears. `explains`
// names what is folded under this cause and not counted again.
struct Fault {
  std::string code;  // "PWR-01"
  Severity severity = Severity::kFail;
  std::string owner;  // "operator", "hardware", "host"
  FaultScope scope;
  std::optional<FaultScope> peer;     // the other part, of a fault of a pair
  std::string title;                  // one line: what is wrong
  std::string effect;                 // one line: what it costs
  std::vector<std::string> evidence;  // record ids, or "inventory.gpus[0].ecc"
  int confirmed_runs = 0;
  std::string confidence;  // "certain", "confirmed", "suspected"
  std::vector<std::string> actions;
  std::vector<std::string> explains;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("code", self.code);
    archive("severity", self.severity);
    archive("owner", self.owner);
    archive("scope", self.scope);
    archive("peer", self.peer);
    archive("title", self.title);
    archive("effect", self.effect);
    archive("evidence", self.evidence);
    archive("confirmed_runs", self.confirmed_runs);
    archive("confidence", self.confidence);
    archive("actions", self.actions);
    archive("explains", self.explains);
  }
};

struct Report {
  int schema_version = kSchemaVersion;
  std::string version;  // of the program that measured
  bool complete = false;
  bool redacted = false;
  std::string command;  // "accept", "run", "tune"
  std::string suite;
  std::string started;  // UTC, RFC 3339
  double duration_s = 0;
  // Of the device that was busy longest, over all its runs, and likewise of declared rest; null:
  // the programs did not say.
  std::optional<double> busy_s;
  std::optional<double> idle_s;
  std::optional<Verdict> verdict;  // null: measured only (`assay run`)
  std::vector<Fault> faults;
  Plan plan;
  std::vector<std::string> notes;  // one line each: what was not judged and why
  std::vector<Record> records;
  std::vector<L2Knee> l2_knees;    // derived
  std::vector<TargetSet> targets;  // of the cards present
  std::vector<GpuSpec> limits;     // of the cards present
  // Of the first samples_bytes (null: of all) of samples.jsonl beside the report, which only grows:
  // a killed run may have left more. Empty if there are none.
  std::string samples_sha256;
  std::optional<std::int64_t> samples_bytes;
  Json context = Json::object();  // versions, build, environment
  Inventory inventory;
  Json benchmarks = Json::array();  // one row a run, as Google Benchmark's tools read them
};

// Null if the report has none.
[[nodiscard]] const GpuInventory* find_gpu(const Report& report, std::string_view uuid);
[[nodiscard]] const Record* find_record(const Report& report, std::string_view id,
                                        std::string_view uuid);

[[nodiscard]] Json to_json_value(const Report& report);
[[nodiscard]] Report report_from_json(const Json& json, const std::string& source);

// Error(kUsage) names the file and the field; a newer schema version is refused by number.
[[nodiscard]] Report read_report(const std::filesystem::path& path);
void write_report(const std::filesystem::path& path, const Report& report);

}  // namespace assay
