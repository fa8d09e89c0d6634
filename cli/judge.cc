// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "cli/commands.h"
#include "reports/claims.h"
#include "reports/config_dir.h"
#include "reports/render.h"

namespace assay {
namespace {

// The file's set replaces the report's set of the same SKU, with the card's limits if the report
// lacks them: a report measured before the card was known can be judged now.
void use_targets(Report& report, const std::string& file) {
  const GpuTable table = load_gpu_table(config_dir() / "gpus");
  TargetSet set = load_targets(file, table);
  const bool present =
      std::any_of(report.inventory.gpus.begin(), report.inventory.gpus.end(),
                  [&](const GpuInventory& gpu) { return gpu.sku == set.sku; }) ||
      std::any_of(report.records.begin(), report.records.end(),
                  [&](const Record& record) { return record.device.sku == set.sku; });
  if (!present) {
    throw Error(
        ExitCode::kUsage,
        fmt::format("{}: targets for '{}', but the report holds no such card", file, set.sku));
  }
  const auto same_sku = [&](const auto& entry) { return entry.sku == set.sku; };
  if (std::none_of(report.limits.begin(), report.limits.end(), same_sku)) {
    report.limits.push_back(*table.find(set.sku));
  }
  std::erase_if(report.targets, same_sku);
  report.targets.push_back(std::move(set));
}

Json claims_json(const std::vector<ClaimResult>& results) {
  Json rows = Json::array();
  std::map<ClaimVerdict, int> counted;
  for (const ClaimResult& result : results) {
    ++counted[result.verdict];
    rows.push_back({{"id", result.claim->id},
                    {"device", result.device},
                    {"status", to_string(result.verdict)},
                    {"document", result.claim->document},
                    {"claim", result.claim->plain},
                    {"measured", result.measured},
                    {"reason", result.reason}});
  }
  Json counts = Json::object();
  for (const auto& [verdict, name] : enum_names(ClaimVerdict{})) counts[name] = counted[verdict];
  return {{"verdict", "info"}, {"rows", std::move(rows)}, {"counts", std::move(counts)}};
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
    print(options.format == Format::kJson ? dump_json(claims_json(results))
                                          : render_claims(results));
    return ExitCode::kPass;  // claims never touch an exit code
  }
  print(options.format == Format::kJson ? dump_json(render_rows_json(report))
                                        : render_summary(report, options.report));
  return static_cast<ExitCode>(report.verdict.exit_code);
}

}  // namespace assay
