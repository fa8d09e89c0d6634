// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Runs one benchmark process and turns whatever becomes of it into records: one for each case that
// was asked for. A case that was begun and has no record in time is a hang; the process is ended
// and its remaining cases are left to a fresh one.
//
// A program is called with --log=FILE --round=N --ids=ID,ID,... and
//   --start=stdin   when others run the family at the same time: having set up a case and checked
//   its
//                   first result, it appends {"type": "ready", "id"} to the log and reads a line of
//                   its stdin ("go") before it measures; at the end of file it ends itself;
//   --alone         its GPU is the only one that works: every id, those of --ids too, has "/alone"
//                   behind it, and the record the condition;
//   --profile       under a profiler;
//   --tune          searching for the best algorithm first;
//   --algorithms=F  with the choices that are stored there.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/runner/common_start.h"
#include "reports/record.h"

namespace assay {

enum class Mode { kMeasure, kProfile, kTune };

struct Task {
  std::filesystem::path program;
  std::string family;
  std::vector<std::string> ids;  // without kAloneSuffix
  int round = 0;
  DeviceRef device;
  std::filesystem::path log;     // run.jsonl of this process
  std::filesystem::path output;  // its stdout and stderr
  double id_timeout_s = 20;
  double start_timeout_s = 60;  // until the first case begins, or until the end after the last
  // When the suite's budget ends: the case that runs then may still end within its time-out, and no
  // other begins.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::vector<int> cpus = {};           // to run on; empty: where we may run
  std::vector<std::string> peers = {};  // UUIDs of other GPUs that it sees behind its own
  CommonStart* start = nullptr;  // shared with the other GPUs' tasks; null: nobody to wait for
  int member = 0;                // of `start`; it leaves when the task ends
  bool alone = false;
  Mode mode = Mode::kMeasure;
  std::filesystem::path algorithms = {};  // file; empty: none are stored
};

struct TaskResult {
  std::vector<RunRecord> records;  // in the order in which they came
  Json versions = Json::object();  // of the libraries that it loaded
  std::vector<std::string> hung;   // ids that cost their time-out
  bool out_of_time = false;        // the deadline left cases without a record
};

// What the id of a case says of its conditions ("sustained", "burst/warm", the name of a peer), for
// cases that never reported themselves.
[[nodiscard]] Conditions conditions_of_id(const std::string& id);

// Never throws for what the process does. `stop` ends it early: its unfinished cases get no record;
// nor do those that the deadline leaves unfinished.
[[nodiscard]] TaskResult supervise(const Task& task, const std::atomic<bool>& stop);

}  // namespace assay
