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

// One process a device, all devices at once.
void Schedule::run_process(const Wanted& wanted, std::size_t process, Pass& pass,
                           std::vector<Cost>& costs) {
  std::vector<Task> tasks = tasks_of(wanted, process);
  if (tasks.empty()) return;
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
    costs.push_back({process, tasks[i].device.uuid, done.seconds, done.result.hung});
    if (!done.result.versions.empty()) pass.versions[tasks[i].family] = done.result.versions;
    take(std::move(done.result), wanted, pass);
  }
}

std::vector<Task> Schedule::tasks_of(const Wanted& wanted, std::size_t process) const {
  const SuiteProcess& of = crew_.suite.processes[process];
  std::vector<Task> tasks;
  for (const DeviceRef& device : of.family == kHostFamily ? std::vector{crew_.host} : crew_.gpus) {
    Task task;
    for (const std::string& id : of.cases) {
      if (wanted.runs(device.uuid, id) && !given_up(device.uuid, id)) task.ids.push_back(id);
    }
    if (task.ids.empty()) continue;
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

double Schedule::cost_s(const std::vector<Cost>& round, std::size_t process) const {
  double longest = 0;
  for (const Cost& cost : round) {
    if (cost.process != process) continue;
    const auto saved = std::ranges::count_if(
        cost.hung, [&](const std::string& id) { return given_up(cost.uuid, id); });
    const double seconds = cost.seconds - static_cast<double>(saved) * crew_.suite.id_timeout_s;
    longest = std::max(longest, seconds);
  }
  return longest;
}

double Schedule::expected_s() const {
  return expected_s([](const SuiteProcess&) { return true; });
}

double Schedule::expected_s(const std::set<Row>& rows) const {
  return expected_s([&](const SuiteProcess& process) {
    return std::ranges::any_of(process.cases, [&](const std::string& id) {
      return std::ranges::find(rows, id, &Row::id) != rows.end();
    });
  });
}

double Schedule::expected_s(const std::function<bool(const SuiteProcess&)>& part) const {
  double longest = 0;
  for (const std::vector<Cost>& round : rounds_) {
    double sum = 0;
    for (std::size_t i = 0; i < crew_.suite.processes.size(); ++i) {
      if (part(crew_.suite.processes[i])) sum += cost_s(round, i);
    }
    longest = std::max(longest, sum);
  }
  return longest;
}

double Schedule::elapsed_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

}  // namespace assay
