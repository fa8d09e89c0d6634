// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner/ab.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <thread>

#include "bench/node/environment.h"
#include "bench/runner/out_folder.h"
#include "bench/runner/process.h"
#include "reports/text.h"

namespace assay {
namespace {

class Sitting {
 public:
  Sitting(const AbRequest& request, const std::atomic<bool>& stop,
          const std::function<void(const std::string&)>& progress)
      : request_(request), stop_(stop), progress_(progress) {}

  AbResult run() {
    prepare();
    write();
    if (condition()) {
      try {
        fix_rows(result_);
      } catch (const Error&) {
        write();  // what the commands printed is kept, for whoever looks for the reason
        throw;
      }
      measure();
    }
    conclude(result_);
    write();
    return std::move(result_);
  }

 private:
  void prepare() {
    if (request_.base.empty() || request_.candidate.empty()) {
      throw Error(ExitCode::kUsage, "--base and --cand: an empty command measures nothing");
    }
    if (request_.runs % 2 != 0 || request_.runs < 0) {
      throw Error(ExitCode::kUsage,
                  fmt::format("--runs {}: an ABBA block holds two runs a side; take an even number",
                              request_.runs));
    }
    if (!std::isfinite(request_.timeout_s)) {  // no comparison with a limit would tell
      throw Error(ExitCode::kUsage, fmt::format("--timeout {}: no time", request_.timeout_s));
    }
    result_.version = ASSAY_VERSION;
    result_.revision = request_.revision;
    result_.started = utc_now();
    result_.base = request_.base;
    result_.candidate = request_.candidate;
    result_.filter = request_.filter;
    result_.timeout_s = request_.timeout_s;
    result_.mirrored = request_.mirrored;
    result_.runs_asked = request_.runs;
    result_.environment = recorded_environment();
    folder_.emplace(request_.out / kRunFolder);
    folder_->clear();
  }

  void write() {
    result_.duration_s = seconds_since(start_);
    write_file_atomically(request_.out / "ab.json", dump_json(ab_to_json(result_)));
  }

  // One run a side, recorded and not judged. False if the sitting ends here.
  bool condition() {
    std::vector<Side> order = interleaved_order(2, request_.mirrored);
    order.resize(2);
    for (const Side side : order) {
      if (!run_once(side, true)) return false;
      write();
    }
    return true;
  }

  void measure() {
    const InterleavedRule rule(result_.plan);
    planned_ = 2 + 2 * result_.plan.looks.front().runs;
    for (const Side side : interleaved_order(result_.plan.looks.back().runs, request_.mirrored)) {
      if (!any_open()) break;
      if (!run_once(side, false) || !replace_invalid(side)) return;
      judge_rows(result_, rule);
      write();
      if (static_cast<int>(result_.runs.size()) >= planned_ && any_open()) {
        planned_ = 2 + 2 * result_.plan.looks.back().runs;
      }
    }
    result_.complete = true;
  }

  [[nodiscard]] bool any_open() const {
    return std::ranges::any_of(result_.rows, [](const AbRow& row) { return row.open; });
  }

  // A row that was wrong once may have been hit by a fault that passes: the run is made once more.
  // A row that is wrong again is errored from then on, and asks for no further replacement.
  bool replace_invalid(Side side) {
    const AbRun& last = result_.runs.back();
    const bool invalid = std::ranges::any_of(result_.rows, [&](const AbRow& row) {
      const auto& key = side == Side::kBase ? row.base : row.candidate;
      const AbValue* value = row.open && key ? find_value(last, *key) : nullptr;
      return value != nullptr && value->status == RecordStatus::kInvalid;
    });
    if (!invalid) return true;
    result_.runs.back().replaced = true;
    ++planned_;
    write();
    return run_once(side, false);
  }

  // False if the sitting ends here: interrupted, or the command broke.
  bool run_once(Side side, bool conditioning) {
    if (stop_) return false;
    AbRun run;
    run.number = static_cast<int>(result_.runs.size()) + 1;
    run.side = side;
    run.conditioning = conditioning;
    run.started = utc_now();
    run.output = fmt::format("{}/{:03}-{}.out", kRunFolder, run.number, to_string(side));
    progress_(fmt::format("run {} of {}: {}{}", run.number,
                          planned_ > 0 ? fmt::format("{}", planned_) : "?", to_string(side),
                          conditioning ? " (conditioning)" : ""));
    const SteadyTime begin = std::chrono::steady_clock::now();
    const bool in_time = follow(run);
    run.duration_s = seconds_since(begin);
    if (stop_) return false;  // ended by us: half a run
    const AbOutput output = read_ab_output(read_file(request_.out / run.output));
    run.values = output.values;
    run.unreadable = output.unreadable;
    run.last_line = last_line_of(errors_of(run));
    run.failed = !in_time || output.too_many || !sound(run, output);
    if (run.failed) result_.failure = failure_of(run, output);
    result_.runs.push_back(std::move(run));
    return !result_.runs.back().failed;
  }

  // Runs the command to its end; false if that took too long. `ended` says how it went.
  bool follow(AbRun& run) {
    const SteadyTime begin = std::chrono::steady_clock::now();
    Child child({.arguments = {"/bin/sh", "-c", result_.command(run.side)},
                 .environment = {},
                 .output = request_.out / run.output,
                 .errors = errors_of(run)});
    while (!child.poll()) {
      const bool late = seconds_since(begin) > request_.timeout_s;
      if (stop_ || late) {
        child.end();
        run.ended = late ? fmt::format("no end within {:g} s", request_.timeout_s) : *child.poll();
        return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    run.ended = *child.poll();
    return true;
  }

  [[nodiscard]] std::filesystem::path errors_of(const AbRun& run) const {
    return (request_.out / run.output).replace_extension(".err");
  }

  // Ended with 0, or with a code that only tells of rows that are not ok.
  static bool sound(const AbRun& run, const AbOutput& output) {
    if (run.ended == "exit 0") return true;
    return output.end_code && run.ended == fmt::format("exit {}", *output.end_code) &&
           output.explains(*output.end_code);
  }

  [[nodiscard]] std::string failure_of(const AbRun& run, const AbOutput& output) const {
    std::string words = run.last_line.empty() ? "nothing on stderr" : run.last_line;
    if (output.too_many) words = fmt::format("more than {} rows", output.values.size());
    return one_line(fmt::format("run {} ({}{}) failed: {}: {}; run it by hand: {}", run.number,
                                to_string(run.side), run.conditioning ? ", conditioning" : "",
                                run.ended, words, result_.command(run.side)));
  }

  static constexpr const char* kRunFolder = "ab-runs";

  const AbRequest& request_;
  const std::atomic<bool>& stop_;
  const std::function<void(const std::string&)>& progress_;
  SteadyTime start_ = std::chrono::steady_clock::now();
  std::optional<OutFolder> folder_;
  int planned_ = 0;  // runs, as far as is known
  AbResult result_;
};

}  // namespace

AbResult run_ab(const AbRequest& request, const std::atomic<bool>& stop,
                const std::function<void(const std::string&)>& progress) {
  return Sitting(request, stop, progress).run();
}

}  // namespace assay
