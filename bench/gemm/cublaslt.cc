// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/cublaslt.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <source_location>

#include "bench/gemm/data_type.h"
#include "bench/harness/case.h"

namespace assay {
namespace {

// 32 MiB is NVIDIA's advice for Hopper, 4 MiB for Ampere; more changes the choice of algorithm.
constexpr std::int64_t kWorkspaceBytes = std::int64_t{32} << 20;
constexpr int kMostCandidates = 64;

void check_lt(cublasStatus_t status, const char* call,
              const std::source_location& where = std::source_location::current()) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string text = fmt::format("{}: {} ({}) at {}:{}", call, cublasLtGetStatusName(status),
                                       static_cast<int>(status), where.file_name(), where.line());
  if (status == CUBLAS_STATUS_EXECUTION_FAILED) throw ProcessLost(text);
  throw std::runtime_error(text);
}

struct Compute {
  cublasComputeType_t type;
  cudaDataType_t scale;  // of alpha and beta
};

Compute compute_of(Precision precision) {
  switch (precision) {
    case Precision::kFp64:
      return {CUBLAS_COMPUTE_64F, CUDA_R_64F};
    case Precision::kFp32:
      return {CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F};
    case Precision::kTf32:
      return {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F};
    case Precision::kInt8:
      return {CUBLAS_COMPUTE_32I, CUDA_R_32I};
    default:
      return {CUBLAS_COMPUTE_32F, CUDA_R_32F};
  }
}

// 0 and 1 in the type of alpha and beta.
struct Scalars {
  explicit Scalars(cudaDataType_t type) {
    if (type == CUDA_R_64F) {
      one.fp64 = 1;
    } else if (type == CUDA_R_32I) {
      one.int32 = 1;
    } else {
      one.fp32 = 1;
    }
  }
  union Scalar {
    double fp64 = 0;
    float fp32;
    std::int32_t int32;
  };
  Scalar zero;  // all bits 0 in each
  Scalar one;
};

using LtHandle = Owner<cublasLtHandle_t, cublasLtDestroy>;
using MatrixLayout = Owner<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Operation = Owner<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Preference = Owner<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

LtHandle make_library() {
  cublasLtHandle_t handle = nullptr;
  check_lt(cublasLtCreate(&handle), "cublasLtCreate");
  return LtHandle(handle);
}

template <class T>
void set_layout(const MatrixLayout& layout, cublasLtMatrixLayoutAttribute_t which, const T& value) {
  check_lt(cublasLtMatrixLayoutSetAttribute(layout.get(), which, &value, sizeof(value)),
           "cublasLtMatrixLayoutSetAttribute");
}

MatrixLayout make_layout(ElementType type, std::int64_t rows, std::int64_t columns,
                         const GemmSpec& spec) {
  cublasLtMatrixLayout_t handle = nullptr;
  check_lt(
      cublasLtMatrixLayoutCreate(&handle, cuda_data_type(type), static_cast<std::uint64_t>(rows),
                                 static_cast<std::uint64_t>(columns), rows),
      "cublasLtMatrixLayoutCreate");
  MatrixLayout layout(handle);
  if (spec.batch == 1 && !spec.pointers) return layout;
  set_layout(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(spec.batch));
  if (!spec.pointers) {
    set_layout(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, rows * columns);
    return layout;
  }
#if CUDART_VERSION >= 13000
  const auto by_pointers = static_cast<std::uint32_t>(CUBLASLT_BATCH_MODE_POINTER_ARRAY);
  set_layout(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, by_pointers);
  return layout;
#else
  throw Skip("batches by pointers need cuBLASLt 13");
#endif
}

template <class T>
void set_attribute(const Operation& operation, cublasLtMatmulDescAttributes_t which,
                   const T& value) {
  check_lt(cublasLtMatmulDescSetAttribute(operation.get(), which, &value, sizeof(value)),
           "cublasLtMatmulDescSetAttribute");
}

void set_rowwise(const Operation& operation) {
#if CUDART_VERSION >= 12090
  const std::int32_t rowwise = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
  set_attribute(operation, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, rowwise);
  set_attribute(operation, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, rowwise);
#else
  (void)operation;
  throw Skip("rowwise scales need cuBLASLt 12.9");
#endif
}

Operation make_operation(const GemmSpec& spec) {
  const Compute compute = compute_of(spec.precision);
  cublasLtMatmulDesc_t handle = nullptr;
  check_lt(cublasLtMatmulDescCreate(&handle, compute.type, compute.scale),
           "cublasLtMatmulDescCreate");
  Operation operation(handle);
  set_attribute(operation, CUBLASLT_MATMUL_DESC_TRANSA,
                spec.w_k_contiguous ? CUBLAS_OP_T : CUBLAS_OP_N);
  set_attribute(operation, CUBLASLT_MATMUL_DESC_TRANSB,
                spec.x_k_contiguous ? CUBLAS_OP_N : CUBLAS_OP_T);
  if (spec.precision == Precision::kFp8E4M3) {
    set_attribute(operation, CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
  }
  if (spec.rowwise) set_rowwise(operation);
  if (spec.bias) {
    set_attribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    const std::int32_t type = cuda_data_type(info_of(spec.precision).d);
    set_attribute(operation, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type);
  }
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

// "This structure can be trivially serialized and later restored for use with the same version of
// cuBLAS" (cuBLAS documentation of cublasLtMatmulAlgo_t).
std::string state_text(const cublasLtMatmulAlgo_t& algo) {
  std::string text;
  for (const std::uint64_t word : algo.data) text += fmt::format("{:016x}", word);
  return text;
}

cublasLtMatmulAlgo_t algo_from(const std::string& text) {
  cublasLtMatmulAlgo_t algo{};
  constexpr std::size_t kDigits = 16;
  if (text.size() != kDigits * std::size(algo.data)) {
    throw std::runtime_error(fmt::format("algorithm: state of {} digits", text.size()));
  }
  const char* at = text.data();
  for (std::uint64_t& word : algo.data) {
    const auto [end, error] = std::from_chars(at, at + kDigits, word, 16);
    if (error != std::errc() || end != at + kDigits) {
      throw std::runtime_error("algorithm: state is not hexadecimal");
    }
    at += kDigits;
  }
  return algo;
}

Json described(const cublasLtMatmulHeuristicResult_t& choice) {
  const cublasLtMatmulAlgo_t& algo = choice.algo;
  return {
      {"library", "cuBLASLt " + cublaslt_version()},
      {"id", algorithm_field<std::int32_t>(algo, CUBLASLT_ALGO_CONFIG_ID)},
      {"tile", algorithm_field<std::uint32_t>(algo, CUBLASLT_ALGO_CONFIG_TILE_ID)},
      {"stages", algorithm_field<std::uint32_t>(algo, CUBLASLT_ALGO_CONFIG_STAGES_ID)},
      {"split_k", algorithm_field<std::int32_t>(algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM)},
      {"reduction", algorithm_field<std::uint32_t>(algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME)},
      {"swizzle", algorithm_field<std::uint32_t>(algo, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING)},
      {"cluster", algorithm_field<std::uint16_t>(algo, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID)},
      {"inner", algorithm_field<std::uint16_t>(algo, CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID)},
      {"custom", algorithm_field<std::uint32_t>(algo, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION)},
      {"workspace_limit_bytes", kWorkspaceBytes},
      {"workspace_bytes", choice.workspaceSize},
      {"waves", static_cast<double>(choice.wavesCount)},
      {"state", state_text(algo)}};
}

}  // namespace

struct LtGemm::Handles {
  explicit Handles(const GemmSpec& of)
      : spec(of),
        info(info_of(of.precision)),
        scalars(compute_of(of.precision).scale),
        library(make_library()),
        operation(make_operation(of)),
        w(of.w_k_contiguous ? make_layout(info.w, of.k, of.n, of)
                            : make_layout(info.w, of.n, of.k, of)),
        x(of.x_k_contiguous ? make_layout(info.x, of.k, of.m, of)
                            : make_layout(info.x, of.m, of.k, of)),
        d(make_layout(info.d, of.n, of.m, of)) {}

  GemmSpec spec;
  PrecisionInfo info;
  Scalars scalars;
  LtHandle library;
  Operation operation;
  MatrixLayout w;
  MatrixLayout x;
  MatrixLayout d;
};

std::string cublaslt_version() {
  const std::size_t version = cublasLtGetVersion();
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

LtGemm::LtGemm(const GemmSpec& spec)
    : handles_(std::make_unique<Handles>(spec)), workspace_(kWorkspaceBytes) {
  // The choice depends on whether there are scales and a bias, not on where they lie.
  const void* const somewhere = workspace_.data();
  if (spec.bias) set_attribute(handles_->operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, somewhere);
  if (handles_->info.is_fp8()) {
    set_attribute(handles_->operation, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, somewhere);
    set_attribute(handles_->operation, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, somewhere);
  }
  choice_ = offered(1).front();
}

LtGemm::~LtGemm() = default;

std::vector<cublasLtMatmulHeuristicResult_t> LtGemm::offered(int most) const {
  const Preference preference = make_preference();
  std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(most));
  int found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handles_->library.get(), handles_->operation.get(), handles_->w.get(), handles_->x.get(),
      handles_->d.get(), handles_->d.get(), preference.get(), most, results.data(), &found);
  results.resize(status == CUBLAS_STATUS_SUCCESS ? static_cast<std::size_t>(found) : 0);
  std::erase_if(results, [](const auto& one) { return one.state != CUBLAS_STATUS_SUCCESS; });
  if (status == CUBLAS_STATUS_NOT_SUPPORTED ||
      (status == CUBLAS_STATUS_SUCCESS && results.empty())) {
    throw Skip(fmt::format("cuBLASLt {} offers no algorithm: {}", cublaslt_version(),
                           cublasLtGetStatusName(status)));
  }
  check_lt(status, "cublasLtMatmulAlgoGetHeuristic");
  return results;
}

void LtGemm::run(const GemmOperands& operands, cudaStream_t stream) {
  Handles& h = *handles_;
  if (h.spec.bias) {
    set_attribute(h.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands.bias);
  }
  if (h.info.is_fp8()) {
    set_attribute(h.operation, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, operands.w_scale);
    set_attribute(h.operation, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, operands.x_scale);
  }
  const cublasStatus_t status = cublasLtMatmul(
      h.library.get(), h.operation.get(), &h.scalars.one, operands.w, h.w.get(), operands.x,
      h.x.get(), &h.scalars.zero, operands.d, h.d.get(), operands.d, h.d.get(), &choice_.algo,
      workspace_.data(), static_cast<std::size_t>(workspace_.bytes()), stream);
  if (status != CUBLAS_STATUS_SUCCESS) {
    check_lt(status,
             fmt::format("cublasLtMatmul of {}x{}x{}", h.spec.m, h.spec.n, h.spec.k).c_str());
  }
}

Json LtGemm::algorithm() const { return described(choice_); }

std::vector<Json> LtGemm::candidates() const {
  std::vector<Json> all;
  for (const auto& one : offered(kMostCandidates)) all.push_back(described(one));
  return all;
}

void LtGemm::choose(const Json& algorithm) {
  const cublasLtMatmulAlgo_t algo = algo_from(algorithm.at("state").get<std::string>());
  const Handles& h = *handles_;
  cublasLtMatmulHeuristicResult_t result{};
  const cublasStatus_t status =
      cublasLtMatmulAlgoCheck(h.library.get(), h.operation.get(), h.w.get(), h.x.get(), h.d.get(),
                              h.d.get(), &algo, &result);
  check_lt(status, "cublasLtMatmulAlgoCheck");
  if (result.workspaceSize > static_cast<std::size_t>(kWorkspaceBytes)) {
    throw std::runtime_error(fmt::format("the algorithm wants {} bytes of workspace, {} are given",
                                         result.workspaceSize, kWorkspaceBytes));
  }
  choice_ = result;
  choice_.algo = algo;
}

}  // namespace assay
