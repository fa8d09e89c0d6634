// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// `accept` and `run`: the commands that measure.
#include <fmt/format.h>

#include <cstdio>

#include "bench/runner/run_suite.h"
#include "cli/commands.h"
#include "cli/revision.h"
#include "cli/sitting.h"
#include "reports/config_dir.h"
#include "reports/render.h"

namespace assay {
namespace {

Report measure_suite(const MeasureOptions& options, const std::string& command) {
  const std::filesystem::path configs = config_dir();
  const std::filesystem::path suites = configs / "suites";
  SuiteRequest request;
  request.command = command;
  request.revision = revision();
  request.suite = find_suite(suites, options.suite);
  apply_filter(request.suite, options.filter);
  if (options.runs > 0) request.suite.rounds = options.runs;
  request.judged = command == "accept";
  request.profile = options.profile;
  if (request.judged) request.without_gpu = find_suite(suites, "host");
  request.gpus = options.gpus;
  request.out = options.out;
  request.programs = std::filesystem::canonical("/proc/self/exe").parent_path();
  request.gpu_table = configs / "gpus";
  request.targets =
      options.targets.empty() ? configs / "targets" : std::filesystem::path(options.targets);
  if (!std::filesystem::exists(request.targets)) {
    throw Error(ExitCode::kUsage, fmt::format("--targets {}: no such file", options.targets));
  }
  const ProgressLine line;
  return run_suite(request, stop_on_signals(), [&](const std::string& text) { line(text); });
}

void print(const Report& report, const MeasureOptions& options) {
  const std::string text = options.format == Format::kJson
                               ? dump_json(render_rows_json(report))
                               : render_summary(report, options.out + "/report.json");
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

ExitCode run_accept(const MeasureOptions& options) {
  const Report report = measure_suite(options, "accept");
  print(report, options);
  return static_cast<ExitCode>(report.verdict->exit_code);
}

ExitCode run_run(const MeasureOptions& options) {
  const Report report = measure_suite(options, "run");
  print(report, options);
  const bool whole = report.complete && !report.plan.out_of_time && !report.records.empty();
  ExitCode code = whole ? ExitCode::kPass : ExitCode::kNotJudged;
  for (const Record& record : report.records) {
    if (record.wrong_runs >= 2) {
      code = worst_of(code, ExitCode::kFail);
    } else if (record.status == RecordStatus::kErrored || record.status == RecordStatus::kInvalid) {
      code = worst_of(code, ExitCode::kMeasurement);
    } else if (record.status == RecordStatus::kSkipped) {
      code = worst_of(code, ExitCode::kNotJudged);
    }
  }
  return code;
}

}  // namespace assay
