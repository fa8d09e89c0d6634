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
#include <string_view>
#include <thread>
#include <utility>

#include "bench/node/environment.h"
#include "bench/runner/process.h"
#include "reports/error.h"
#include "reports/merge.h"
#include "reports/peer_id.h"

namespace assay {
namespace {

// A fake or broken program may write without end: one look takes a bite at most, and a line longer
// than any of ours is passed over.
constexpr std::size_t kBite = std::size_t{1} << 20;
constexpr std::size_t kLongestLine = std::size_t{16} << 20;

// Follows run.jsonl while the process writes it; takes whole lines only.
class LogFollower {
 public:
  explicit LogFollower(std::filesystem::path path) : path_(std::move(path)), bite_(kBite, '\0') {}

  // Whole lines that were added; whether there was nothing more to read.
  struct Lines {
    std::vector<std::string> whole;
    bool at_end = false;
  };
  Lines read() {
    Lines lines;
    if (!file_.is_open()) file_.open(path_, std::ios::binary);
    file_.clear();
    file_.seekg(read_);
    file_.read(bite_.data(), static_cast<std::streamsize>(bite_.size()));
    const std::streamsize got = std::max<std::streamsize>(file_.gcount(), 0);
    read_ += got;
    lines.at_end = static_cast<std::size_t>(got) < bite_.size();
    std::string_view rest(bite_.data(), static_cast<std::size_t>(got));
    for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      begun_line_ += rest.substr(0, end);
      if (!too_long_) lines.whole.push_back(begun_line_);
      too_long_ = false;
      begun_line_.clear();
      rest.remove_prefix(end + 1);
    }
    begun_line_ += rest;
    if (begun_line_.size() > kLongestLine) {
      too_long_ = true;
      begun_line_.clear();
    }
    return lines;
  }

 private:
  std::filesystem::path path_;
  std::ifstream file_;
  std::streamoff read_ = 0;
  std::string bite_;
  std::string begun_line_;  // its end is not written yet
  bool too_long_ = false;   // the line that is not ended yet is passed over
};

// What the log of one attempt said.
struct Attempt {
  bool introduced = false;        // by a "process" line
  std::vector<std::string> open;  // asked for and not begun
  std::vector<RunRecord> records;
  std::optional<std::string> begun;  // a case without its record
  SteadyTime begun_at;
  bool ready_said = false;  // by the case that was begun
  bool waiting = false;     // for the others
  std::optional<std::string> end_message;
  int end_code = 0;
  std::string ended;  // how the process ended
  bool hung = false;
  bool cut_off = false;  // by the deadline
  SteadyTime last_event = std::chrono::steady_clock::now();
};

class Supervisor {
 public:
  Supervisor(const Task& task, const std::atomic<bool>& stop) : task_(task), stop_(stop) {}

  TaskResult run() {
    std::vector<std::string> left = task_.ids;
    if (task_.alone) {
      for (std::string& id : left) id += kAloneSuffix;
    }
    // Each attempt that ends abnormally loses one case at least, so this ends.
    while (!left.empty() && !stop_ && !result_.out_of_time) {
      const std::size_t before = left.size();
      attempt(left);
      if (left.size() == before) break;
    }
    leave();
    return std::move(result_);
  }

 private:
  void attempt(std::vector<std::string>& left) {
    if (std::chrono::steady_clock::now() >= task_.deadline) {
      result_.out_of_time = true;
      return;
    }
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
    if (now.cut_off && !left.empty()) result_.out_of_time = true;
    if (stop_ || now.cut_off || left.empty()) return;
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
    if (stop_ || now.cut_off || now.begun || now.records.empty() || !broke) return;
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
      if (now.hung) result_.hung.push_back(*now.begun);
      add(*now.begun, RecordStatus::kErrored, why);
      std::erase(left, *now.begun);
    } else if (now.end_message && now.end_code == static_cast<int>(ExitCode::kNotJudged)) {
      give_up_on_all(left, RecordStatus::kSkipped, *now.end_message);
    } else if (now.records.empty()) {
      std::string why = now.end_message.value_or("");
      const std::string last = last_line_of(task_.output);
      if (why.empty()) why = last.empty() ? now.ended : now.ended + ": " + last;
      give_up_on_all(left, RecordStatus::kErrored, now.hung ? "hung before its first case" : why);
    }
  }

  [[nodiscard]] std::vector<std::string> arguments(const std::vector<std::string>& ids) const {
    std::vector<std::string> all = {
        task_.program.string(), fmt::format("--log={}", task_.log.string()),
        fmt::format("--round={}", task_.round), fmt::format("--ids={}", fmt::join(ids, ","))};
    if (starts_together()) all.emplace_back("--start=stdin");
    if (task_.alone) all.emplace_back("--alone");
    if (task_.mode == Mode::kProfile) all.emplace_back("--profile");
    if (task_.mode == Mode::kTune) all.emplace_back("--tune");
    if (!task_.algorithms.empty()) {
      all.push_back(fmt::format("--algorithms={}", task_.algorithms.string()));
    }
    return all;
  }

