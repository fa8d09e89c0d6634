// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner/supervise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <optional>
#include <thread>

#include "bench/node/environment.h"
#include "bench/runner/process.h"
#include "reports/error.h"
#include "reports/merge.h"

namespace assay {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

double seconds_since(SteadyTime start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Follows run.jsonl while the process writes it; takes whole lines only.
class LogFollower {
 public:
  explicit LogFollower(std::filesystem::path path) : path_(std::move(path)) {}

  std::vector<std::string> new_lines() {
    std::ifstream file(path_, std::ios::binary);
    if (!file) return {};
    file.seekg(static_cast<std::streamoff>(read_));
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
      if (file.eof()) break;  // no newline yet: not written whole
      read_ += line.size() + 1;
      lines.push_back(std::move(line));
    }
    return lines;
  }

 private:
  std::filesystem::path path_;
  std::size_t read_ = 0;
};

// What the log of one attempt said.
struct Attempt {
  std::vector<std::string> open;  // asked for and not begun
  std::vector<RunRecord> records;
  std::optional<std::string> begun;  // a case without its record
  std::optional<std::string> end_message;
  int end_code = 0;
  std::string ended;  // how the process ended
  bool hung = false;
  SteadyTime last_event = std::chrono::steady_clock::now();
};

class Supervisor {
 public:
  Supervisor(const Task& task, const std::atomic<bool>& stop) : task_(task), stop_(stop) {}

  TaskResult run() {
    std::vector<std::string> left = task_.ids;
    // Each attempt that ends abnormally loses one case at least, so this ends.
    while (!left.empty() && !stop_) {
      const std::size_t before = left.size();
      attempt(left);
      if (left.size() == before) break;
    }
    return std::move(result_);
  }

 private:
  void attempt(std::vector<std::string>& left) {
    Attempt now;
    now.open = left;
    try {
      follow(left, now);
    } catch (const Error& error) {
      now.ended = error.what();
      give_up_on_all(left, RecordStatus::kErrored, error.what());
      return;
    }
    spoil_last_after_bad_end(now);
    for (RunRecord& record : now.records) {
      std::erase(left, record.id);
      record.device = task_.device;
      result_.records.push_back(std::move(record));
    }
    if (stop_ || left.empty()) return;
    settle(left, now);
  }

  // A process that broke after its last record (an uncorrectable error at the end, a crash in the
  // clean-up) may have broken before: its last result does not count. An exit code that only tells
  // of an errored case comes with an `end` line without a message, and is no such break.
  void spoil_last_after_bad_end(Attempt& now) const {
    const bool whole = now.end_message && now.ended == fmt::format("exit {}", now.end_code);
    const bool complained = now.end_code == static_cast<int>(ExitCode::kMeasurement) &&
                            !now.end_message.value_or("").empty();
    const bool broke = !whole || complained;
    if (stop_ || now.begun || now.records.empty() || !broke) return;
    RunRecord& last = now.records.back();
    if (last.status != RecordStatus::kOk) return;
    last.status = RecordStatus::kErrored;
    last.message = fmt::format("its process broke after it: {}", now.ended);
    if (!now.end_message.value_or("").empty()) last.message += ": " + *now.end_message;
  }

  // What the process left undone. One that recorded something before it was lost leaves the rest to
  // a fresh one.
  void settle(std::vector<std::string>& left, const Attempt& now) {
    if (now.begun && std::find(left.begin(), left.end(), *now.begun) != left.end()) {
      const std::string why =
          now.hung ? fmt::format("hung: no result within {:g} s; its process was ended",
                                 task_.id_timeout_s)
                   : fmt::format("its process died: {}", now.ended);
      add(*now.begun, RecordStatus::kErrored, why);
      std::erase(left, *now.begun);
    } else if (now.end_message && now.end_code == static_cast<int>(ExitCode::kNotJudged)) {
      give_up_on_all(left, RecordStatus::kSkipped, *now.end_message);
    } else if (now.records.empty()) {
      std::string why = now.end_message.value_or("");
      if (why.empty()) why = fmt::format("{}: {}", now.ended, last_line_of(task_.output));
      give_up_on_all(left, RecordStatus::kErrored, now.hung ? "hung before its first case" : why);
    }
  }

