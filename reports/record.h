// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What one process measured of one case (RunRecord, a line of run.jsonl), and what a report says of
// a case after all its runs (Record). Facts come from the benchmark binaries; merge.h makes records
// of them, and judge.h derives `limit`, `judged` and the intervals of `metrics`.
//
// Units: seconds, clocks in MHz, watts, degrees Celsius; GB = 10^9 bytes, TFLOPS = 10^12 operations
// a second (2 a fused multiply-add); bytes count what is read plus what is written.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/json_fields.h"

namespace assay {

enum class RecordStatus { kOk, kInvalid, kErrored, kSkipped };
constexpr std::array<EnumName<RecordStatus>, 4> enum_names(RecordStatus) {
  return {{{RecordStatus::kOk, "ok"},
           {RecordStatus::kInvalid, "invalid"},
           {RecordStatus::kErrored, "errored"},
           {RecordStatus::kSkipped, "skipped"}}};
}

enum class JudgedStatus { kPass, kFail, kInconclusive, kNotMeasured, kInfo };
constexpr std::array<EnumName<JudgedStatus>, 5> enum_names(JudgedStatus) {
  return {{{JudgedStatus::kPass, "pass"},
           {JudgedStatus::kFail, "fail"},
           {JudgedStatus::kInconclusive, "inconclusive"},
           {JudgedStatus::kNotMeasured, "not_measured"},
           {JudgedStatus::kInfo, "info"}}};
}

// The conditions are part of a record's identity: two records that differ in one are not compared.
enum class Power { kBurst, kSustained };
constexpr std::array<EnumName<Power>, 2> enum_names(Power) {
  return {{{Power::kBurst, "burst"}, {Power::kSustained, "sustained"}}};
}
// A burst counts from this share of the processors' highest clock.
inline constexpr double kBurstClockShare = 0.97;
enum class Cache { kCold, kWarm };
constexpr std::array<EnumName<Cache>, 2> enum_names(Cache) {
  return {{{Cache::kCold, "cold"}, {Cache::kWarm, "warm"}}};
}
enum class Clocks { kFree, kLocked };
constexpr std::array<EnumName<Clocks>, 2> enum_names(Clocks) {
  return {{{Clocks::kFree, "free"}, {Clocks::kLocked, "locked"}}};
}
// kNode: all GPUs under test are loaded at once (on a node of one GPU, that one). kAlone: one that
// was slow among the others, once more without them; its id ends in kAloneSuffix. kPair: the two
// ends of a link between GPUs, the others idle. That is how such a link is always run, so that
// it is not kAlone, which would make its only row look like a second one; and since the id names
// the peer, it has no suffix that says so again.
enum class Peers { kNode, kAlone, kPair };
constexpr std::array<EnumName<Peers>, 3> enum_names(Peers) {
  return {{{Peers::kNode, "node"}, {Peers::kAlone, "alone"}, {Peers::kPair, "pair"}}};
}

struct Conditions {
  Power power = Power::kBurst;
  Cache cache = Cache::kCold;
  Clocks clocks = Clocks::kFree;
  Peers peers = Peers::kNode;

  bool operator==(const Conditions&) const = default;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("power", self.power);
    archive("cache", self.cache);
    archive("clocks", self.clocks);
    archive("peers", self.peers);
  }
};

// What the id of a case ends in that runs on an otherwise idle node.
inline constexpr const char* kAloneSuffix = "/alone";

// "sustained", "burst/warm", "burst/alone": the power condition, then each that is not the default
// and that nothing else in the id says (kPair).
[[nodiscard]] std::string condition_suffix(const Conditions& conditions);

// The link between host and GPU as a pipe, one way and both ways at once.
inline constexpr std::string_view kPcie = "pcie";
inline constexpr std::string_view kPcieBoth = "pcie_both";
[[nodiscard]] constexpr bool is_pcie(std::string_view pipe) {
  return pipe == kPcie || pipe == kPcieBoth;
}
// The way from one GPU to another, whatever it is; `parameters.peer_uuid` names the other.
inline constexpr std::string_view kPeer = "peer";
inline constexpr std::string_view kPeerBoth = "peer_both";
[[nodiscard]] constexpr bool is_peer(std::string_view pipe) {
  return pipe == kPeer || pipe == kPeerBoth;
}

