// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The checks of claims.h that ask the inventory about links.
#pragma once

#include <string>

#include "reports/claims.h"

namespace assay {

struct ClaimOutcome {
  ClaimVerdict verdict = ClaimVerdict::kNotMeasured;
  std::string measured;
  std::string reason;
};

[[nodiscard]] ClaimOutcome judge_nvlink_pairs(const Inventory& inventory);
[[nodiscard]] ClaimOutcome judge_nvlink_rate(const ClaimCheck& check, const Report& report,
                                             const GpuInventory& gpu);
[[nodiscard]] ClaimOutcome show_host_facts(const Inventory& inventory);

}  // namespace assay
