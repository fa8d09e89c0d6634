// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner/run_suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <set>

#include "bench/node/environment.h"
#include "bench/node/inventory.h"
#include "bench/runner/rows.h"
#include "bench/runner/supervise.h"
#include "reports/judge.h"
#include "reports/merge.h"
#include "reports/sha256.h"
#include "reports/statistics.h"

namespace assay {
namespace {

constexpr const char* kHostFamily = "host";
// A case that failed this often on a device is not tried again: each try can cost its time-out.
constexpr int kTriesOfFailingCase = 2;

DeviceRef ref_of(const GpuInventory& gpu) { return {gpu.uuid, gpu.name, gpu.index, gpu.sku}; }

DeviceRef host_ref(const Inventory& inventory) {
  DeviceRef ref;
  ref.uuid = kHostUuid;
  ref.name = inventory.host.cpu_model;
  return ref;
}

// The GPUs that `wanted` names, in NVML's order; all of them if it is empty.
std::vector<const GpuInventory*> chosen_gpus(const Inventory& inventory,
                                             const std::vector<std::string>& wanted) {
  std::vector<const GpuInventory*> chosen;
  std::set<std::string> known;
  for (const GpuInventory& gpu : inventory.gpus) {
    const std::string index = std::to_string(gpu.index);
    known.insert({index, gpu.uuid});
    const bool named = std::find(wanted.begin(), wanted.end(), index) != wanted.end() ||
                       std::find(wanted.begin(), wanted.end(), gpu.uuid) != wanted.end();
    if (wanted.empty() || named) chosen.push_back(&gpu);
  }
  for (const std::string& name : wanted) {
    if (!known.contains(name)) {
      throw Error(ExitCode::kUsage,
                  fmt::format("--gpus {}: no such GPU; there are: {}", name,
                              known.empty() ? "none" : fmt::format("{}", fmt::join(known, " "))));
    }
  }
  return chosen;
}

class SuiteRun {
 public:
  SuiteRun(const SuiteRequest& request, const std::atomic<bool>& stop, const Progress& progress)
      : request_(request), suite_(request.suite), stop_(stop), progress_(progress) {}

  Report run() {
    prepare();
    write(false);
    const int rounds = suite_.conditioning_rounds + suite_.rounds;
    for (int round = 0; round < rounds && !stop_; ++round) {
      if (!time_for(round_s_, suite_.budget_s)) {
        note(fmt::format("the budget of {:g} s ended after {} of {} rounds", suite_.budget_s, round,
                         rounds));
        report_.plan.out_of_time = true;
        break;
      }
      run_round(round, rounds);
    }
    if (request_.judged) extend_undecided();
    read_health_after(report_.inventory);
    if (stop_) note("interrupted: what had been measured is kept");
    write(!stop_);
    return std::move(report_);
  }

 private:
  void prepare() {
    std::error_code error;
    std::filesystem::create_directories(request_.out / "runs", error);
    if (error) {
      throw Error(ExitCode::kMeasurement,
                  fmt::format("{}: cannot create the folder: {}; choose another with --out",
                              (request_.out / "runs").string(), error.message()));
    }
    report_.version = ASSAY_VERSION;
    report_.command = request_.command;
    report_.suite = request_.suite.name;
    report_.started = utc_now();
    const GpuTable table = load_gpu_table(request_.gpu_table);
    report_.inventory = read_inventory(table);
    choose_devices();
    embed_limits(table);
    declare_plan();
    report_.context = {{"date", report_.started},
                       {"host_name", report_.inventory.host.host_name},
                       {"executable", fmt::format("assay {} {}", request_.command, report_.suite)},
                       {"num_cpus", report_.inventory.host.cpus},
                       {"json_schema_version", 1},
                       {"build",
                        {{"version", ASSAY_VERSION},
                         {"revision", request_.revision},
                         {"type", ASSAY_BUILD_TYPE},
                         {"compiler", ASSAY_COMPILER}}},
                       {"environment", recorded_environment()},
                       {"versions", Json::object()}};
  }

  void choose_devices() {
    for (const GpuInventory* gpu : chosen_gpus(report_.inventory, request_.gpus)) {
      if (!request_.gpus.empty()) report_.plan.gpus.push_back(gpu->uuid);
      if (gpu->mig.value_or(false)) {
        note(fmt::format("GPU {} is divided by MIG: not measured", gpu->index));
      } else {
        gpus_.push_back(ref_of(*gpu));
      }
    }
    if (!request_.gpus.empty()) {
      note(fmt::format("measured on {} of {} GPUs (--gpus)", gpus_.size(),
                       report_.inventory.gpus.size()));
    }
    if (gpus_.empty() && request_.without_gpu) {
      suite_ = *request_.without_gpu;
      note(fmt::format("no GPU to measure: suite {} ran instead, for information", suite_.name));
    }
  }

