// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The command line: parses, calls a command of commands.h, and turns what it throws into one line
// on stderr and an exit code. The help is the reference of the options.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "reports/json_fields.h"
#include "reports/text.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 5> kListable = {"suites", "benchmarks", "gpus", "targets",
                                                       "claims"};

constexpr const char* kFooter =
    "Exit codes: 0 pass; 1 fail (the only one that may drain a node); 2 not judged: inconclusive,\n"
    "incomplete or missing; 3 the measurement itself broke; 4 bad usage or unreadable input.\n"
    "Results go to stdout, progress and errors to stderr. Examples:\n"
    "  assay accept                              check, measure and judge this node\n"
    "  assay run quick --filter '^memory/' --runs 5\n"
    "  assay ab --base 'old/assay-gemm --log=/dev/stdout' --cand 'new/assay-gemm "
    "--log=/dev/stdout'\n"
    "  assay judge out/report.json --format json\n"
    "  assay report out/report.json --redact --json public.json --md public.md";

struct CommandLine {
  MeasureOptions accept;
  MeasureOptions run;
  TuneOptions tune;
  AbOptions ab;
  JudgeOptions judge;
  ListOptions list;
  ReportOptions report;
  std::function<ExitCode()> chosen;
};

// Errors are ours to word: CLI11's checks would print a line for each type of it.
void add_format(CLI::App& command, Format& format) {
  static const std::map<std::string, Format> names = {{"text", Format::kText},
                                                      {"json", Format::kJson}};
  command
      .add_option_function<std::string>(
          "--format",
          [&format](const std::string& name) {
            const auto found = names.find(name);
            if (found == names.end()) {
              throw CLI::ValidationError("--format", "'" + name + "' is not one of text, json");
            }
            format = found->second;
          },
          "Form of the output on stdout (default: text)")
      ->type_name("text|json");
}

void add_gpus(CLI::App& command, std::vector<std::string>& gpus, const std::string& help) {
  command.add_option("--gpus", gpus, help)
      ->delimiter(',')
      ->allow_extra_args(false)  // else `run --gpus 0 quick` takes the suite for a GPU
      ->type_name("LIST");
}

void add_filter(CLI::App& command, std::string& filter) {
  command
      .add_option("--filter", filter,
                  "Only the cases whose id matches (ECMAScript, anywhere in the id)")
      ->type_name("REGEX");
}

void add_measure_options(CLI::App& command, MeasureOptions& options) {
  add_gpus(command, options.gpus,
           "Only these GPUs, by index or UUID, separated by commas (default: all)");
  command
      .add_option("--targets", options.targets,
                  "Floors to judge by (default: configs/targets/<sku>.yaml of each card)")
      ->type_name("FILE");
  command
      .add_option("--out", options.out, "Folder for report.json and samples.jsonl (default: out)")
      ->type_name("DIR");
  add_format(command, options.format);
}

void add_accept(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand(
      "accept", "Check this node, measure it and judge it: gates, a suite, gates again, verdict");
  command->add_option("--suite", line.accept.suite, "Suite of configs/suites (default: quick)")
      ->type_name("SUITE");
  add_measure_options(*command, line.accept);
  command->callback([&line] { line.chosen = [&line] { return run_accept(line.accept); }; });
}

void add_run(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand(
      "run", "Measure a suite without a verdict; 0 if no run is missing and all are ok");
  command->add_option("SUITE", line.run.suite, "Suite of configs/suites")
      ->required()
      ->type_name("");
  add_measure_options(*command, line.run);
  // Not for accept: a part of the gate set, or fewer runs than a stage, is no verdict on a node.
  add_filter(*command, line.run.filter);
  command->add_option("--runs", line.run.runs, "Runs a row (default: as the suite says)")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  command->add_flag("--profile", line.run.profile,
                    "One round without limits on time, to run under Nsight: nsys profile assay run "
                    "quick --profile; its times are no results");
  command->callback([&line] { line.chosen = [&line] { return run_run(line.run); }; });
}

void add_tune(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand(
      "tune", "Search once for the best algorithm of each case, on one GPU, and store the choice");
  command->add_option("SUITE", line.tune.suite, "Suite of configs/suites")
      ->required()
      ->type_name("");
  add_filter(*command, line.tune.filter);
  add_gpus(*command, line.tune.gpus,
           "Search on the first of these GPUs, by index or UUID (default: the first)");
  command
      ->add_option("--file", line.tune.file,
                   "File to store in (default: configs/algorithms/<sku>.json of the GPU)")
      ->type_name("FILE");
  command
      ->add_option("--out", line.tune.out,
                   "Folder for report.json and samples.jsonl (default: out)")
      ->type_name("DIR");
  add_format(*command, line.tune.format);
  command->callback([&line] { line.chosen = [&line] { return run_tune(line.tune); }; });
}

