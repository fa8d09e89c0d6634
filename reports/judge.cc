// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "reports/faults.h"
#include "reports/format_text.h"
#include "reports/judge_hashes.h"
#include "reports/judge_rows.h"
#include "reports/peers.h"

namespace assay {
namespace {

// Spread over the GPUs below which "all low" has one cause.
constexpr double kAlikeRatio = 1.10;

class Judge {
 public:
  explicit Judge(Report& report) : report_(report), plan_(judging_plan(report)) {}

  void run() {
    gates_ = check_gates(report_.inventory);
    report_.faults = gates_.faults;
    fold_in(check_load(report_));
    for (Record& record : report_.records) judge_record(report_, plan_, record);
    find_wrong_results();
    find_other_hashes();
    fold_in(check_pcie(report_));
    fold_in(check_peers(report_));
    explain_failures();
    find_common_failures();
    find_lone_failures();
    conclude();
  }

 private:
  void fold_in(const std::vector<Fault>& faults);
  void raise(ExitCode code) { exit_ = worst_of(exit_, code); }

  void find_wrong_results();
  void find_other_hashes();
  Fault* explanation_of(const Record& record);
  void explain_failures();
  void find_common_failures();
  void find_lone_failures();
  void raise_for_rows();
  void conclude();
  std::string summary() const;
  std::string fault_summary() const;
  std::string open_points() const;
  std::vector<std::string> clear_gpus() const;
  int count(JudgedStatus status) const;
  int judged_gpus() const;

