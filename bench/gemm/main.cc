// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>

#include "bench/gemm/cases.h"
#include "bench/gemm/cublaslt.h"
#if ASSAY_CUSPARSELT
#include "bench/gemm/cusparselt.h"
#endif
#include "bench/harness/cuda/device.h"
#include "bench/harness/family_main.h"
#include "reports/error.h"

namespace {

class Gemm : public assay::CudaFamily {
 public:
  Gemm() {
    // They would turn FP32 and FP64 rows into something else behind their ids.
    for (const char* name :
         {"NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATION_STRATEGY", "CUBLAS_EMULATE_SINGLE_PRECISION",
          "CUBLAS_EMULATE_DOUBLE_PRECISION"}) {
      if (std::getenv(name) == nullptr) continue;
      throw assay::Error(
          assay::ExitCode::kUsage,
          fmt::format("{} is set: unset it, it changes what FP32 or FP64 means", name));
    }
  }
  [[nodiscard]] assay::Json versions() const override {
    assay::Json versions = CudaFamily::versions();
    versions["cublaslt"] = assay::cublaslt_version();
#if ASSAY_CUSPARSELT
    versions["cusparselt"] = assay::cusparselt_version();
#endif
    return versions;
  }
  [[nodiscard]] std::vector<assay::CaseEntry> cases() override {
    return assay::gemm_cases(cuda_device(), stream());
  }
  [[nodiscard]] std::optional<assay::CaseEntry> parse(const std::string& id) override {
    return assay::gemm_case(id, cuda_device(), stream());
  }
};

}  // namespace

int main(int argc, char** argv) {
  return assay::family_main(argc, argv, "gemm",
                            [](assay::Clock&) { return std::make_unique<Gemm>(); });
}
