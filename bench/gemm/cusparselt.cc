// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/cusparselt.h"

#include <cusparseLt.h>
#include <fmt/format.h>

#include <array>
#include <optional>
#include <source_location>

#include "bench/gemm/data_type.h"
#include "bench/harness/case.h"

namespace assay {
namespace {

constexpr std::uint32_t kAlignmentBytes = 16;

void check_lt(cusparseStatus_t status, const char* call,
              const std::source_location& where = std::source_location::current()) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  const std::string text = fmt::format("{}: {} ({}) at {}:{}", call, cusparseLtGetErrorName(status),
                                       static_cast<int>(status), where.file_name(), where.line());
  if (status == CUSPARSE_STATUS_EXECUTION_FAILED) throw ProcessLost(text);
  throw std::runtime_error(text);
}

// For what describes the product: the library's "no" is the product's, not a fault.
void check_offered(cusparseStatus_t status, const char* call,
                   const std::source_location& where = std::source_location::current()) {
  if (status == CUSPARSE_STATUS_NOT_SUPPORTED || status == CUSPARSE_STATUS_ARCH_MISMATCH) {
    throw Skip(fmt::format("cuSPARSELt {} offers no algorithm: {}: {}", cusparselt_version(), call,
                           cusparseLtGetErrorName(status)));
  }
  check_lt(status, call, where);
}

// An object of the library in the place where it was made; `made` once its destruction is due.
template <class T, auto destroy>
struct Place {
  Place() = default;
  ~Place() {
    if (made) (void)destroy(&value);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  T value{};
  bool made = false;
};

#if CUSPARSELT_VERSION >= 800
constexpr auto destroy_selection = cusparseLtMatmulAlgSelectionDestroy;
#else
constexpr auto destroy_selection = [](const cusparseLtMatmulAlgSelection_t*) {};
#endif

using Library = Place<cusparseLtHandle_t, cusparseLtDestroy>;
using Matrix = Place<cusparseLtMatDescriptor_t, cusparseLtMatDescriptorDestroy>;
using Selection = Place<cusparseLtMatmulAlgSelection_t, destroy_selection>;
using Plan = Place<cusparseLtMatmulPlan_t, cusparseLtMatmulPlanDestroy>;

}  // namespace

std::string cusparselt_version() {
  std::array<int, 3> version{};
  constexpr std::array kParts = {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    check_lt(cusparseLtGetProperty(kParts[i], &version[i]), "cusparseLtGetProperty");
  }
  return fmt::format("{}.{}.{}", version[0], version[1], version[2]);
}

// Column-major, so each matrix is the transpose of what spec.h calls it.
struct SparseLtGemm::Handles {
  // With the library's default algorithm, or the one of this number.
  explicit Handles(const GemmSpec& of, std::optional<std::int32_t> id = std::nullopt) : spec(of) {
    const PrecisionInfo& info = info_of(spec.precision);
    check_offered(cusparseLtInit(&library.value), "cusparseLtInit");
    library.made = true;
    check_offered(cusparseLtStructuredDescriptorInit(
                      &library.value, &w.value, spec.k, spec.n, spec.k, kAlignmentBytes,
                      cuda_data_type(info.w), CUSPARSE_ORDER_COL, CUSPARSELT_SPARSITY_50_PERCENT),
                  "cusparseLtStructuredDescriptorInit");
    w.made = true;
    make_dense(x, info.x, spec.k, spec.m);
    make_dense(d, info.d, spec.n, spec.m);
    check_offered(cusparseLtMatmulDescriptorInit(
                      &library.value, &operation, CUSPARSE_OPERATION_TRANSPOSE,
                      CUSPARSE_OPERATION_NON_TRANSPOSE, &w.value, &x.value, &d.value, &d.value,
                      info.d == ElementType::kInt32 ? CUSPARSE_COMPUTE_32I : CUSPARSE_COMPUTE_32F),
                  "cusparseLtMatmulDescriptorInit");
    check_offered(cusparseLtMatmulAlgSelectionInit(&library.value, &selection.value, &operation,
                                                   CUSPARSELT_MATMUL_ALG_DEFAULT),
                  "cusparseLtMatmulAlgSelectionInit");
    selection.made = true;
    if (id) select(*id);
    check_offered(
        cusparseLtMatmulPlanInit(&library.value, &plan.value, &operation, &selection.value),
        "cusparseLtMatmulPlanInit");
    plan.made = true;
  }

  void select(std::int32_t id) {
    const Json ids = selected(CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID);
    if (id < 0 || !ids.is_number() || id >= ids) {
      throw std::runtime_error(fmt::format("cuSPARSELt numbers its algorithms 0 to {}, not {}",
                                           ids.is_number() ? ids.get<int>() - 1 : 0, id));
    }
    check_lt(cusparseLtMatmulAlgSetAttribute(&library.value, &selection.value,
                                             CUSPARSELT_MATMUL_ALG_CONFIG_ID, &id, sizeof(id)),
             "cusparseLtMatmulAlgSetAttribute");
  }

  void make_dense(Matrix& matrix, ElementType type, std::int64_t rows, std::int64_t columns) {
    check_offered(
        cusparseLtDenseDescriptorInit(&library.value, &matrix.value, rows, columns, rows,
                                      kAlignmentBytes, cuda_data_type(type), CUSPARSE_ORDER_COL),
        "cusparseLtDenseDescriptorInit");
    matrix.made = true;
  }