  Report& report_;
  StagePlan plan_;
  GateResults gates_;
  ExitCode exit_ = ExitCode::kPass;
  std::set<const Record*> wrong_;     // rows that fail by their result, whatever their time
  std::vector<Record*> unexplained_;  // FAILs that no fault explains yet
};

// One cause, one fault: what a gate and the load both show of a GPU is told once.
void Judge::fold_in(const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    const auto same = std::ranges::find_if(report_.faults, [&](const Fault& known) {
      const auto other = [](const Fault& f) { return f.peer ? f.peer->uuid : std::nullopt; };
      return fault.scope.uuid && known.code == fault.code && known.scope.uuid == fault.scope.uuid &&
             other(known) == other(fault);
    });
    if (same == report_.faults.end()) {
      report_.faults.push_back(fault);
      continue;
    }
    // Fail is the first of the severities, then a warning; not judged outweighs a warning only.
    const auto weight = [](Severity severity) {
      return severity == Severity::kFail ? 2 : severity == Severity::kNotJudged ? 1 : 0;
    };
    if (weight(fault.severity) > weight(same->severity)) {
      same->severity = fault.severity;
      same->confidence = fault.confidence;
    }
    same->effect += (same->effect.empty() ? "" : "; ") + fault.title;
    same->confirmed_runs = std::max(same->confirmed_runs, fault.confirmed_runs);
    for (const std::string& evidence : fault.evidence) {
      if (std::ranges::find(same->evidence, evidence) == same->evidence.end()) {
        same->evidence.push_back(evidence);
      }
    }
  }
}

// Rounds, each of fresh processes, in which any case of this GPU gave a wrong result.
int wrong_rounds(const Report& report, const std::string& uuid) {
  std::set<Json> rounds;
  for (const Json& row : report.benchmarks) {
    const Json ours = member_of(row, "assay");
    if (text_of(ours, "device") == uuid && text_of(ours, "status") == "invalid") {
      rounds.insert(member_of(row, "repetition_index"));
    }
  }
  return static_cast<int>(rounds.size());
}

// What was wrong: of a row with sound runs too, its last warning says it.
std::string wrong_text(const Record& record) {
  if (!record.message.empty()) return record.message;
  return record.warnings.empty() ? "wrong result" : record.warnings.back();
}

// A wrong result needs no target. Seen by two fresh processes, whichever the case, it is that GPU's
// fault; seen once, the GPU is not judged sound.
void Judge::find_wrong_results() {
  std::map<std::string, std::size_t> fault_of;
  for (Record& record : report_.records) {
    if (record.device.is_host() || record.wrong_runs == 0) continue;
    const int confirmations =
        std::max(record.wrong_runs, wrong_rounds(report_, record.device.uuid));
    if (confirmations < 2) {
      leave_open(record, "wrong result in one run, not confirmed: rerun assay accept");
      raise(ExitCode::kNotJudged);
      continue;
    }
    record.judged.status = JudgedStatus::kFail;
    record.judged.reason = "wrong result, confirmed by a fresh process";
    wrong_.insert(&record);
    const auto [at, fresh] = fault_of.try_emplace(record.device.uuid, report_.faults.size());
    if (fresh) {
      Fault fault = make_fault("SDC-01", find_gpu(report_, record.device.uuid),
                               fmt::format("{}: {}", case_title(record.id), wrong_text(record)));
      fault.scope.uuid = record.device.uuid;
      fault.confidence = "confirmed";
      report_.faults.push_back(std::move(fault));
    }
    Fault& fault = report_.faults[at->second];
    fault.evidence.push_back(record.id);
    fault.confirmed_runs = std::max(fault.confirmed_runs, confirmations);
  }
}

void Judge::find_other_hashes() {
  const HashFindings findings = compare_hashes(report_);
  fold_in(findings.faults);
  wrong_.insert(findings.failed.begin(), findings.failed.end());
  // Also where no target asks for the row: its card computed it.
  if (findings.any) raise(ExitCode::kNotJudged);
}

// Whether the fault is of the row's way between two GPUs, whose other end is `other`.
bool explains_peer(const Report& report, const Fault& fault, const Record& record,
                   const std::string& other) {
  const auto at_end = [&](const std::optional<std::string>& uuid) {
    return uuid && (*uuid == record.device.uuid || *uuid == other);
  };
  if (fault.peer) return at_end(fault.scope.uuid) && at_end(fault.peer->uuid);
  if (fault.code == "NVL-01") return at_end(fault.scope.uuid);
  if (fault.code.starts_with("PCI-")) {
    const GpuPeer* pair = find_peer(report.inventory, record.device.uuid, other);
    return at_end(fault.scope.uuid) && pair != nullptr && on_nvlink(*pair) == false;
  }
  return fault.code == "FAB-01" ||
         (fault.code == "PRF-03" &&
          std::ranges::find(fault.evidence, record.id) != fault.evidence.end());
}

// The fault of the same GPU that makes any load slow, or of its link a row over it. A warning is
// too small for that: a slowdown of one reading explains no row that fails.
Fault* Judge::explanation_of(const Record& record) {
  const std::string other = peer_uuid(record);
  for (Fault& fault : report_.faults) {
    const FaultKind* kind = find_kind(fault.code);
    if (fault.severity == Severity::kWarn || kind == nullptr) continue;
    const bool ours = fault.scope.uuid == record.device.uuid;
    const bool theirs = !other.empty() && fault.scope.uuid == other;
    if (kind->slows_load && (ours || theirs)) return &fault;
    const bool of_link = is_pcie(record.work.pipe) && fault.code.starts_with("PCI-");
    if (of_link && ours && !fault.peer) return &fault;
    if (!other.empty() && explains_peer(report_, fault, record, other)) return &fault;
  }
  return nullptr;
}

void Judge::explain_failures() {
  for (Record& record : report_.records) {
    if (record.judged.status != JudgedStatus::kFail || record.status != RecordStatus::kOk ||
        wrong_.contains(&record)) {
      continue;
    }
    Fault* fault = explanation_of(record);
    if (fault == nullptr) {
      unexplained_.push_back(&record);
      continue;
    }
    const std::string figures = case_title(record.id) + " " + record.judged.reason;
    const auto names = [&](const std::vector<std::string>& ids) {
      return std::ranges::find(ids, record.id) != ids.end();
    };
    // Rows between GPUs are many and of few ids: one stands for the others.
    const bool told = is_peer(record.work.pipe) && names(fault->evidence);
    if (!told) fault->effect += (fault->effect.empty() ? "" : "; ") + figures;
    if (!told || !names(fault->explains)) fault->explains.push_back(record.id);
    record.judged.reason += fmt::format(" (explained by {})", fault->code);
    // A card that somebody else uses has not failed.
    if (fault->severity == Severity::kNotJudged) {
      record.judged.status = JudgedStatus::kInconclusive;
    }
  }
}

// Rows of one id and SKU that fail on every GPU that has them, by about as much.
void Judge::find_common_failures() {
  std::map<std::string, std::vector<Record*>> failed;
  for (Record* record : unexplained_) {
    failed[record->id + " " + record->device.sku.value_or("")].push_back(record);
  }
  std::vector<Record*> alike;
  for (const auto& [key, rows] : failed) {
    const auto gpus = std::count_if(
        report_.records.begin(), report_.records.end(), [&, &group = rows](const Record& record) {
          return record.id == group.front()->id && record.device.sku == group.front()->device.sku;
        });
    if (rows.size() < 2 || static_cast<std::size_t>(gpus) != rows.size()) continue;
    std::vector<double> values;
    for (const Record* record : rows) values.push_back(primary_metric(*record)->value);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    if (*high <= kAlikeRatio * *low) alike.insert(alike.end(), rows.begin(), rows.end());
  }
  if (alike.empty()) return;
  std::set<std::string> ids;
  for (const Record* record : alike) ids.insert(record->id);
  std::vector<std::string> titles;
  for (const std::string& id : ids) titles.push_back(case_title(id));
  Fault fault =
      make_fault("PRF-03", nullptr, "all GPUs are below the floor alike: " + join(titles, ", "));
  const Record& first = *alike.front();
  fault.effect = case_title(first.id) + " " + first.judged.reason;
  fault.confidence = "confirmed";
  fault.confirmed_runs = first.judged.runs_below;
  fault.evidence.assign(ids.begin(), ids.end());
  report_.faults.push_back(std::move(fault));
  for (Record* record : alike) {
    record->judged.reason += " (with all GPUs: PRF-03)";
    std::erase(unexplained_, record);
  }
}

// What the peers gave for the same id, "; peers 256..259"; empty without peers.
std::string peers_of(const Report& report, const Record& record) {
  std::vector<double> values;
  for (const Record& other : report.records) {
    const Metric* metric = primary_metric(other);
    if (other.id == record.id && other.device.uuid != record.device.uuid &&
        other.device.sku == record.device.sku && metric != nullptr) {
      values.push_back(metric->value);
    }
  }
  if (values.empty()) return {};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double like = primary_metric(record)->value;
  return fmt::format("; peers {}..{}", figure_like(*low, like), figure_like(*high, like));
}

void Judge::find_lone_failures() {
  // In the order of the records, so that a redacted report lists its faults alike.
  std::vector<std::vector<Record*>> by_gpu;
  for (Record* record : unexplained_) {
    const auto same = std::find_if(by_gpu.begin(), by_gpu.end(), [&](const auto& rows) {
      return rows.front()->device.uuid == record->device.uuid;
    });
    if (same == by_gpu.end()) {
      by_gpu.push_back({record});
    } else {
      same->push_back(record);
    }
  }
  for (const std::vector<Record*>& rows : by_gpu) {
    const std::string& uuid = rows.front()->device.uuid;
    const Record& first = *rows.front();
    Fault fault =
        make_fault("PRF-01", find_gpu(report_, uuid),
                   case_title(first.id) + " " + first.judged.reason + peers_of(report_, first));
    fault.scope.uuid = uuid;
    if (!fault.scope.gpu) fault.scope.gpu = first.device.index;
    fault.confidence = "confirmed";
    fault.confirmed_runs = first.judged.runs_below;
    std::vector<std::string> others;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      others.push_back(case_title(rows[i]->id) + " " + rows[i]->judged.reason);
    }
    fault.effect = join(others, "; ");
    if (first.limit.share_at_clock && first.limit.clock_mhz) {
      fault.effect +=
          fmt::format("{}at its clock, {:.0f} MHz, {:.2f} of the limit", others.empty() ? "" : "; ",
                      *first.limit.clock_mhz, *first.limit.share_at_clock);
    }
    for (Record* record : rows) {
      fault.evidence.push_back(record->id);
      record->judged.reason += " (PRF-01)";
    }
    report_.faults.push_back(std::move(fault));
  }
}

