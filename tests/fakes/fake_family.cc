// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A benchmark program for tests of the runner: it writes what a real one writes, with the rates of
// a sound H200, at once. FAKE_FAMILY plants a fault:
//   hang:ID       never ends             crash:ID     aborts             wrong:ID   a wrong result
//   lost:ID       errored, then ends     error:ID     errored, goes on   slow:ID    25 % more time
//   garbage:ID    a broken record        twice:ID     its record twice   zero:ID    no time passed
//   elsewhere:ID  on another GPU         chatter:ID   begins for ever
//   skip:REASON   no device              die:         before any case    teardown:  aborts at the
//   end lastgasp:     an error at the end    orphan:      leaves a child once:FILE+... one of these
//   in the first process that is asked for ID (FILE is created)
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "bench/harness/run_log.h"
#include "bench/node/environment.h"
#include "bench/runner/supervise.h"
#include "reports/record.h"

namespace {

using assay::RunRecord;

struct Fault {
  std::string kind;
  std::string id;
  [[nodiscard]] bool hits(std::string_view name, const std::string& case_id) const {
    return kind == name && id == case_id;
  }
};

Fault planted_fault(const std::string& ids) {
  const char* setting = std::getenv("FAKE_FAMILY");
  std::string text = setting != nullptr ? setting : "";
  if (text.starts_with("once:")) {
    const std::size_t plus = text.find('+');
    const std::string flag = text.substr(5, plus - 5);
    if (std::filesystem::exists(flag)) return {};
    text = text.substr(plus + 1);
    if (ids.find(text.substr(text.find(':') + 1)) == std::string::npos) return {};
    std::ofstream(flag).put('x');
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return {};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

// "gemm/fp8_e4m3/..." -> "fp8"
std::string pipe_of(const std::string& id) {
  if (!id.starts_with("gemm/")) return id.starts_with("host/") ? "host_memory" : "dram";
  return id.substr(5, id.find_first_of("/_", 5) - 5);
}

double rate_of(const std::string& pipe) {
  if (pipe == "bf16") return 669e12;
  if (pipe == "fp8") return 1290e12;
  if (pipe == "tf32") return 350e12;
  if (pipe == "fp32") return 51e12;
  // Between the floors of all memory rows and 1.05 of the best known copy.
  return pipe == "dram" ? 4500e9 : 100e9;
}

RunRecord record_of(const std::string& id, int round, const Fault& fault) {
  RunRecord record;
  record.id = id;
  record.family = id.substr(0, id.find('/'));
  // As a real program: the one GPU that it was shown, or the host.
  const char* shown = std::getenv("CUDA_VISIBLE_DEVICES");
  record.device = {record.family == "host" || shown == nullptr ? assay::kHostUuid : shown, "fake",
                   0, std::nullopt};
  if (fault.hits("elsewhere", id)) record.device.uuid = "GPU-another";
  record.round = round;
  record.started = assay::utc_now();
  record.conditions = assay::conditions_of_id(id);
  record.work.pipe = pipe_of(id);
  const bool memory = record.work.pipe == "dram" || record.work.pipe == "host_memory";
  (memory ? record.work.bytes : record.work.operations) = 1e12;
  double seconds = 1e12 / rate_of(record.work.pipe) * (1 + 0.001 * (round % 3));
  if (fault.hits("slow", id)) seconds *= 1.25;
  if (fault.hits("zero", id)) seconds = 0;
  record.timing.timer = "gated";
  record.timing.rule = record.timing.stop_reason = "declared 3 samples";
  record.timing.samples_s = {seconds, seconds, seconds};
  record.timing.median_s = record.timing.mean_s = seconds;
  record.telemetry.samples = 3;
  record.telemetry.sm_clock_mhz = assay::Range{1500, 1500, 1500};
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

}  // namespace

int main(int argc, char** argv) {
  std::string ids;
  std::string log_path;
  int round = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("--ids=")) ids = argument.substr(6) + ",";
    if (argument.starts_with("--log=")) log_path = argument.substr(6);
    if (argument.starts_with("--round=")) round = std::atoi(argument.c_str() + 8);
  }
  const Fault fault = planted_fault(ids);
  if (fault.kind == "die") std::abort();
  assay::RunLog log(log_path);
  if (fault.kind == "skip") {
    log.append({{"type", "end"}, {"exit_code", 2}, {"message", fault.id}});
    return 2;
  }
  log.append({{"type", "process"}, {"versions", {{"fake", "1.0"}}}});
  while (!ids.empty()) {
    const std::string id = ids.substr(0, ids.find(','));
    ids.erase(0, id.size() + 1);
    log.append({{"type", "begin"}, {"id", id}});
    if (fault.hits("hang", id)) pause();
    if (fault.hits("crash", id)) std::abort();
    if (fault.hits("garbage", id)) {
      std::ofstream(log_path, std::ios::app) << "{\"type\": \"record\", \"rec\n";
      continue;
    }
    log.append({{"type", "record"}, {"record", to_json_value(record_of(id, round, fault))}});
    if (fault.hits("twice", id)) {
      log.append({{"type", "record"}, {"record", to_json_value(record_of(id, round, fault))}});
    }
    if (fault.hits("chatter", id)) {
      while (true) {
        log.append({{"type", "begin"}, {"id", id}});
        usleep(50'000);
      }
    }
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
