// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The product of a GemmSpec with 2:4 weights through cuSPARSELt: of each four weights along k two
// are 0, and only the others and their places are stored. As in cublaslt.h the library is given the
// transposed product, D^T = W^T X^T, so W is its first matrix, the structured one.
//
//   SparseLtGemm gemm(spec);               // throws Skip with the library's status if it has none
//   gemm.prune(w, pruned, stream);         // dense to dense
//   gemm.compress(pruned, compressed, stream);
//   gemm.run({x, compressed, d}, stream);
//
// The library has an own search, cusparseLtMatmulSearch. It is not used: its choice may differ from
// process to process, and the workspace that it is given is that of one algorithm, not of all that
// it tries.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/gemm/spec.h"
#include "bench/harness/cuda/handles.h"
#include "reports/json.h"

namespace assay {

[[nodiscard]] std::string cusparselt_version();  // "0.8.0"

// In device memory, on 16 bytes.
struct SparseOperands {
  const void* x = nullptr;
  const void* compressed = nullptr;
  void* d = nullptr;
};

class SparseLtGemm {
 public:
  explicit SparseLtGemm(const GemmSpec& spec);
  ~SparseLtGemm();
  // The library's objects refer to each other by address.
  SparseLtGemm(const SparseLtGemm&) = delete;
  SparseLtGemm& operator=(const SparseLtGemm&) = delete;

  // Of each four of W along k, 0 for the two that are nearer to it ("strip"); `pruned` lies as W
  // does. Asynchronous.
  void prune(const void* w, void* pruned, cudaStream_t stream);
  // Whether the library finds W to be 2:4; waits for the stream.
  [[nodiscard]] bool is_pruned(const void* w, cudaStream_t stream);

  [[nodiscard]] std::int64_t compressed_bytes() const { return compressed_bytes_; }
  void compress(const void* pruned, void* compressed, cudaStream_t stream);

  void run(const SparseOperands& operands, cudaStream_t stream);

  // {"library", "id", "ids", "split_k", ..., "workspace_bytes"}
  [[nodiscard]] Json algorithm() const;
  // All that the library numbers, its default first. Each is named by its "id".
  [[nodiscard]] std::vector<Json> candidates() const;
  // Throws std::runtime_error if the library does not run it for this product, or would have the
  // weights compressed in another way.
  void choose(const Json& algorithm);

 private:
  struct Handles;
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> compressed_and_scratch_bytes() const;
  void fit_workspace();

  std::unique_ptr<Handles> handles_;
  std::int64_t compressed_bytes_ = 0;
  DeviceBuffer compress_scratch_;
  DeviceBuffer workspace_;
};

}  // namespace assay
