// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What the commands that measure for a while share: a progress line and a clean end on a signal.
//
//   const ProgressLine line;
//   run_suite(request, stop_on_signals(), [&](const std::string& text) { line(text); });
#pragma once

#include <atomic>
#include <string>

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

}  // namespace assay
