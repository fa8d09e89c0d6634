// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Time stamps and the environment variables that may change a measurement.
#pragma once

#include <string>

#include "reports/json.h"

namespace assay {

// "2026-11-30T17:05:12Z"
[[nodiscard]] std::string utc_now();

// From a fixed list of names only (NCCL_*, CUDA_*, CUBLAS_*, ... that change what is measured): an
// environment holds secrets, and a report is passed on.
[[nodiscard]] Json recorded_environment();

}  // namespace assay