void Judge::raise_for_rows() {
  for (const Record& record : report_.records) {
    if (record.device.is_host()) continue;
    const bool has_target = record.judged.floor.has_value();
    if (record.judged.status == JudgedStatus::kFail) raise(ExitCode::kFail);
    if (has_target && (record.judged.status == JudgedStatus::kInconclusive ||
                       record.judged.status == JudgedStatus::kNotMeasured)) {
      raise(ExitCode::kNotJudged);
    }
    // A row that broke is the suite's own failure, with a floor or without.
    const bool own_fault = record.status == RecordStatus::kErrored ||
                           (record.status == RecordStatus::kInvalid && record.wrong_runs == 0);
    const bool explained =
        std::any_of(report_.faults.begin(), report_.faults.end(), [&](const Fault& fault) {
          return fault.severity == Severity::kFail && fault.scope.uuid == record.device.uuid;
        });
    if (own_fault && !explained) raise(ExitCode::kMeasurement);
  }
}

int Judge::count(JudgedStatus status) const {
  return static_cast<int>(
      std::count_if(report_.records.begin(), report_.records.end(), [&](const Record& record) {
        return record.judged.floor.has_value() && record.judged.status == status;
      }));
}

int Judge::judged_gpus() const {
  std::set<std::string> uuids;
  for (const Record& record : report_.records) {
    if (record.judged.status != JudgedStatus::kInfo &&
        record.judged.status != JudgedStatus::kNotMeasured) {
      uuids.insert(record.device.uuid);
    }
  }
  return static_cast<int>(uuids.size());
}

