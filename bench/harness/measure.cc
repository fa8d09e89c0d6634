// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/harness/sampler.h"
#include "bench/harness/tune.h"
#include "bench/node/environment.h"
#include "kernels/counter_random.h"
#include "reports/statistics.h"
#include "reports/text.h"

namespace assay {
namespace {

constexpr double kTelemetryPeriod_s = 0.005;
constexpr double kWarmSpell_s = 0.02;
constexpr double kMostEstimate_s = 0.2;  // wall time of the estimate, about
constexpr int kProfiledSamples = 3;

// The counter runs on while a burst rests, and what it gains belongs to both.
void forget_energy(Telemetry& telemetry) {
  telemetry.energy_j.reset();
  telemetry.energy_s.reset();
  telemetry.unknown["energy_j"] = "a burst: too short for the counter, with rests in between";
}

class CaseRun {
 public:
  CaseRun(const CaseEntry& entry, Bench& bench, RunRecord& record)
      : bench_(bench), record_(record) {
    bench_.timer.begin_case(entry.info.id);
    case_ = entry.make();
    if (record.conditions.cache == Cache::kCold) require_cold(entry.info.set_bytes);
  }

  void run() {
    choose_algorithm();
    record_.preparation = case_->preparation();
    if (!first_check()) return;
    const LaunchCost cost = bench_.profiled ? LaunchCost{} : estimate_cost();
    bench_.ready(record_.id);
    start_s_ = bench_.clock.now_s();
    const CounterReading before = bench_.sensor.counters();
    sampler_.emplace(bench_.sensor, bench_.clock, kTelemetryPeriod_s);
    bool sound = true;
    if (bench_.profiled) {
      sound = time_profiled();
    } else if (record_.conditions.power == Power::kSustained) {
      sound = time_sustained(cost);
    } else {
      sound = time_bursts(cost);
    }
    record_.telemetry = sampler_->stop(windows_);
    if (record_.conditions.power == Power::kBurst) forget_energy(record_.telemetry);
    add_deltas(record_.telemetry, before, bench_.sensor.counters());
    summarise_samples();
    if (sound && verify_all() && !(record_.timing.median_s > 0)) {
      throw std::runtime_error("the timer saw no time pass: half of the samples are of 0 s");
    }
  }

 private:
  // What is used again must have left the cache: twice its size lies between.
  void require_cold(std::int64_t set_bytes) const {
    const double all = static_cast<double>(set_bytes) * case_->slots();
    if (set_bytes == 0 || all >= 2.0 * static_cast<double>(bench_.cache_bytes)) return;
    throw Skip(
        fmt::format("cold, but its {} of {} bytes can stay in a cache of {} bytes; /warm "
                    "measures that",
                    counted(case_->slots(), "buffer set"), set_bytes, bench_.cache_bytes));
  }

  [[nodiscard]] LaunchFunction launcher() {
    return [this](int) { case_->launch(next_slot_++ % case_->slots()); };
  }
  [[nodiscard]] int capacity() const {
    return std::max(1, bench_.timer.capacity() / case_->kernels_per_launch());
  }
  [[nodiscard]] double now_s() const { return bench_.clock.now_s(); }
  [[nodiscard]] double elapsed_s() const { return now_s() - start_s_; }

  // The slots that the next `launches` write.
  [[nodiscard]] std::vector<int> next_slots(int launches) const {
    std::vector<int> slots;
    for (int i = 0; i < std::min(launches, case_->slots()); ++i) {
      slots.push_back((next_slot_ + i) % case_->slots());
    }
    return slots;
  }

  // What is chosen, and how, is a fact of the record ("chosen").
  void choose_algorithm() {
    record_.algorithm = case_->algorithm();
    if (case_->candidates().empty()) return;
    const std::string library = record_.algorithm.value("library", std::string());
    const StoredAlgorithm* stored =
        bench_.algorithms == nullptr ? nullptr : bench_.algorithms->find(record_.id, library);
    std::string how = "first offered";
    if (bench_.tunes) {
      const Tuned tuned = tune(*case_, record_.conditions.power, bench_);
      case_->choose(tuned.algorithm);
      record_.algorithm = case_->algorithm();
      record_.algorithm["tuning"] = tuned.report;
      how = "tuned";
    } else if (stored != nullptr) {
      case_->choose(stored->algorithm);
      record_.algorithm = case_->algorithm();
      how = "stored";
    }
    record_.algorithm["chosen"] = how;
  }

