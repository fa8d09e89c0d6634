// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The contract between a family and the harness. A family says what a case is; the harness decides
// when it is launched, how long, and what is made of the times.
//
//   class CopyCase : public Case {
//     int slots() const override { return 2; }                       // rotated buffer sets
//     void launch(int slot) override { check(stream_copy(...)); }    // asynchronous
//     void poison(int slot) override { ... 0xFF over the outputs ... }
//     Verification verify(int slot, int attempt) override { ... }
//   };                                      // on a GPU: derive from cuda/cuda_case.h
//   std::vector<CaseEntry> entries = {{info, [&] { return std::make_unique<CopyCase>(...); }}};
//
// A Case is built ready: its constructor allocates and fills, its destructor gives everything back.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "reports/record.h"

namespace assay {

struct CaseInfo {
  std::string id;  // family/parameters/condition_suffix
  Json parameters = Json::object();
  Conditions conditions;
  Work work;                   // of one launch
  Json data = Json::object();  // {"fill": "uniform[-1,1)", "seed": 1}
  // Of one slot's buffers; 0: the device's cache is no matter. What says that it is cold and could
  // stay in the cache, all slots of it, is skipped.
  std::int64_t set_bytes = 0;
};

// Of a check that allows nothing: how many of the method's unit are wrong; `detail` says which.
[[nodiscard]] inline Verification exact_verification(std::string method, double wrong,
                                                     std::string detail) {
  Verification result;
  result.method = std::move(method);
  result.error = wrong;
  result.tolerance = 0;
  result.status = wrong == 0 ? VerificationStatus::kVerified : VerificationStatus::kWrong;
  if (wrong != 0) result.detail = std::move(detail);
  return result;
}

class Case {
 public:
  virtual ~Case() = default;
  Case() = default;
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  // Interchangeable buffer sets, >= 1; launch i of a loop uses slot i % slots().
  [[nodiscard]] virtual int slots() const = 0;
  virtual void launch(int slot) = 0;
  // Kernels that one launch queues, about: a stream takes a limited number at once.
  [[nodiscard]] virtual int kernels_per_launch() const { return 1; }
  // Overwrites the outputs with what no launch would write, so that what was not written is seen.
  virtual void poison(int slot) = 0;
  // Called after everything launched has ended. `attempt` counts the checks of this process.
  [[nodiscard]] virtual Verification verify(int slot, int attempt) = 0;
  // A hash of each of these slots' outputs, after everything launched has ended; empty where the
  // operation is not reproducible bit for bit (atomic additions in any order).
  [[nodiscard]] virtual std::vector<std::uint64_t> hash_outputs(const std::vector<int>& slots) {
    (void)slots;
    return {};
  }
  // The library's choice, enough to reproduce it; null if there was none.
  [[nodiscard]] virtual Json algorithm() const { return nullptr; }
  // What choose() takes, the library's own first choice first; empty where there is no choice. Each
  // has "library", the name and version for which it holds.
  [[nodiscard]] virtual std::vector<Json> candidates() const { return {}; }
  // Throws std::runtime_error if the library does not run it for this case.
  virtual void choose(const Json& algorithm) {
    (void)algorithm;
    throw std::logic_error("a case without candidates was given one");
  }
  // {"prune_s": ...}: times and sizes of what the constructor did that a user would pay for as
  // well; null if nothing. They differ from run to run, so they are not part of the algorithm.
  [[nodiscard]] virtual Json preparation() const { return nullptr; }
};

struct CaseEntry {
  CaseInfo info;
  std::function<std::unique_ptr<Case>()> make;
  std::optional<std::string> skip;  // why this case cannot run on this device
};

// Thrown while a case is made or run, when it cannot run here: its record says skipped.
class Skip : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Thrown after an error from which this process cannot recover (a sticky CUDA error): the case is
// errored, what was written stays, and the process ends.
class ProcessLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace assay
