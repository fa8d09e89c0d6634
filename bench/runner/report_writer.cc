// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner/report_writer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "bench/runner/supervise.h"
#include "reports/judge.h"
#include "reports/merge.h"
#include "reports/sha256.h"

namespace assay {

ReportWriter::ReportWriter(std::filesystem::path out, Suite suite, std::vector<DeviceRef> devices)
    : out_(std::move(out)), suite_(std::move(suite)), devices_(std::move(devices)) {}

void ReportWriter::add(Run run) {
  if (has_samples(run.record)) {
    samples_ += dump_json_line(samples_line(run.record)) + "\n";
  }
  runs_.push_back(std::move(run));
}

void ReportWriter::rebuild(Report& report) const {
  report.records.clear();
  for (const DeviceRef& device : devices_) {
    for (const SuiteProcess& process : suite_.processes) {
      for (const std::string& id : ids_on(process, device.uuid, devices_)) {
        add_record(report, device, id);
        add_record(report, device, id + kAloneSuffix);
      }
    }
  }
  report.benchmarks = Json::array();
  std::map<std::string, std::pair<double, double>> load;  // busy and idle seconds by device
  int line = 0;
  for (const Run& run : runs_) {
    const bool sampled = has_samples(run.record);
    report.benchmarks.push_back(benchmark_row(run, suite_.conditioning_rounds,
                                              sampled ? std::optional(++line) : std::nullopt));
    auto& [busy_s, idle_s] = load[run.record.device.uuid];
    busy_s += run.record.busy_s;
    idle_s += run.record.idle_s;
  }
  report.busy_s.reset();
  report.idle_s.reset();
  for (const auto& [device, seconds] : load) {
    report.busy_s = std::max(report.busy_s.value_or(0), seconds.first);
    report.idle_s = std::max(report.idle_s.value_or(0), seconds.second);
  }
  report.samples_sha256 = samples_.empty() ? "" : sha256_hex(samples_);
  report.samples_bytes = static_cast<std::int64_t>(samples_.size());
  derive_limits(report);
}

void ReportWriter::add_record(Report& report, const DeviceRef& device,
                              const std::string& id) const {
  std::vector<RunRecord> of_row;
  for (const Run& run : runs_) {
    const bool ours = run.record.id == id && run.record.device.uuid == device.uuid;
    if (ours && !run.load_only) of_row.push_back(run.record);
  }
  if (!of_row.empty()) report.records.push_back(merge_runs(of_row, suite_.conditioning_rounds));
}

void ReportWriter::write(const Report& report) const {
  // A report without samples matches any file: it comes before the samples of an earlier run go.
  const std::filesystem::path samples = out_ / "samples.jsonl";
  if (!samples_.empty()) write_file_atomically(samples, samples_);
  write_report(out_ / "report.json", report);
  if (samples_.empty()) write_file_atomically(samples, samples_);
}

}  // namespace assay
