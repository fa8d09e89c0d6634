// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/judge_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/format_text.h"
#include "reports/judge.h"
#include "reports/peer_id.h"

namespace assay {
namespace {

// docs/METHOD.md, Limits: above it the clock, the operation count or the data are not what they
// seem, and no verdict rests on them.
constexpr double kHighestShareAtClock = 1.03;
// Nor above this share of the best that is known of such a card in this regime.
constexpr double kHighestShareOfBest = 1.05;
constexpr double kNoisyRatio = 3.0;  // run s.d. over that of the target, above which we warn

const TargetSet* targets_for(const Report& report, const std::optional<std::string>& sku) {
  for (const TargetSet& set : report.targets) {
    if (sku == set.sku) return &set;
  }
  return nullptr;
}

bool in_mig_mode(const Report& report, const std::string& uuid) {
  return std::any_of(
      report.inventory.gpus.begin(), report.inventory.gpus.end(), [&](const GpuInventory& gpu) {
        const bool slice = std::any_of(gpu.mig_slices.begin(), gpu.mig_slices.end(),
                                       [&](const MigSlice& s) { return s.uuid == uuid; });
        return slice || (gpu.uuid == uuid && gpu.mig == true);
      });
}

bool under_test(const Report& report, const GpuInventory& gpu) {
  const std::vector<std::string>& chosen = report.plan.gpus;
  return chosen.empty() || std::find(chosen.begin(), chosen.end(), gpu.uuid) != chosen.end();
}

// Where lower is better, both sides are negated: judge_row takes higher as better.
struct Oriented {
  double floor = 0;
  std::vector<double> values;
};
Oriented oriented(const Metric& metric, double floor) {
  Oriented result{floor, metric.values};
  if (metric.better == Better::kHigher) return result;
  result.floor = -floor;
  for (double& value : result.values) value = -value;
  return result;
}

void warn_about_spread(Record& record, const Metric& metric, const Target& target) {
  if (metric.values.size() < 5) return;
  const Moments spread = moments(metric.values);
  const double sd_pct = 100 * spread.sd / spread.mean;
  if (spread.sd == 0) {
    record.judged.warnings.push_back(
        "all runs gave the same value to the last digit: is the timer stuck?");
  } else if (target.run_sd_pct > 0 && sd_pct > kNoisyRatio * target.run_sd_pct) {
    record.judged.warnings.push_back(
        fmt::format("run s.d. {:.2f} % is more than {:.0f} x the {:.2f} % expected", sd_pct,
                    kNoisyRatio, target.run_sd_pct));
  }
}

std::string why_undecided(const Report& report, const Metric& metric, const StagePlan& plan) {
  const std::string remedy =
      fmt::format("needs {} runs in all: rerun assay accept", plan.total_runs);
  if (report.plan.out_of_time) return "stage 2 was cut off: " + remedy;
  const auto runs = static_cast<int>(metric.values.size());
  if (runs < plan.stage1_runs) {
    return fmt::format("{} of {} runs: rerun assay accept", runs, plan.stage1_runs);
  }
  return remedy;
}

// Why this row cannot be judged although it ran; empty if it can.
std::string unfit(const Record& record, const Target& target, const Metric* metric) {
  if (metric == nullptr) return "no metric";
  const auto found = record.metrics.find(target.metric);
  if (found == record.metrics.end() || &found->second != metric) {
    return fmt::format("the target is for '{}', the record has another metric", target.metric);
  }
  if (record.work.pipe != target.pipe) {
    return fmt::format("the target is for pipe '{}', the record ran on '{}'", target.pipe,
                       record.work.pipe);
  }
  if (!std::isfinite(target.floor) || !(target.floor > 0)) return "the floor is not above 0";
  if (record.verification.status != VerificationStatus::kVerified) {
    return "the result was not verified";
  }
  // What is better when lower (a time) has no such limit.
  if (metric->better == Better::kHigher) {
    if (!record.limit.highest) return "no limit is known: a figure that cannot be real would pass";
    if (const auto& sheet = record.limit.datasheet;
        sheet && !(target.floor >= 0.25 * *sheet && target.floor <= *sheet)) {
      return fmt::format("the floor is outside 0.25-1.00 of the limit {:g}", *sheet);
    }
  }
  if (std::string why = why_no_burst(record); !why.empty()) return why;
  if (record.limit.share_at_clock && !(*record.limit.share_at_clock <= kHighestShareAtClock)) {
    return fmt::format("{:.2f} x the limit at the measured clock: check dtype, data and sparsity",
                       *record.limit.share_at_clock);
  }
  if (target.best) {
    const bool higher = metric->better == Better::kHigher;
    const double share = higher ? metric->value / *target.best : *target.best / metric->value;
    if (!(share <= kHighestShareOfBest)) {
      return fmt::format("{:.2f} x the best figure known, {}: check dtype, data and sparsity",
                         share, figure(*target.best));
    }
  }
  return {};
}

void judge_measured(const Report& report, const Target& target, const StagePlan& plan,
                    Record& record) {
  Judged& judged = record.judged;
  judged.status = JudgedStatus::kInconclusive;
  const Metric* metric = primary_metric(record);
  judged.reason = unfit(record, target, metric);
  if (!judged.reason.empty()) return;
  const Oriented row = oriented(*metric, target.floor);
  const RowJudgement result = judge_row(plan, row.floor, row.values);
  judged.runs_below = result.below;
  const auto runs = row.values.size();
  switch (result.outcome) {
    case RowOutcome::kPass:
      judged.status = JudgedStatus::kPass;
      break;
    case RowOutcome::kFail:
      judged.status = JudgedStatus::kFail;
      judged.reason = against_floor(*metric, target.floor);
      break;
    case RowOutcome::kExtend:
      judged.reason = why_undecided(report, *metric, plan);
      break;
    case RowOutcome::kInconclusive:
      judged.reason = fmt::format("{} of {} runs below the floor", result.below, runs);
      break;
  }
}

// GPUs may share what lies between them and the host. A row over the link that failed while all of
// them were busy, and reaches the floor while the others are idle, is not the GPU's nor its link's.
void pass_if_shared(const Report& report, const Target& target, Record& record) {
  if (record.judged.status != JudgedStatus::kFail || !is_pcie(record.work.pipe)) return;
  const Record* alone = find_record(report, record.id + kAloneSuffix, record.device.uuid);
  const Metric* metric = alone == nullptr ? nullptr : primary_metric(*alone);
  // Once is enough, but once it must have been.
  if (metric == nullptr || metric->values.empty() || alone->status != RecordStatus::kOk ||
      !unfit(*alone, target, metric).empty()) {
    return;
  }
  const Oriented once = oriented(*metric, target.floor);
  if (std::ranges::any_of(once.values, [&](double value) { return value < once.floor; })) return;
  record.judged.status = JudgedStatus::kPass;
  record.judged.reason.clear();
  record.judged.warnings.push_back(
      fmt::format("{} while all GPUs were busy, {} alone: they share what joins them to the host",
                  against_floor(*primary_metric(record), target.floor), figure(metric->value)));
}

std::string why_info(const Report& report, const Record& record) {
  if (record.device.is_host()) return "host: for information only";
  if (in_mig_mode(report, record.device.uuid)) return "MIG mode: whole-card targets do not apply";
  if (targets_for(report, record.device.sku) == nullptr) {
    return fmt::format("no targets for \"{}\"", record.device.name);
  }
  return "no target for this id";
}

}  // namespace

StagePlan judging_plan(const Report& report) {
  const auto rows =
      std::count_if(report.records.begin(), report.records.end(),
                    [&](const Record& record) { return target_of(report, record) != nullptr; });
  return stage_plan(std::max(report.plan.m, static_cast<int>(rows)));
}

void judge_record(const Report& report, const StagePlan& plan, Record& record) {
  std::vector<std::string> warnings = std::move(record.judged.warnings);  // of derive_limits()
  record.judged = {};
  record.judged.warnings = std::move(warnings);
  const Target* target = target_of(report, record);
  if (target == nullptr) {
    record.judged.status = JudgedStatus::kInfo;
    record.judged.reason = why_info(report, record);
    return;
  }
  record.judged.floor = target->floor;
  record.judged.source = target->source;
  record.judged.provisional = target->provisional();
  if (record.status == RecordStatus::kOk) {
    judge_measured(report, *target, plan, record);
    pass_if_shared(report, *target, record);
    if (const Metric* metric = primary_metric(record)) warn_about_spread(record, *metric, *target);
    return;
  }
  record.judged.reason = failure_text(record);
  record.judged.status = record.status == RecordStatus::kInvalid ? JudgedStatus::kInconclusive
                                                                 : JudgedStatus::kNotMeasured;
}

const Target* target_of(const Report& report, const Record& record) {
  if (record.device.is_host() || in_mig_mode(report, record.device.uuid)) return nullptr;
  const TargetSet* set = targets_for(report, record.device.sku);
  return set == nullptr ? nullptr : set->find(record.id);
}

std::vector<MissingRow> missing_rows(const Report& report) {
  std::vector<MissingRow> missing;
  for (const GpuInventory& gpu : report.inventory.gpus) {
    const TargetSet* set = targets_for(report, gpu.sku);
    if (set == nullptr || gpu.mig == true || !under_test(report, gpu)) continue;
    for (const std::string& id : report.plan.gate_ids) {
      if (set->find(id) == nullptr || peer_of_id(id) == std::to_string(gpu.index)) continue;
      const Record* record = find_record(report, id, gpu.uuid);
      const bool judged = record != nullptr && target_of(report, *record) != nullptr;
      if (!judged) missing.push_back({id, gpu.uuid});
    }
  }
  return missing;
}

std::vector<UnjudgedGpu> unjudged_gpus(const Report& report) {
  std::vector<UnjudgedGpu> unjudged;
  for (const GpuInventory& gpu : report.inventory.gpus) {
    if (!under_test(report, gpu)) continue;
    if (gpu.mig == true) {
      unjudged.push_back({gpu.uuid, fmt::format("GPU {}: MIG mode", gpu.index)});
      continue;
    }
    if (targets_for(report, gpu.sku) == nullptr) {
      unjudged.push_back(
          {gpu.uuid, fmt::format("GPU {}: no targets for \"{}\"", gpu.index, gpu.name)});
      continue;
    }
    const bool any =
        std::any_of(report.records.begin(), report.records.end(), [&](const Record& record) {
          return record.device.uuid == gpu.uuid && target_of(report, record) != nullptr;
        });
    if (!any) {
      unjudged.push_back(
          {gpu.uuid, fmt::format("GPU {}: no measurement with a target", gpu.index)});
    }
  }
  return unjudged;
}

std::vector<std::size_t> undecided_rows(const Report& report) {
  const StagePlan plan = judging_plan(report);
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < report.records.size(); ++i) {
    const Record& record = report.records[i];
    const Target* target = target_of(report, record);
    if (target == nullptr || record.status != RecordStatus::kOk) continue;
    const Metric* metric = primary_metric(record);
    if (!unfit(record, *target, metric).empty()) continue;
    const Oriented row = oriented(*metric, target->floor);
    if (judge_row(plan, row.floor, row.values).outcome == RowOutcome::kExtend) rows.push_back(i);
  }
  return rows;
}

}  // namespace assay