std::vector<std::string> Judge::clear_gpus() const {
  std::vector<std::string> clear;
  for (const GpuInventory& gpu : report_.inventory.gpus) {
    bool sound = std::none_of(report_.faults.begin(), report_.faults.end(), [&](const Fault& f) {
      const bool names_it = f.scope.uuid == gpu.uuid || (f.peer && f.peer->uuid == gpu.uuid);
      return f.severity != Severity::kWarn && names_it;
    });
    int passed = 0;
    for (const Record& record : report_.records) {
      if (record.device.uuid != gpu.uuid || !record.judged.floor) continue;
      sound = sound && record.judged.status == JudgedStatus::kPass;
      ++passed;
    }
    if (sound && passed > 0) clear.push_back(fmt::format("GPU {}", gpu.index));
  }
  return clear;
}

std::string Judge::fault_summary() const {
  std::map<std::string, int> by_owner;
  int faults = 0;
  for (const Fault& fault : report_.faults) {
    if (fault.severity != Severity::kFail) continue;
    ++faults;
    ++by_owner[fault.owner];
  }
  static const std::map<std::string, std::string> nouns = {
      {"operator", "setting"}, {"hardware", "hardware suspect"}, {"host", "host cause"}};
  std::vector<std::string> kinds;
  for (const auto& [owner, n] : by_owner) {
    const auto noun = nouns.find(owner);
    kinds.push_back(counted(n, noun == nouns.end() ? owner : noun->second));
  }
  const std::vector<std::string> clear = clear_gpus();
  return fmt::format("{}: {}. Clear: {}.", counted(faults, "fault"), join(kinds, ", "),
                     clear.empty() ? "no GPU" : join(clear, ", ") + " only");
}

