// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Runs one benchmark process and turns whatever becomes of it into records: one for each case that
// was asked for. A case that was begun and has no record in time is a hang; the process is ended
// and its remaining cases are left to a fresh one.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "reports/record.h"

namespace assay {

struct Task {
  std::filesystem::path program;
  std::string family;
  std::vector<std::string> ids;
  int round = 0;
  DeviceRef device;
  std::filesystem::path log;     // run.jsonl of this process
  std::filesystem::path output;  // its stdout and stderr
  double id_timeout_s = 20;
  double start_timeout_s = 60;  // until the first case begins, or until the end after the last
};

struct TaskResult {
  std::vector<RunRecord> records;  // in the order of ids
  Json versions = Json::object();  // of the libraries that it loaded
};

// The condition part of an id ("sustained", "burst/warm"), for cases that never reported
// themselves.
[[nodiscard]] Conditions conditions_of_id(const std::string& id);

// Never throws for what the process does. `stop` ends it early: its unfinished cases get no record.
[[nodiscard]] TaskResult supervise(const Task& task, const std::atomic<bool>& stop);

}  // namespace assay
