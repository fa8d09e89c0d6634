// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/cublaslt.h"

#include <fmt/format.h>

#include <source_location>

#include "bench/harness/case.h"

namespace assay {
namespace {

// 32 MiB is NVIDIA's advice for Hopper, 4 MiB for Ampere; more changes the choice of algorithm.
constexpr std::int64_t kWorkspaceBytes = std::int64_t{32} << 20;

void check_lt(cublasStatus_t status, const char* call,
              const std::source_location& where = std::source_location::current()) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string text = fmt::format("{}: {} ({}) at {}:{}", call, cublasLtGetStatusName(status),
                                       static_cast<int>(status), where.file_name(), where.line());
  if (status == CUBLAS_STATUS_EXECUTION_FAILED) throw ProcessLost(text);
  throw std::runtime_error(text);
}

struct Types {
  cudaDataType_t input;
  cudaDataType_t output;
  cublasComputeType_t compute;
};

Types types_of(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC};
    case Precision::kTf32:
      return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
    case Precision::kBf16:
      return {CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    case Precision::kFp8E4M3:
      return {CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
  }
  throw std::logic_error("precision without types");
}

using LtHandle = Owner<cublasLtHandle_t, cublasLtDestroy>;
using MatrixLayout = Owner<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Operation = Owner<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Preference = Owner<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

LtHandle make_library() {
  cublasLtHandle_t handle = nullptr;
  check_lt(cublasLtCreate(&handle), "cublasLtCreate");
  return LtHandle(handle);
}

MatrixLayout make_layout(cudaDataType_t type, int rows, int columns) {
  cublasLtMatrixLayout_t layout = nullptr;
  check_lt(cublasLtMatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(rows),
                                      static_cast<std::uint64_t>(columns), rows),
           "cublasLtMatrixLayoutCreate");
  return MatrixLayout(layout);
}

template <class T>
void set_attribute(const Operation& operation, cublasLtMatmulDescAttributes_t which,
                   const T& value) {
  check_lt(cublasLtMatmulDescSetAttribute(operation.get(), which, &value, sizeof(value)),
           "cublasLtMatmulDescSetAttribute");
}

Operation make_operation(cublasComputeType_t compute) {
  cublasLtMatmulDesc_t handle = nullptr;
  check_lt(cublasLtMatmulDescCreate(&handle, compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
  Operation operation(handle);
  set_attribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  set_attribute(operation, CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N);
  return operation;
}

Preference make_preference() {
  cublasLtMatmulPreference_t handle = nullptr;
  check_lt(cublasLtMatmulPreferenceCreate(&handle), "cublasLtMatmulPreferenceCreate");
  Preference preference(handle);
  const std::uint64_t bytes = kWorkspaceBytes;
  check_lt(cublasLtMatmulPreferenceSetAttribute(handle, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                &bytes, sizeof(bytes)),
           "cublasLtMatmulPreferenceSetAttribute");
  return preference;
}

template <class T>
Json algorithm_field(const cublasLtMatmulAlgo_t& algo, cublasLtMatmulAlgoConfigAttributes_t which) {
  T value{};
  std::size_t written = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoConfigGetAttribute(&algo, which, &value, sizeof(value), &written);
  if (status != CUBLAS_STATUS_SUCCESS) return nullptr;
  return value;
}

}  // namespace

struct LtGemm::Handles {
  Handles(Precision precision, int m, int n, int k)
      : types(types_of(precision)),
        library(make_library()),
        operation(make_operation(types.compute)),
        a(make_layout(types.input, k, m)),
        b(make_layout(types.input, k, n)),
        d(make_layout(types.output, m, n)) {}

  Types types;
  LtHandle library;
  Operation operation;
  MatrixLayout a;
  MatrixLayout b;
  MatrixLayout d;
};

Json cublaslt_version() {
  const std::size_t version = cublasLtGetVersion();
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

LtGemm::LtGemm(Precision precision, int m, int n, int k)
    : handles_(std::make_unique<Handles>(precision, m, n, k)), workspace_(kWorkspaceBytes) {
  if (precision == Precision::kFp8E4M3) {
    scale_ = DeviceBuffer(sizeof(float));
    const float one = 1.0F;
    check_cuda(cudaMemcpy(scale_.data(), &one, sizeof(one), cudaMemcpyHostToDevice), "cudaMemcpy");
    void* const scale = scale_.data();
    set_attribute(handles_->operation, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scale);
    set_attribute(handles_->operation, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scale);
    const std::int8_t fast = 1;
    set_attribute(handles_->operation, CUBLASLT_MATMUL_DESC_FAST_ACCUM, fast);
  }
  const Preference preference = make_preference();
  int found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handles_->library.get(), handles_->operation.get(), handles_->a.get(), handles_->b.get(),
      handles_->d.get(), handles_->d.get(), preference.get(), 1, &choice_, &found);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && found == 0)) {
    throw Skip(fmt::format("cuBLASLt {} offers no algorithm: {}",
                           cublaslt_version().get<std::string>(), cublasLtGetStatusName(status)));
  }
  check_lt(status, "cublasLtMatmulAlgoGetHeuristic");
}

LtGemm::~LtGemm() = default;

void LtGemm::run(const void* a, const void* b, void* d, cudaStream_t stream) {
  const float alpha = 1.0F;
  const float beta = 0.0F;
  check_lt(cublasLtMatmul(handles_->library.get(), handles_->operation.get(), &alpha, a,
                          handles_->a.get(), b, handles_->b.get(), &beta, d, handles_->d.get(), d,
                          handles_->d.get(), &choice_.algo, workspace_.data(),
                          static_cast<std::size_t>(workspace_.bytes()), stream),
           "cublasLtMatmul");
}

Json LtGemm::algorithm() const {
  const cublasLtMatmulAlgo_t& algo = choice_.algo;
  return {
      {"library", "cuBLASLt " + cublaslt_version().get<std::string>()},
      {"chosen", "first offered"},
      {"id", algorithm_field<std::int32_t>(algo, CUBLASLT_ALGO_CONFIG_ID)},
      {"tile", algorithm_field<std::uint32_t>(algo, CUBLASLT_ALGO_CONFIG_TILE_ID)},
      {"stages", algorithm_field<std::uint32_t>(algo, CUBLASLT_ALGO_CONFIG_STAGES_ID)},
      {"split_k", algorithm_field<std::int32_t>(algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM)},
      {"reduction", algorithm_field<std::uint32_t>(algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME)},
      {"swizzle", algorithm_field<std::uint32_t>(algo, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING)},
      {"cluster", algorithm_field<std::uint16_t>(algo, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID)},
      {"inner", algorithm_field<std::uint16_t>(algo, CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID)},
      {"workspace_limit_bytes", kWorkspaceBytes},
      {"workspace_bytes", choice_.workspaceSize},
      {"waves", static_cast<double>(choice_.wavesCount)}};
}

}  // namespace assay