  // Counts the time of `check` as one.
  template <class Check>
  auto checking(const Check& check) {
    const double start = now_s();
    auto result = check();
    record_.busy_s += now_s() - start;
    record_.check_s += now_s() - start;
    return result;
  }

  bool first_check() {
    const std::vector<int> slots = next_slots(case_->slots());
    for (const int slot : slots) case_->poison(slot);
    for (const int slot : slots) case_->launch(slot);
    if (!verify_all()) return false;
    hashes_ = hashes_of(slots);
    if (hashes_.empty()) return true;
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < hashes_.size(); ++i) all = random_bits(all ^ hashes_[i], i);
    record_.verification.hash = fmt::format("{:016x}", all);
    return true;
  }

  // Keeps the worst: a later sound check does not hide an earlier wrong one.
  bool verify_all() {
    return checking([&] { return every_slot_is_sound(); });
  }

  bool every_slot_is_sound() {
    bench_.timer.wait();
    for (int slot = 0; slot < case_->slots(); ++slot) {
      Verification found = case_->verify(slot, attempt_++);
      Verification& kept = record_.verification;
      const bool wrong = found.status != VerificationStatus::kVerified;
      if (kept.status == VerificationStatus::kNotRun || wrong ||
          found.error.value_or(0) > kept.error.value_or(0)) {
        found.hash = kept.hash;
        found.repetitions = kept.repetitions;
        kept = std::move(found);
      }
      if (wrong) return wrong_result(kept.detail);
    }
    return true;
  }

  bool wrong_result(const std::string& detail) {
    record_.status = RecordStatus::kInvalid;
    record_.verification.status = VerificationStatus::kWrong;
    record_.verification.detail = detail;
    record_.message = "wrong result: " + detail;
    return false;
  }

  std::vector<std::uint64_t> hashes_of(const std::vector<int>& slots) {
    return checking([&] { return case_->hash_outputs(slots); });
  }

  // Whether these slots hold what they held after the first check, bit for bit.
  bool unchanged(const std::vector<int>& slots) {
    if (hashes_.empty()) return true;
    const std::vector<std::uint64_t> found = hashes_of(slots);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const std::uint64_t expected = hashes_[static_cast<std::size_t>(slots[i])];
      if (found[i] != expected) {
        return wrong_result(
            fmt::format("repetition {} of buffer set {} differs from the first: hash {:016x}, "
                        "expected {:016x}",
                        record_.verification.repetitions + 1, slots[i], found[i], expected));
      }
      ++record_.verification.repetitions;
    }
    return true;
  }

  // A timer that gives what is no time (a clock that went back) ends the case: neither a plan nor a
  // report can rest on it.
  std::vector<double> sampled(int samples, int per_sample) {
    std::vector<double> seconds = bench_.timer.sample(samples, per_sample, launcher());
    for (const double s : seconds) {
      if (!std::isfinite(s) || s < 0) {
        throw std::runtime_error(fmt::format("the timer gave {} s, which is no time", s));
      }
    }
    return seconds;
  }

  LaunchCost cost_of(int samples, int per_sample) {
    const double start = now_s();
    const std::vector<double> seconds = sampled(samples, per_sample);
    const double wall_s = (now_s() - start) / (samples * per_sample);
    const double timed_s = std::max(*std::min_element(seconds.begin(), seconds.end()), 1e-7);
    return {timed_s, std::max(timed_s, wall_s)};
  }

  LaunchCost estimate_cost() {
    const LaunchCost cost = cost_of(3, 1);
    // Of a short launch the wait for its end is most of the wall time, until they come in batches.
    constexpr double kBatch_s = 0.002;
    if (cost.wall_s > kBatch_s) return cost;
    // The timer may see next to nothing of it: then the wall time bounds the batch.
    const double launches = std::min(kBatch_s / cost.timed_s, kMostEstimate_s / cost.wall_s);
    return cost_of(1, std::clamp(static_cast<int>(launches), 1, capacity()));
  }

  void rest(double seconds) {
    bench_.clock.sleep_s(seconds);
    record_.idle_s += seconds;
  }

