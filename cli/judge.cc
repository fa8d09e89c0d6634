// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/judge.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "cli/commands.h"
#include "reports/claims.h"
#include "reports/config_dir.h"
#include "reports/render.h"

namespace assay {
namespace {

// The cards that the report is about, NVML's and those of the records alike.
std::vector<GpuSpec> cards_of(const Report& report, const GpuTable& table) {
  std::set<std::string> skus;
  for (const GpuInventory& gpu : report.inventory.gpus) skus.insert(gpu.sku.value_or(""));
  for (const Record& record : report.records) skus.insert(record.device.sku.value_or(""));
  std::vector<GpuSpec> cards;
  for (const GpuSpec& spec : table.specs) {
    if (skus.contains(spec.sku)) cards.push_back(spec);
  }
  return cards;
}

// The file's set replaces the report's set of the same SKU, with the card's limits if the report
// lacks them: a report measured before the card was known can be judged now.
void use_targets(Report& report, const std::string& file) {
  const GpuTable table = load_gpu_table(config_dir() / "gpus");
  TargetSet set = load_targets(file, table);
  require_targets_for(set, cards_of(report, table));
  const auto same_sku = [&](const auto& entry) { return entry.sku == set.sku; };
  if (std::none_of(report.limits.begin(), report.limits.end(), same_sku)) {
    report.limits.push_back(*table.find(set.sku));
  }
  std::erase_if(report.targets, same_sku);
  report.targets.push_back(std::move(set));
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace

ExitCode run_judge(const JudgeOptions& options) {
  Report report = read_report(options.report);
  if (!options.targets.empty()) use_targets(report, options.targets);
  judge(report);
  if (options.claims) {
    const std::vector<Claim> claims = load_claims(config_dir() / "targets" / "documents.yaml");
    const std::vector<ClaimResult> results = judge_claims(claims, report);
    print(options.format == Format::kJson ? dump_json(render_claims_json(results))
                                          : render_claims(results));
    return ExitCode::kPass;  // claims never touch an exit code
  }
  print(options.format == Format::kJson ? dump_json(render_rows_json(report))
                                        : render_summary(report, options.report));
  return static_cast<ExitCode>(report.verdict->exit_code);
}

}  // namespace assay
