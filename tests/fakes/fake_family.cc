// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A benchmark program for tests of the runner: it writes what a real one writes, with the rates of
// a sound H200, at once. FAKE_FAMILY plants a fault:
//   hang:ID       never ends          crash:ID     aborts              wrong:ID  a wrong result
//   lost:ID       errored, then ends  error:ID     errored, goes on    slow:ID   25 % more time
//   garbage:ID    a broken record     twice:ID     its record twice    zero:ID   no time passed
//   elsewhere:ID  on another GPU      chatter:ID   begins for ever     deaf:ID   closes its stdin
//   crowded:ID    slow unless alone   rude:ID      does not wait for the others
//   flood:ID      a million lines that are none of ours
//   hello:ID      introduces itself for ever
//   skip:REASON   no device           die:         before any case     orphan:   leaves a child
//   teardown:     aborts at the end   lastgasp:    an error at the end
// With --tune, matrix products come with the choice of a search. An ID of * is every case. Before a
// fault there may be conditions, each with a + behind it:
//   once:FILE     only in the first process that is asked for ID (FILE is created)
//   from:ROUND    from this round on
//   gpu:N         only on the GPU whose UUID ends in N
// Of a link between GPUs a record says which GPUs the process saw and when the case ran.
// FAKE_SETUP_MS: a case's set-up takes this long times the last digits of the UUID; FAKE_WORK_MS:
// its measurement takes this long.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>

#include "bench/harness/run_log.h"
#include "bench/node/environment.h"
#include "bench/runner/supervise.h"
#include "reports/peer_id.h"
#include "reports/record.h"

namespace {

using assay::RunRecord;

struct Options {
  std::string ids;  // each with a comma behind it
  std::string log;
  int round = 0;
  bool start_together = false;
  bool alone = false;
  bool tune = false;
  std::string algorithms;
};

Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("--ids=")) options.ids = argument.substr(6) + ",";
    if (argument.starts_with("--log=")) options.log = argument.substr(6);
    if (argument.starts_with("--round=")) options.round = std::atoi(argument.c_str() + 8);
    if (argument == "--start=stdin") options.start_together = true;
    if (argument == "--alone") options.alone = true;
    if (argument == "--tune") options.tune = true;
    if (argument.starts_with("--algorithms=")) options.algorithms = argument.substr(13);
  }
  return options;
}

// The GPUs that it was shown, by commas; empty without. The first is its own.
std::string shown_gpus() {
  const char* shown = std::getenv("CUDA_VISIBLE_DEVICES");
  return shown != nullptr ? shown : "";
}
std::string shown_gpu() {
  const std::string shown = shown_gpus();
  return shown.substr(0, shown.find(','));
}
int gpu_number() {
  const std::string uuid = shown_gpu();
  const std::size_t digits = uuid.find_last_not_of("0123456789") + 1;
  return digits < uuid.size() ? std::atoi(uuid.c_str() + digits) : 0;
}

struct Fault {
  std::string kind;
  std::string id;
  [[nodiscard]] bool hits(std::string_view name, const std::string& case_id) const {
    return kind == name && (id == case_id || id == "*");
  }
};

// "once", "FILE" for "once:FILE+..."
bool holds(const std::string& name, const std::string& value, const std::string& id,
           const Options& options) {
  if (name == "from") return options.round >= std::atoi(value.c_str());
  if (name == "gpu") return gpu_number() == std::atoi(value.c_str());
  const bool asked = options.ids.find(id) != std::string::npos;
  // Made by one process alone, however many GPUs begin at the same moment.
  return asked && close(open(value.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600)) == 0;
}

Fault planted_fault(const Options& options) {
  const char* setting = std::getenv("FAKE_FAMILY");
  std::string text = setting != nullptr ? setting : "";
  const std::string id = text.substr(text.rfind(':') + 1);
  const auto conditional = [&] {  // an ID may have a + as well
    return text.starts_with("once:") || text.starts_with("from:") || text.starts_with("gpu:");
  };
  while (conditional()) {
    const std::size_t plus = text.find('+');
    const std::size_t colon = text.find(':');
    if (!holds(text.substr(0, colon), text.substr(colon + 1, plus - colon - 1), id, options)) {
      return {};
    }
    text.erase(0, plus + 1);
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return {};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

void sleep_ms(const char* variable, int times) {
  const char* setting = std::getenv(variable);
  if (setting == nullptr) return;
  std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(setting) * times));
}