  [[nodiscard]] bool starts_together() const {
    return task_.start != nullptr && task_.start->members() >= 2;
  }

  void leave() {
    if (task_.start != nullptr) task_.start->leave(task_.member);
  }

  void follow(const std::vector<std::string>& ids, Attempt& now) {
    std::error_code error;
    std::filesystem::remove(task_.log, error);
    if (error) {  // its old lines would be taken for this process's
      throw Error(ExitCode::kMeasurement, fmt::format("{}: cannot remove: {}; choose another --out",
                                                      task_.log.string(), error.message()));
    }
    LogFollower log(task_.log);
    // A profiler writes its trace from inside the program.
    Child child({.arguments = arguments(ids),
                 .environment = environment(),
                 .output = task_.output,
                 .cpus = task_.cpus,
                 .spoken_to = starts_together(),
                 .bounded_files = task_.mode != Mode::kProfile});
    now.last_event = std::chrono::steady_clock::now();
    while (!child.poll()) {
      take(log.read().whole, now);
      if (now.waiting && task_.start->may_go(task_.member)) {
        (void)child.say("go\n");  // whoever does not listen is found by its time-out
        now.waiting = false;
        now.last_event = std::chrono::steady_clock::now();
      }
      now.hung = is_hung(now);
      now.cut_off = !now.hung && is_cut_off(now);
      if (stop_ || now.hung || now.cut_off) child.end();
      // While it waits the others may start at any moment, and it is to start with them.
      std::this_thread::sleep_for(std::chrono::milliseconds(now.waiting ? 2 : 10));
    }
    for (bool at_end = false; !at_end;) {
      const LogFollower::Lines lines = log.read();
      take(lines.whole, now);
      at_end = lines.at_end;
    }
    now.ended = *child.poll();
  }

  // How long the others keep it waiting is bounded by CommonStart.
  [[nodiscard]] bool is_hung(const Attempt& now) const {
    const double limit_s = now.begun ? task_.id_timeout_s : task_.start_timeout_s;
    return !now.waiting && seconds_since(now.last_event) > limit_s;
  }

  // By the deadline; what was begun before it may end, one time-out long.
  [[nodiscard]] bool is_cut_off(const Attempt& now) const {
    const SteadyTime time = std::chrono::steady_clock::now();
    if (time < task_.deadline) return false;
    return !now.begun || now.waiting || now.begun_at >= task_.deadline ||
           seconds_since(task_.deadline) > task_.id_timeout_s;
  }

  [[nodiscard]] std::map<std::string, std::string> environment() const {
    if (task_.device.is_host()) return {};
    std::vector<std::string> visible = {task_.device.uuid};
    visible.insert(visible.end(), task_.peers.begin(), task_.peers.end());
    return {{"CUDA_VISIBLE_DEVICES", fmt::format("{}", fmt::join(visible, ","))}};
  }

  void take(const std::vector<std::string>& lines, Attempt& now) {
    for (const std::string& line : lines) take(line, now);
    // Its last record is there: the others need not wait until it has cleaned up.
    if (!now.begun && now.open.empty()) leave();
  }

  // Believes only what this task can have written: a begin of a case that was asked for and is
  // still open, and the record of the case that was begun, by this round's process on this device.
  // Anything else is passed over and does not count as a sign of life.
  void take(const std::string& line, Attempt& now) {
    if (!line.starts_with('{')) return;
    try {
      const Json json = parse_json(line, task_.log.string());
      const std::string type = json.at("type").get<std::string>();
      if (type == "process") {
        if (std::exchange(now.introduced, true)) return;
        result_.versions = json.at("versions");
      } else if (type == "begin") {
        const auto id = json.at("id").get<std::string>();
        if (now.begun || !std::erase(now.open, id)) return;
        now.begun = id;
        now.begun_at = std::chrono::steady_clock::now();
        now.ready_said = false;
      } else if (type == "ready") {
        if (now.begun != json.at("id").get<std::string>()) return;
        if (now.ready_said || !starts_together()) return;
        now.ready_said = now.waiting = true;
        task_.start->ready(task_.member);
      } else if (type == "record") {
        auto record = from_json_value<RunRecord>(json.at("record"), task_.log.string());
        if (now.begun != record.id) return;
        check(record);
        now.records.push_back(std::move(record));
        now.begun.reset();
        now.waiting = false;
      } else if (type == "end") {
        if (now.end_message) return;
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
  if (peer_of_id(id)) conditions.peers = Peers::kPair;
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
