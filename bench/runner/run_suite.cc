// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner/run_suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>

#include "bench/node/environment.h"
#include "bench/node/inventory.h"
#include "bench/node/pci.h"
#include "bench/node/xid_watch.h"
#include "bench/runner/binding.h"
#include "bench/runner/devices.h"
#include "bench/runner/out_folder.h"
#include "bench/runner/report_writer.h"
#include "reports/algorithms.h"
#include "reports/format_text.h"
#include "reports/judge.h"
#include "reports/statistics.h"
#include "reports/text.h"

namespace assay {
namespace {

// Fresh processes for a row that was wrong once, until it is wrong again.
constexpr int kConfirmations = 2;
// A profiler may take this long over one case, for it runs a kernel many times; a search so long.
constexpr double kProfiledTimeout_s = 3600;
constexpr double kTunedTimeout_s = 600;

std::chrono::steady_clock::duration duration_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds));
}

// No run of this row reached its floor.
bool missed_throughout(const Record& record) {
  const Metric* metric = primary_metric(record);
  if (!record.judged.floor || metric == nullptr || metric->values.empty()) return false;
  const double floor = *record.judged.floor;
  return std::ranges::all_of(metric->values, [&](double value) {
    return metric->better == Better::kHigher ? value < floor : value > floor;
  });
}

class SuiteRun {
 public:
  SuiteRun(const SuiteRequest& request, const std::atomic<bool>& stop, const Progress& progress)
      : request_(request), suite_(request.suite), stop_(stop), progress_(progress) {}

  Report run() {
    prepare();
    std::vector<DeviceRef> devices = gpus_;
    devices.push_back(host_ref(report_.inventory));
    writer_.emplace(request_.out, suite_, std::move(devices));
    schedule_.emplace(crew(), stop_, progress_);
    write(false);
    XidWatch xids(uuids());
    run_rounds();
    if (request_.judged) {
      confirm_wrong_results();
      extend_undecided();
      localise_failures();
    }
    xids.stop_into(report_.inventory);
    read_health_after(report_.inventory);
    if (stop_) note("interrupted: what had been measured is kept");
    write(!stop_);
    return std::move(report_);
  }

 private:
  [[nodiscard]] std::vector<std::string> uuids() const {
    std::vector<std::string> uuids;
    for (const DeviceRef& gpu : gpus_) uuids.push_back(gpu.uuid);
    return uuids;
  }

  static void require_algorithms_of(const AlgorithmSet& set, const std::filesystem::path& file,
                                    const std::string& sku) {
    if (set.sku == sku) return;
    throw Error(ExitCode::kUsage,
                fmt::format("{}.sku: '{}', this GPU is {}", file.string(), one_line(set.sku), sku));
  }

