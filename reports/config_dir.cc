// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

#include "reports/config_dir.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <system_error>

#include "reports/error.h"

namespace assay {
namespace {

// A folder named configs is not enough: beside the program may lie another project's.
bool holds_configs(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::is_directory(folder / "gpus", error);
}

}  // namespace

std::filesystem::path config_dir() {
  // A set variable is an order. Falling back would judge by other floors than the caller meant.
  if (const char* named = std::getenv("ASSAY_CONFIGS"); named != nullptr && *named != '\0') {
    if (holds_configs(named)) return named;
    throw Error(
        ExitCode::kUsage,
        fmt::format("ASSAY_CONFIGS={}: no folder gpus/ in it; set it to a configs folder or "
                    "unset it",
                    named));
  }
  std::string looked;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const std::filesystem::path beside = program.parent_path().parent_path() / "configs";
    if (holds_configs(beside)) return beside;
    looked = beside.string() + " and ";
  }
  const std::filesystem::path source = std::filesystem::path(ASSAY_SOURCE_DIR) / "configs";
  if (holds_configs(source)) return source;
  throw Error(ExitCode::kUsage, fmt::format("no configs folder: looked in {}{}; set ASSAY_CONFIGS",
                                            looked, source.string()));
}

}  // namespace assay
