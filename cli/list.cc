// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// `assay list`: what there is. Every list reads the configs folder and nothing else, so that it
// works on a machine without a GPU.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/runner/plan.h"
#include "cli/commands.h"
#include "reports/claims.h"
#include "reports/config_dir.h"
#include "reports/gpus.h"
#include "reports/json.h"
#include "reports/targets.h"
#include "reports/text.h"

namespace assay {
namespace {

// Both forms of one list: `cells` for people, one row a line below `header`; `rows` for programs.
struct Listing {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> cells;
  Json rows = Json::array();
  std::vector<std::string> notes;  // below the table
  // Named numbers beside the number of rows, such as {"provisional", 7}.
  std::vector<std::pair<std::string, std::size_t>> counts;

  Json& add(const std::string& id, std::vector<std::string> row) {
    cells.push_back(std::move(row));
    rows.push_back({{"id", id}, {"device", nullptr}, {"status", "info"}});
    return rows.back();
  }
};

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

// The last column is not padded: it holds free text. All text here but quotes is ASCII.
void print_text(const Listing& listing) {
  std::vector<std::size_t> widths;
  for (const std::string& title : listing.header) widths.push_back(title.size());
  for (const auto& row : listing.cells) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  const auto print_row = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += i + 1 == row.size() ? row[i] : fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    fmt::print("{}\n", without_trailing_blanks(std::move(line)));
  };
  print_row(listing.header);
  for (const auto& row : listing.cells) print_row(row);
  for (const std::string& note : listing.notes) fmt::print("{}\n", note);
}

void print_json(const Listing& listing) {
  Json counts = Json::object();
  counts["rows"] = listing.rows.size();
  for (const auto& [name, count] : listing.counts) counts[name] = count;
  Json json = Json::object();
  json["verdict"] = "info";
  json["rows"] = listing.rows;
  json["counts"] = counts;
  fmt::print("{}", dump_json(json));
}

Listing list_suites() {
  Listing listing;
  listing.header = {"suite", "budget", "rounds", "cases", "title"};
  for (const Suite& suite : load_all_suites(config_dir() / "suites")) {
    std::size_t cases = 0;
    Json families = Json::array();
    for (const SuiteProcess& process : suite.processes) {
      cases += process.cases.size();
      families.push_back(process.family);
    }
    Json& row = listing.add(
        suite.name, {suite.name, fmt::format("{:g} s", suite.budget_s),
                     fmt::format("{}", suite.rounds), fmt::format("{}", cases), suite.title});
    row["title"] = suite.title;
    row["budget_s"] = suite.budget_s;
    row["rounds"] = suite.rounds;
    row["conditioning_rounds"] = suite.conditioning_rounds;
    row["stage2_budget_s"] = suite.stage2_budget_s;
    row["cases"] = cases;
    row["families"] = families;
  }
  return listing;
}

Listing list_benchmarks() {
  struct Use {
    std::string family;
    std::vector<std::string> suites;
  };
  std::map<std::string, Use> benchmarks;  // by id: the same order on every machine
  for (const Suite& suite : load_all_suites(config_dir() / "suites")) {
    for (const SuiteProcess& process : suite.processes) {
      for (const std::string& id : process.cases) {
        Use& use = benchmarks[id];
        use.family = process.family;
        if (use.suites.empty() || use.suites.back() != suite.name) use.suites.push_back(suite.name);
      }
    }
  }
  Listing listing;
  listing.header = {"family", "id", "suites"};
  for (const auto& [id, use] : benchmarks) {
    Json& row = listing.add(id, {use.family, id, fmt::format("{}", fmt::join(use.suites, " "))});
    row["family"] = use.family;
    row["suites"] = use.suites;
  }
  return listing;
}

Listing list_gpus() {
  const auto figure = [](const GpuSpec& spec, const char* pipe) {
    const auto found = spec.datasheet_tflops.find(pipe);
    return found == spec.datasheet_tflops.end() ? "-" : fmt::format("{:g}", found->second);
  };
  Listing listing;
  listing.header = {"sku",  "cc",   "SMs",  "GiB", "MHz",    "GB/s", "W",
                    "FP32", "TF32", "BF16", "FP8", "NVLink", "card"};
  for (const GpuSpec& spec : load_gpu_table(config_dir() / "gpus").specs) {
    Json& row = listing.add(
        spec.sku, {spec.sku, spec.compute_capability, fmt::format("{}", spec.sm_count),
                   fmt::format("{:g}", spec.memory_gib), fmt::format("{:g}", spec.max_clock_mhz),
                   fmt::format("{:g}", spec.dram_gb_per_s), fmt::format("{:g}", spec.tdp_w),
                   figure(spec, "fp32"), figure(spec, "tf32"), figure(spec, "bf16"),
                   figure(spec, "fp8"), fmt::format("{:g}", spec.nvlink_gb_per_s), spec.title});
    const Json fields = to_json_value(spec);
    for (const auto& [key, value] : fields.items()) row[key] = value;
  }
  listing.notes = {
      "FP32 to FP8: TFLOPS of the data sheet, dense. NVLink: GB/s both ways, all links."};
  return listing;
}

std::vector<std::filesystem::path> target_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::filesystem::path& path = entry->path();
    // documents.yaml holds the claims, not the targets of a card.
    if (path.extension() == ".yaml" && path.stem() != "documents") files.push_back(path);
  }
  if (error || files.empty()) {
    throw Error(ExitCode::kUsage, fmt::format("{}: no targets in this folder; check the configs "
                                              "folder",
                                              folder.string()));
  }
  std::ranges::sort(files);
  return files;
}

