// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Lines of the summary and of the Markdown page that follow from several rows.
#pragma once

#include <string>
#include <vector>

#include "reports/report.h"

namespace assay {

// "measured as correct: FP8 E4M3, 1290 TF/s (gemm/fp8_e4m3/8192x8192x8192/sustained), 25x FP32",
// one for the cards whose fastest row has this id.
[[nodiscard]] std::vector<std::string> fastest_lines(const Report& report);

// "46.1 MB: reads fall half-way from 6900 to 4610 GB/s between 41.9 and 50.3 MB", or why not, one a
// card.
[[nodiscard]] std::vector<std::string> l2_knee_lines(const Report& report);

// "took 3.1 % of gemm's 61.2 s, 0.8 % of memory's 12.0 s", of busy time over all runs and devices;
// empty if no run says how long its checks took.
[[nodiscard]] std::string checks_text(const Report& report);

}  // namespace assay
