// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Which rows there are, and what the runs say of each.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "reports/ab.h"
#include "reports/merge.h"
#include "reports/text.h"

namespace assay {
namespace {

bool is_condition(const std::string& part) {
  return parse_enum<Power>(part) || parse_enum<Cache>(part) || parse_enum<Clocks>(part) ||
         parse_enum<Peers>(part);
}

std::string without_conditions(const std::string& id) {
  std::vector<std::string> parts = split(id, '/');
  while (parts.size() > 1 && is_condition(parts.back())) parts.pop_back();
  return join(parts, "/");
}

// A key that one side printed. Bare: its line states no conditions.
struct Found {
  AbKey key;
  bool bare = false;
  bool paired = false;
};

std::vector<Found> found_in(const AbResult& result, Side side) {
  std::vector<Found> all;
  std::set<AbKey> known;
  for (const AbRun& run : result.runs) {
    if (run.side != side || !run.conditioning) continue;
    for (const AbValue& value : run.values) {
      if (known.insert(value.key).second) all.push_back({value.key, !value.conditions});
    }
  }
  return all;
}

std::string name_of(Side side) { return "the " + to_string(side); }
Side other(Side side) { return side == Side::kBase ? Side::kCandidate : Side::kBase; }

std::regex filter_of(const AbResult& result) {
  try {
    return std::regex(result.filter);
  } catch (const std::regex_error&) {
    throw Error(ExitCode::kUsage,
                fmt::format("--rows '{}': not a regular expression", result.filter));
  }
}

class Pairing {
 public:
  explicit Pairing(AbResult& result)
      : result_(result),
        filter_(filter_of(result)),
        found_{found_in(result, Side::kBase), found_in(result, Side::kCandidate)} {}

  void run() {
    const std::size_t printed = of(Side::kBase).size() + of(Side::kCandidate).size();
    // A row without conditions goes by the full id of its counterpart, so it is filtered last.
    for (auto& side : found_) {
      std::erase_if(side, [&](const Found& f) { return !f.bare && !chosen(f.key.id); });
    }
    for (Found& base : of(Side::kBase)) {
      for (Found& candidate : of(Side::kCandidate)) {
        if (base.key == candidate.key && chosen(base.key.id)) pair(base, candidate, base.key);
      }
    }
    for (const Side side : {Side::kBase, Side::kCandidate}) match_bare(side);
    for (const Side side : {Side::kBase, Side::kCandidate}) leave(side);
    if (!result_.rows.empty()) return;
    throw Error(ExitCode::kNotJudged,
                printed > 0 ? fmt::format("no row matches --rows '{}'", result_.filter)
                            : "neither command printed a row to its stdout; give our binaries "
                              "--log=/dev/stdout");
  }

 private:
  std::vector<Found>& of(Side side) { return found_[side == Side::kBase ? 0 : 1]; }
  bool chosen(const std::string& id) const { return std::regex_search(id, filter_); }

  void pair(Found& base, Found& candidate, const AbKey& key) {
    base.paired = candidate.paired = true;
    AbRow row;
    row.key = key;
    row.base = base.key;
    row.candidate = candidate.key;
    result_.rows.push_back(std::move(row));
  }

  void match_bare(Side side) {
    for (Found& bare : of(side)) {
      if (!bare.bare || bare.paired) continue;
      Found* match = nullptr;
      for (Found& full : of(other(side))) {
        if (full.bare || full.paired || without_conditions(full.key.id) != bare.key.id) continue;
        if (match != nullptr) refuse(side, bare.key.id, match->key, full.key);
        match = &full;
      }
      if (match == nullptr) continue;
      if (side == Side::kBase) {
        pair(bare, *match, match->key);
      } else {
        pair(*match, bare, match->key);
      }
    }
  }

  [[noreturn]] static void refuse(Side side, const std::string& id, const AbKey& a,
                                  const AbKey& b) {
    if (a.id == b.id) {
      throw Error(ExitCode::kUsage,
                  fmt::format("{} of {} names no device and {} measured it on {} and {}: let it "
                              "use one GPU (CUDA_VISIBLE_DEVICES)",
                              id, name_of(side), name_of(other(side)), a.device.value_or("none"),
                              b.device.value_or("none")));
    }
    throw Error(ExitCode::kUsage,
                fmt::format("{} of {} states no conditions and {} has both {} and {}: choose one "
                            "of them with --rows RE",
                            id, name_of(side), name_of(other(side)), a.id, b.id));
  }

  // What only one side has.
  void leave(Side side) {
    for (const Found& found : of(side)) {
      if (found.paired || !chosen(found.key.id)) continue;
      AbRow row;
      row.key = found.key;
      (side == Side::kBase ? row.base : row.candidate) = found.key;
      row.status = ComparedStatus::kMissing;
      row.reason = "only " + name_of(side) + " has it";
      row.open = false;
      for (const Found& there : of(other(side))) {
        if (there.key.id == found.key.id) row.reason += " on this device";
      }
      result_.rows.push_back(std::move(row));
    }
  }

