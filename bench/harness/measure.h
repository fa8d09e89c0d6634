// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// From a case to a record: check, warm up, time in spells, check again.
//
//   Bench bench{.timer = timer, .clock = clock, .sensor = sensor, .budget = {}, ...};
//   RunRecord record;
//   measure(entry, bench, record);    // throws nothing but ProcessLost
//
// A spell is a stretch of samples of which the outputs are poisoned before and hashed after; clock
// and telemetry belong to it. In `sustained` the spells follow a warm-up that ends when clock and
// power are steady; in `burst` they follow a rest, and one below full clock does not count.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "bench/harness/case.h"
#include "bench/harness/stopping.h"
#include "bench/harness/timer.h"
#include "bench/node/sensor.h"
#include "reports/algorithms.h"
#include "reports/record.h"

namespace assay {

// How long things take, declared before the run. A budget is no statement about errors.
struct Budget {
  SteadyRule settle;  // sustained: once a process
  SteadyRule resettle{.least_s = 0.6, .most_s = 2.0, .blind_s = 0.6, .spell_s = 0.3};
  double sustained_window_s = 0.9;  // timed: one period of the hunting
  double sustained_spell_s = 0.1;
  double burst_window_s = 0.12;  // timed
  double burst_spell_s = 0.03;
  double burst_warm_s = 0.01;
  double idle_s = 0.25;         // rest before a burst; doubled after each that was below full clock
  double longest_idle_s = 2.0;  // of one rest
  int most_rejected_spells = 6;  // then the row is taken as it is, and says that it is no burst
  double half_width = 0.005;     // wanted, of the median within the run
  int min_samples = 5;
  int max_samples = 500;
  // A shorter launch is batched until a sample takes this long: 1000 times the resolution of an
  // event, 300 times what a pair of them adds.
  double sample_s = 0.0005;
  // Wall time of warm-up and window together, whatever the timer says; below every suite's
  // id_timeout_s, or a hang would be reported instead.
  double cap_s = 10.0;
};

struct Bench {
  Timer& timer;
  Clock& clock;
  Sensor& sensor;
  Budget budget;
  std::string family;
  DeviceRef device;
  int round = 0;
  std::optional<double> max_clock_mhz;  // of the processors; null if the device has no such clock
  std::int64_t cache_bytes = 0;         // of the device; 0: it has none, or none that matters
  bool profiled = false;  // a few launches under a profiler: nothing settles, nothing is judged
  // Called when the case is ready to load the device; returns when it may.
  std::function<void(const std::string& id)> ready = [](const std::string&) {};
  bool settled = false;                      // a sustained case ran before in this process
  const AlgorithmSet* algorithms = nullptr;  // stored choices, to be used where one fits
  bool tunes = false;  // search for the algorithm first (tune.h), then measure with it
};

// A wrong result is `invalid`, an exception `errored`, a Skip `skipped`: each with its message.
// Throws ProcessLost, after filling `record`, when the process cannot go on.
void measure(const CaseEntry& entry, Bench& bench, RunRecord& record);

// What a launch costs: by the timer, and in wall time, of which the timer may see only a part.
struct LaunchCost {
  double timed_s = 0;
  double wall_s = 0;
};

// The rule for a window of `window_s` and a timer that takes `capacity` launches at once. The batch
// is cut where min_samples of it would not fit into the wall-time cap.
[[nodiscard]] StoppingRule plan_samples(const LaunchCost& cost, double window_s, int capacity,
                                        const Budget& budget);

}  // namespace assay
