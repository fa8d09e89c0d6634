// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>
#include <set>

#include "bench/runner/supervise.h"
#include "reports/error.h"
#include "reports/peer_id.h"
#include "reports/strict_yaml.h"
#include "reports/text.h"

namespace assay {
namespace {

// Beyond these a number is a slip, and would overflow a clock or a counter.
constexpr double kLongest_s = 7.0 * 24 * 3600;
constexpr int kMostRounds = 1000;
constexpr std::size_t kMostCases = 1000;

// Names go into command lines, file names and tables: "memory/copy/4GiB/burst".
bool is_name(std::string_view text, std::string_view also) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           also.find(c) != std::string_view::npos;
  });
}

bool read_flag(StrictYaml& row, const char* key) {
  const std::string value = row.text(key, "false");
  if (value != "true" && value != "false") {
    row.refuse(key, fmt::format("'{}': expected true or false", one_line(value)));
  }
  return value == "true";
}

SuiteProcess read_process(StrictYaml& row, std::set<std::string>& seen) {
  SuiteProcess process;
  process.family = row.text("family");
  if (!is_name(process.family, "_-")) {
    row.refuse("family", fmt::format("'{}' is no family: letters, digits, _ and -",
                                     one_line(process.family)));
  }
  process.in_turn = read_flag(row, "in_turn");
  for (const std::string& pattern : row.texts("cases")) {
    const auto ids = expand_braces(pattern, kMostCases);
    if (!ids) {
      row.refuse("cases", fmt::format("'{}': a group is {{a,b}}, not nested; at most {} cases",
                                      one_line(pattern), kMostCases));
    }
    process.cases.insert(process.cases.end(), ids->begin(), ids->end());
  }
  if (process.cases.empty()) row.refuse("cases", "needs at least one case");
  for (const std::string& id : process.cases) {
    if (!id.starts_with(process.family + "/")) {
      row.refuse("cases", fmt::format("'{}' is no case of family '{}'", id, process.family));
    }
    if (!is_name(id, "_-./+=") || id.find("//") != std::string::npos ||
        id.ends_with(kAloneSuffix)) {
      row.refuse("cases", fmt::format("'{}' is no id: letters, digits and _-./+=, not ending in {}",
                                      one_line(id), kAloneSuffix));
    }
    if (peer_of_id(id) && !process.in_turn) {
      row.refuse("cases",
                 fmt::format("'{}' needs in_turn: true: else its process sees no peer", id));
    }
    if (!seen.insert(id).second) row.refuse("cases", fmt::format("'{}' appears twice", id));
  }
  row.finish();
  return process;
}

double positive(StrictYaml& file, const char* key) {
  const double value = file.number(key);
  if (!(value > 0)) file.refuse(key, "must be greater than 0");
  if (value > kLongest_s) file.refuse(key, fmt::format("must be at most {:.0f} s", kLongest_s));
  return value;
}

}  // namespace

Suite load_suite(const std::filesystem::path& path) {
  StrictYaml file = StrictYaml::load(path);
  Suite suite;
  suite.name = file.text("suite");
  if (suite.name != path.stem()) file.refuse("suite", "must be the file's name without .yaml");
  suite.title = file.text("title");
  suite.budget_s = positive(file, "budget_s");
  suite.id_timeout_s = positive(file, "id_timeout_s");
  suite.conditioning_rounds = file.integer("conditioning_rounds");
  suite.rounds = file.integer("rounds");
  suite.stage2_budget_s = file.number("stage2_budget_s");
  if (suite.conditioning_rounds < 0) file.refuse("conditioning_rounds", "must be 0 or more");
  if (suite.rounds < 1) file.refuse("rounds", "must be 1 or more");
  if (suite.conditioning_rounds > kMostRounds || suite.rounds > kMostRounds) {
    file.refuse(suite.rounds > kMostRounds ? "rounds" : "conditioning_rounds",
                fmt::format("must be at most {}", kMostRounds));
  }
  if (!(suite.stage2_budget_s >= 0)) file.refuse("stage2_budget_s", "must be 0 or more");
  // How long a case takes is not declared; these at least can be seen not to fit.
  if (suite.stage2_budget_s >= suite.budget_s) {
    file.refuse("stage2_budget_s", "must be less than budget_s, of which it is a part");
  }
  if (suite.id_timeout_s > suite.budget_s) {
    file.refuse("id_timeout_s", "must not be more than budget_s: a hang could not be told");
  }
  std::set<std::string> seen;
  for (StrictYaml& row : file.list("processes")) {
    suite.processes.push_back(read_process(row, seen));
  }
  if (suite.processes.empty()) file.refuse("processes", "needs at least one process");
  file.finish();
  return suite;
}

std::vector<std::string> ids_on(const SuiteProcess& process, const std::string& uuid,
                                const std::vector<DeviceRef>& gpus) {
  std::vector<std::string> ids;
  const auto add = [&](const std::string& id) {
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  };
  for (const std::string& id : process.cases) {
    bool any = false;
    for (const DeviceRef& gpu : gpus) {
      if (peer_of_id(id) != kEachPeerName || gpu.uuid == uuid || !gpu.index) continue;
      add(with_peer(id, *gpu.index));
      any = true;
    }
    if (!any) add(id);
  }
  return ids;
}

std::vector<Suite> load_all_suites(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  if (files.empty()) {
    throw Error(
        ExitCode::kUsage,
        fmt::format("{}: no suite in this folder; check the configs folder", folder.string()));
  }
  std::sort(files.begin(), files.end());
  std::vector<Suite> suites;
  suites.reserve(files.size());
  for (const auto& file : files) suites.push_back(load_suite(file));
  return suites;
}

Suite find_suite(const std::filesystem::path& folder, const std::string& name) {
  std::vector<std::string> names;
  for (Suite& suite : load_all_suites(folder)) {
    if (suite.name == name) return suite;
    names.push_back(suite.name);
  }
  throw Error(ExitCode::kUsage,
              fmt::format("no suite '{}'; there are: {}", name, fmt::join(names, " ")));
}

void apply_filter(Suite& suite, const std::string& filter) {
  if (filter.empty()) return;
  // The library's matcher recurses: a long expression could exhaust the stack.
  if (filter.size() > 1000) throw Error(ExitCode::kUsage, "--filter: longer than 1000 characters");
  std::regex expression;
  try {
    expression = std::regex(filter);
  } catch (const std::regex_error&) {
    throw Error(ExitCode::kUsage, fmt::format("--filter {}: not a regular expression", filter));
  }
  for (SuiteProcess& process : suite.processes) {
    std::erase_if(process.cases,
                  [&](const std::string& id) { return !std::regex_search(id, expression); });
  }
  std::erase_if(suite.processes, [](const SuiteProcess& process) { return process.cases.empty(); });
  if (suite.processes.empty()) {
    throw Error(ExitCode::kNotJudged,
                fmt::format("--filter {}: matches no case of suite '{}'; assay list benchmarks "
                            "prints them",
                            filter, suite.name));
  }
}

}  // namespace assay