  // About `seconds` of launches.
  void warm(const LaunchCost& cost, double seconds) {
    const double start = now_s();
    const int launches = std::max(1, static_cast<int>(seconds / cost.timed_s));
    // Launches that take longer than the timer saw end by the clock.
    const int step = std::max(1, static_cast<int>(kWarmSpell_s / cost.wall_s));
    for (int done = 0; done < launches && now_s() - start < seconds; done += step) {
      bench_.timer.run(std::min(step, launches - done), launcher());
      record_.warm_up.launches += std::min(step, launches - done);
    }
    record_.warm_up.seconds += now_s() - start;
    record_.busy_s += now_s() - start;
  }

  void settle(const LaunchCost& cost) {
    Settling settling(bench_.settled ? bench_.budget.resettle : bench_.budget.settle);
    std::optional<std::string> why;
    while (!why) {
      bench_.timer.start_clock();
      warm(cost, kWarmSpell_s);
      const std::optional<double> clock_mhz = bench_.timer.clock_mhz();
      const std::optional<SensorReading> latest = sampler_->latest();
      settling.add(elapsed_s(), clock_mhz, latest ? latest->power_w : std::nullopt);
      why = settling.reached(elapsed_s());
      if (!why && elapsed_s() >= bench_.budget.cap_s) why = "wall-time cap";
    }
    bench_.settled = true;  // not before: a case that broke meanwhile has warmed up nothing
    record_.warm_up.stop_reason = *why;
  }

  struct Spell {
    std::vector<double> samples_s;
    Window window;
    std::optional<double> clock_mhz;  // the device's own
    bool sound = true;
  };

  Spell spell(const StoppingRule& rule, int samples) {
    Spell result;
    const std::vector<int> slots = next_slots(samples * rule.per_sample);
    for (const int slot : slots) case_->poison(slot);
    // Launches that became far slower than was planned end at the cap as well, but not before each
    // slot that was poisoned is written again.
    const auto may_end = [&] {
      const std::size_t launches =
          result.samples_s.size() * static_cast<std::size_t>(rule.per_sample);
      return launches >= slots.size() && elapsed_s() >= bench_.budget.cap_s;
    };
    const int at_once = std::max(1, capacity() / rule.per_sample);
    bench_.timer.start_clock();
    result.window.begin_s = now_s();
    while (static_cast<int>(result.samples_s.size()) < samples && !may_end()) {
      const int left = samples - static_cast<int>(result.samples_s.size());
      const std::vector<double> some = sampled(std::min(at_once, left), rule.per_sample);
      result.samples_s.insert(result.samples_s.end(), some.begin(), some.end());
    }
    sampler_->read_now();
    result.window.end_s = now_s();
    result.clock_mhz = bench_.timer.clock_mhz();
    for (const double seconds : result.samples_s) record_.busy_s += seconds * rule.per_sample;
    result.sound = unchanged(slots);
    return result;
  }

  void declare(const StoppingRule& rule) {
    record_.timing.timer = bench_.timer.name();
    record_.timing.rule = rule.text();
    record_.timing.launches_per_sample = rule.per_sample;
  }

  void accept(const Spell& spell) {
    std::vector<double>& samples = record_.timing.samples_s;
    samples.insert(samples.end(), spell.samples_s.begin(), spell.samples_s.end());
    windows_.push_back(spell.window);
    if (spell.clock_mhz) clocks_mhz_.push_back(*spell.clock_mhz);
  }

  [[nodiscard]] int samples_in(double seconds, const LaunchCost& cost,
                               const StoppingRule& rule) const {
    const auto taken = static_cast<int>(record_.timing.samples_s.size());
    const int left = (taken < rule.samples ? rule.samples : rule.max_samples) - taken;
    const double fit = std::round(seconds / (cost.wall_s * rule.per_sample));
    return static_cast<int>(std::clamp(fit, 1.0, std::max(1.0, static_cast<double>(left))));
  }

  bool time_sustained(const LaunchCost& cost) {
    const Budget& budget = bench_.budget;
    const StoppingRule rule = plan_samples(cost, budget.sustained_window_s, capacity(), budget);
    declare(rule);
    settle(cost);
    std::optional<std::string> why;
    while (!why) {
      const Spell one = spell(rule, samples_in(budget.sustained_spell_s, cost, rule));
      accept(one);
      if (!one.sound) return false;
      why = rule.reached(record_.timing.samples_s, elapsed_s());
    }
    record_.timing.stop_reason = *why;
    return true;
  }

