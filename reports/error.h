// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The one exception type of the host code. It carries the exit code that a command ends with when
// nobody handles it, and a message of one line: what is wrong, where, and what to do.
//
//   throw Error(ExitCode::kUsage, "targets.yaml:12: unknown key 'flor'; did you mean 'floor'?");
#pragma once

#include <stdexcept>
#include <string>

namespace assay {

// Exit codes of every command and binary. Where several hold, worst_of() picks.
enum class ExitCode {
  kPass = 0,
  kFail = 1,         // fail or regression: the only code that may drain a node
  kNotJudged = 2,    // inconclusive, incomplete, skipped, missing, zero matched
  kMeasurement = 3,  // the tool's own measurement broke
  kUsage = 4,        // bad usage or unreadable input
};

// The code that wins where several hold: 4, 1, 3, 2, 0 in this order.
[[nodiscard]] constexpr ExitCode worst_of(ExitCode a, ExitCode b) {
  for (const ExitCode code :
       {ExitCode::kUsage, ExitCode::kFail, ExitCode::kMeasurement, ExitCode::kNotJudged}) {
    if (a == code || b == code) return code;
  }
  return ExitCode::kPass;
}

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace assay