  AbResult& result_;
  std::regex filter_;
  std::array<std::vector<Found>, 2> found_;
};

struct Trouble {
  std::size_t at = 0;  // index among the side's judged runs
  ComparedStatus status = ComparedStatus::kErrored;
  std::string reason;
};

// The side's values up to its first trouble.
struct Samples {
  std::vector<double> seconds;
  std::vector<const AbValue*> values;
  std::optional<Trouble> trouble;
  int stalls = 0;
};

std::string with_message(const std::string& what, const std::string& message) {
  return message.empty() ? what : what + ": " + message;
}

// A judged run with its values by row: searched through once a row, thousands would take minutes.
struct Judged {
  struct Printed {
    const AbValue* first = nullptr;
    int times = 0;
  };
  const AbRun* run = nullptr;
  std::map<AbKey, Printed> rows;
};
using JudgedRuns = std::vector<Judged>;

JudgedRuns judged_runs(const AbResult& result) {
  JudgedRuns runs;
  for (const AbRun& run : result.runs) {
    if (!run.judged()) continue;
    Judged& judged = runs.emplace_back();
    judged.run = &run;
    for (const AbValue& value : run.values) {
      Judged::Printed& row = judged.rows[value.key];
      if (row.times++ == 0) row.first = &value;
    }
  }
  return runs;
}

std::optional<Trouble> trouble_of(const AbRun& run, const Judged::Printed& row) {
  const auto here = [&](ComparedStatus status, const std::string& what) {
    return Trouble{0, status, fmt::format("run {} of {}: {}", run.number, name_of(run.side), what)};
  };
  if (row.times == 0) return here(ComparedStatus::kMissing, "no such row");
  if (row.times > 1) {
    return here(ComparedStatus::kDuplicate, fmt::format("{} rows of it", row.times));
  }
  const AbValue& value = *row.first;
  if (value.status == RecordStatus::kOk) return std::nullopt;
  const bool skipped = value.status == RecordStatus::kSkipped;
  return here(skipped ? ComparedStatus::kSkipped : ComparedStatus::kErrored,
              with_message(to_string(value.status), value.message));
}

Samples samples_of(const JudgedRuns& runs, Side side, const AbKey& key) {
  Samples samples;
  for (const Judged& judged : runs) {
    if (judged.run->side != side) continue;
    const auto found = judged.rows.find(key);
    const Judged::Printed row = found == judged.rows.end() ? Judged::Printed{} : found->second;
    if (auto trouble = trouble_of(*judged.run, row)) {
      trouble->at = samples.seconds.size();
      samples.trouble = std::move(trouble);
      break;
    }
    const AbValue& value = *row.first;
    samples.values.push_back(&value);
    samples.seconds.push_back(*value.time_s);
    samples.stalls += value.mean_s && has_stalls(*value.time_s, *value.mean_s);
  }
  return samples;
}

// The field in which two values are not of the same case; empty if they are.
std::string difference_of(const AbValue& a, const AbValue& b) {
  if (!a.conditions || !b.conditions) return {};  // nothing is stated on one side
  if (*a.conditions != *b.conditions) {
    return fmt::format("conditions: {} and {}", condition_suffix(*a.conditions),
                       condition_suffix(*b.conditions));
  }
  // nlohmann::json: the order of the keys is no difference.
  const auto plain = [](const Json& json) { return nlohmann::json(json); };
  for (const auto& [name, member] :
       {std::pair{"work", &AbValue::work}, std::pair{"parameters", &AbValue::parameters}}) {
    if (plain(a.*member) != plain(b.*member)) {
      return fmt::format("{}: {} and {}", name, (a.*member).dump(), (b.*member).dump());
    }
  }
  return {};
}

std::string difference_of(const Samples& base, const Samples& candidate) {
  if (base.values.empty() || candidate.values.empty()) return {};
  for (const Samples* side : {&base, &candidate}) {
    for (const AbValue* value : side->values) {
      const std::string difference = difference_of(*base.values.front(), *value);
      if (!difference.empty()) return difference;
    }
  }
  return {};
}

// The earlier of both sides' troubles.
const Trouble* first_trouble(const Samples& base, const Samples& candidate) {
  if (!base.trouble) return candidate.trouble ? &*candidate.trouble : nullptr;
  if (!candidate.trouble) return &*base.trouble;
  return base.trouble->at <= candidate.trouble->at ? &*base.trouble : &*candidate.trouble;
}

void close(AbRow& row, ComparedStatus status, const std::string& reason) {
  row.status = status;
  row.reason = reason;
  row.open = false;
}

void judge_looks(AbRow& row, const InterleavedRule& rule, const Samples& base,
                 const Samples& candidate) {
  const std::vector<double> a = log_times(base.seconds, Better::kLower);
  const std::vector<double> b = log_times(candidate.seconds, Better::kLower);
  const Trouble* trouble = first_trouble(base, candidate);
  for (std::size_t look = 0; look < rule.plan().looks.size(); ++look) {
    const auto runs = static_cast<std::size_t>(rule.plan().looks[look].runs);
    if (trouble != nullptr && trouble->at < runs) {
      return close(row, trouble->status, trouble->reason);
    }
    const std::size_t there = std::min(a.size(), b.size());
    if (there < runs) {
      row.status = ComparedStatus::kInconclusive;
      row.reason = fmt::format("{} of {} runs a side", there, runs);
      return;
    }
    row.look = static_cast<int>(look) + 1;
    row.comparison = rule.judge(look, a, b);
    row.status = row.comparison.status;
    row.reason = row.comparison.reason;
    if (row.status == ComparedStatus::kInconclusive) continue;
    row.open = false;
    // A wrong or lost result after the decision takes back a good one, not a bad one.
    if (trouble == nullptr) return;
    if (row.status != ComparedStatus::kRegression) {
      close(row, trouble->status, trouble->reason);
    } else {
      row.warnings.push_back(trouble->reason);
    }
    return;
  }
  row.open = false;
}

void judge_row(AbRow& row, const JudgedRuns& runs, const InterleavedRule& rule) {
  if (!row.base || !row.candidate) return;
  const Samples base = samples_of(runs, Side::kBase, *row.base);
  const Samples candidate = samples_of(runs, Side::kCandidate, *row.candidate);
  row.warnings.clear();
  row.open = true;
  if (const std::string difference = difference_of(base, candidate); !difference.empty()) {
    return close(row, ComparedStatus::kNotComparable, "the sides differ in " + difference);
  }
  judge_looks(row, rule, base, candidate);
  for (const auto& [side, samples] :
       {std::pair{Side::kBase, &base}, std::pair{Side::kCandidate, &candidate}}) {
    if (samples->values.empty() || samples->values.front()->conditions) continue;
    row.warnings.push_back(name_of(side) + " states no conditions: matched by id alone");
  }
  if (const int stalls = base.stalls + candidate.stalls; stalls > 0) {
    row.warnings.push_back(
        fmt::format("runs with stalls or clock dips (total time more than 2 % above the median): "
                    "{} of the base, {} of the candidate",
                    base.stalls, candidate.stalls));
  }
}

}  // namespace

void fix_rows(AbResult& result) {
  result.rows.clear();
  Pairing(result).run();
  const int m = static_cast<int>(result.rows.size());
  result.plan = result.runs_asked > 0 ? one_look(m, result.runs_asked) : two_looks(m);
}

void judge_rows(AbResult& result, const InterleavedRule& rule) {
  const JudgedRuns runs = judged_runs(result);
  for (AbRow& row : result.rows) judge_row(row, runs, rule);
  conclude(result);
}

void conclude(AbResult& result) {
  ExitCode code = result.rows.empty() || !result.complete ? ExitCode::kNotJudged : ExitCode::kPass;
  if (!result.failure.empty()) code = worst_of(code, ExitCode::kMeasurement);
  bool improved = false;
  for (const AbRow& row : result.rows) {
    code = worst_of(code, exit_effect(row.status));
    improved = improved || row.status == ComparedStatus::kImprovement;
  }
  const auto word = [&] {
    switch (code) {
      case ExitCode::kPass:
        return improved ? ComparedStatus::kImprovement : ComparedStatus::kUnchanged;
      case ExitCode::kFail:
        return ComparedStatus::kRegression;
      case ExitCode::kMeasurement:
        return ComparedStatus::kErrored;
      default:
        return ComparedStatus::kInconclusive;
    }
  };
  result.verdict = to_string(word());
  result.exit_code = static_cast<int>(code);
}

const AbValue* find_value(const AbRun& run, const AbKey& key) {
  const auto found = std::ranges::find(run.values, key, &AbValue::key);
  return found == run.values.end() ? nullptr : &*found;
}

Json ab_to_json(const AbResult& result) {
  Json json = Json::object();
  json["ab"] = to_json_value(result);
  return json;
}

AbResult ab_from_json(const Json& json, const std::string& source) {
  if (!json.is_object() || !json.contains("ab")) {
    throw Error(ExitCode::kUsage, source + ": not an ab.json of assay ab");
  }
  return from_json_value<AbResult>(json["ab"], source + ": ab");
}

}  // namespace assay
