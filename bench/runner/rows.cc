// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner/rows.h"

#include "reports/merge.h"

namespace assay {

Json benchmark_row(const Run& of, int conditioning_rounds, std::optional<int> samples_line) {
  const RunRecord& run = of.record;
  Json row = {{"name", run.id},
              {"run_name", run.id},
              {"run_type", "iteration"},
              {"repetition_index", run.round},
              {"threads", 1}};
  const bool ok = run.status == RecordStatus::kOk;
  if (!ok) {
    row["error_occurred"] = true;
    row["error_message"] = to_string(run.status) + ": " + run.message;
  }
  const auto launches =
      static_cast<std::int64_t>(run.timing.samples_s.size()) * run.timing.launches_per_sample;
  row["iterations"] = ok ? launches : 0;
  row["real_time"] = ok ? run.timing.median_s * 1e9 : 0.0;
  row["cpu_time"] = row["real_time"];
  row["time_unit"] = "ns";
  if (ok) {
    const PrimaryMetric metric = primary_metric_of(run.work, run.timing.median_s);
    row[metric.name] = metric.value;
  }
  row["assay"] = {{"id", run.id},
                  {"device", run.device.uuid},
                  {"status", to_string(run.status)},
                  {"conditioning", run.round < conditioning_rounds},
                  {"load_only", of.load_only},
                  {"started", run.started},
                  {"samples_line", to_json_value(samples_line)},
                  {"mean_time_ns", run.timing.mean_s * 1e9},
                  {"launches_per_sample", run.timing.launches_per_sample},
                  {"timer", run.timing.timer},
                  {"rule", run.timing.rule},
                  {"window", run.timing.stop_reason},
                  {"sm_clock_mhz", to_json_value(run.timing.sm_clock_mhz)},
                  {"busy_s", run.busy_s},
                  {"check_s", run.check_s},
                  {"idle_s", run.idle_s},
                  {"warm_up", to_json_value(run.warm_up)},
                  {"telemetry", to_json_value(run.telemetry)},
                  {"verification", to_json_value(run.verification)},
                  {"algorithm", run.algorithm}};
  return row;
}

bool has_samples(const RunRecord& run) {
  return !run.timing.samples_s.empty() || !run.timing.rejected_s.empty();
}

Json samples_line(const RunRecord& run) {
  return {{"id", run.id},
          {"device", run.device.uuid},
          {"round", run.round},
          {"launches_per_sample", run.timing.launches_per_sample},
          {"samples_s", run.timing.samples_s},
          {"rejected_s", run.timing.rejected_s}};
}

}  // namespace assay
