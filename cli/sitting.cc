// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/sitting.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "cli/revision.h"
#include "reports/config_dir.h"
#include "reports/text.h"

namespace assay {
namespace {

// A signal handler reaches nothing but what is global.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void interrupt(int) { interrupted = true; }

// What was set to be ignored when we started (nohup, a shell's background job) stays ignored.
void stop_on(int number) {
  if (std::signal(number, interrupt) == SIG_IGN) std::signal(number, SIG_IGN);
}

}  // namespace

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (terminal_) std::fputs("\r\033[K", stderr);
}

void ProgressLine::operator()(const std::string& line) const {
  const std::string text = one_line(line);
  std::fputs((terminal_ ? "\r\033[K" + text : text + "\n").c_str(), stderr);
  std::fflush(stderr);
}

const std::atomic<bool>& stop_on_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) stop_on(number);
  // Whoever read our progress may have gone: that ends no measurement.
  std::signal(SIGPIPE, SIG_IGN);
  return interrupted;
}

SuiteRequest suite_request(const SuiteChoice& choice) {
  const std::filesystem::path configs = config_dir();
  SuiteRequest request;
  request.command = choice.command;
  request.revision = revision();
  request.suite = find_suite(configs / "suites", choice.suite);
  apply_filter(request.suite, choice.filter);
  request.gpus = choice.gpus;
  request.out = choice.out;
  request.programs = std::filesystem::canonical("/proc/self/exe").parent_path();
  request.targets = configs / "targets";
  request.gpu_table = configs / "gpus";
  request.algorithms = configs / "algorithms";
  request.judged = false;
  return request;
}

ExitCode measured_exit_code(const Report& report) {
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
