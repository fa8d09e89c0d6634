// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The host family: what feeds the GPUs. For information, never part of a GPU verdict.
#pragma once

#include <vector>

#include "bench/harness/case.h"

namespace assay {

[[nodiscard]] std::vector<CaseEntry> host_cases();

}  // namespace assay
