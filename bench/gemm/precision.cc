// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/precision.h"

#include <algorithm>
#include <array>

namespace assay {
namespace {

using enum ElementType;

constexpr std::array<PrecisionInfo, 9> kPrecisions = {{
    {Precision::kFp64, "fp64", "fp64_tc", kFp64, kFp64, kFp64, 80, false, 1},
    {Precision::kFp32, "fp32", "fp32", kFp32, kFp32, kFp32, 0, false, 1},
    {Precision::kTf32, "tf32", "tf32", kFp32, kFp32, kFp32, 80, false, 1},
    {Precision::kFp16, "fp16", "fp16", kFp16, kFp16, kFp16, 70, false, 1},
    {Precision::kBf16, "bf16", "bf16", kBf16, kBf16, kBf16, 80, false, 1},
    {Precision::kFp8E4M3, "fp8_e4m3", "fp8", kFp8E4M3, kFp8E4M3, kBf16, 89, true, 16},
    {Precision::kFp8E4M3Full, "fp8_e4m3_full", "fp8", kFp8E4M3, kFp8E4M3, kBf16, 89, true, 16},
    {Precision::kFp8E5M2, "fp8_e5m2", "fp8", kFp8E5M2, kFp8E4M3, kBf16, 89, true, 16},
    {Precision::kInt8, "int8", "int8", kInt8, kInt8, kInt32, 75, true, 4},
}};

}  // namespace

std::span<const PrecisionInfo> precisions() { return kPrecisions; }

const PrecisionInfo& info_of(Precision precision) {
  return *std::ranges::find(kPrecisions, precision, &PrecisionInfo::precision);
}

bool has_sparse(Precision precision) {
  return precision == Precision::kFp16 || precision == Precision::kBf16 ||
         precision == Precision::kFp8E4M3 || precision == Precision::kInt8;
}

const char* input_fill(Precision precision) {
  return info_of(precision).x == ElementType::kInt8 ? "uniform -128..127" : "uniform[-1,1)";
}

const PrecisionInfo* find_precision(std::string_view name) {
  const auto* const found = std::ranges::find(kPrecisions, name, &PrecisionInfo::name);
  return found == kPrecisions.end() ? nullptr : &*found;
}

}  // namespace assay