// What one operation does, and the unit of the machine that bounds it: a compute pipe of
// configs/gpus ("fp32", "tf32", "bf16", "fp8", ...), "dram", "l2", "host_memory", or the link to
// the host: "pcie" one way, "pcie_both" both ways at once, "c2c" where it is not PCIe; "peer" and
// "peer_both" between two GPUs.
// Compute pipes are rated by `operations`, the others by `bytes`, and what counts `loads` by the
// time of one.
struct Work {
  Work() = default;
  Work(double operations_, double bytes_, std::string pipe_)
      : operations(operations_), bytes(bytes_), pipe(std::move(pipe_)) {}

  double operations = 0;
  double bytes = 0;
  std::string pipe;
  std::optional<double> loads;  // that wait for each other: of latencies alone

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("operations", self.operations);
    archive("bytes", self.bytes);
    archive("pipe", self.pipe);
    archive("loads", self.loads);
  }
};

// DeviceRef::uuid of the host's processors.
inline constexpr const char* kHostUuid = "host";

// `uuid` identifies a GPU, kHostUuid the host's processors. Index and slot are no identity.
struct DeviceRef {
  std::string uuid;
  std::string name;
  std::optional<int> index;
  std::optional<std::string> sku;  // slug of configs/gpus, null if unknown

  [[nodiscard]] bool is_host() const { return uuid == kHostUuid; }

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("uuid", self.uuid);
    archive("name", self.name);
    archive("index", self.index);
    archive("sku", self.sku);
  }
};

enum class VerificationStatus { kVerified, kWrong, kNotRun };
constexpr std::array<EnumName<VerificationStatus>, 3> enum_names(VerificationStatus) {
  return {{{VerificationStatus::kVerified, "verified"},
           {VerificationStatus::kWrong, "wrong"},
           {VerificationStatus::kNotRun, "not_run"}}};
}

// `error` and `tolerance` are in the unit that `method` names; a result is wrong unless
// error <= tolerance (so that NaN is wrong).
struct Verification {
  VerificationStatus status = VerificationStatus::kNotRun;
  std::string method;
  std::optional<double> error;
  std::optional<double> tolerance;
  std::string detail;  // of a wrong result: where, expected and found
  // Of all outputs, 16 hexadecimal digits, the same for the same input and algorithm on any card of
  // its kind; null where the operation is not reproducible or nothing hashed it.
  std::optional<std::string> hash;
  // Outputs that were hashed and found equal, slot by slot: of a process; in a Record, of all its
  // runs with this hash.
  int repetitions = 0;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("status", self.status);
    archive("method", self.method);
    archive("error", self.error);
    archive("tolerance", self.tolerance);
    archive("detail", self.detail);
    archive("hash", self.hash);
    archive("repetitions", self.repetitions);
  }
};

struct Range {
  double min = 0;
  double mean = 0;
  double max = 0;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("min", self.min);
    archive("mean", self.mean);
    archive("max", self.max);
  }
};

// Sampled over the timed window. What could not be read is null, and `unknown` says why.
struct Telemetry {
  int samples = 0;
  std::optional<Range> sm_clock_mhz;
  std::optional<Range> memory_clock_mhz;
  std::optional<Range> power_w;
  std::optional<Range> temperature_c;
  std::optional<Range> utilisation_pct;
  std::optional<Range> memory_used_bytes;
  std::optional<Range> pcie_generation;  // of the link as it is now; an idle one may train down
  std::optional<Range> pcie_width;       // lanes
  // By the card's own counter, from its first reading in the window to its last, which are energy_s
  // apart: up to 0.2 s less than the window, the pauses between its spells included. Of sustained
  // rows; the counter advances every 0.1 s, so that a shorter window tells nothing.
  std::optional<double> energy_j;
  std::optional<double> energy_s;
  // Share of the samples in which each clock event reason was set, by NVML's name in snake case
  // ("sw_power_cap", "hw_thermal_slowdown", ...); reasons never seen are left out.
  std::map<std::string, double> event_reasons;
  // What counters gained round the whole load of the case, warm-up and checks included, by the
  // names of bench/node/counters.h; beside an entry in `unknown` it is the least that was gained.
  std::map<std::string, std::int64_t> deltas;
  std::optional<double> load_s;                // between the readings of `deltas`
  std::map<std::string, std::string> unknown;  // quantity -> reason

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("samples", self.samples);
    archive("sm_clock_mhz", self.sm_clock_mhz);
    archive("memory_clock_mhz", self.memory_clock_mhz);
    archive("power_w", self.power_w);
    archive("temperature_c", self.temperature_c);
    archive("utilisation_pct", self.utilisation_pct);
    archive("memory_used_bytes", self.memory_used_bytes);
    archive("pcie_generation", self.pcie_generation);
    archive("pcie_width", self.pcie_width);
    archive("energy_j", self.energy_j);
    archive("energy_s", self.energy_s);
    archive("event_reasons", self.event_reasons);
    archive("deltas", self.deltas);
    archive("load_s", self.load_s);
    archive("unknown", self.unknown);
  }
};

