// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Rounds of a suite: its processes one after the other, each on all GPUs at once with a common
// start or, if it says so, on one GPU after the other, in fresh processes. Knows which cases are
// not worth another try, and how long a round takes.
//
//   Schedule schedule(crew, stop, progress);
//   Pass done = schedule.round(0, "round 1 of 5");
//   schedule.expected_s();                         // of another one
#pragma once

#include <atomic>
#include <chrono>
#include <compare>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bench/runner/plan.h"
#include "bench/runner/rows.h"
#include "bench/runner/supervise.h"
#include "reports/record.h"

namespace assay {

using Progress = std::function<void(const std::string& line)>;

// A case on a device.
struct Row {
  std::string uuid;
  std::string id;
  auto operator<=>(const Row&) const = default;
};

// Who measures what with which programs.
struct Crew {
  Suite suite;
  std::vector<DeviceRef> gpus;
  DeviceRef host;
  std::map<std::string, std::vector<int>> cpus;  // by UUID, to run on; not there: anywhere
  std::filesystem::path programs;                // folder of the assay-<family> programs
  std::filesystem::path logs;                    // folder
  std::filesystem::path algorithms = {};         // folder of <sku>.json
  Mode mode = Mode::kMeasure;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

// What a round gave.
struct Pass {
  std::vector<Run> runs;
  std::map<std::string, Json> versions;  // by family
  std::vector<std::string> notes;
  bool out_of_time = false;  // the deadline cut it off
};

class Schedule {
 public:
  Schedule(Crew crew, const std::atomic<bool>& stop, const Progress& progress);

  // All cases on all devices.
  [[nodiscard]] Pass round(int number, const std::string& title);
  // These rows; the other GPUs run the same cases with them, for the load, where a process is not
  // run in turn anyway.
  [[nodiscard]] Pass again(int number, const std::string& title, const std::set<Row>& rows);
  // These rows, of one GPU, while the others are idle.
  [[nodiscard]] Pass alone(int number, const std::string& title, const std::set<Row>& rows);

  // How long the next round may take: the longest so far, less the time-outs of cases that are not
  // tried again. With `rows`, a bound for a round of these alone. 0 before the first round.
  [[nodiscard]] double expected_s() const;
  [[nodiscard]] double expected_s(const std::set<Row>& rows) const;

 private:
  // What one process of the suite took on one device.
  struct Cost {
    std::size_t process = 0;
    std::string uuid;
    double seconds = 0;
    std::vector<std::string> hung;
  };
  struct Wanted;

  [[nodiscard]] Pass run(const Wanted& wanted);
  void run_process(const Wanted& wanted, std::size_t process, Pass& pass, std::vector<Cost>& costs);
  void run_in_turn(const std::vector<Task>& tasks, const Wanted& wanted, std::size_t process,
                   Pass& pass, std::vector<Cost>& costs);
  void run_at_once(std::vector<Task>& tasks, const Wanted& wanted, std::size_t process, Pass& pass,
                   std::vector<Cost>& costs);
  void settle(Cost cost, TaskResult result, const Wanted& wanted, Pass& pass,
              std::vector<Cost>& costs);
  [[nodiscard]] std::vector<std::string> ids_of(const Wanted& wanted, std::size_t process,
                                                const std::string& uuid) const;
  [[nodiscard]] std::vector<Task> tasks_of(const Wanted& wanted, std::size_t process) const;
  void take(TaskResult result, const Wanted& wanted, Pass& pass);
  [[nodiscard]] bool given_up(const std::string& uuid, const std::string& id) const;
  // Of a round, what `part` chooses.
  using Part = std::function<bool(const Cost&)>;
  [[nodiscard]] double cost_s(const std::vector<Cost>& round, std::size_t process,
                              const Part& part) const;
  [[nodiscard]] double expected_s(const Part& part) const;
  [[nodiscard]] double elapsed_s() const;

  Crew crew_;
  const std::atomic<bool>& stop_;
  const Progress& progress_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::map<Row, int> failures_;
  std::vector<std::vector<Cost>> rounds_;  // of all cases
};

}  // namespace assay