  void follow(const std::vector<std::string>& ids, Attempt& now) {
    std::filesystem::remove(task_.log);
    LogFollower log(task_.log);
    Child child({.arguments = {task_.program.string(), fmt::format("--log={}", task_.log.string()),
                               fmt::format("--round={}", task_.round),
                               fmt::format("--ids={}", fmt::join(ids, ","))},
                 .environment = environment(),
                 .output = task_.output});
    now.last_event = std::chrono::steady_clock::now();
    while (true) {
      const bool over = child.poll().has_value();
      for (const std::string& line : log.new_lines()) take(line, now);
      if (over) {
        now.ended = *child.poll();
        return;
      }
      const double limit_s = now.begun ? task_.id_timeout_s : task_.start_timeout_s;
      now.hung = seconds_since(now.last_event) > limit_s;
      if (stop_ || now.hung) {
        child.end();
        for (const std::string& line : log.new_lines()) take(line, now);
        now.ended = *child.poll();
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  [[nodiscard]] std::map<std::string, std::string> environment() const {
    if (task_.device.is_host()) return {};
    return {{"CUDA_VISIBLE_DEVICES", task_.device.uuid}};
  }

  // Believes only what this task can have written: a begin of a case that was asked for and is
  // still open, and the record of the case that was begun, by this round's process on this device.
  // Anything else is passed over and does not count as a sign of life.
  void take(const std::string& line, Attempt& now) {
    try {
      const Json json = parse_json(line, task_.log.string());
      const std::string type = json.at("type").get<std::string>();
      if (type == "process") {
        result_.versions = json.at("versions");
      } else if (type == "begin") {
        const auto id = json.at("id").get<std::string>();
        if (now.begun || !std::erase(now.open, id)) return;
        now.begun = id;
      } else if (type == "record") {
        auto record = from_json_value<RunRecord>(json.at("record"), task_.log.string());
        if (now.begun != record.id) return;
        check(record);
        now.records.push_back(std::move(record));
        now.begun.reset();
      } else if (type == "end") {
        now.end_code = json.at("exit_code").get<int>();
        now.end_message = json.at("message").get<std::string>();
      } else {
        return;
      }
      now.last_event = std::chrono::steady_clock::now();
    } catch (const std::exception&) {
      // A line that is no line of ours leaves its case without a record, which is then said.
    }
  }

  // A record that cannot be true is an error of its run; the report has no room for it.
  void check(RunRecord& record) const {
    std::string why;
    const PrimaryMetric metric = primary_metric_of(record.work, record.timing.median_s);
    if (record.device.uuid != task_.device.uuid) {
      why = fmt::format("ran on {} instead of {}", record.device.uuid, task_.device.uuid);
    } else if (record.round != task_.round) {
      why = fmt::format("is of round {} instead of {}", record.round, task_.round);
    } else if (record.status == RecordStatus::kOk &&
               !(std::isfinite(metric.value) && metric.value > 0 && record.timing.mean_s > 0)) {
      why = fmt::format("a median time of {} s is no result", record.timing.median_s);
    }
    if (why.empty()) return;
    record.status = RecordStatus::kErrored;
    record.message = "the record is not believed: " + why;
    record.timing = {};
    record.device = task_.device;
    record.round = task_.round;
  }

  void add(const std::string& id, RecordStatus status, const std::string& message) {
    RunRecord record;
    record.id = id;
    record.family = task_.family;
    record.device = task_.device;
    record.round = task_.round;
    record.started = utc_now();
    record.conditions = conditions_of_id(id);
    record.status = status;
    record.message = message;
    result_.records.push_back(std::move(record));
  }

  void give_up_on_all(std::vector<std::string>& left, RecordStatus status,
                      const std::string& message) {
    for (const std::string& id : left) add(id, status, message);
    left.clear();
  }

  const Task& task_;
  const std::atomic<bool>& stop_;
  TaskResult result_;
};

}  // namespace

Conditions conditions_of_id(const std::string& id) {
  Conditions conditions;
  std::size_t begin = 0;
  while (begin <= id.size()) {
    const std::size_t end = std::min(id.find('/', begin), id.size());
    const std::string part = id.substr(begin, end - begin);
    if (const auto power = parse_enum<Power>(part)) conditions.power = *power;
    if (const auto cache = parse_enum<Cache>(part)) conditions.cache = *cache;
    if (const auto clocks = parse_enum<Clocks>(part)) conditions.clocks = *clocks;
    if (const auto peers = parse_enum<Peers>(part)) conditions.peers = *peers;
    begin = end + 1;
  }
  return conditions;
}

TaskResult supervise(const Task& task, const std::atomic<bool>& stop) {
  return Supervisor(task, stop).run();
}

}  // namespace assay
