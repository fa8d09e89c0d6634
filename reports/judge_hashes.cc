// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/judge_hashes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "reports/faults.h"
#include "reports/format_text.h"

namespace assay {
namespace {

// With two there is no saying which of them is wrong.
constexpr std::size_t kJury = 3;
// Fresh processes that confirm each other.
constexpr int kConfirmingRuns = 2;

using Group = std::vector<Record*>;

std::string name_of(const Record& record) {
  return record.device.index ? fmt::format("GPU {}", *record.device.index) : record.device.uuid;
}

// Rows that must agree: of one kind of card, in everything that makes the result.
std::vector<Group> comparable_groups(Report& report) {
  std::map<std::string, Group> groups;
  for (Record& record : report.records) {
    // Rows of which a run was wrong are judged by that already.
    if (record.device.is_host() || !record.device.sku || record.status != RecordStatus::kOk ||
        record.wrong_runs > 0 || !record.verification.hash) {
      continue;
    }
    const Json key = Json::array(
        {record.id, *record.device.sku, record.algorithm, record.parameters, record.data});
    groups[key.dump()].push_back(&record);
  }
  std::vector<Group> result;
  for (auto& [key, group] : groups) result.push_back(std::move(group));
  return result;
}

std::string names_of(const Group& records) {
  std::vector<std::string> names;
  for (const Record* record : records) names.push_back(name_of(*record));
  return join(names, ", ");
}

Fault fault_of(const Report& report, const Record& record, const std::string& what,
               bool confirmed) {
  Fault fault = make_fault("SDC-01", find_gpu(report, record.device.uuid),
                           fmt::format("{}: {}", case_title(record.id), what));
  fault.scope.uuid = record.device.uuid;
  if (!fault.scope.gpu) fault.scope.gpu = record.device.index;
  fault.severity = confirmed ? Severity::kFail : Severity::kNotJudged;
  fault.confidence = confirmed ? "confirmed" : "suspected";
  fault.confirmed_runs = record.hash_runs.value_or(0);
  fault.evidence = {record.id};
  return fault;
}

void judge_minority(const Report& report, const Group& group, const std::string& right,
                    HashFindings& findings) {
  for (Record* record : group) {
    if (*record->verification.hash == right) continue;
    const auto others = std::ranges::count_if(
        group, [&](const Record* other) { return *other->verification.hash == right; });
    const std::string what =
        fmt::format("output hash {} differs from {} of {}", *record->verification.hash, right,
                    counted(static_cast<std::size_t>(others), "other GPU"));
    const bool confirmed = record->hash_runs.value_or(0) >= kConfirmingRuns;
    if (confirmed) {
      record->judged.status = JudgedStatus::kFail;
      record->judged.reason = what + ", confirmed by a fresh process";
      findings.failed.push_back(record);
    } else {
      leave_open(*record, what + ", not confirmed: rerun assay accept");
    }
    findings.faults.push_back(fault_of(report, *record, what, confirmed));
  }
}

void leave_all_open(const Group& group) {
  for (Record* record : group) {
    Group others;
    std::ranges::copy_if(group, std::back_inserter(others), [&](const Record* other) {
      return *other->verification.hash != *record->verification.hash;
    });
    leave_open(*record, fmt::format("output hash differs from that of {}: which is wrong is not "
                                    "known; rerun assay accept",
                                    names_of(others)));
  }
}

}  // namespace

void leave_open(Record& record, const std::string& reason) {
  if (record.judged.status != JudgedStatus::kFail) {
    record.judged.status = JudgedStatus::kInconclusive;
    record.judged.reason = reason;
  } else {
    record.judged.reason += "; " + reason;
  }
}

HashFindings compare_hashes(Report& report) {
  HashFindings findings;
  for (const Group& group : comparable_groups(report)) {
    std::map<std::string, std::size_t> votes;
    for (const Record* record : group) ++votes[*record->verification.hash];
    if (votes.size() < 2) continue;
    findings.any = true;
    const auto most =
        std::ranges::max_element(votes, {}, &std::pair<const std::string, std::size_t>::second);
    if (group.size() >= kJury && 2 * most->second > group.size()) {
      judge_minority(report, group, most->first, findings);
    } else {
      leave_all_open(group);
    }
  }
  return findings;
}

}  // namespace assay