// What keeps a report that did not fail from passing.
std::string Judge::open_points() const {
  std::vector<std::string> points;
  const auto add = [&](std::size_t n, std::string_view noun, std::string_view what) {
    if (n > 0) points.push_back(counted(n, noun) + " " + std::string(what));
  };
  if (!report_.complete) points.emplace_back("the run is incomplete");
  add(static_cast<std::size_t>(count(JudgedStatus::kInconclusive)), "measurement", "undecided");
  add(static_cast<std::size_t>(count(JudgedStatus::kNotMeasured)) + missing_rows(report_).size(),
      "measurement", "missing");
  const auto broke =
      std::count_if(report_.records.begin(), report_.records.end(), [](const Record& r) {
        return !r.judged.floor && !r.device.is_host() && r.status == RecordStatus::kErrored;
      });
  add(static_cast<std::size_t>(broke), "measurement", "broke");
  add(unjudged_gpus(report_).size(), "GPU", "not judged");
  for (const Fault& fault : report_.faults) {
    if (fault.severity == Severity::kNotJudged) points.push_back(fault.code);
  }
  return join(points, ", ");
}

std::string Judge::summary() const {
  if (exit_ == ExitCode::kFail) return fault_summary();
  const int gpus = judged_gpus();
  if (gpus == 0 && exit_ != ExitCode::kMeasurement) return "No GPU was judged.";
  const int passed = count(JudgedStatus::kPass);
  const int rows = passed + count(JudgedStatus::kInconclusive) + count(JudgedStatus::kNotMeasured) +
                   static_cast<int>(missing_rows(report_).size());
  const auto all =
      std::max<std::size_t>(report_.inventory.gpus.size(), static_cast<std::size_t>(gpus));
  const std::string counts =
      fmt::format("{} of {}: {} of {} gates, {} of {} measurements.", gpus, counted(all, "GPU"),
                  gates_.passed, gates_.total, passed, rows);
  if (exit_ == ExitCode::kPass) {
    const auto warnings =
        std::count_if(report_.faults.begin(), report_.faults.end(),
                      [](const Fault& f) { return f.severity == Severity::kWarn; });
    return warnings == 0 ? counts : counts + " " + counted(warnings, "warning") + ".";
  }
  const std::string broke =
      exit_ == ExitCode::kMeasurement ? " The measurement itself broke." : std::string();
  return counts + broke + " Open: " + open_points() + ".";
}

void Judge::conclude() {
  raise_for_rows();
  for (const Fault& fault : report_.faults) {
    if (fault.severity == Severity::kFail) raise(ExitCode::kFail);
    if (fault.severity == Severity::kNotJudged) raise(ExitCode::kNotJudged);
  }
  for (const std::string& uuid : report_.plan.gpus) {
    if (find_gpu(report_, uuid) == nullptr) raise(ExitCode::kNotJudged);
  }
  if (!report_.complete || judged_gpus() == 0 || !missing_rows(report_).empty() ||
      !unjudged_gpus(report_).empty()) {
    raise(ExitCode::kNotJudged);
  }
  Verdict& verdict = report_.verdict.emplace();
  verdict.exit_code = static_cast<int>(exit_);
  if (exit_ == ExitCode::kPass) {
    verdict.status = JudgedStatus::kPass;
  } else if (exit_ == ExitCode::kFail) {
    verdict.status = JudgedStatus::kFail;
  } else {
    const bool nothing = judged_gpus() == 0 && exit_ == ExitCode::kNotJudged;
    verdict.status = nothing ? JudgedStatus::kNotMeasured : JudgedStatus::kInconclusive;
  }
  verdict.summary = summary();
}

}  // namespace

void judge(Report& report) {
  derive_limits(report);
  Judge(report).run();
}

}  // namespace assay