  void embed_limits(const GpuTable& table) {
    std::set<std::string> skus;
    for (const DeviceRef& gpu : gpus_) {
      if (!gpu.sku || !skus.insert(*gpu.sku).second) continue;
      report_.limits.push_back(*table.find(*gpu.sku));
      std::filesystem::path file = request_.targets;
      if (std::filesystem::is_directory(file)) file /= *gpu.sku + ".yaml";
      if (!std::filesystem::exists(file)) continue;
      TargetSet set = load_targets(file, table);
      if (set.sku == *gpu.sku) report_.targets.push_back(std::move(set));
    }
    if (!std::filesystem::is_directory(request_.targets) && !report_.limits.empty()) {
      require_targets_for(load_targets(request_.targets, table), report_.limits);
    }
  }

  void declare_plan() {
    Plan& plan = report_.plan;
    for (const SuiteProcess& process : suite_.processes) {
      for (const std::string& id : process.cases) {
        int rows = 0;
        for (const DeviceRef& gpu : gpus_) {
          for (const TargetSet& set : report_.targets) {
            if (gpu.sku == set.sku && set.find(id) != nullptr) ++rows;
          }
        }
        plan.m += rows;
        if (rows > 0) plan.gate_ids.push_back(id);
      }
    }
    const StagePlan stages = stage_plan(std::max(plan.m, 1));
    plan.stage1_runs = stages.stage1_runs;
    plan.stage2_runs = stages.total_runs;
    plan.allowed_below = stages.allowed_below;
    plan.budget_s = suite_.budget_s;
  }

  [[nodiscard]] std::string round_title(int round, int rounds) const {
    if (round < suite_.conditioning_rounds) return "conditioning";
    return fmt::format("round {} of {}", round - suite_.conditioning_rounds + 1,
                       rounds - suite_.conditioning_rounds);
  }

  void run_round(int round, int rounds) {
    const double start = elapsed_s();
    for (std::size_t i = 0; i < suite_.processes.size() && !stop_; ++i) {
      const SuiteProcess& process = suite_.processes[i];
      progress_(fmt::format("{:3.0f} s  {}: {}", elapsed_s(), round_title(round, rounds),
                            process.family));
      run_process(process.family, round, fmt::format("{}-{}", process.family, i),
                  [&](const DeviceRef&) { return process.cases; });
    }
    round_s_ = elapsed_s() - start;
    write(false);
  }

  // One process a device, all devices at once. `cases_for` says which cases it runs there.
  template <class CasesFor>
  void run_process(const std::string& family, int round, const std::string& name,
                   const CasesFor& cases_for) {
    const std::vector<DeviceRef> devices =
        family == kHostFamily ? std::vector{host_ref(report_.inventory)} : gpus_;
    std::vector<std::future<TaskResult>> results;
    for (const DeviceRef& device : devices) {
      Task task;
      task.program = request_.programs / ("assay-" + family);
      task.family = family;
      task.ids = cases_for(device);
      std::erase_if(task.ids, [&](const std::string& id) {
        return failures_[{device.uuid, id}] >= kTriesOfFailingCase;
      });
      if (task.ids.empty()) continue;
      task.round = round;
      task.device = device;
      const std::string file = fmt::format("round{:02}-{}-{}", round, name,
                                           device.index ? std::to_string(*device.index) : "host");
      task.log = request_.out / "runs" / (file + ".jsonl");
      task.output = request_.out / "runs" / (file + ".log");
      task.id_timeout_s = suite_.id_timeout_s;
      std::error_code ignored;
      std::filesystem::remove(task.output, ignored);  // of an earlier run into the same folder
      results.push_back(std::async(
          std::launch::async, [this, task = std::move(task)] { return supervise(task, stop_); }));
    }
    for (std::future<TaskResult>& result : results) take(result.get(), family);
  }

  void take(TaskResult result, const std::string& family) {
    if (!result.versions.empty()) report_.context["versions"][family] = result.versions;
    for (RunRecord& record : result.records) {
      if (record.status == RecordStatus::kErrored) {
        const int failures = ++failures_[{record.device.uuid, record.id}];
        progress_(fmt::format("{}: {}", record.id, record.message));
        if (failures == kTriesOfFailingCase) {
          note(fmt::format("{}: failed {} times, not tried again", record.id, failures));
        }
      } else if (record.status == RecordStatus::kSkipped) {
        // The reason does not pass between rounds.
        failures_[{record.device.uuid, record.id}] = kTriesOfFailingCase;
      }
      runs_.push_back(std::move(record));
    }
  }

