// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// `accept` and `run`: the commands that measure.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>

#include "bench/runner/run_suite.h"
#include "cli/commands.h"
#include "cli/revision.h"
#include "reports/config_dir.h"
#include "reports/render.h"

namespace assay {
namespace {

// Set by Ctrl-C and TERM: the running processes are ended and the report is written.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void interrupt(int) { interrupted = true; }

// One line that is overwritten on a terminal, plain lines elsewhere.
class ProgressLine {
 public:
  ~ProgressLine() {
    if (terminal_) std::fputs("\r\033[K", stderr);
  }
  void operator()(const std::string& line) const {
    std::fputs(terminal_ ? fmt::format("\r\033[K{}", line).c_str() : (line + "\n").c_str(), stderr);
    std::fflush(stderr);
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) == 1;
};

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
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  const ProgressLine line;
  return run_suite(request, interrupted, [&](const std::string& text) { line(text); });
}

void print(const Report& report, const MeasureOptions& options) {
  const std::string text = options.format == Format::kJson
                               ? dump_json(render_rows_json(report))
                               : render_summary(report, options.out + "/report.json");
  std::fputs(text.c_str(), stdout);
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
  ExitCode code =
      report.records.empty() || !report.complete ? ExitCode::kNotJudged : ExitCode::kPass;
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
