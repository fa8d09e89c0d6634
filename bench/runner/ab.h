// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Runs two shell commands interleaved in one sitting and judges what they print (reports/ab.h).
//
//   AbResult result = run_ab({.base = "old/bin/assay-gemm --log=/dev/stdout", .candidate = ...,
//                             .mirrored = coin}, stop, progress);
//
// One conditioning run a side, then ABBA ABBA ... until every row is decided or the plan ends. The
// result is in <out>/ab.json after every run, `complete` false until the end; what each run printed
// is kept in <out>/ab-runs/. A command that exits non-zero (unless that only tells of rows that are
// not ok) or exceeds its time ends the sitting: `failure` says which run, and what is decided
// stays.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>

#include "reports/ab.h"

namespace assay {

struct AbRequest {
  std::string base;  // for /bin/sh -c
  std::string candidate;
  std::string filter;      // regular expression on row ids; empty: all
  int runs = 0;            // a side, even, one look; 0: two looks by the number of rows
  double timeout_s = 600;  // a run
  bool mirrored = false;   // the coin
  std::filesystem::path out = "out";
  std::string revision;
};

// `stop` ends the sitting early. Throws Error(kUsage) for a request without sense or rows that
// cannot be matched, Error(kNotJudged) when there is no row, Error(kMeasurement) when `out` cannot
// be written.
[[nodiscard]] AbResult run_ab(const AbRequest& request, const std::atomic<bool>& stop,
                              const std::function<void(const std::string&)>& progress);

}  // namespace assay