struct WarmUp {
  double seconds = 0;
  int launches = 0;
  std::string stop_reason;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("seconds", self.seconds);
    archive("launches", self.launches);
    archive("stop_reason", self.stop_reason);
  }
};

// The timed window. Each sample is the mean time of `launches_per_sample` consecutive launches.
struct Timing {
  std::string timer;  // "gated", "events" (gate off), "step"
  std::string rule;  // when to stop, declared before the first sample; a budget, no error statement
  std::vector<double> samples_s;
  int launches_per_sample = 1;
  double median_s = 0;  // the run's value
  double mean_s = 0;    // total time / total launches: far from the median when there were stalls
  // Of the processors over the timed windows, from their own counters; null where no window reached
  // 1 ms or the device has no such counter.
  std::optional<double> sm_clock_mhz;
  std::vector<double> rejected_s;  // samples of bursts below full clock: kept, not counted
  std::string stop_reason;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("timer", self.timer);
    archive("rule", self.rule);
    archive("samples_s", self.samples_s);
    archive("launches_per_sample", self.launches_per_sample);
    archive("median_s", self.median_s);
    archive("mean_s", self.mean_s);
    archive("sm_clock_mhz", self.sm_clock_mhz);
    archive("rejected_s", self.rejected_s);
    archive("stop_reason", self.stop_reason);
  }
};

// One case in one process. `round` counts from 0; round 0 is the conditioning round when the suite
// declares one. `timing` is meaningful only if status is ok.
struct RunRecord {
  std::string id;  // family/parameters/condition_suffix
  std::string family;
  DeviceRef device;
  int round = 0;
  std::string started;  // UTC, RFC 3339
  Json parameters = Json::object();
  Conditions conditions;
  Work work;
  RecordStatus status = RecordStatus::kOk;
  std::string message;  // one line; why it is not ok
  Timing timing;
  WarmUp warm_up;
  Telemetry telemetry;
  Verification verification;
  Json algorithm;              // library's choice, enough to reproduce it; null if none
  Json preparation;            // times and sizes of what came before the timed part; null if none
  Json data = Json::object();  // {"fill": ..., "seed": ...}
  double busy_s = 0;           // warm-up, timed work and checks of this case on the device
  double check_s = 0;          // of it, checks and hashes, the launches that wait for them included
  double idle_s = 0;           // rest that its power condition declares

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("id", self.id);
    archive("family", self.family);
    archive("device", self.device);
    archive("round", self.round);
    archive("started", self.started);
    archive("parameters", self.parameters);
    archive("conditions", self.conditions);
    archive("work", self.work);
    archive("status", self.status);
    archive("message", self.message);
    archive("timing", self.timing);
    archive("warm_up", self.warm_up);
    archive("telemetry", self.telemetry);
    archive("verification", self.verification);
    archive("algorithm", self.algorithm);
    archive("preparation", self.preparation);
    archive("data", self.data);
    archive("busy_s", self.busy_s);
    archive("check_s", self.check_s);
    archive("idle_s", self.idle_s);
  }
};

enum class Better { kHigher, kLower };
constexpr std::array<EnumName<Better>, 2> enum_names(Better) {
  return {{{Better::kHigher, "higher"}, {Better::kLower, "lower"}}};
}

// `value` is the median of `values`, one a judged run in the order in which they ran; ci_low and
// ci_high are their minimum and maximum, an interval of `level` (1 - 2^(1-n), two-sided; null for
// n < 2). `conditioning` holds the runs of the conditioning round: recorded, never judged.
struct Metric {
  double value = 0;
  std::optional<double> ci_low;
  std::optional<double> ci_high;
  std::optional<double> level;
  std::string unit;
  Better better = Better::kHigher;
  bool primary = false;
  std::vector<double> values;
  std::vector<double> conditioning;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("value", self.value);
    archive("ci_low", self.ci_low);
    archive("ci_high", self.ci_high);
    archive("level", self.level);
    archive("unit", self.unit);
    archive("better", self.better);
    archive("primary", self.primary);
    archive("values", self.values);
    archive("conditioning", self.conditioning);
  }
};

