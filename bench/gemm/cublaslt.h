// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A cuBLASLt product D = A x B in the "TN" layout: A is m rows of k elements, B n columns of k, D n
// columns of m, all contiguous (the layout that FP8 demands on Hopper, and as good as any for the
// rest). The algorithm is the first that the library offers for a workspace of fixed size, so that
// the choice does not depend on free memory.
//
//   LtGemm gemm(Precision::kBf16, 8192, 8192, 8192);
//   gemm.run(a, b, d, stream);
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <memory>

#include "bench/gemm/precision.h"
#include "bench/harness/cuda/handles.h"
#include "reports/json.h"

namespace assay {

[[nodiscard]] Json cublaslt_version();

class LtGemm {
 public:
  // Throws Skip with the library's status when it offers no algorithm.
  LtGemm(Precision precision, int m, int n, int k);
  ~LtGemm();
  // The descriptors point at buffers of this object.
  LtGemm(const LtGemm&) = delete;
  LtGemm& operator=(const LtGemm&) = delete;

  void run(const void* a, const void* b, void* d, cudaStream_t stream);

  // {"library", "id", "tile", "stages", "split_k", "workspace_bytes", "waves", ...}
  [[nodiscard]] Json algorithm() const;

 private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
  DeviceBuffer workspace_;
  DeviceBuffer scale_;  // FP8: a scale of one for A and B
  cublasLtMatmulHeuristicResult_t choice_{};
};

}  // namespace assay
