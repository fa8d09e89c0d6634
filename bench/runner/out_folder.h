// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A folder that one sitting writes to: made, and held against a second one, whose processes would
// take each other's logs for their own.
//
//   const OutFolder runs(request.out / "runs");   // Error(kMeasurement): cannot be made, or in use
//   runs.clear();                                 // of what an earlier sitting left
#pragma once

#include <filesystem>

namespace assay {

class OutFolder {
 public:
  explicit OutFolder(std::filesystem::path folder);
  ~OutFolder();
  // Owns a lock, which ends with the process at the latest.
  OutFolder(const OutFolder&) = delete;
  OutFolder& operator=(const OutFolder&) = delete;

  void clear() const;

 private:
  std::filesystem::path folder_;
  int descriptor_ = -1;
};

}  // namespace assay
