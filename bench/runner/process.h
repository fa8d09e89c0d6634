// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A child process in a group of its own, that dies with its parent.
//
//   Child child({.arguments = {"bin/assay-memory", "--round=0"}, .output = "memory.log"});
//   while (!child.poll()) ...;
//   child.end();            // TERM, then KILL after a second, to the group; 6 s at most
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct ChildSpec {
  std::vector<std::string> arguments;              // [0] is the program's path
  std::map<std::string, std::string> environment;  // set on top of ours
  std::filesystem::path output;                    // file for its stdout and stderr
  std::filesystem::path errors = {};               // file for its stderr, if it has one of its own
};

class Child {
 public:
  // Throws Error(kMeasurement) when the program cannot be started.
  explicit Child(const ChildSpec& spec);
  ~Child();  // ends it
  // Owns a process.
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // How it ended ("exit 0", "killed by signal 9 (Killed)"), or null while it runs.
  [[nodiscard]] const std::optional<std::string>& poll();
  void end();

 private:
  void reap();
  [[nodiscard]] bool wait(double seconds);  // true if it ended

  pid_t pid_ = -1;
  std::optional<std::string> ended_;
};

// The last line of a file that is not empty, cut to 200 bytes; empty if there is none.
[[nodiscard]] std::string last_line_of(const std::filesystem::path& file);

}  // namespace assay
