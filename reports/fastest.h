// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Which precision of a card's matrix products is the fastest that was measured as correct.
//
//   const PrecisionRows rows = comparable_precisions(report, gpu.uuid);
//   if (const Record* best = rows.fastest()) ...   // gemm/fp8_e4m3/8192x8192x8192/sustained
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "reports/report.h"

namespace assay {

// Products of one shape under the same conditions, by precision ("fp8_e4m3"). Each ended ok in all
// its runs with a verified result.
struct PrecisionRows {
  std::map<std::string, const Record*> rows;

  // By the median; null of fewer than two rows: what was compared with nothing is no fastest.
  [[nodiscard]] const Record* fastest() const;
};

// Dense floating-point products without any variant: no ceiling, no sparsity, no integers. Of
// several shapes and conditions the one with the most precisions; of these sustained before burst,
// then the larger product. Points into the report.
[[nodiscard]] PrecisionRows comparable_precisions(const Report& report, std::string_view uuid);

}  // namespace assay
