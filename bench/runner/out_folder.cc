// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner/out_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "reports/error.h"

namespace assay {

OutFolder::OutFolder(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) {
    throw Error(ExitCode::kMeasurement,
                fmt::format("{}: cannot create the folder: {}; choose another with --out",
                            folder_.string(), error.message()));
  }
  descriptor_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A file system that knows no locks leaves the folder to its user's care.
  if (descriptor_ < 0 || flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  close(descriptor_);
  throw Error(ExitCode::kMeasurement,
              fmt::format("{}: another assay is writing there; wait for it or choose another with "
                          "--out",
                          folder_.string()));
}

OutFolder::~OutFolder() {
  if (descriptor_ >= 0) close(descriptor_);
}

void OutFolder::clear() const {
  std::error_code error;
  std::filesystem::directory_iterator entry(folder_, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    std::filesystem::remove_all(entry->path(), ignored);  // what stays is written over
  }
}

}  // namespace assay
