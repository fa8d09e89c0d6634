// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "bench/gemm/cases.h"
#include "bench/gemm/cublaslt.h"
#include "bench/harness/cuda/device.h"
#include "bench/harness/family_main.h"
#include "reports/error.h"

namespace {

class Gemm : public assay::CudaFamily {
 public:
  Gemm() {
    // It would turn FP32 rows into TF32 (or the reverse) behind their ids.
    if (std::getenv("NVIDIA_TF32_OVERRIDE") != nullptr) {
      throw assay::Error(assay::ExitCode::kUsage,
                         "NVIDIA_TF32_OVERRIDE is set: unset it, it changes what FP32 means");
    }
  }
  [[nodiscard]] assay::Json versions() const override {
    assay::Json versions = CudaFamily::versions();
    versions["cublaslt"] = assay::cublaslt_version();
    return versions;
  }
  [[nodiscard]] std::vector<assay::CaseEntry> cases() override {
    return assay::gemm_cases(cuda_device(), stream());
  }
};

}  // namespace

int main(int argc, char** argv) {
  return assay::family_main(argc, argv, "gemm",
                            [](assay::Clock&) { return std::make_unique<Gemm>(); });
}