  // Stage 2 of docs/METHOD.md, Verdicts: fresh runs of the rows that stage 1 left undecided, up to
  // N, a whole round at a time while there is time.
  void extend_undecided() {
    const int first = suite_.conditioning_rounds + suite_.rounds;
    const int last = suite_.conditioning_rounds + report_.plan.stage2_runs;
    const double end_s = std::min(elapsed_s() + suite_.stage2_budget_s, suite_.budget_s);
    double longest_s = 0;
    for (int round = first; round < last && !stop_; ++round) {
      rebuild();
      std::set<std::pair<std::string, std::string>> rows;  // device, id
      for (const std::size_t i : undecided_rows(report_)) {
        rows.insert({report_.records[i].device.uuid, report_.records[i].id});
      }
      if (rows.empty()) return;
      report_.plan.stages = 2;
      if (!time_for(longest_s, end_s)) {
        report_.plan.out_of_time = true;
        return;
      }
      const double start = elapsed_s();
      progress_(fmt::format("{:3.0f} s  {} rows undecided: run {} of {}", start, rows.size(),
                            round - suite_.conditioning_rounds + 1, report_.plan.stage2_runs));
      for (std::size_t i = 0; i < suite_.processes.size(); ++i) {
        const SuiteProcess& process = suite_.processes[i];
        run_process(process.family, round, fmt::format("{}-{}", process.family, i),
                    [&](const DeviceRef& device) {
                      std::vector<std::string> ids;
                      for (const std::string& id : process.cases) {
                        if (rows.contains({device.uuid, id})) ids.push_back(id);
                      }
                      return ids;
                    });
      }
      longest_s = std::max(longest_s, elapsed_s() - start);
    }
  }

  // The report's records from all runs so far, in the suite's order, GPU by GPU.
  void rebuild() {
    report_.records.clear();
    report_.benchmarks = Json::array();
    std::vector<DeviceRef> devices = gpus_;
    devices.push_back(host_ref(report_.inventory));
    for (const DeviceRef& device : devices) {
      for (const SuiteProcess& process : suite_.processes) {
        for (const std::string& id : process.cases) add_record(device, id);
      }
    }
    int line = 0;
    for (const RunRecord& run : runs_) {
      const bool sampled = !run.timing.samples_s.empty();
      report_.benchmarks.push_back(benchmark_row(run, suite_.conditioning_rounds,
                                                 sampled ? std::optional(++line) : std::nullopt));
    }
    derive_limits(report_);
  }

  void add_record(const DeviceRef& device, const std::string& id) {
    std::vector<RunRecord> of_row;
    for (const RunRecord& run : runs_) {
      if (run.id == id && run.device.uuid == device.uuid) of_row.push_back(run);
    }
    if (!of_row.empty()) report_.records.push_back(merge_runs(of_row, suite_.conditioning_rounds));
  }

  void write(bool complete) {
    rebuild();
    report_.complete = complete;
    report_.duration_s = elapsed_s();
    std::string samples;
    for (const RunRecord& run : runs_) {
      if (!run.timing.samples_s.empty()) samples += dump_json_line(samples_line(run)) + "\n";
    }
    report_.samples_sha256 = samples.empty() ? "" : sha256_hex(samples);
    if (request_.judged) judge(report_);
    write_file_atomically(request_.out / "samples.jsonl", samples);
    write_report(request_.out / "report.json", report_);
  }

  void note(const std::string& text) { report_.notes.push_back(text); }

  [[nodiscard]] double elapsed_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  [[nodiscard]] bool time_for(double needed_s, double end_s) const {
    return elapsed_s() + needed_s <= end_s;
  }

  const SuiteRequest& request_;
  Suite suite_;
  const std::atomic<bool>& stop_;
  const Progress& progress_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Report report_;
  std::vector<DeviceRef> gpus_;  // to be measured
  std::vector<RunRecord> runs_;
  std::map<std::pair<std::string, std::string>, int> failures_;  // (device, id)
  double round_s_ = 0;
};

}  // namespace

Report run_suite(const SuiteRequest& request, const std::atomic<bool>& stop,
                 const Progress& progress) {
  return SuiteRun(request, stop, progress).run();
}

}  // namespace assay
