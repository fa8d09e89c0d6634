// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Suites (configs/suites/*.yaml): which cases run in which process, how often, within which budget.
//
// Where a case names a peer as `to=each`, each GPU runs it for every other one (ids_on). Such a
// process says `in_turn: true`: it runs on one GPU after the other and sees them all, its own
// first.
//
// A case may name several: gemm/{bf16,fp8_e4m3}/{4096x4096x4096,8192x8192x8192}/burst is four.
//
//   Suite suite = load_suite(config_dir() / "suites" / "quick.yaml");
//   apply_filter(suite, "memory/");   // Error(kNotJudged) when nothing is left
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reports/record.h"

namespace assay {

// One process a round and device, running its cases in this order: on all GPUs at once, or in turn.
struct SuiteProcess {
  std::string family;  // assay-<family> is its program
  std::vector<std::string> cases;
  bool in_turn = false;
};

struct Suite {
  std::string name;
  std::string title;
  double budget_s = 0;          // wall time of the whole suite, gates included
  int conditioning_rounds = 1;  // recorded, not judged
  int rounds = 5;               // judged; stage 1 of docs/METHOD.md, Verdicts
  double stage2_budget_s = 0;   // for rows that stage 1 left undecided
  double id_timeout_s = 20;     // a case without its record after this long hangs
  std::vector<SuiteProcess> processes;
};

// Refuses with Error(kUsage), file and line: unknown or duplicate keys, a case that appears twice,
// a case whose id does not begin with its family or holds more than letters, digits and _-./+=, a
// budget or count that is not positive or that nothing could keep, a budget into which one time-out
// or stage 2 alone would not fit, a case that names a peer in a process that is not in turn.
[[nodiscard]] Suite load_suite(const std::filesystem::path& file);

// The ids of the process's cases on the GPU `uuid`: `to=each` becomes one id for each other one of
// `gpus`, in their order, or stays if there is none. Every id once.
[[nodiscard]] std::vector<std::string> ids_on(const SuiteProcess& process, const std::string& uuid,
                                              const std::vector<DeviceRef>& gpus);

// All suites of the folder, by name.
[[nodiscard]] std::vector<Suite> load_all_suites(const std::filesystem::path& folder);

// The suite of that name; Error(kUsage) lists the names that there are.
[[nodiscard]] Suite find_suite(const std::filesystem::path& folder, const std::string& name);

// Keeps the cases whose id the (ECMAScript) regular expression finds, dropping empty processes.
// Error(kUsage) for a bad expression, Error(kNotJudged) when nothing matches.
void apply_filter(Suite& suite, const std::string& filter);

}  // namespace assay
