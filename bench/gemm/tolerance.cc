// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/tolerance.h"

#include <cmath>
#include <limits>

namespace assay {
namespace {

double relative_error(Precision precision, double k) {
  switch (precision) {
    case Precision::kFp64:
      return std::sqrt(2 * k) * 0x1p-53;
    case Precision::kFp32:
      return std::sqrt(k) * 0x1p-24;
    case Precision::kTf32:
      return 0x1p-10;
    case Precision::kFp16:
      return 0x1p-12 + k * 0x1p-28;
    case Precision::kBf16:
      return 0x1p-9;
    case Precision::kFp8E4M3:
      return 0x1p-9 + 0x1p-13 * std::sqrt(k / 32);
    case Precision::kFp8E4M3Full:
    case Precision::kFp8E5M2:
      return 0x1p-9 + 0x1p-12;
    case Precision::kInt8:
      return 0;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

double gemm_element_sd(std::int64_t k) { return std::sqrt(static_cast<double>(k)) / 3; }

double gemm_tolerance(Precision precision, std::int64_t k, int columns, double element_sd) {
  return kSigmas * relative_error(precision, static_cast<double>(k)) * element_sd *
         std::sqrt(columns);
}

double ceiling_tolerance(Precision precision, std::int64_t depth, int columns) {
  const double k = static_cast<double>(depth);
  double error = relative_error(precision, k);
  if (precision == Precision::kFp16 || precision == Precision::kBf16) error = 0x1p-24 * k;
  if (precision == Precision::kFp8E4M3) error = 0x1p-13 * std::sqrt(k / 32);
  return kSigmas * error * gemm_element_sd(depth) * std::sqrt(columns);
}

}  // namespace assay
