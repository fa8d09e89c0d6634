// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner/ab.h"

#include <cstdio>
#include <random>

#include "cli/commands.h"
#include "cli/revision.h"
#include "cli/sitting.h"

namespace assay {
namespace {

AbResult measure(const AbOptions& options) {
  AbRequest request;
  request.base = options.base;
  request.candidate = options.candidate;
  request.filter = options.filter;
  request.runs = options.runs;
  request.timeout_s = options.timeout_s;
  // A coin and no seed: it is recorded, and nothing else is left to chance.
  request.mirrored = std::random_device{}() % 2 == 1;
  request.out = options.out;
  request.revision = revision();
  const ProgressLine line;
  return run_ab(request, stop_on_signals(), [&](const std::string& text) { line(text); });
}

}  // namespace

ExitCode run_ab_command(const AbOptions& options) {
  const AbResult result = measure(options);
  const std::string text = options.format == Format::kJson
                               ? dump_json(render_ab_rows_json(result))
                               : render_ab(result, options.out + "/ab.json");
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (!result.failure.empty()) {
    std::fflush(stdout);
    std::fputs(("assay: " + result.failure + "\n").c_str(), stderr);
  }
  return static_cast<ExitCode>(result.exit_code);
}

}  // namespace assay
