// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bench/harness/sampler.h"
#include "bench/node/environment.h"
#include "reports/statistics.h"

namespace assay {
namespace {

constexpr double kTelemetryPeriod_s = 0.005;
constexpr double kChunk_s = 0.1;  // of the timed window: between two looks at the wall clock
constexpr double kWarmChunk_s = 0.02;

class CaseRun {
 public:
  CaseRun(const CaseEntry& entry, Bench& bench, RunRecord& record)
      : bench_(bench), record_(record), case_(entry.make()) {}

  void run() {
    record_.algorithm = case_->algorithm();
    if (!verified_after_launching_each_slot()) return;
    const LaunchCost cost = estimate_cost();
    start_s_ = bench_.clock.now_s();
    rest_and_warm_up(cost);
    poison_all();
    time_window(cost);
    verify_all();
  }

 private:
  [[nodiscard]] bool sustained() const { return record_.conditions.power == Power::kSustained; }

  void launch_next(int) { case_->launch(next_slot_++ % case_->slots()); }
  [[nodiscard]] LaunchFunction launcher() {
    return [this](int i) { launch_next(i); };
  }

  [[nodiscard]] bool capped() const {
    return bench_.clock.now_s() - start_s_ >= bench_.budget.cap_s;
  }

  void poison_all() {
    for (int slot = 0; slot < case_->slots(); ++slot) case_->poison(slot);
  }

  bool verified_after_launching_each_slot() {
    poison_all();
    for (int slot = 0; slot < case_->slots(); ++slot) case_->launch(slot);
    return verify_all();
  }

  // Keeps the worst: a later sound check does not hide an earlier wrong one.
  bool verify_all() {
    bench_.timer.wait();
    for (int slot = 0; slot < case_->slots(); ++slot) {
      Verification found = case_->verify(slot, attempt_++);
      const bool first = record_.verification.status == VerificationStatus::kNotRun;
      const bool wrong = found.status != VerificationStatus::kVerified;
      if (first || wrong || found.error.value_or(0) > record_.verification.error.value_or(0)) {
        record_.verification = std::move(found);
      }
      if (wrong) {
        record_.status = RecordStatus::kInvalid;
        record_.message = "wrong result: " + record_.verification.detail;
        return false;
      }
    }
    return true;
  }

  LaunchCost estimate_cost() {
    constexpr int kTries = 3;
    const double start = bench_.clock.now_s();
    const std::vector<double> seconds = bench_.timer.sample(kTries, 1, launcher());
    const double wall_s = (bench_.clock.now_s() - start) / kTries;
    const double timed_s = std::max(*std::min_element(seconds.begin(), seconds.end()), 1e-7);
    return {timed_s, std::max(timed_s, wall_s)};
  }

  void rest_and_warm_up(const LaunchCost& cost) {
    const Budget& budget = bench_.budget;
    double wanted_s = budget.burst_warm_s;
    if (sustained()) {
      wanted_s = bench_.settled ? budget.resettle_s : budget.settle_s;
      bench_.settled = true;
    } else {
      bench_.clock.sleep_s(budget.idle_s);
    }
    const int chunk = std::max(1, static_cast<int>(kWarmChunk_s / cost.wall_s));
    const double start = bench_.clock.now_s();
    double elapsed = 0;
    do {
      (void)bench_.timer.sample(1, chunk, launcher());
      record_.warm_up.launches += chunk;
      elapsed = bench_.clock.now_s() - start;
    } while (elapsed < wanted_s && !capped());
    record_.warm_up.seconds = elapsed;
    record_.warm_up.stop_reason =
        elapsed >= wanted_s ? fmt::format("declared {:g} s", wanted_s) : "wall-time cap";
  }

  void time_window(const LaunchCost& cost) {
    const Budget& budget = bench_.budget;
    const double window_s = sustained() ? budget.sustained_window_s : budget.burst_window_s;
    const SamplePlan plan = plan_samples(cost, window_s, budget);
    const int chunk =
        std::clamp(static_cast<int>(kChunk_s / (cost.wall_s * plan.per_sample)), 1, plan.samples);
    std::vector<double>& samples = record_.timing.samples_s;
    TelemetrySampler sampler(bench_.sensor, kTelemetryPeriod_s);
    do {
      const int left = plan.samples - static_cast<int>(samples.size());
      const std::vector<double> some =
          bench_.timer.sample(std::min(chunk, left), plan.per_sample, launcher());
      samples.insert(samples.end(), some.begin(), some.end());
    } while (static_cast<int>(samples.size()) < plan.samples && !capped());
    record_.telemetry = sampler.stop();
    record_.timing.timer = bench_.timer.name();
    record_.timing.launches_per_sample = plan.per_sample;
    record_.timing.median_s = median(samples);
    record_.timing.mean_s =
        std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
    record_.timing.stop_reason = static_cast<int>(samples.size()) == plan.samples
                                     ? fmt::format("declared {} samples", plan.samples)
                                     : "wall-time cap";
  }

  Bench& bench_;
  RunRecord& record_;
  std::unique_ptr<Case> case_;
  double start_s_ = 0;  // of warm-up and window
  int next_slot_ = 0;
  int attempt_ = 0;
};

void fail(RunRecord& record, RecordStatus status, const std::string& message) {
  record.status = status;
  record.message = message.substr(0, message.find('\n'));
}

}  // namespace

SamplePlan plan_samples(const LaunchCost& cost, double window_s, const Budget& budget) {
  // Clamped before the conversion: a launch can be estimated at next to nothing.
  const double launches = std::min(std::ceil(window_s / cost.timed_s), 1e9);
  const double wanted = std::max(
      {std::ceil(budget.sample_s / cost.timed_s), std::ceil(launches / budget.max_samples), 1.0});
  const double fits = std::max(budget.cap_s / (budget.min_samples * cost.wall_s), 1.0);
  const double batch = std::min({wanted, fits, 1e6});
  const double samples = std::clamp(std::ceil(launches / batch), double(budget.min_samples),
                                    double(budget.max_samples));
  return {static_cast<int>(samples), static_cast<int>(batch)};
}

void measure(const CaseEntry& entry, Bench& bench, RunRecord& record) {
  record.id = entry.info.id;
  record.family = bench.family;
  record.device = bench.device;
  record.round = bench.round;
  record.started = utc_now();
  record.parameters = entry.info.parameters;
  record.conditions = entry.info.conditions;
  record.work = entry.info.work;
  record.data = entry.info.data;
  if (entry.skip) return fail(record, RecordStatus::kSkipped, *entry.skip);
  try {
    CaseRun(entry, bench, record).run();
  } catch (const Skip& skip) {
    fail(record, RecordStatus::kSkipped, skip.what());
  } catch (const ProcessLost& lost) {
    fail(record, RecordStatus::kErrored, lost.what());
    throw;
  } catch (const std::exception& error) {
    fail(record, RecordStatus::kErrored, error.what());
  }
}

}  // namespace assay