void add_ab(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand(
      "ab",
      "Compare two commands run interleaved in one sitting: regression, improvement, unchanged");
  command
      ->add_option(
          "--base", line.ab.base,
          "Shell command that prints rows on stdout: a benchmark with --log=/dev/stdout, or "
          "lines with op and ms")
      ->required()
      ->type_name("CMD");
  command->add_option("--cand", line.ab.candidate, "Likewise, of the candidate")
      ->required()
      ->type_name("CMD");
  // The exact rank distribution of more runs would cost more than it could tell.
  command
      ->add_option(
          "--runs", line.ab.runs,
          "Runs a side, an even number, judged once (default: 6, 8 or more by the number of "
          "rows, and twice as many for undecided rows)")
      ->check(CLI::Range(2, 100))
      ->type_name("N");
  command
      ->add_option("--rows", line.ab.filter,
                   "Only the rows whose id matches (ECMAScript, anywhere in the id)")
      ->type_name("REGEX");
  command
      ->add_option("--timeout", line.ab.timeout_s, "Seconds that one run may take (default: 600)")
      ->check(CLI::Range(0.1, 86400.0))
      ->type_name("S");
  command->add_option("--out", line.ab.out, "Folder for ab.json and ab-runs/ (default: out)")
      ->type_name("DIR");
  add_format(*command, line.ab.format);
  command->callback([&line] { line.chosen = [&line] { return run_ab_command(line.ab); }; });
}

void add_judge(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand(
      "judge", "Judge a report made earlier: limits, shares and the verdict are derived again");
  command->add_option("REPORT", line.judge.report, "A report.json")->required()->type_name("");
  command
      ->add_option("--targets", line.judge.targets,
                   "Floors to judge by (default: those stored in the report)")
      ->type_name("FILE");
  command->add_flag("--claims", line.judge.claims,
                    "Judge the documents' claims about the cards instead; exits 0");
  add_format(*command, line.judge.format);
  command->callback([&line] { line.chosen = [&line] { return run_judge(line.judge); }; });
}

void add_list(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("list", "What there is");
  command->add_option("WHAT", line.list.what, "suites, benchmarks, gpus, targets or claims")
      ->check([](const std::string& what) {
        const bool known = std::find(kListable.begin(), kListable.end(), what) != kListable.end();
        return known ? std::string()
                     : fmt::format("'{}' is not one of {}", what, fmt::join(kListable, ", "));
      })
      ->type_name("");
  add_format(*command, line.list.format);
  command->callback([&line] { line.chosen = [&line] { return run_list(line.list); }; });
}

void add_report(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand(
      "report", "Render a report as it was judged; without --md and --json, the summary");
  command->add_option("REPORT", line.report.report, "A report.json")->required()->type_name("");
  command->add_option("--md", line.report.markdown, "Write Markdown; - is stdout")
      ->type_name("FILE");
  command->add_option("--json", line.report.json, "Write the report itself; - is stdout")
      ->type_name("FILE");
  command->add_flag("--redact", line.report.redact,
                    "Replace serials, UUIDs, host, user and board names by tokens");
  command->callback([&line] { line.chosen = [&line] { return run_report(line.report); }; });
}

int usage_error(const std::string& what) {
  fmt::print(stderr, "assay: {}; see assay --help\n", one_line(what.substr(0, what.find('\n'))));
  return static_cast<int>(ExitCode::kUsage);
}

// CLI11 calls an unknown command an unexpected argument; we say which commands there are.
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  const std::string known = fmt::format("commands: {}", fmt::join(names, ", "));
  if (argc < 2) return "no command; " + known;
  const std::string_view first = argv[1];
  if (first.starts_with('-')) return {};
  if (std::find(names.begin(), names.end(), first) != names.end()) return {};
  return fmt::format("unknown command '{}'; {}", first, known);
}

// Output that could not be written is no result.
int flush(ExitCode code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return static_cast<int>(code);
  fmt::print(stderr, "assay: could not write to stdout\n");
  return static_cast<int>(worst_of(code, ExitCode::kMeasurement));
}

int run_program(int argc, char** argv) {
  CommandLine line;
  CLI::App app("Says whether a GPU node delivers what it should.", "assay");
  app.set_version_flag("--version", "assay " ASSAY_VERSION);
  app.footer(kFooter);
  app.require_subcommand(1);
  add_accept(app, line);
  add_run(app, line);
  add_tune(app, line);
  add_ab(app, line);
  add_judge(app, line);
  add_report(app, line);
  add_list(app, line);
  if (const std::string what = unknown_command(app, argc, argv); !what.empty()) {
    return usage_error(what);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {  // --help and --version
    app.exit(help);
    return flush(ExitCode::kPass);
  } catch (const CLI::ParseError& error) {
    return usage_error(error.what());
  }
  return flush(line.chosen());
}

}  // namespace
}  // namespace assay

namespace {

// One line, whatever was in an argument; a closed or full stderr is no reason to die of.
void complain(const std::string& message) {
  std::fputs(("assay: " + assay::one_line(message) + "\n").c_str(), stderr);
}

// A standard stream that was closed is opened in the direction that it is not used in: reading and
// writing still fail, but no file of ours gets its number and with it our progress lines.
void hold_standard_streams() {
  for (int number = 0; number <= 2; ++number) {
    const bool closed = fcntl(number, F_GETFD) < 0;
    if (closed) (void)open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

int main(int argc, char** argv) {
  hold_standard_streams();
  try {
    return assay::run_program(argc, argv);
  } catch (const assay::Error& error) {
    complain(error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    complain(std::string("internal error: ") + error.what());
    return static_cast<int>(assay::ExitCode::kMeasurement);
  }
}
