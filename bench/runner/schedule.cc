// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <utility>

namespace assay {
namespace {

constexpr const char* kHostFamily = "host";
// A case that failed this often on a device is not tried again: each try can cost its time-out.
constexpr int kTriesOfFailingCase = 2;

}  // namespace

struct Schedule::Wanted {
  int number = 0;
  std::string title;
  const std::set<Row>* rows = nullptr;  // null: all
  bool alone = false;

  [[nodiscard]] bool measures(const std::string& uuid, const std::string& id) const {
    return rows == nullptr || rows->contains({uuid, id});
  }
  // Whether it runs there, if only for the load.
  [[nodiscard]] bool runs(const std::string& uuid, const std::string& id) const {
    if (measures(uuid, id)) return true;
    return !alone && std::ranges::any_of(*rows, [&](const Row& row) { return row.id == id; });
  }
};

Schedule::Schedule(Crew crew, const std::atomic<bool>& stop, const Progress& progress)
    : crew_(std::move(crew)), stop_(stop), progress_(progress) {}

Pass Schedule::round(int number, const std::string& title) {
  return run({.number = number, .title = title});
}

Pass Schedule::again(int number, const std::string& title, const std::set<Row>& rows) {
  return run({.number = number, .title = title, .rows = &rows});
}

Pass Schedule::alone(int number, const std::string& title, const std::set<Row>& rows) {
  return run({.number = number, .title = title, .rows = &rows, .alone = true});
}

Pass Schedule::run(const Wanted& wanted) {
  Pass pass;
  std::vector<Cost> costs;
  for (std::size_t i = 0; i < crew_.suite.processes.size() && !stop_; ++i) {
    run_process(wanted, i, pass, costs);
  }
  if (wanted.rows == nullptr) rounds_.push_back(std::move(costs));
  return pass;
}

// One process a device.
void Schedule::run_process(const Wanted& wanted, std::size_t process, Pass& pass,
                           std::vector<Cost>& costs) {
  std::vector<Task> tasks = tasks_of(wanted, process);
  if (tasks.empty()) return;
  if (crew_.suite.processes[process].in_turn) {
    run_in_turn(tasks, wanted, process, pass, costs);
  } else {
    run_at_once(tasks, wanted, process, pass, costs);
  }
}

void Schedule::run_in_turn(const std::vector<Task>& tasks, const Wanted& wanted,
                           std::size_t process, Pass& pass, std::vector<Cost>& costs) {
  for (const Task& task : tasks) {
    if (stop_ || pass.out_of_time) return;
    const double begin = elapsed_s();
    progress_(fmt::format("{:3.0f} s  {}: {}, GPU {}", begin, wanted.title, task.family,
                          task.device.index.value_or(-1)));
    TaskResult result = supervise(task, stop_);
    settle({process, task.device.uuid, elapsed_s() - begin, {}}, std::move(result), wanted, pass,
           costs);
  }
}

void Schedule::run_at_once(std::vector<Task>& tasks, const Wanted& wanted, std::size_t process,
                           Pass& pass, std::vector<Cost>& costs) {
  progress_(fmt::format("{:3.0f} s  {}: {}", elapsed_s(), wanted.title,
                        crew_.suite.processes[process].family));
  CommonStart start(static_cast<int>(tasks.size()));
  struct Done {
    TaskResult result;
    double seconds = 0;
  };
  std::vector<std::future<Done>> results;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].start = &start;
    tasks[i].member = static_cast<int>(i);
    results.push_back(std::async(std::launch::async, [this, &task = tasks[i]] {
      const double begin = elapsed_s();
      Done done{supervise(task, stop_), 0};
      done.seconds = elapsed_s() - begin;
      return done;
    }));
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    Done done = results[i].get();
    settle({process, tasks[i].device.uuid, done.seconds, {}}, std::move(done.result), wanted, pass,
           costs);
  }
}

void Schedule::settle(Cost cost, TaskResult result, const Wanted& wanted, Pass& pass,
                      std::vector<Cost>& costs) {
  const std::string& family = crew_.suite.processes[cost.process].family;
  if (!result.versions.empty()) pass.versions[family] = result.versions;
  cost.hung = result.hung;
  costs.push_back(std::move(cost));
  take(std::move(result), wanted, pass);
}

// What the process runs on that device.
std::vector<std::string> Schedule::ids_of(const Wanted& wanted, std::size_t process,
                                          const std::string& uuid) const {
  const SuiteProcess& of = crew_.suite.processes[process];
  std::vector<std::string> ids = ids_on(of, uuid, crew_.gpus);
  std::erase_if(ids, [&](const std::string& id) {
    // In turn, nothing that runs on another GPU is a load beside it.
    const bool runs = of.in_turn ? wanted.measures(uuid, id) : wanted.runs(uuid, id);
    return !runs || given_up(uuid, id);
  });
  return ids;
}

