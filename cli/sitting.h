// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What the commands that measure for a while share: a progress line, a clean end on a signal, and
// how a suite is asked for and ends.
//
//   const ProgressLine line;
//   run_suite(request, stop_on_signals(), [&](const std::string& text) { line(text); });
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "bench/runner/run_suite.h"
#include "reports/error.h"

namespace assay {

// One line on stderr that is overwritten on a terminal, plain lines elsewhere.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  // Owns the terminal's last line.
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void operator()(const std::string& line) const;

 private:
  bool terminal_;
};

// Becomes true on Ctrl-C, TERM and HUP: the running processes are ended and the result is written.
// A closed pipe on stdout or stderr is no signal any more, but an error of that stream.
[[nodiscard]] const std::atomic<bool>& stop_on_signals();

// Of this program's folders: the suite by name with the cases that match, nothing judged.
struct SuiteChoice {
  std::string command;
  std::string suite;
  std::string filter;
  std::vector<std::string> gpus;
  std::string out;
};
[[nodiscard]] SuiteRequest suite_request(const SuiteChoice& choice);

// Of a report without a verdict: 0 if every run that was asked for is there and ok.
[[nodiscard]] ExitCode measured_exit_code(const Report& report);

}  // namespace assay