  [[nodiscard]] bool below_full_clock(std::optional<double> clock_mhz) const {
    return clock_mhz && bench_.max_clock_mhz &&
           *clock_mhz < kBurstClockShare * *bench_.max_clock_mhz;
  }

  // A spell counts while the card grants its full clock, as the driver reports it. The processors'
  // own clock is lower from the first microsecond of a heavy load (they stretch cycles against
  // voltage droop), but tells whether the load is heavy: such a one rests before each spell.
  bool time_bursts(const LaunchCost& cost) {
    const Budget& budget = bench_.budget;
    const StoppingRule rule = plan_samples(cost, budget.burst_window_s, capacity(), budget);
    declare(rule);
    record_.warm_up.stop_reason =
        fmt::format("declared {:g} s after each rest", budget.burst_warm_s);
    std::optional<std::string> why;
    double idle_s = budget.idle_s;
    int rejected = 0;
    bool rested = false;
    while (!why) {
      if (!rested) {
        rest(idle_s);
        warm(cost, budget.burst_warm_s);
      }
      const Spell one = spell(rule, samples_in(budget.burst_spell_s, cost, rule));
      if (!one.sound) return false;
      const bool may_retry =
          rejected < budget.most_rejected_spells && elapsed_s() < budget.cap_s / 2;
      if (may_retry && below_full_clock(sampler_->mean_sm_clock_mhz(one.window))) {
        ++rejected;
        std::vector<double>& kept = record_.timing.rejected_s;
        kept.insert(kept.end(), one.samples_s.begin(), one.samples_s.end());
        idle_s = std::min(2 * idle_s, budget.longest_idle_s);
        rested = false;
        continue;
      }
      accept(one);
      rested = !below_full_clock(one.clock_mhz);
      why = rule.reached(record_.timing.samples_s, elapsed_s());
    }
    record_.timing.stop_reason = *why;
    return true;
  }

  bool time_profiled() {
    StoppingRule rule;
    rule.samples = rule.max_samples = kProfiledSamples;
    declare(rule);
    record_.timing.rule = record_.timing.stop_reason =
        fmt::format("profiled: {} samples", kProfiledSamples);
    const Spell one = spell(rule, rule.samples);
    accept(one);
    return one.sound;
  }

  void summarise_samples() {
    Timing& timing = record_.timing;
    if (timing.samples_s.empty()) return;
    timing.median_s = median(timing.samples_s);
    timing.mean_s = moments(timing.samples_s).mean;
    if (!clocks_mhz_.empty()) timing.sm_clock_mhz = moments(clocks_mhz_).mean;
  }

  Bench& bench_;
  RunRecord& record_;
  std::unique_ptr<Case> case_;
  double start_s_ = 0;  // of warm-up and window
  int next_slot_ = 0;
  int attempt_ = 0;
  std::vector<std::uint64_t> hashes_;  // of each slot after the first check; empty: none
  std::optional<TelemetrySampler> sampler_;
  std::vector<Window> windows_;     // of the accepted spells
  std::vector<double> clocks_mhz_;  // of each accepted spell
};

void fail(RunRecord& record, RecordStatus status, const std::string& message) {
  record.status = status;
  record.message = message.substr(0, message.find('\n'));
}

}  // namespace

StoppingRule plan_samples(const LaunchCost& cost, double window_s, int capacity,
                          const Budget& budget) {
  // Clamped before the conversion: a launch can be estimated at next to nothing.
  const double launches = std::min(std::ceil(window_s / cost.timed_s), 1e9);
  const double wanted = std::max(
      {std::ceil(budget.sample_s / cost.timed_s), std::ceil(launches / budget.max_samples), 1.0});
  const double fits = std::max(budget.cap_s / (budget.min_samples * cost.wall_s), 1.0);
  const double batch = std::min({wanted, fits, static_cast<double>(capacity)});
  const double samples = std::clamp(std::ceil(launches / batch), double(budget.min_samples),
                                    double(budget.max_samples));
  StoppingRule rule;
  rule.per_sample = static_cast<int>(batch);
  rule.samples = static_cast<int>(samples);
  rule.max_samples = std::min(2 * rule.samples, std::max(rule.samples, budget.max_samples));
  rule.half_width = budget.half_width;
  rule.cap_s = budget.cap_s;
  return rule;
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
