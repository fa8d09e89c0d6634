// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Collects runs and makes the measured part of a report of them: records, benchmark rows, samples.
//
//   ReportWriter writer("out", suite, devices);
//   writer.add(run);
//   writer.rebuild(report);          // records and limits from all runs so far
//   writer.write(report);            // report.json and samples.jsonl
//
// samples.jsonl only ever grows by whole lines, in the order of the runs, and the report names its
// length beside its hash: whenever the run is killed, the report on the disk matches the beginning
// of the samples on the disk.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/runner/plan.h"
#include "bench/runner/rows.h"
#include "reports/report.h"

namespace assay {

class ReportWriter {
 public:
  // Records come in the order of `devices`, then of the suite.
  ReportWriter(std::filesystem::path out, Suite suite, std::vector<DeviceRef> devices);

  void add(Run run);
  void rebuild(Report& report) const;
  // Both files by temporary file and rename. Throws Error(kMeasurement).
  void write(const Report& report) const;

 private:
  void add_record(Report& report, const DeviceRef& device, const std::string& id) const;

  std::filesystem::path out_;
  Suite suite_;
  std::vector<DeviceRef> devices_;
  std::vector<Run> runs_;
  std::string samples_;  // samples.jsonl
};

}  // namespace assay
