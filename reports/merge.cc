// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reports/statistics.h"

namespace assay {
namespace {

using Telemetries = std::vector<const Telemetry*>;

// Over the runs that have it.
std::optional<Range> range_over(const Telemetries& runs,
                                std::optional<Range> Telemetry::* quantity) {
  std::optional<Range> all;
  int known = 0;
  for (const Telemetry* run : runs) {
    const std::optional<Range>& one = run->*quantity;
    if (!one) continue;
    ++known;
    if (!all) all = one;
    all->min = std::min(all->min, one->min);
    all->max = std::max(all->max, one->max);
    all->mean += (one->mean - all->mean) / known;
  }
  return all;
}

// A sum of some runs would look like that of all: unknown in one is unknown.
std::optional<double> sum_over(const Telemetries& runs,
                               std::optional<double> Telemetry::* quantity) {
  if (runs.empty()) return std::nullopt;
  double sum = 0;
  for (const Telemetry* run : runs) {
    if (!(run->*quantity)) return std::nullopt;
    sum += *(run->*quantity);
  }
  return sum;
}

void add_counts(Telemetry& all, const Telemetry& one) {
  // An error that one run counted is not lost for another that could not: the sum is the least.
  for (const auto& [name, gain] : one.deltas) all.deltas[name] += gain;
  // Back to counts and forth: a sum of shares can come out above 1 by rounding.
  for (auto& [reason, share] : all.event_reasons) share = std::round(share * all.samples);
  for (const auto& [reason, share] : one.event_reasons) {
    all.event_reasons[reason] += std::round(share * one.samples);
  }
  all.samples += one.samples;
  for (auto& [reason, share] : all.event_reasons) share /= all.samples;
  for (const auto& [quantity, reason] : one.unknown) all.unknown.emplace(quantity, reason);
}

Telemetry merge_telemetry(const Telemetries& runs) {
  Telemetry all;
  for (const auto quantity :
       {&Telemetry::sm_clock_mhz, &Telemetry::memory_clock_mhz, &Telemetry::power_w,
        &Telemetry::temperature_c, &Telemetry::utilisation_pct, &Telemetry::memory_used_bytes,
        &Telemetry::pcie_generation, &Telemetry::pcie_width}) {
    all.*quantity = range_over(runs, quantity);
  }
  all.energy_j = sum_over(runs, &Telemetry::energy_j);
  all.energy_s = sum_over(runs, &Telemetry::energy_s);
  all.load_s = sum_over(runs, &Telemetry::load_s);
  for (const Telemetry* run : runs) add_counts(all, *run);
  return all;
}

// The worse of two verifications: wrong before not run before verified, then the larger error.
bool worse(const Verification& a, const Verification& b) {
  const auto rank = [](VerificationStatus status) {
    switch (status) {
      case VerificationStatus::kWrong:
        return 2;
      case VerificationStatus::kNotRun:
        return 1;
      case VerificationStatus::kVerified:
        return 0;
    }
    return 2;
  };
  if (rank(a.status) != rank(b.status)) return rank(a.status) > rank(b.status);
  return a.error.value_or(0) > b.error.value_or(0);
}

// Runs whose outputs must be the same to the last bit.
bool alike(const RunRecord& a, const RunRecord& b) {
  return a.algorithm == b.algorithm && a.data == b.data && a.parameters == b.parameters;
}

bool is_evidence(const RunRecord& run) {
  return run.status == RecordStatus::kOk && run.verification.hash.has_value();
}

void mark_wrong(RunRecord& run, std::string message) {
  run.status = RecordStatus::kInvalid;
  run.verification.status = VerificationStatus::kWrong;
  run.verification.detail = message;
  run.message = std::move(message);
}

// One group of like runs; true if it has no majority. A run whose output differs from that of the
// most is wrong, however well it met its tolerance. Without a majority (one against one, or as many
// outputs as runs) the card may have erred or the operation may not be reproducible although its
// family hashes it: nobody knows which run is right. That must not pass, and must not fail a card
// either: it counts as one wrong run, which is unconfirmed, and its last run stands for it.
// `undecided` is whether that was said already: two groups without a majority confirm nothing
// either.
bool compare_hashes(const std::vector<RunRecord*>& runs, bool undecided) {
  std::map<std::string, std::size_t> votes;
  for (const RunRecord* run : runs) ++votes[*run->verification.hash];
  if (votes.size() < 2) return false;
  const auto most =
      std::ranges::max_element(votes, {}, &std::pair<const std::string, std::size_t>::second);
  const std::string right = most->first;
  const std::size_t others = most->second;
  if (2 * others <= runs.size()) {
    if (undecided) return true;
    mark_wrong(*runs.back(),
               fmt::format("output hash {} is one of {} in {} runs: wrong, or not reproducible",
                           *runs.back()->verification.hash, votes.size(), runs.size()));
    return true;
  }
  for (RunRecord* run : runs) {
    if (*run->verification.hash == right) continue;
    mark_wrong(*run, fmt::format("output hash {} differs from that of {} other runs, {}",
                                 *run->verification.hash, others, right));
  }
  return false;
}

void find_other_outputs(std::vector<RunRecord>& runs) {
  std::vector<std::vector<RunRecord*>> groups;
  for (RunRecord& run : runs) {
    if (!is_evidence(run)) continue;
    const auto group = std::ranges::find_if(
        groups, [&](const auto& candidates) { return alike(*candidates.front(), run); });
    if (group == groups.end()) {
      groups.push_back({&run});
    } else {
      group->push_back(&run);
    }
  }
  bool undecided = false;
  for (const auto& group : groups) undecided = compare_hashes(group, undecided) || undecided;
}

// Of the runs that did what the record says: another algorithm has another output. Runs that do not
// agree leave none.
void settle_hash(Record& record, std::span<const RunRecord> runs) {
  std::optional<std::string> hash;
  int agreeing = 0;
  int repetitions = 0;
  bool one = true;
  for (const RunRecord& run : runs) {
    if (!is_evidence(run) || run.algorithm != record.algorithm || run.data != record.data) continue;
    one = one && (!hash || hash == run.verification.hash);
    hash = run.verification.hash;
    ++agreeing;
    repetitions += run.verification.repetitions;
  }
  record.verification.hash = one ? hash : std::nullopt;
  record.verification.repetitions = one ? repetitions : 0;
  if (one && hash) record.hash_runs = agreeing;
}

// Null where the counter's gain is not that of the load alone.
std::optional<double> joules_a_launch(const RunRecord& run) {
  const Telemetry& telemetry = run.telemetry;
  const bool known = telemetry.energy_j && telemetry.energy_s && *telemetry.energy_s > 0;
  if (run.conditions.power != Power::kSustained || !known) return std::nullopt;
  return *telemetry.energy_j / *telemetry.energy_s * run.timing.mean_s;
}

// `kind` says all but the values.
void add_value(Record& record, const std::string& name, const Metric& kind, double value,
               bool judged) {
  Metric& metric = record.metrics.try_emplace(name, kind).first->second;
  (judged ? metric.values : metric.conditioning).push_back(value);
}

void add_energy(Record& record, const RunRecord& run, bool judged) {
  const std::optional<double> joules = joules_a_launch(run);
  if (!joules || !(*joules > 0)) return;
  Metric kind;
  kind.unit = "J";
  kind.better = Better::kLower;
  add_value(record, "joules", kind, *joules, judged);
  if (run.work.operations <= 0) return;
  kind.unit = "GFLOP/J";
  kind.better = Better::kHigher;
  add_value(record, "gflop_per_joule", kind, run.work.operations / *joules / 1e9, judged);
}

void add_warning(Record& record, const std::string& warning) {
  if (std::find(record.warnings.begin(), record.warnings.end(), warning) == record.warnings.end()) {
    record.warnings.push_back(warning);
  }
}

struct Tally {
  int ok = 0;
  int wrong = 0;
  int errored = 0;
  int skipped = 0;
  std::string message;  // of the last run that was not ok
};

// One wrong or errored run that a sound run followed is a warning; wrong twice is confirmed, and an
// error that left the row without a sound run is the row's.
void settle_status(Record& record, const Tally& tally) {
  if (tally.wrong >= 2 || (tally.wrong == 1 && tally.ok == 0)) {
    record.status = RecordStatus::kInvalid;
  } else if (tally.errored > 0 && (tally.errored >= 2 || tally.ok == 0)) {
    record.status = RecordStatus::kErrored;
  } else if (tally.ok == 0) {
    record.status = RecordStatus::kSkipped;
  }
  if (record.status != RecordStatus::kOk) {
    record.message = tally.message;
  } else if (tally.wrong + tally.errored + tally.skipped > 0) {
    add_warning(record, "a run failed and was replaced: " + tally.message);
  }
}

void count(Tally& tally, const RunRecord& run) {
  switch (run.status) {
    case RecordStatus::kOk:
      ++tally.ok;
      return;
    case RecordStatus::kInvalid:
      ++tally.wrong;
      break;
    case RecordStatus::kErrored:
      ++tally.errored;
      break;
    case RecordStatus::kSkipped:
      ++tally.skipped;
      break;
  }
}

void add_run(Record& record, const RunRecord& run, bool judged) {
  const PrimaryMetric primary = primary_metric_of(run.work, run.timing.median_s);
  Metric kind;
  kind.unit = primary.unit;
  kind.better = primary.better;
  kind.primary = true;
  add_value(record, primary.name, kind, primary.value, judged);
  add_energy(record, run, judged);
  if (!judged) return;
  ++record.runs;
  if (has_stalls(run.timing.median_s, run.timing.mean_s)) {
    add_warning(record,
                "total time is more than 2 % above the median time in a run: stalls or clock dips");
  }
  if (run.algorithm != record.algorithm) {
    add_warning(record, "the library chose another algorithm in some runs");
  }
}

}  // namespace

PrimaryMetric primary_metric_of(const Work& work, double seconds) {
  if (work.loads) return {"latency_ns", "ns", seconds / *work.loads * 1e9, Better::kLower};
  if (work.operations > 0) {
    return {"tflops", "TFLOPS", work.operations / seconds / 1e12, Better::kHigher};
  }
  return {"gb_per_s", "GB/s", work.bytes / seconds / 1e9, Better::kHigher};
}

void close_metric(Metric& metric) {
  metric.ci_low.reset();
  metric.ci_high.reset();
  metric.level = min_max_level(static_cast<int>(metric.values.size()));
  if (metric.values.empty()) return;
  metric.value = median(metric.values);
  if (!metric.level) return;
  const auto [low, high] = std::minmax_element(metric.values.begin(), metric.values.end());
  metric.ci_low = *low;
  metric.ci_high = *high;
}

Record merge_runs(std::span<const RunRecord> given, int conditioning_rounds) {
  std::vector<RunRecord> runs(given.begin(), given.end());
  find_other_outputs(runs);
  // A run that never reported itself knows little more than its id.
  const auto sound = std::find_if(runs.begin(), runs.end(), [](const RunRecord& run) {
    return run.status == RecordStatus::kOk || run.status == RecordStatus::kInvalid;
  });
  const RunRecord& first = sound == runs.end() ? runs.front() : *sound;
  Record record;
  record.id = first.id;
  record.family = first.family;
  record.device = first.device;
  record.parameters = first.parameters;
  record.conditions = first.conditions;
  record.work = first.work;
  record.algorithm = first.algorithm;
  record.preparation = first.preparation;
  record.data = first.data;

  Tally tally;
  std::vector<double> clocks_mhz;
  Telemetries telemetries;
  for (const RunRecord& run : runs) {
    const bool judged = run.round >= conditioning_rounds;
    // A wrong result counts wherever it appears; other failures of a conditioning run do not.
    if (judged || run.status == RecordStatus::kInvalid) count(tally, run);
    if (run.status != RecordStatus::kOk) tally.message = run.message;
    if (run.status == RecordStatus::kOk) add_run(record, run, judged);
    if (run.status != RecordStatus::kOk || !judged) continue;
    telemetries.push_back(&run.telemetry);
    if (run.timing.sm_clock_mhz) clocks_mhz.push_back(*run.timing.sm_clock_mhz);
  }
  record.telemetry = merge_telemetry(telemetries);
  if (!clocks_mhz.empty()) record.sm_clock_mhz = median(clocks_mhz);
  for (auto& [name, metric] : record.metrics) close_metric(metric);
  record.wrong_runs = tally.wrong;
  settle_status(record, tally);
  // The verification shown is the worst of the runs that made the record's status.
  const Verification* shown = nullptr;
  for (const RunRecord& run : runs) {
    if (run.status != record.status) continue;
    if (shown == nullptr || worse(run.verification, *shown)) shown = &run.verification;
  }
  if (shown != nullptr) record.verification = *shown;
  if (record.status == RecordStatus::kOk) settle_hash(record, runs);
  return record;
}

}  // namespace assay
