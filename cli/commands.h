// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The commands of the program, one .cc each. main.cc parses the command line (the only user of
// CLI11), calls one of these and turns an Error into one line on stderr and its exit code.
// Results go to stdout, progress and errors to stderr.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/error.h"

namespace assay {

enum class Format { kText, kJson };

struct MeasureOptions {
  std::string suite = "quick";
  std::string filter;             // `run` only: regular expression on ids; empty: all
  std::vector<std::string> gpus;  // indices or UUIDs; empty: all
  std::string targets;            // file; empty: configs/targets/<sku>.yaml of each card
  std::string out = "out";        // folder
  int runs = 0;                   // `run` only: runs a row; 0: as the suite says
  bool profile = false;           // `run` only: one round under a profiler
  Format format = Format::kText;
};
// Gates, the suite, gates again, judge, print.
ExitCode run_accept(const MeasureOptions& options);
// Measure only: records without a verdict; 0 if every run that was asked for is there and ok.
ExitCode run_run(const MeasureOptions& options);

struct TuneOptions {
  std::string suite;
  std::string filter;             // regular expression on ids; empty: all
  std::vector<std::string> gpus;  // indices or UUIDs, of which the first is used; empty: all
  std::string file;               // to store in; empty: configs/algorithms/<sku>.json
  std::string out = "out";        // folder
  Format format = Format::kText;
};
// Searches for the algorithms of a suite's cases on one GPU and stores them.
ExitCode run_tune(const TuneOptions& options);

struct AbOptions {
  std::string base;  // shell commands
  std::string candidate;
  std::string filter;  // regular expression on row ids; empty: all
  std::string out = "out";
  int runs = 0;            // a side, in one look; 0: two looks by the number of rows
  double timeout_s = 600;  // a run
  Format format = Format::kText;
};
// Base against candidate, interleaved in one sitting.
ExitCode run_ab_command(const AbOptions& options);

struct JudgeOptions {
  std::string report;
  std::string targets;  // file; empty: the targets embedded in the report
  bool claims = false;  // print the documents' claims instead; exit 0
  Format format = Format::kText;
};
ExitCode run_judge(const JudgeOptions& options);

struct ReportOptions {
  std::string report;
  std::string markdown;  // file to write, "-" for stdout; empty: not asked for
  std::string json;      // likewise: the report itself (with --redact, the redacted one)
  bool redact = false;
};
ExitCode run_report(const ReportOptions& options);

struct ListOptions {
  std::string what = "suites";  // suites, benchmarks, gpus, targets, claims
  Format format = Format::kText;
};
ExitCode run_list(const ListOptions& options);

}  // namespace assay
