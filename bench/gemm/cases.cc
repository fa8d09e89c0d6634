// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/cases.h"

#include "bench/gemm/ceiling_case.h"
#include "bench/gemm/gemm_case.h"
#include "bench/gemm/spec.h"

namespace assay {
namespace {

CaseEntry entry_of(const GemmSpec& spec, const CudaDevice& device, cudaStream_t stream) {
  const PrecisionInfo& info = info_of(spec.precision);
  CaseEntry entry;
  entry.info.id = id_of(spec);
  entry.info.conditions.power = spec.power;
  entry.info.parameters = parameters_of(spec);
  entry.info.work = {spec.operations(), spec.bytes(), info.pipe};
  entry.info.data = {{"fill", input_fill(spec.precision)}, {"seed", kGemmSeed}};
  if (spec.float_data) entry.info.data["fill"] = "uniform[-1,1) on the FP32 grid";
  entry.make = [spec, &device, stream]() -> std::unique_ptr<Case> {
    return std::make_unique<GemmCase>(spec, device, stream);
  };
  if (const std::string why = why_not(spec, device.compute_capability); !why.empty()) {
    entry.skip = why;
  }
  return entry;
}

}  // namespace

std::vector<CaseEntry> gemm_cases(const CudaDevice& device, cudaStream_t stream) {
  std::vector<CaseEntry> entries = ceiling_cases(device, stream);
  for (const PrecisionInfo& info : precisions()) {
    for (const std::int64_t size : {256, 512, 1024, 2048, 4096, 8192, 16384}) {
      for (const Power power : {Power::kBurst, Power::kSustained}) {
        GemmSpec spec;
        spec.precision = info.precision;
        spec.m = spec.n = spec.k = size;
        spec.power = power;
        entries.push_back(entry_of(spec, device, stream));
      }
    }
  }
  return entries;
}

std::optional<CaseEntry> gemm_case(const std::string& id, const CudaDevice& device,
                                   cudaStream_t stream) {
  const std::optional<GemmSpec> spec = parse_gemm_id(id);
  if (!spec) return std::nullopt;
  return entry_of(*spec, device, stream);
}

}  // namespace assay