std::vector<Task> Schedule::tasks_of(const Wanted& wanted, std::size_t process) const {
  const SuiteProcess& of = crew_.suite.processes[process];
  std::vector<Task> tasks;
  for (const DeviceRef& device : of.family == kHostFamily ? std::vector{crew_.host} : crew_.gpus) {
    Task task;
    task.ids = ids_of(wanted, process, device.uuid);
    if (task.ids.empty()) continue;
    for (const DeviceRef& other : crew_.gpus) {
      if (of.in_turn && other.uuid != device.uuid) task.peers.push_back(other.uuid);
    }
    task.program = crew_.programs / ("assay-" + of.family);
    task.family = of.family;
    task.round = wanted.number;
    task.device = device;
    const std::string file =
        fmt::format("round{:02}-{}-{}-{}", wanted.number, of.family, process,
                    device.index ? std::to_string(*device.index) : kHostFamily);
    task.log = crew_.logs / (file + ".jsonl");
    task.output = crew_.logs / (file + ".log");
    task.id_timeout_s = crew_.suite.id_timeout_s;
    task.deadline = crew_.deadline;
    task.alone = wanted.alone;
    task.mode = crew_.mode;
    const auto stored = crew_.algorithms / (device.sku.value_or("") + ".json");
    if (device.sku && std::filesystem::exists(stored)) {
      task.algorithms = stored;
    }
    if (crew_.mode != Mode::kMeasure) task.start_timeout_s = task.id_timeout_s;
    if (const auto cpus = crew_.cpus.find(device.uuid); cpus != crew_.cpus.end()) {
      task.cpus = cpus->second;
    }
    std::error_code ignored;
    std::filesystem::remove(task.output, ignored);  // of an earlier run into the same folder
    tasks.push_back(std::move(task));
  }
  // Nothing is measured on the other GPUs where the rows themselves are not tried again.
  const bool any = std::ranges::any_of(tasks, [&](const Task& task) {
    return std::ranges::any_of(
        task.ids, [&](const std::string& id) { return wanted.measures(task.device.uuid, id); });
  });
  if (!any) tasks.clear();
  return tasks;
}

void Schedule::take(TaskResult result, const Wanted& wanted, Pass& pass) {
  pass.out_of_time = pass.out_of_time || result.out_of_time;
  for (RunRecord& record : result.records) {
    int& failures = failures_[{record.device.uuid, record.id}];
    if (record.status == RecordStatus::kErrored) {
      progress_(fmt::format("{}: {}", record.id, record.message));
      if (++failures == kTriesOfFailingCase) {
        pass.notes.push_back(
            fmt::format("{}: failed {} times, not tried again", record.id, failures));
      }
    } else if (record.status == RecordStatus::kSkipped) {
      failures = kTriesOfFailingCase;  // the reason does not pass between rounds
    }
    // What went wrong counts, whatever the case ran for.
    const bool load_only = record.status == RecordStatus::kOk && !wanted.alone &&
                           !wanted.measures(record.device.uuid, record.id);
    pass.runs.push_back({std::move(record), load_only});
  }
}

bool Schedule::given_up(const std::string& uuid, const std::string& id) const {
  const auto found = failures_.find({uuid, id});
  return found != failures_.end() && found->second >= kTriesOfFailingCase;
}

double Schedule::cost_s(const std::vector<Cost>& round, std::size_t process,
                        const Part& part) const {
  double longest = 0;
  double sum = 0;
  for (const Cost& cost : round) {
    if (cost.process != process || !part(cost)) continue;
    const auto saved = std::ranges::count_if(
        cost.hung, [&](const std::string& id) { return given_up(cost.uuid, id); });
    const double seconds = cost.seconds - static_cast<double>(saved) * crew_.suite.id_timeout_s;
    longest = std::max(longest, seconds);
    sum += seconds;
  }
  return crew_.suite.processes[process].in_turn ? sum : longest;
}

double Schedule::expected_s() const {
  return expected_s([](const Cost&) { return true; });
}

double Schedule::expected_s(const std::set<Row>& rows) const {
  const Wanted wanted{.number = 0, .title = {}, .rows = &rows};
  return expected_s(
      [&](const Cost& cost) { return !ids_of(wanted, cost.process, cost.uuid).empty(); });
}

double Schedule::expected_s(const Part& part) const {
  double longest = 0;
  for (const std::vector<Cost>& round : rounds_) {
    double sum = 0;
    for (std::size_t i = 0; i < crew_.suite.processes.size(); ++i) sum += cost_s(round, i, part);
    longest = std::max(longest, sum);
  }
  return longest;
}

double Schedule::elapsed_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

}  // namespace assay
