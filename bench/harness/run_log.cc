// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/run_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "reports/error.h"

namespace assay {

RunLog::RunLog(const std::string& path) : path_(path) {
  if (path.empty()) return;
  descriptor_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (descriptor_ < 0) {
    throw Error(ExitCode::kMeasurement, path + ": cannot open: " + std::strerror(errno));
  }
}

RunLog::~RunLog() {
  if (descriptor_ >= 0) close(descriptor_);
}

void RunLog::append(const Json& line) {
  if (descriptor_ < 0) return;
  const std::string text = dump_json_line(line) + "\n";
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      throw Error(ExitCode::kMeasurement,
                  path_ + ": cannot write: " + std::strerror(errno) + "; free space there");
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace assay