Listing list_targets() {
  const GpuTable table = load_gpu_table(config_dir() / "gpus");
  Listing listing;
  listing.header = {"sku", "id", "floor", "usual", "best", "unit", "state", "source"};
  std::size_t provisional = 0;
  for (const std::filesystem::path& file : target_files(config_dir() / "targets")) {
    const TargetSet set = load_targets(file, table);
    for (const Target& target : set.targets) {
      if (target.provisional()) ++provisional;
      const std::string state = target.provisional()
                                    ? fmt::format("PROVISIONAL ({})", counted(target.cards, "card"))
                                    : fmt::format("{} cards", target.cards);
      Json& row = listing.add(target.id, {set.sku, target.id, fmt::format("{:g}", target.floor),
                                          fmt::format("{:g}", target.usual),
                                          target.best ? fmt::format("{:g}", *target.best) : "-",
                                          target.metric, state, target.source});
      row["sku"] = set.sku;
      row["provisional"] = target.provisional();
      const Json fields = to_json_value(target);
      for (const auto& [key, value] : fields.items()) row[key] = value;
    }
    for (const std::string& warning : set.warnings) {
      listing.notes.push_back(fmt::format("{}: {}", set.file, warning));
    }
  }
  listing.counts = {{"provisional", provisional}};
  return listing;
}

Listing list_claims() {
  Listing listing;
  listing.header = {"id", "kind", "judged", "what is claimed", "by"};
  std::size_t judged = 0;
  for (const Claim& claim : load_claims(config_dir() / "targets" / "documents.yaml")) {
    const bool runs = !claim.checks.empty();
    if (runs) ++judged;
    Json& row = listing.add(claim.id, {claim.id, to_string(claim.kind), runs ? "now" : "no",
                                       claim.plain, runs ? claim.judged_by : claim.reason});
    row["kind"] = to_string(claim.kind);
    row["document"] = claim.document;
    row["quote"] = claim.quote;
    row["plain"] = claim.plain;
    row["judged_by"] = claim.judged_by;
    row["checks"] = claim.checks.size();
    row["reason"] = claim.reason;
  }
  listing.counts = {{"judged", judged}};
  return listing;
}

}  // namespace

ExitCode run_list(const ListOptions& options) {
  using Maker = std::pair<std::string_view, Listing (*)()>;
  constexpr std::array<Maker, 5> kLists = {{{"suites", list_suites},
                                            {"benchmarks", list_benchmarks},
                                            {"gpus", list_gpus},
                                            {"targets", list_targets},
                                            {"claims", list_claims}}};
  const auto maker = std::ranges::find(kLists, options.what, &Maker::first);
  if (maker == kLists.end()) {
    throw Error(ExitCode::kUsage,
                fmt::format("list: unknown list '{}'; choose suites, benchmarks, gpus, targets or "
                            "claims",
                            options.what));
  }
  const Listing listing = maker->second();
  if (options.format == Format::kJson) {
    print_json(listing);
  } else {
    print_text(listing);
  }
  return ExitCode::kPass;
}

}  // namespace assay
