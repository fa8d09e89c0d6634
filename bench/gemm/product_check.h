// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// kernels/gemm_check.h as a Verification: runs the check and judges its residual.
//
//   ProductCheck check(stream);
//   Verification found = check(problem, tolerance, seed, "buffer set 3");
#pragma once

#include <string>

#include "bench/harness/case.h"
#include "bench/harness/cuda/handles.h"
#include "kernels/gemm_check.h"

namespace assay {

class ProductCheck {
 public:
  // Buffers grow with the problems that it is given.
  explicit ProductCheck(cudaStream_t stream) : stream_(stream), result_(sizeof(GemmCheckResult)) {}

  // `what` names the product in the detail of a wrong result.
  [[nodiscard]] Verification operator()(const GemmProblem& problem, double tolerance,
                                        std::uint64_t seed, const std::string& what);

 private:
  cudaStream_t stream_;
  DeviceBuffer workspace_;
  DeviceBuffer result_;
};

}  // namespace assay
