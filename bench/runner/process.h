// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A child process in a group of its own, that dies with its parent.
//
//   Child child({.arguments = {"bin/assay-memory", "--round=0"}, .output = "memory.log"});
//   while (!child.poll()) ...;
//   child.say("go\n");      // with .spoken_to = true
//   child.end();            // TERM, then KILL after a second, to the group; 6 s at most
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

using SteadyTime = std::chrono::steady_clock::time_point;
[[nodiscard]] inline double seconds_since(SteadyTime start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct ChildSpec {
  std::vector<std::string> arguments;              // [0] is the program's path
  std::map<std::string, std::string> environment;  // set on top of ours
  std::filesystem::path output;                    // file for its stdout and stderr
  std::filesystem::path errors = {};               // file for its stderr, if it has one of its own
  std::vector<int> cpus = {};                      // to run on; empty: where we may run
  bool spoken_to = false;                          // stdin takes what say() sends; else /dev/null
  bool bounded_files = true;                       // it may not fill the disk
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
  // To its stdin. Never blocks, and a child that does not listen any more is no error: false.
  bool say(std::string_view text) const;
  void end();

 private:
  void reap();
  [[nodiscard]] bool wait(double seconds);  // true if it ended

  pid_t pid_ = -1;
  int mouth_ = -1;  // our end of its stdin
  std::optional<std::string> ended_;
};

// The last line of a file that is not empty, cut to 200 bytes; empty if there is none.
[[nodiscard]] std::string last_line_of(const std::filesystem::path& file);

}  // namespace assay
