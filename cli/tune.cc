// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// `tune`: the choice of algorithms, stored for every later measurement of such a card.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/sitting.h"
#include "reports/algorithms.h"
#include "reports/config_dir.h"
#include "reports/render.h"
#include "reports/text.h"

namespace assay {
namespace {

Report search(const TuneOptions& options) {
  SuiteRequest request =
      suite_request({"tune", options.suite, options.filter, options.gpus, options.out});
  request.mode = Mode::kTune;
  const ProgressLine line;
  return run_suite(request, stop_on_signals(), [&](const std::string& text) { line(text); });
}

// Of the GPU that searched: limits are embedded for that one's kind alone, if it is known.
std::string sku_of(const Report& report) {
  if (report.limits.empty()) {
    throw Error(ExitCode::kNotJudged,
                "the GPU is of no kind in configs/gpus: nothing would use what was chosen");
  }
  return report.limits.front().sku;
}

void store(const std::vector<StoredAlgorithm>& chosen, const std::filesystem::path& file,
           const std::string& sku) {
  AlgorithmSet set;
  if (std::filesystem::exists(file)) set = load_algorithms(file);
  if (!set.sku.empty() && set.sku != sku) {
    throw Error(ExitCode::kUsage,
                fmt::format("{}: for {}, and this GPU is {}", file.string(), set.sku, sku));
  }
  set.sku = sku;
  for (const StoredAlgorithm& one : chosen) set.put(one);
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path());
  write_file_atomically(file, dump_json(to_json_value(set)), kSharedFile);
}

// Said before minutes of searching, not after.
void check_can_store(const std::filesystem::path& wanted) {
  if (std::filesystem::exists(wanted)) (void)load_algorithms(wanted);
  std::filesystem::path folder = wanted.empty() ? config_dir() / "algorithms"
                                                : std::filesystem::absolute(wanted).parent_path();
  while (!std::filesystem::exists(folder)) folder = folder.parent_path();
  if (access(folder.c_str(), W_OK) != 0) {
    throw Error(
        ExitCode::kUsage,
        fmt::format("{}: cannot be written to; name another file with --file", folder.string()));
  }
}

std::string row_text(const Record& record) {
  if (record.status != RecordStatus::kOk) {
    return fmt::format("{:<8} {}: {}\n", to_string(record.status), record.id, record.message);
  }
  if (!record.algorithm.is_object() || !record.algorithm.contains("tuning")) {
    return fmt::format("{:<8} {}: no choice of algorithms\n", "-", record.id);
  }
  const Json& tuning = record.algorithm["tuning"];
  const double gain = tuning.value("gain", 1.0);
  const std::string what =
      gain > 1 ? fmt::format("{:.1f} % faster than the first offered", 100 * (gain - 1))
               : std::string("the first offered");
  return fmt::format("{:<8} {}: {} of {}\n", "tuned", record.id, what,
                     counted(tuning.value("candidates", 0), "candidate"));
}

Json rows_json(const Report& report, const std::string& file) {
  Json json = render_rows_json(report);
  json["file"] = file;
  return json;
}

}  // namespace

ExitCode run_tune(const TuneOptions& options) {
  check_can_store(options.file);
  const Report report = search(options);
  const std::vector<StoredAlgorithm> chosen = tuned_algorithms(report);
  std::filesystem::path file;
  if (!chosen.empty()) {
    const std::string sku = sku_of(report);
    file = options.file.empty() ? config_dir() / "algorithms" / (sku + ".json")
                                : std::filesystem::path(options.file);
    store(chosen, file, sku);
  }
  std::string text;
  if (options.format == Format::kJson) {
    text = dump_json(rows_json(report, file.string()));
  } else {
    for (const Record& record : report.records) text += row_text(record);
    text += chosen.empty()
                ? std::string("nothing to store\n")
                : fmt::format("{} stored in {}\n", counted(chosen.size(), "choice"), file.string());
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return worst_of(measured_exit_code(report),
                  chosen.empty() ? ExitCode::kNotJudged : ExitCode::kPass);
}

}  // namespace assay
