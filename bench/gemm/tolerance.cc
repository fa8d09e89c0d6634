// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/tolerance.h"

#include <cmath>
#include <limits>

namespace assay {
namespace {

double relative_error(Precision precision, int k) {
  switch (precision) {
    case Precision::kFp32:
      return std::sqrt(k) * 0x1p-24;
    case Precision::kTf32:
      return 0x1p-10;
    case Precision::kBf16:
      return 0x1p-9;
    case Precision::kFp8E4M3:
      return 0x1p-9 + 0x1p-13 * std::sqrt(k / 32.0);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

double gemm_tolerance(Precision precision, int k, int columns) {
  const double sigma = std::sqrt(k) / 3;
  return kSigmas * relative_error(precision, k) * sigma * std::sqrt(columns);
}

}  // namespace assay
