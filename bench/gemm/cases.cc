// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/cases.h"

#include <fmt/format.h>

#include <array>

#include "bench/gemm/ceiling_case.h"
#include "bench/gemm/gemm_case.h"
#include "bench/gemm/linear_case.h"
#include "bench/gemm/spec.h"
#if ASSAY_CUSPARSELT
#include "bench/gemm/sparse_case.h"
#endif

namespace assay {
namespace {

std::unique_ptr<Case> make_case(const GemmSpec& spec, const CudaDevice& device,
                                cudaStream_t stream) {
#if ASSAY_CUSPARSELT
  if (spec.sparse) return std::make_unique<SparseGemmCase>(spec, device, stream);
#endif
  return std::make_unique<GemmCase>(spec, device, stream);
}

// Why this build or the device cannot run it; empty if both can.
std::string why_skipped(const GemmSpec& spec, const CudaDevice& device) {
#if !ASSAY_CUSPARSELT
  if (spec.sparse) return "built without cuSPARSELt: ASSAY_WITH=cusparselt ./assay brings it";
#endif
  return why_not(spec, device.compute_capability);
}

CaseEntry entry_of(const GemmSpec& spec, const CudaDevice& device, cudaStream_t stream) {
  const PrecisionInfo& info = info_of(spec.precision);
  CaseEntry entry;
  entry.info.id = id_of(spec);
  entry.info.conditions.power = spec.power;
  entry.info.parameters = parameters_of(spec);
  entry.info.work = {spec.operations(), spec.bytes(),
                     spec.sparse ? fmt::format("{}_sparse", info.pipe) : info.pipe};
  entry.info.data = {{"fill", input_fill(spec.precision)}, {"seed", kGemmSeed}};
  entry.info.set_bytes = static_cast<std::int64_t>(spec.bytes());
  if (spec.float_data) entry.info.data["fill"] = "uniform[-1,1) on the FP32 grid";
  entry.make = [spec, &device, stream] { return make_case(spec, device, stream); };
  if (const std::string why = why_skipped(spec, device); !why.empty()) entry.skip = why;
  return entry;
}

CaseEntry entry_of(const LinearSpec& spec, const CudaDevice& device, cudaStream_t stream) {
  CaseEntry entry;
  entry.info.id = id_of(spec);
  entry.info.conditions.power = spec.power;
  entry.info.parameters = parameters_of(spec);
  entry.info.work = {spec.operations(), spec.bytes(), info_of(Precision::kFp8E4M3).pipe};
  entry.info.data = {{"fill", input_fill(Precision::kBf16)}, {"seed", kGemmSeed}};
  entry.info.set_bytes = static_cast<std::int64_t>(spec.bytes());
  entry.make = [spec, &device, stream] {
    return std::make_unique<LinearFp8Case>(spec, device, stream);
  };
  const std::string why = why_not(spec.products()[0], device.compute_capability);
  if (!why.empty()) entry.skip = why;
  return entry;
}

}  // namespace

std::vector<CaseEntry> gemm_cases(const CudaDevice& device, cudaStream_t stream) {
  std::vector<CaseEntry> entries = ceiling_cases(device, stream);
  const auto add = [&](Precision precision, std::int64_t size, bool sparse) {
    for (const Power power : {Power::kBurst, Power::kSustained}) {
      GemmSpec spec;
      spec.precision = precision;
      spec.m = spec.n = spec.k = size;
      spec.sparse = sparse;
      spec.power = power;
      entries.push_back(entry_of(spec, device, stream));
    }
  };
  for (const PrecisionInfo& info : precisions()) {
    for (const std::int64_t size : {256, 512, 1024, 2048, 4096, 8192, 16384}) {
      add(info.precision, size, false);
    }
  }
  for (const PrecisionInfo& info : precisions()) {
    if (!has_sparse(info.precision)) continue;
    for (const std::int64_t size : {4096, 8192, 16384}) add(info.precision, size, true);
  }
  for (const std::array<std::int64_t, 3>& layer :
       {std::array<std::int64_t, 3>{64, 1024, 1024}, {2048, 4096, 4096}, {8192, 8192, 8192}}) {
    for (const bool cast : {false, true}) {
      for (const Power power : {Power::kBurst, Power::kSustained}) {
        entries.push_back(
            entry_of(LinearSpec{layer[0], layer[1], layer[2], cast, power}, device, stream));
      }
    }
  }
  return entries;
}

std::optional<CaseEntry> gemm_case(const std::string& id, const CudaDevice& device,
                                   cudaStream_t stream) {
  if (const std::optional<LinearSpec> layer = parse_linear_id(id)) {
    return entry_of(*layer, device, stream);
  }
  const std::optional<GemmSpec> spec = parse_gemm_id(id);
  if (!spec) return std::nullopt;
  return entry_of(*spec, device, stream);
}

}  // namespace assay
