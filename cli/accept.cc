// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// `accept` and `run`: the commands that measure.
#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/sitting.h"
#include "reports/config_dir.h"
#include "reports/render.h"

namespace assay {
namespace {

Report measure_suite(const MeasureOptions& options, const std::string& command) {
  SuiteRequest request =
      suite_request({command, options.suite, options.filter, options.gpus, options.out});
  if (options.runs > 0) request.suite.rounds = options.runs;
  if (options.profile) request.mode = Mode::kProfile;
  request.judged = command == "accept";
  if (request.judged) request.without_gpu = find_suite(config_dir() / "suites", "host");
  if (!options.targets.empty()) request.targets = options.targets;
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
  return measured_exit_code(report);
}

}  // namespace assay
