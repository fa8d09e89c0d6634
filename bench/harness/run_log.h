// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// run.jsonl: what a benchmark process tells the runner, a line at a time, each written whole and at
// once, so that a killed process leaves every finished line readable.
//
//   {"type": "process", "family", "pid", "started", "round", "device", "versions"}
//   {"type": "begin", "id"}        a begin without its record in time is a hang of that id
//   {"type": "ready", "id"}        with --start=stdin: set up, waits for a line on its input
//   {"type": "record", "record"}
//   {"type": "end", "exit_code", "message"}
#pragma once

#include <string>

#include "reports/json.h"

namespace assay {

class RunLog {
 public:
  // Empty path: nothing is written. Throws Error(kMeasurement) when the file cannot be opened.
  explicit RunLog(const std::string& path);
  ~RunLog();
  // Owns a file descriptor.
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  // Throws Error(kMeasurement) when the line could not be written whole (a full disk).
  void append(const Json& line);

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace assay
