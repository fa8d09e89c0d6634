// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// main() of a benchmark binary: Google Benchmark for registration, flags and console; our own
// sampling loop inside one manual-time iteration; our own log and exit code.
//
//   int main(int argc, char** argv) {
//     return assay::family_main(argc, argv, "memory",
//                               [](assay::Clock&) { return std::make_unique<Memory>(); });
//   }
//
// Flags besides Google Benchmark's: --filter=RE (the same as --benchmark_filter) or --ids=A,B,C
// choose cases before they are registered; --alone names them as cases on an otherwise idle node;
// --log=FILE appends run.jsonl lines; --round=N is recorded; --start=stdin waits for a line before
// a case loads the device; --profile makes a few launches of each for Nsight; --algorithms=FILE
// names the stored choices of algorithms, --tune searches for them anew (tune.h); --list prints the
// ids. --benchmark_repetitions and --benchmark_min_time are refused: the harness decides how often
// a case is launched.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/case.h"
#include "bench/harness/timer.h"
#include "bench/node/sensor.h"

namespace assay {

// A family opened on its device.
class Family {
 public:
  virtual ~Family() = default;
  [[nodiscard]] virtual DeviceRef device() const = 0;
  [[nodiscard]] virtual Json versions() const = 0;  // of the libraries loaded
  [[nodiscard]] virtual std::vector<CaseEntry> cases() = 0;
  // A case that cases() does not list, for a family whose ids say all of it; null: there is none.
  // Throws Error(kUsage) for an id that it takes for a mistake.
  [[nodiscard]] virtual std::optional<CaseEntry> parse(const std::string& id) {
    (void)id;
    return std::nullopt;
  }
  [[nodiscard]] virtual Timer& timer() = 0;
  [[nodiscard]] virtual Sensor& sensor() = 0;
  [[nodiscard]] virtual std::optional<double> max_clock_mhz() const { return std::nullopt; }
  // Of the cache that a cold case must outgrow; 0: none.
  [[nodiscard]] virtual std::int64_t cache_bytes() const { return 0; }
};

// `open` throws Skip when this machine has no device for the family: exit 2 with the reason.
// Exit: 0 all ok; 1 a wrong result; 2 skipped or nothing matched; 3 errored; 4 usage.
int family_main(int argc, char** argv, const std::string& name,
                const std::function<std::unique_ptr<Family>(Clock&)>& open);

}  // namespace assay