double monotonic_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// "gemm/fp8_e4m3/..." -> "fp8"; FP64 runs on the tensor cores.
std::string pipe_of(const std::string& id) {
  if (id.starts_with("links/p2p_both/")) return std::string(assay::kPeerBoth);
  if (assay::peer_of_id(id)) return std::string(assay::kPeer);
  if (id.starts_with("links/")) return assay::kPcie.data();
  if (!id.starts_with("gemm/")) return id.starts_with("host/") ? "host_memory" : "dram";
  const std::string pipe = id.substr(5, id.find_first_of("/_", 5) - 5);
  return pipe == "fp64" ? "fp64_tc" : pipe;
}

double rate_of(const std::string& pipe) {
  if (pipe == "bf16") return 669e12;
  if (pipe == "fp16") return 665e12;
  if (pipe == "int8") return 1277e12;
  if (pipe == "fp64_tc") return 54.7e12;
  if (pipe == "fp8") return 1290e12;
  if (pipe == "tf32") return 350e12;
  if (pipe == "fp32") return 51e12;
  // Between the floors of all memory rows and 1.05 of the best known copy.
  if (pipe == "dram") return 4500e9;
  return pipe == assay::kPcie ? 55e9 : 100e9;
}

// Of matrix products: as the harness has it after a search, or with the file of stored choices.
assay::Json algorithm_of(const std::string& id, const Options& options) {
  if (!id.starts_with("gemm/")) return nullptr;
  assay::Json algorithm = {{"library", "fake 1.0"}, {"id", 7}};
  if (options.tune) algorithm["tuning"] = {{"candidates", 40}, {"gain", 1.034}};
  algorithm["chosen"] = options.tune                 ? "tuned"
                        : options.algorithms.empty() ? "first offered"
                                                     : "from " + options.algorithms;
  return algorithm;
}

RunRecord record_of(const std::string& id, const Options& options, const Fault& fault) {
  RunRecord record;
  record.id = options.alone ? id + "/alone" : id;
  record.family = id.substr(0, id.find('/'));
  const std::string gpu = shown_gpu();
  record.device = {record.family == "host" || gpu.empty() ? assay::kHostUuid : gpu, "fake", 0,
                   std::nullopt};
  if (fault.hits("elsewhere", id)) record.device.uuid = "GPU-another";
  record.round = options.round;
  record.started = assay::utc_now();
  record.conditions = assay::conditions_of_id(record.id);
  record.work.pipe = pipe_of(id);
  const bool memory = !id.starts_with("gemm/");
  (memory ? record.work.bytes : record.work.operations) = 1e12;
  double seconds = 1e12 / rate_of(record.work.pipe) * (1 + 0.001 * (options.round % 3));
  if (fault.hits("slow", id) || (fault.hits("crowded", id) && !options.alone)) seconds *= 1.25;
  if (fault.hits("zero", id)) seconds = 0;
  record.algorithm = algorithm_of(id, options);
  record.timing.timer = "gated";
  record.timing.rule = record.timing.stop_reason = "declared 3 samples";
  record.timing.samples_s = {seconds, seconds, seconds};
  record.timing.median_s = record.timing.mean_s = seconds;
  record.busy_s = 0.5;
  record.idle_s = record.conditions.power == assay::Power::kBurst ? 0.25 : 0;
  record.telemetry.samples = 3;
  record.telemetry.sm_clock_mhz = assay::Range{1500, 1500, 1500};
  record.telemetry.pcie_generation = assay::Range{5, 5, 5};
  record.telemetry.pcie_width = assay::Range{16, 16, 16};
  record.telemetry.event_reasons = {{"sw_power_cap", 1}};
  record.verification.status = assay::VerificationStatus::kVerified;
  record.verification.method = "fake";
  record.verification.error = 0.5;
  record.verification.tolerance = 1.0;
  if (fault.hits("wrong", id)) {
    record.status = assay::RecordStatus::kInvalid;
    record.message = "wrong result: row 7";
    record.verification.status = assay::VerificationStatus::kWrong;
    record.verification.error = 2.0;
    record.verification.detail = "row 7";
  } else if (fault.hits("lost", id) || fault.hits("error", id)) {
    record.status = assay::RecordStatus::kErrored;
    record.message = "cudaEventSynchronize: cudaErrorIllegalAddress (700)";
  }
  return record;
}

