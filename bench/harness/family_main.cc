// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/family_main.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <regex>
#include <set>
#include <string_view>

#include "bench/harness/measure.h"
#include "bench/harness/run_log.h"
#include "bench/node/environment.h"
#include "reports/error.h"
#include "reports/merge.h"

namespace assay {
namespace {

struct Options {
  std::string filter;
  std::vector<std::string> ids;
  std::string log;
  int round = 0;
  bool list = false;
  bool alone = false;
  bool waits = false;  // --start=stdin
  bool profile = false;
  bool tune = false;
  std::string algorithms;  // file
};

[[noreturn]] void usage(const std::string& message) { throw Error(ExitCode::kUsage, message); }

// The value if `argument` is --name=value.
std::optional<std::string_view> value_of(std::string_view argument, std::string_view name) {
  if (!argument.starts_with(name) || argument.substr(name.size(), 1) != "=") return std::nullopt;
  return argument.substr(name.size() + 1);
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return parts;
}

int parse_round(std::string_view text) {
  int round = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), round);
  if (error != std::errc() || end != text.data() + text.size() || round < 0) {
    usage(fmt::format("--round={}: expected a whole number >= 0", text));
  }
  return round;
}

// Takes our flags out of argv; Google Benchmark's stay, but for those that would change how often a
// case is launched.
Options take_options(int& argc, char** argv) {
  Options options;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (const auto filter = value_of(argument, "--filter")) {
      options.filter = *filter;
    } else if (const auto benchmark_filter = value_of(argument, "--benchmark_filter")) {
      options.filter = *benchmark_filter;
    } else if (const auto ids = value_of(argument, "--ids")) {
      options.ids = split(*ids);
      if (options.ids.empty()) usage("--ids: names no case; --list prints them");
    } else if (const auto log = value_of(argument, "--log")) {
      options.log = *log;
    } else if (const auto round = value_of(argument, "--round")) {
      options.round = parse_round(*round);
    } else if (argument == "--list") {
      options.list = true;
    } else if (argument == "--alone") {
      options.alone = true;
    } else if (argument == "--profile") {
      options.profile = true;
    } else if (argument == "--tune") {
      options.tune = true;
    } else if (const auto algorithms = value_of(argument, "--algorithms")) {
      options.algorithms = *algorithms;
    } else if (const auto start = value_of(argument, "--start")) {
      if (*start != "stdin") usage(fmt::format("{}: only stdin can say go", argument));
      options.waits = true;
    } else if (argument.starts_with("--benchmark_repetitions") ||
               argument.starts_with("--benchmark_min_time") ||
               argument.starts_with("--benchmark_min_warmup_time")) {
      usage(fmt::format("{}: the harness decides how often a case runs; use assay run --runs N",
                        argument));
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  return options;
}

void make_alone(CaseEntry& entry) {
  entry.info.conditions.peers = Peers::kAlone;
  entry.info.id += kAloneSuffix;
}

// A case that is named and not listed.
std::optional<CaseEntry> parsed(Family& family, std::string id, bool alone) {
  if (!alone) return family.parse(id);
  if (!id.ends_with(kAloneSuffix)) return std::nullopt;
  id.resize(id.size() - std::string_view(kAloneSuffix).size());
  std::optional<CaseEntry> entry = family.parse(id);
  if (entry) make_alone(*entry);
  return entry;
}

std::vector<CaseEntry> choose(Family& family, const Options& options) {
  std::vector<CaseEntry> cases = family.cases();
  if (options.alone) std::ranges::for_each(cases, make_alone);
  std::regex filter;
  try {
    filter = std::regex(options.filter);
  } catch (const std::regex_error&) {
    usage(fmt::format("--filter={}: not a regular expression", options.filter));
  }
  std::erase_if(cases,
                [&](const CaseEntry& entry) { return !std::regex_search(entry.info.id, filter); });
  if (options.ids.empty()) return cases;
  std::vector<CaseEntry> chosen;  // in the order that was asked for
  std::set<std::string> seen;
  for (const std::string& id : options.ids) {
    if (!std::regex_search(id, filter)) usage(fmt::format("--ids: '{}' is not in --filter", id));
    if (!seen.insert(id).second) usage(fmt::format("--ids: '{}' is named twice", id));
    const auto named =
        std::ranges::find_if(cases, [&](const CaseEntry& entry) { return entry.info.id == id; });
    std::optional<CaseEntry> entry;
    if (named != cases.end()) {
      entry = std::move(*named);
    } else {
      entry = parsed(family, id, options.alone);
    }
    if (!entry) usage(fmt::format("--ids: no case '{}'; --list prints them", id));
    chosen.push_back(std::move(*entry));
  }
  return chosen;
}

// Tells the runner that a case is ready and waits for its go. A closed input means that there is
// no runner any more.
void wait_for_go(RunLog& log, const std::string& id) {
  log.append({{"type", "ready"}, {"id", id}});
  for (char c = 0; c != '\n';) {
    const ssize_t got = read(STDIN_FILENO, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw ProcessLost("--start=stdin: the input closed before it said go");
  }
}

// Runs each chosen case once and remembers the worst outcome.
class Session {
 public:
  Session(Bench bench, RunLog& log) : bench_(std::move(bench)), log_(log) {}

  void run(const CaseEntry& entry, benchmark::State& state) {
    RunRecord record;
    if (!lost_.empty()) {
      for (auto _ : state) state.SetIterationTime(0);
      state.SkipWithError("not run: the process was lost before");
      return;
    }
    log_.append({{"type", "begin"}, {"id", entry.info.id}});
    for (auto _ : state) {
      try {
        measure(entry, bench_, record);
      } catch (const ProcessLost& lost) {
        lost_ = lost.what();
      }
      state.SetIterationTime(record.timing.median_s);
    }
    log_.append({{"type", "record"}, {"record", to_json_value(record)}});
    show(record, state);
  }

  [[nodiscard]] ExitCode outcome() const { return outcome_; }
  [[nodiscard]] const std::string& lost() const { return lost_; }

 private:
  void show(const RunRecord& record, benchmark::State& state) {
    switch (record.status) {
      case RecordStatus::kOk: {
        const PrimaryMetric metric = primary_metric_of(record.work, record.timing.median_s);
        state.counters[metric.name] = metric.value;
        return;
      }
      case RecordStatus::kInvalid:
        outcome_ = worst_of(outcome_, ExitCode::kFail);
        break;
      case RecordStatus::kErrored:
        outcome_ = worst_of(outcome_, ExitCode::kMeasurement);
        break;
      case RecordStatus::kSkipped:
        outcome_ = worst_of(outcome_, ExitCode::kNotJudged);
        break;
    }
    state.SkipWithError((to_string(record.status) + ": " + record.message).c_str());
  }

  Bench bench_;
  RunLog& log_;
  ExitCode outcome_ = ExitCode::kPass;
  std::string lost_;
};

// Google Benchmark's flags, those that its environment variables set too (BENCHMARK_FILTER), must
// neither drop a case nor repeat one.
void initialise_benchmark(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  std::string filter = "--benchmark_filter=.*";
  std::string repetitions = "--benchmark_repetitions=1";
  arguments.push_back(filter.data());
  arguments.push_back(repetitions.data());
  arguments.push_back(nullptr);
  int count = static_cast<int>(arguments.size()) - 1;
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) {
    usage(fmt::format("{}: unknown flag", arguments[1]));
  }
}

ExitCode run_cases(const std::vector<CaseEntry>& cases, Session& session) {
  for (const CaseEntry& entry : cases) {
    benchmark::RegisterBenchmark(entry.info.id.c_str(),
                                 [&](benchmark::State& state) { session.run(entry, state); })
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  const std::size_t ran = benchmark::RunSpecifiedBenchmarks();
  if (ran != cases.size()) {
    throw Error(
        ExitCode::kMeasurement,
        fmt::format("{} of {} cases ran: unset BENCHMARK_* in the environment", ran, cases.size()));
  }
  return session.outcome();
}

ExitCode run_family(int argc, char** argv, const Options& options, const std::string& name,
                    Family& family, Clock& clock, RunLog& log) {
  const std::vector<CaseEntry> cases = choose(family, options);
  if (options.list) {
    for (const CaseEntry& entry : cases) std::printf("%s\n", entry.info.id.c_str());
    return ExitCode::kPass;
  }
  if (cases.empty()) {
    throw Error(ExitCode::kNotJudged,
                fmt::format("no case matches '{}'; --list prints them", options.filter));
  }
  initialise_benchmark(argc, argv);
  log.append({{"type", "process"},
              {"family", name},
              {"pid", getpid()},
              {"started", utc_now()},
              {"round", options.round},
              {"device", to_json_value(family.device())},
              {"versions", family.versions()}});
  Bench bench{.timer = family.timer(),
              .clock = clock,
              .sensor = family.sensor(),
              .budget = {},
              .family = name,
              .device = family.device(),
              .round = options.round,
              .max_clock_mhz = family.max_clock_mhz(),
              .cache_bytes = family.cache_bytes(),
              .profiled = options.profile,
              .tunes = options.tune};
  std::optional<AlgorithmSet> algorithms;
  if (!options.algorithms.empty()) algorithms = load_algorithms(options.algorithms);
  if (algorithms) bench.algorithms = &*algorithms;
  if (options.waits) bench.ready = [&](const std::string& id) { wait_for_go(log, id); };
  if (options.profile) family.timer().start_profiling();
  Session session(std::move(bench), log);
  const ExitCode code = run_cases(cases, session);
  if (!session.lost().empty()) throw Error(ExitCode::kMeasurement, session.lost());
  return code;
}

}  // namespace

int family_main(int argc, char** argv, const std::string& name,
                const std::function<std::unique_ptr<Family>(Clock&)>& open) {
  ExitCode code = ExitCode::kPass;
  std::string message;
  Options options;
  try {
    options = take_options(argc, argv);
    RunLog log(options.log);
    try {
      SteadyClock clock;
      const std::unique_ptr<Family> family = open(clock);
      code = run_family(argc, argv, options, name, *family, clock, log);
    } catch (const Skip& skip) {
      code = ExitCode::kNotJudged;
      message = std::string("SKIPPED: ") + skip.what();
    } catch (const Error& error) {
      code = error.code();
      message = error.what();
    } catch (const std::exception& error) {
      code = ExitCode::kMeasurement;
      message = error.what();
    }
    log.append({{"type", "end"}, {"exit_code", static_cast<int>(code)}, {"message", message}});
  } catch (const Error& error) {
    code = error.code();
    message = error.what();
  }
  if (!message.empty()) std::fprintf(stderr, "assay-%s: %s\n", name.c_str(), message.c_str());
  return static_cast<int>(code);
}

}  // namespace assay