  // Null where the library does not say.
  [[nodiscard]] Json selected(cusparseLtMatmulAlgAttribute_t which) const {
    std::int32_t value = 0;
    const cusparseStatus_t status = cusparseLtMatmulAlgGetAttribute(
        &library.value, &selection.value, which, &value, sizeof(value));
    if (status != CUSPARSE_STATUS_SUCCESS) return nullptr;
    return value;
  }

  GemmSpec spec;
  Library library;
  Matrix w;
  Matrix x;
  Matrix d;
  cusparseLtMatmulDescriptor_t operation{};
  Selection selection;
  Plan plan;
};

SparseLtGemm::SparseLtGemm(const GemmSpec& spec) : handles_(std::make_unique<Handles>(spec)) {
  const auto [compressed, scratch] = compressed_and_scratch_bytes();
  compressed_bytes_ = compressed;
  compress_scratch_ = DeviceBuffer(scratch);
  fit_workspace();
}

std::pair<std::int64_t, std::int64_t> SparseLtGemm::compressed_and_scratch_bytes() const {
  std::size_t compressed = 0;
  std::size_t scratch = 0;
  check_lt(cusparseLtSpMMACompressedSize(&handles_->library.value, &handles_->plan.value,
                                         &compressed, &scratch),
           "cusparseLtSpMMACompressedSize");
  return {static_cast<std::int64_t>(compressed), static_cast<std::int64_t>(scratch)};
}

SparseLtGemm::~SparseLtGemm() = default;

void SparseLtGemm::fit_workspace() {
  std::size_t bytes = 0;
  check_lt(cusparseLtMatmulGetWorkspace(&handles_->library.value, &handles_->plan.value, &bytes),
           "cusparseLtMatmulGetWorkspace");
  const auto wanted = static_cast<std::int64_t>(bytes);
  if (workspace_.bytes() < wanted) workspace_ = DeviceBuffer(wanted);
}

void SparseLtGemm::prune(const void* w, void* pruned, cudaStream_t stream) {
  check_lt(cusparseLtSpMMAPrune(&handles_->library.value, &handles_->operation, w, pruned,
                                CUSPARSELT_PRUNE_SPMMA_STRIP, stream),
           "cusparseLtSpMMAPrune");
}

bool SparseLtGemm::is_pruned(const void* w, cudaStream_t stream) {
  const DeviceBuffer device_wrong(sizeof(int));
  // The library writes where it finds a fault, and nothing otherwise.
  check_cuda(cudaMemsetAsync(device_wrong.data(), 0, sizeof(int), stream), "cudaMemsetAsync");
  check_lt(cusparseLtSpMMAPruneCheck(&handles_->library.value, &handles_->operation, w,
                                     device_wrong.as<int>(), stream),
           "cusparseLtSpMMAPruneCheck");
  int wrong = 1;
  check_cuda(
      cudaMemcpyAsync(&wrong, device_wrong.data(), sizeof(wrong), cudaMemcpyDeviceToHost, stream),
      "cudaMemcpyAsync");
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return wrong == 0;
}

void SparseLtGemm::compress(const void* pruned, void* compressed, cudaStream_t stream) {
  check_lt(cusparseLtSpMMACompress(&handles_->library.value, &handles_->plan.value, pruned,
                                   compressed, compress_scratch_.data(), stream),
           "cusparseLtSpMMACompress");
}

void SparseLtGemm::run(const SparseOperands& operands, cudaStream_t stream) {
  const float one = 1;
  const float zero = 0;
  check_lt(
      cusparseLtMatmul(&handles_->library.value, &handles_->plan.value, &one, operands.compressed,
                       operands.x, &zero, operands.d, operands.d, workspace_.data(), &stream, 1),
      "cusparseLtMatmul");
}

Json SparseLtGemm::algorithm() const {
  const Handles& h = *handles_;
  return {{"library", "cuSPARSELt " + cusparselt_version()},
          {"id", h.selected(CUSPARSELT_MATMUL_ALG_CONFIG_ID)},
          {"ids", h.selected(CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID)},
          {"split_k", h.selected(CUSPARSELT_MATMUL_SPLIT_K)},
          {"split_k_mode", h.selected(CUSPARSELT_MATMUL_SPLIT_K_MODE)},
          {"split_k_buffers", h.selected(CUSPARSELT_MATMUL_SPLIT_K_BUFFERS)},
          {"search_iterations", h.selected(CUSPARSELT_MATMUL_SEARCH_ITERATIONS)},
          {"workspace_bytes", workspace_.bytes()}};
}

std::vector<Json> SparseLtGemm::candidates() const {
  const Json first = handles_->selected(CUSPARSELT_MATMUL_ALG_CONFIG_ID);
  const Json ids = handles_->selected(CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID);
  const std::string library = "cuSPARSELt " + cusparselt_version();
  std::vector<Json> all = {{{"library", library}, {"id", first}}};
  for (int id = 0; ids.is_number() && id < ids; ++id) {
    if (first != id) all.push_back({{"library", library}, {"id", id}});
  }
  return all;
}

void SparseLtGemm::choose(const Json& algorithm) {
  const std::int32_t id = algorithm.at("id");
  // All objects anew, as if the product were described for the first time.
  handles_ = std::make_unique<Handles>(handles_->spec, id);
  if (const std::int64_t bytes = compressed_and_scratch_bytes().first; bytes != compressed_bytes_) {
    throw std::runtime_error(fmt::format(
        "algorithm {} wants weights compressed to {} bytes, not {}", id, bytes, compressed_bytes_));
  }
  fit_workspace();
}

}  // namespace assay