// What physics allows for this record's primary metric, in its unit. A share of the data sheet may
// exceed 1 in a burst; a value above `highest` cannot be real.
struct Limit {
  std::optional<double> datasheet;
  // At the clock of the judged runs, the device's own or NVML's mean; of a PCIe link: at the
  // generation and width that it had, with no clock.
  std::optional<double> at_clock;
  // At the maximum clock; dram and PCIe: the larger of NVML's and the sheet's.
  std::optional<double> highest;
  std::optional<double> clock_mhz;
  std::optional<double> share_of_datasheet;
  std::optional<double> share_at_clock;
  // What this card reached on the same pipe under the same conditions in the same report, by a
  // kernel that does nothing but compute: the highest of the records gemm/ceiling/*. Null where
  // none ran, of a ceiling itself, and of memory.
  std::optional<double> ceiling;
  std::optional<std::string> ceiling_id;
  std::optional<double> share_of_ceiling;  // may exceed 1: under a power limit work counts, too
  std::string reason;                      // why one of the others is null

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("datasheet", self.datasheet);
    archive("at_clock", self.at_clock);
    archive("highest", self.highest);
    archive("clock_mhz", self.clock_mhz);
    archive("share_of_datasheet", self.share_of_datasheet);
    archive("share_at_clock", self.share_at_clock);
    archive("ceiling", self.ceiling);
    archive("ceiling_id", self.ceiling_id);
    archive("share_of_ceiling", self.share_of_ceiling);
    archive("reason", self.reason);
  }
};

struct Judged {
  JudgedStatus status = JudgedStatus::kNotMeasured;
  std::optional<double> floor;
  std::string source;        // of the floor
  bool provisional = false;  // the floor comes from too few cards
  int runs_below = 0;
  std::string reason;                 // one line; why this status
  std::vector<std::string> warnings;  // one line each; what derive_limits() and judge() noticed

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("status", self.status);
    archive("floor", self.floor);
    archive("source", self.source);
    archive("provisional", self.provisional);
    archive("runs_below", self.runs_below);
    archive("reason", self.reason);
    archive("warnings", self.warnings);
  }
};

// A case on a device after all its runs.
struct Record {
  std::string id;
  std::string family;
  DeviceRef device;
  Json parameters = Json::object();
  Conditions conditions;
  Work work;
  std::map<std::string, Metric> metrics;
  int runs = 0;        // judged runs that ended ok
  int wrong_runs = 0;  // runs with a wrong result, conditioning included: 2 confirm each other
  Limit limit;
  Verification verification;           // of the worst run
  std::optional<int> hash_runs;        // runs that gave verification.hash, conditioning included
  std::optional<double> sm_clock_mhz;  // median of the judged runs that know it
  Telemetry telemetry;                 // over the judged runs
  Json algorithm;
  Json preparation;  // of one run
  Json data = Json::object();
  RecordStatus status = RecordStatus::kOk;
  std::string message;
  std::vector<std::string> warnings;  // one line each, of the runs: stalls, other algorithms, ...
  Judged judged;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("id", self.id);
    archive("family", self.family);
    archive("device", self.device);
    archive("parameters", self.parameters);
    archive("conditions", self.conditions);
    archive("work", self.work);
    archive("metrics", self.metrics);
    archive("runs", self.runs);
    archive("wrong_runs", self.wrong_runs);
    archive("limit", self.limit);
    archive("verification", self.verification);
    archive("hash_runs", self.hash_runs);
    archive("sm_clock_mhz", self.sm_clock_mhz);
    archive("telemetry", self.telemetry);
    archive("algorithm", self.algorithm);
    archive("preparation", self.preparation);
    archive("data", self.data);
    archive("status", self.status);
    archive("message", self.message);
    archive("warnings", self.warnings);
    archive("judged", self.judged);
  }
};

// The metric that is judged; null if the record has none (it never ran).
[[nodiscard]] const Metric* primary_metric(const Record& record);

}  // namespace assay