// Set up; with others, tells the runner and waits for its word. False: the runner has gone.
bool start(const std::string& id, const std::string& logged, const Options& options,
           const Fault& fault, assay::RunLog& log) {
  sleep_ms("FAKE_SETUP_MS", gpu_number());
  if (!options.start_together) return true;
  if (fault.hits("deaf", id)) close(STDIN_FILENO);
  log.append({{"type", "ready"}, {"id", logged}});
  if (fault.hits("rude", id)) return true;
  if (fault.hits("deaf", id)) pause();
  std::string word;
  return static_cast<bool>(std::getline(std::cin, word)) && word == "go";
}

// Faults of a process that writes more than it should, after its record.
void write_more(const std::string& id, const std::string& logged, const Options& options,
                const Fault& fault, assay::RunLog& log) {
  if (fault.hits("twice", id)) {
    log.append({{"type", "record"}, {"record", to_json_value(record_of(id, options, fault))}});
  }
  if (fault.hits("flood", id)) {
    std::ofstream flood(options.log, std::ios::app);
    for (int i = 0; i < 1'000'000; ++i) flood << "{\"noise\": 1}\n";
  }
  while (fault.hits("chatter", id) || fault.hits("hello", id)) {
    if (fault.kind == "chatter") log.append({{"type", "begin"}, {"id", logged}});
    if (fault.kind == "hello") log.append({{"type", "process"}, {"versions", {{"fake", "1.0"}}}});
    usleep(50'000);
  }
}

int run_cases(Options options, const Fault& fault, assay::RunLog& log) {
  while (!options.ids.empty()) {
    const std::string logged = options.ids.substr(0, options.ids.find(','));
    options.ids.erase(0, logged.size() + 1);
    const std::string id = options.alone ? logged.substr(0, logged.rfind("/alone")) : logged;
    log.append({{"type", "begin"}, {"id", logged}});
    if (fault.hits("crash", id)) std::abort();
    if (!start(id, logged, options, fault, log)) return 3;
    const double start_s = monotonic_s();
    if (fault.hits("hang", id)) pause();
    if (fault.hits("garbage", id)) {
      std::ofstream(options.log, std::ios::app) << "{\"type\": \"record\", \"rec\n";
      continue;
    }
    sleep_ms("FAKE_WORK_MS", 1);
    RunRecord record = record_of(id, options, fault);
    if (options.start_together) record.parameters = {{"start_s", start_s}};
    if (assay::is_peer(record.work.pipe)) {
      record.parameters = {
          {"peer_uuid", fmt::format("GPU-00000000-0000-0000-0000-{:0>12}", *assay::peer_of_id(id))},
          {"shown", shown_gpus()},
          {"start_s", start_s},
          {"end_s", monotonic_s()},
          {"waits", options.start_together}};
    }
    log.append({{"type", "record"}, {"record", to_json_value(record)}});
    write_more(id, logged, options, fault, log);
    if (fault.hits("lost", id)) return 3;
  }
  if (fault.kind == "teardown") std::abort();
  if (fault.kind == "orphan" && fork() == 0) pause();
  // As family_main: an errored case is told by the exit code, without a message.
  const int code = fault.kind == "error" || fault.kind == "lastgasp" ? 3 : 0;
  const char* message = fault.kind == "lastgasp" ? "cudaErrorECCUncorrectable" : "";
  log.append({{"type", "end"}, {"exit_code", code}, {"message", message}});
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = options_of(argc, argv);
  const Fault fault = planted_fault(options);
  if (fault.kind == "die") std::abort();
  assay::RunLog log(options.log);
  if (fault.kind == "skip") {
    log.append({{"type", "end"}, {"exit_code", 2}, {"message", fault.id}});
    return 2;
  }
  log.append({{"type", "process"}, {"versions", {{"fake", "1.0"}}}});
  return run_cases(options, fault, log);
}
