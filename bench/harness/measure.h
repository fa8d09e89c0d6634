// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// From a case to a record: verify, warm up, time, verify again.
//
//   Bench bench{.timer = timer, .clock = clock, .sensor = sensor, .budget = {}, ...};
//   RunRecord record;
//   measure(entry, bench, record);    // throws nothing but ProcessLost
#pragma once

#include <string>

#include "bench/harness/case.h"
#include "bench/harness/timer.h"
#include "bench/node/sensor.h"
#include "reports/record.h"

namespace assay {

// How long things take, declared before the run. A budget is no statement about errors.
struct Budget {
  double settle_s = 2.0;    // sustained: until clock and power have come down, once a process
  double resettle_s = 0.5;  // sustained: again before each further case
  double sustained_window_s = 0.6;  // timed
  double idle_s = 0.25;             // burst: rest before, so that the clock is back at its maximum
  double burst_warm_s = 0.03;
  double burst_window_s = 0.12;
  int min_samples = 5;
  int max_samples = 500;
  double sample_s = 0.0005;  // a shorter launch is batched until a sample takes this long
  double cap_s = 10.0;       // wall time of warm-up and window together, whatever the timer says;
                        // below every suite's id_timeout_s, or a hang would be reported instead
};

struct Bench {
  Timer& timer;
  Clock& clock;
  Sensor& sensor;
  Budget budget;
  std::string family;
  DeviceRef device;
  int round = 0;
  bool settled = false;  // a sustained case ran before in this process
};

// A wrong result is `invalid`, an exception `errored`, a Skip `skipped`: each with its message.
// Throws ProcessLost, after filling `record`, when the process cannot go on.
void measure(const CaseEntry& entry, Bench& bench, RunRecord& record);

// What a launch costs: by the timer, and in wall time, of which the timer may see only a part.
struct LaunchCost {
  double timed_s = 0;
  double wall_s = 0;
};

// Batch and sample count for a window of `window_s`. The batch is cut where min_samples of it would
// not fit into the wall-time cap.
struct SamplePlan {
  int samples = 1;
  int per_sample = 1;
};
[[nodiscard]] SamplePlan plan_samples(const LaunchCost& cost, double window_s,
                                      const Budget& budget);

}  // namespace assay
