// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "cli/commands.h"
#include "reports/render.h"

namespace assay {
namespace {

void put(const std::string& where, const std::string& text) {
  if (where == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
  } else {
    write_file_atomically(where, text);
  }
}

}  // namespace

ExitCode run_report(const ReportOptions& options) {
  if (options.markdown == "-" && options.json == "-") {
    throw Error(ExitCode::kUsage, "--md - and --json -: only one of them can go to stdout");
  }
  Report report = read_report(options.report);
  if (options.redact) report = redacted(std::move(report));
  if (!options.markdown.empty()) put(options.markdown, render_markdown(report));
  if (!options.json.empty()) put(options.json, dump_json(to_json_value(report)));
  if (options.markdown.empty() && options.json.empty()) {
    put("-", render_summary(report, options.report));
  }
  return ExitCode::kPass;
}

}  // namespace assay