  void prepare() {
    runs_.emplace(request_.out / "runs");
    report_.version = ASSAY_VERSION;
    report_.command = request_.command;
    report_.suite = request_.suite.name;
    report_.started = utc_now();
    const GpuTable table = load_gpu_table(request_.gpu_table);
    report_.inventory = read_inventory(table);
    choose_devices();
    if (request_.mode == Mode::kProfile) prepare_to_profile();
    if (request_.mode == Mode::kTune) prepare_to_tune();
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
                       {"binding", Json::object()},
                       {"versions", Json::object()}};
  }

  void choose_devices() {
    for (const GpuInventory* gpu : chosen_gpus(report_.inventory, request_.gpus)) {
      if (request_.mode == Mode::kTune && !gpus_.empty()) break;  // one searches
      if (!request_.gpus.empty()) report_.plan.gpus.push_back(gpu->uuid);
      if (gpu->mig.value_or(false)) {
        note(fmt::format("GPU {} is divided by MIG: not measured", gpu->index));
      } else if (!has_own_uuid(report_.inventory, *gpu)) {
        note(fmt::format("GPU {} has no UUID of its own: not measured", gpu->index));
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

  void prepare_to_profile() {
    one_round(kProfiledTimeout_s);
    note("profiled (--profile): one round, for the profiler; its times are no results");
  }

  void prepare_to_tune() {
    one_round(kTunedTimeout_s);
    note("tuned (assay tune): one round, in which each case searched for its algorithm first");
  }

  void one_round(double timeout_s) {
    suite_.conditioning_rounds = 0;
    suite_.rounds = 1;
    suite_.id_timeout_s = timeout_s;
  }

  // A profiled report, or one of a search, carries no floors: nothing can judge it.
  void embed_limits(const GpuTable& table) {
    const bool one_file = !std::filesystem::is_directory(request_.targets);
    std::set<std::string> skus;
    for (const DeviceRef& gpu : gpus_) {
      if (!gpu.sku || !skus.insert(*gpu.sku).second) continue;
      report_.limits.push_back(*table.find(*gpu.sku));
      const auto stored = request_.algorithms / (*gpu.sku + ".json");
      // Refused here, not by each process.
      if (std::filesystem::exists(stored))
        require_algorithms_of(load_algorithms(stored), stored, *gpu.sku);
      const std::filesystem::path file =
          one_file ? request_.targets : request_.targets / (*gpu.sku + ".yaml");
      if (request_.mode != Mode::kMeasure || !std::filesystem::exists(file)) continue;
      TargetSet set = load_targets(file, table);
      if (set.sku == *gpu.sku) report_.targets.push_back(std::move(set));
    }
    if (one_file && !report_.limits.empty()) {
      require_targets_for(load_targets(request_.targets, table), report_.limits);
    }
  }

  void declare_plan() {
    Plan& plan = report_.plan;
    for (const SuiteProcess& process : suite_.processes) {
      for (const std::string& id : process.cases) {
        for (const DeviceRef& gpu : gpus_) add_to_gate(plan, {process.family, {id}}, gpu);
      }
    }
    const StagePlan stages = stage_plan(std::max(plan.m, 1));
    plan.stage1_runs = stages.stage1_runs;
    plan.stage2_runs = stages.total_runs;
    plan.allowed_below = stages.allowed_below;
    plan.budget_s = suite_.budget_s;
  }

  // The rows of one case on one GPU that have a floor.
  void add_to_gate(Plan& plan, const SuiteProcess& one_case, const DeviceRef& gpu) const {
    for (const std::string& id : ids_on(one_case, gpu.uuid, gpus_)) {
      for (const TargetSet& set : report_.targets) {
        if (gpu.sku != set.sku || set.find(id) == nullptr) continue;
        ++plan.m;
        std::vector<std::string>& ids = plan.gate_ids;
        if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
      }
    }
  }

  Crew crew() {
    Crew crew;
    crew.suite = suite_;
    crew.gpus = gpus_;
    crew.host = host_ref(report_.inventory);
    crew.programs = request_.programs;
    crew.logs = request_.out / "runs";
    crew.algorithms = request_.algorithms;
    crew.mode = request_.mode;
    if (request_.mode == Mode::kMeasure) crew.deadline = start_ + duration_of(suite_.budget_s);
    const std::vector<int> allowed = allowed_cpus();
    for (const DeviceRef& gpu : gpus_) {
      const GpuInventory* facts = find_gpu(report_, gpu.uuid);
      Binding binding = bind_to_node(facts->numa_node, sysfs_root(), allowed);
      report_.context["binding"][fmt::format("GPU {}", facts->index)] = binding.text;
      if (!binding.cpus.empty()) crew.cpus[gpu.uuid] = std::move(binding.cpus);
    }
    return crew;
  }

  [[nodiscard]] std::string round_title(int round) const {
    if (round < suite_.conditioning_rounds) return "conditioning";
    return fmt::format("round {} of {}", round - suite_.conditioning_rounds + 1, suite_.rounds);
  }

  void run_rounds() {
    const int rounds = suite_.conditioning_rounds + suite_.rounds;
    while (next_round_ < rounds && !stop_) {
      if (!time_for(schedule_->expected_s(), suite_.budget_s)) {
        note(fmt::format("the budget of {:g} s ended after {} of {} rounds", suite_.budget_s,
                         next_round_, rounds));
        report_.plan.out_of_time = true;
        return;
      }
      const std::string title = round_title(next_round_);
      take(schedule_->round(next_round_++, title), title);
      if (report_.plan.out_of_time) return;
    }
  }

  void take(Pass pass, const std::string& title) {
    for (auto& [family, versions] : pass.versions) report_.context["versions"][family] = versions;
    for (std::string& text : pass.notes) note(text);
    for (Run& run : pass.runs) writer_->add(std::move(run));
    if (pass.out_of_time) {
      report_.plan.out_of_time = true;
      note(fmt::format("the budget of {:g} s ended: {} was cut off", suite_.budget_s, title));
    }
    write(false);
  }

  // A wrong result needs a second fresh process to be the card's fault, and its sound rerun to be
  // doubted: both now, and not whenever somebody tries again.
  void confirm_wrong_results() {
    for (int i = 1; i <= kConfirmations && !stop_; ++i) {
      std::set<Row> rows;
      for (const Record& record : report_.records) {
        if (record.wrong_runs == 1) rows.insert({record.device.uuid, record.id});
      }
      if (rows.empty()) return;
      if (!time_for(schedule_->expected_s(rows), suite_.budget_s)) {
        report_.plan.out_of_time = true;
        return note("no time was left to confirm a wrong result");
      }
      const std::string title = fmt::format("{} wrong: confirmation {} of {}",
                                            counted(rows.size(), "row"), i, kConfirmations);
      take(schedule_->again(next_round_++, title, rows), title);
    }
  }

  // Stage 2 of docs/METHOD.md, Verdicts: fresh runs of the rows that stage 1 left undecided, up to
  // N, a whole round at a time while there is time.
  void extend_undecided() {
    const double end_s = std::min(elapsed_s() + suite_.stage2_budget_s, suite_.budget_s);
    double longest_s = 0;
    for (int run = suite_.rounds + 1; run <= report_.plan.stage2_runs && !stop_; ++run) {
      std::set<Row> rows;
      for (const std::size_t i : undecided_rows(report_)) {
        rows.insert({report_.records[i].device.uuid, report_.records[i].id});
      }
      if (rows.empty()) return;
      report_.plan.stages = 2;
      if (!time_for(longest_s > 0 ? longest_s : schedule_->expected_s(rows), end_s)) {
        report_.plan.out_of_time = true;
        return;
      }
      const double start_s = elapsed_s();
      const std::string title = fmt::format(
          "{} undecided: run {} of {}", counted(rows.size(), "row"), run, report_.plan.stage2_runs);
      take(schedule_->again(next_round_++, title, rows), title);
      longest_s = std::max(longest_s, elapsed_s() - start_s);
    }
  }

  // Rows that no run on a loaded node brought up to the floor, once more with that GPU alone: is it
  // the card, or something that the GPUs share? Links between GPUs had the node to themselves.
  void localise_failures() {
    if (gpus_.size() < 2) return;
    std::map<std::string, std::set<Row>> by_gpu;
    for (const Record& record : report_.records) {
      if (missed_throughout(record) && record.conditions.peers == Peers::kNode) {
        by_gpu[record.device.uuid].insert({record.device.uuid, record.id});
      }
    }
    for (const DeviceRef& gpu : gpus_) {
      const auto found = by_gpu.find(gpu.uuid);
      if (found == by_gpu.end() || stop_) continue;
      const std::set<Row>& rows = found->second;
      const std::string title = fmt::format("GPU {} alone", gpu.index.value_or(-1));
      if (!time_for(schedule_->expected_s(rows), suite_.budget_s)) {
        note(title + ": no time was left to run its slow rows so");
        continue;
      }
      take(schedule_->alone(next_round_++, title, rows), title);
      for (const Row& row : rows) compare_alone(title, row);
    }
  }

  void compare_alone(const std::string& title, const Row& row) {
    const Record* node = find_record(report_, row.id, row.uuid);
    const Record* alone = find_record(report_, row.id + kAloneSuffix, row.uuid);
    if (node == nullptr || alone == nullptr) return;
    const Metric* metric = primary_metric(*alone);
    const std::string what = title + ": " + case_title(row.id);
    if (alone->status != RecordStatus::kOk || metric == nullptr || metric->values.empty()) {
      return note(fmt::format("{} {}", what, failure_text(*alone)));
    }
    const double floor = *node->judged.floor;
    const bool reached =
        metric->better == Better::kHigher ? metric->value >= floor : metric->value <= floor;
    note(fmt::format("{} {} {} (node: {}, floor {}): {}", what, figure(metric->value),
                     unit_text(metric->unit), figure(primary_metric(*node)->value), figure(floor),
                     reached ? "the GPUs together exceed something shared" : "the card itself"));
  }

  void write(bool complete) {
    writer_->rebuild(report_);
    report_.complete = complete;
    report_.duration_s = elapsed_s();
    if (request_.judged) judge(report_);
    if (request_.mode != Mode::kMeasure) {
      for (Record& record : report_.records) {
        record.judged.status = JudgedStatus::kInfo;
        record.judged.reason = request_.mode == Mode::kTune ? "tuned: for information only"
                                                            : "profiled: for information only";
      }
    }
    writer_->write(report_);
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
  std::optional<OutFolder> runs_;
  Report report_;
  std::vector<DeviceRef> gpus_;         // to be measured
  std::optional<ReportWriter> writer_;  // these from prepare() on
  std::optional<Schedule> schedule_;
  int next_round_ = 0;
};

}  // namespace

Report run_suite(const SuiteRequest& request, const std::atomic<bool>& stop,
                 const Progress& progress) {
  return SuiteRun(request, stop, progress).run();
}

}  // namespace assay
