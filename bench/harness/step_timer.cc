// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/timer.h"

namespace assay {

std::vector<double> StepTimer::sample(int samples, int per_sample, const LaunchFunction& launch) {
  std::vector<double> seconds;
  seconds.reserve(static_cast<std::size_t>(samples));
  int next = 0;
  double before = clock_.now_s();
  for (int s = 0; s < samples; ++s) {
    for (int i = 0; i < per_sample; ++i) launch(next++);
    const double after = clock_.now_s();
    seconds.push_back((after - before) / per_sample);
    before = after;
  }
  return seconds;
}

}  // namespace assay
