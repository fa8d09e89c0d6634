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

class MatrixLayout {
 public:
  MatrixLayout(cudaDataType_t type, int rows, int columns) {
    check_lt(cublasLtMatrixLayoutCreate(&layout_, type, static_cast<std::uint64_t>(rows),
                                        static_cast<std::uint64_t>(columns), rows),
             "cublasLtMatrixLayoutCreate");
  }
  ~MatrixLayout() { (void)cublasLtMatrixLayoutDestroy(layout_); }
  MatrixLayout(const MatrixLayout&) = delete;
  MatrixLayout& operator=(const MatrixLayout&) = delete;
  [[nodiscard]] cublasLtMatrixLayout_t get() const { return layout_; }

 private:
  cublasLtMatrixLayout_t layout_ = nullptr;
};

class LtHandle {
 public:
  LtHandle() { check_lt(cublasLtCreate(&handle_), "cublasLtCreate"); }
  ~LtHandle() { (void)cublasLtDestroy(handle_); }
  LtHandle(const LtHandle&) = delete;
  LtHandle& operator=(const LtHandle&) = delete;
  [[nodiscard]] cublasLtHandle_t get() const { return handle_; }

 private:
  cublasLtHandle_t handle_ = nullptr;
};

class Operation {
 public:
  explicit Operation(cublasComputeType_t compute) {
    check_lt(cublasLtMatmulDescCreate(&operation_, compute, CUDA_R_32F),
             "cublasLtMatmulDescCreate");
    set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    set(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N);
  }
  ~Operation() { (void)cublasLtMatmulDescDestroy(operation_); }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check_lt(cublasLtMatmulDescSetAttribute(operation_, attribute, &value, sizeof(value)),
             "cublasLtMatmulDescSetAttribute");
  }
  [[nodiscard]] cublasLtMatmulDesc_t get() const { return operation_; }

 private:
  cublasLtMatmulDesc_t operation_ = nullptr;
};

class Preference {
 public:
  Preference() {
    check_lt(cublasLtMatmulPreferenceCreate(&preference_), "cublasLtMatmulPreferenceCreate");
    const std::uint64_t bytes = kWorkspaceBytes;
    check_lt(cublasLtMatmulPreferenceSetAttribute(
                 preference_, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof(bytes)),
             "cublasLtMatmulPreferenceSetAttribute");
  }
  ~Preference() { (void)cublasLtMatmulPreferenceDestroy(preference_); }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;
  [[nodiscard]] cublasLtMatmulPreference_t get() const { return preference_; }

 private:
  cublasLtMatmulPreference_t preference_ = nullptr;
};

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
        operation(types.compute),
        a(types.input, k, m),
        b(types.input, k, n),
        d(types.output, m, n) {}

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
    handles_->operation.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scale);
    handles_->operation.set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scale);
    const std::int8_t fast = 1;
    handles_->operation.set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, fast);
  }
  const Preference preference;
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
