// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/cases.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "bench/gemm/cublaslt.h"
#include "bench/gemm/tolerance.h"
#include "bench/harness/cuda/cuda_case.h"
#include "kernels/fill.h"
#include "kernels/gemm_check.h"

namespace assay {
namespace {

constexpr std::uint64_t kSeed = 20261130;

struct PrecisionInfo {
  Precision precision;
  const char* name;  // in ids
  const char* pipe;
  ElementType input;
  ElementType output;
  int least_capability;
};
constexpr std::array<PrecisionInfo, 4> kPrecisions = {{
    {Precision::kFp32, "fp32", "fp32", ElementType::kFp32, ElementType::kFp32, 0},
    {Precision::kTf32, "tf32", "tf32", ElementType::kFp32, ElementType::kFp32, 80},
    {Precision::kBf16, "bf16", "bf16", ElementType::kBf16, ElementType::kBf16, 80},
    {Precision::kFp8E4M3, "fp8_e4m3", "fp8", ElementType::kFp8E4M3, ElementType::kBf16, 89},
}};

class GemmCase : public CudaCase {
 public:
  GemmCase(const PrecisionInfo& info, int size, const CudaDevice& device, cudaStream_t stream)
      : CudaCase(stream),
        info_(info),
        size_(size),
        gemm_(info.precision, size, size, size),
        check_workspace_(gemm_check_workspace_bytes(size, size, size)),
        check_result_(sizeof(GemmCheckResult)) {
    const std::int64_t elements = std::int64_t{size} * size;
    const std::int64_t input_bytes = elements * element_bytes(info.input);
    const std::int64_t output_bytes = elements * element_bytes(info.output);
    sets_.resize(
        static_cast<std::size_t>(rotation_slots(device.l2_bytes, 2 * input_bytes + output_bytes)));
    std::uint64_t seed = kSeed;
    for (Buffers& set : sets_) {
      set = {DeviceBuffer(input_bytes), DeviceBuffer(input_bytes), DeviceBuffer(output_bytes)};
      check_cuda(fill_uniform(info.input, set.a.data(), elements, seed++, stream), "fill_uniform");
      check_cuda(fill_uniform(info.input, set.b.data(), elements, seed++, stream), "fill_uniform");
    }
  }

  [[nodiscard]] int slots() const override { return static_cast<int>(sets_.size()); }

  void launch(int slot) override {
    const Buffers& set = sets_[static_cast<std::size_t>(slot)];
    gemm_.run(set.a.data(), set.b.data(), set.d.data(), stream());
  }

  [[nodiscard]] Verification verify(int slot, int attempt) override {
    const Buffers& set = sets_[static_cast<std::size_t>(slot)];
    const GemmProblem problem{size_,        size_,        size_,        info_.input,
                              info_.output, set.a.data(), set.b.data(), set.d.data()};
    auto* const device_result = check_result_.as<GemmCheckResult>();
    check_cuda(check_gemm(problem, kSeed + 1000 + static_cast<std::uint64_t>(attempt),
                          check_workspace_.data(), device_result, stream()),
               "check_gemm");
    GemmCheckResult found{};
    check_cuda(
        cudaMemcpyAsync(&found, device_result, sizeof(found), cudaMemcpyDeviceToHost, stream()),
        "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    return judged(found, slot);
  }

  [[nodiscard]] Json algorithm() const override { return gemm_.algorithm(); }

 protected:
  [[nodiscard]] const DeviceBuffer& output(int slot) const override {
    return sets_[static_cast<std::size_t>(slot)].d;
  }

 private:
  struct Buffers {
    DeviceBuffer a;
    DeviceBuffer b;
    DeviceBuffer d;
  };

  [[nodiscard]] Verification judged(const GemmCheckResult& found, int slot) const {
    Verification result;
    result.method = "blocked Freivalds in FP64: largest |D s - A (B s)| over 64 columns";
    const double tolerance = gemm_tolerance(info_.precision, size_, kGemmCheckColumns);
    result.tolerance = tolerance;
    if (found.largest_residual <= tolerance) {
      result.status = VerificationStatus::kVerified;
      result.error = found.largest_residual;
      return result;
    }
    result.status = VerificationStatus::kWrong;
    // An infinite residual (an element that is NaN) has no place in JSON: null, and said in words.
    if (std::isfinite(found.largest_residual)) result.error = found.largest_residual;
    const int column = found.column_block * kGemmCheckColumns;
    result.detail = fmt::format(
        "buffer set {}, row {}, columns {}-{}: off by {:.4g}, tolerance {:.4g}", slot, found.row,
        column, column + kGemmCheckColumns - 1, found.largest_residual, tolerance);
    return result;
  }

  PrecisionInfo info_;
  int size_;
  LtGemm gemm_;
  DeviceBuffer check_workspace_;
  DeviceBuffer check_result_;
  std::vector<Buffers> sets_;
};

CaseEntry entry_of(const PrecisionInfo& info, int size, Power power, const CudaDevice& device,
                   cudaStream_t stream) {
  CaseEntry entry;
  entry.info.conditions.power = power;
  entry.info.id = fmt::format("gemm/{}/{}x{}x{}/{}", info.name, size, size, size,
                              condition_suffix(entry.info.conditions));
  entry.info.parameters = {
      {"precision", info.name}, {"m", size}, {"n", size}, {"k", size}, {"layout", "TN"}};
  if (info.precision == Precision::kFp8E4M3) entry.info.parameters["fast_accumulation"] = true;
  const double elements = static_cast<double>(size) * size;
  entry.info.work.operations = 2 * elements * size;
  entry.info.work.bytes =
      elements * static_cast<double>(2 * element_bytes(info.input) + element_bytes(info.output));
  entry.info.work.pipe = info.pipe;
  entry.info.data = {{"fill", "uniform[-1,1)"}, {"seed", kSeed}};
  entry.make = [info, size, &device, stream] {
    return std::make_unique<GemmCase>(info, size, device, stream);
  };
  if (device.compute_capability < info.least_capability) {
    entry.skip = fmt::format("{} needs compute capability {}.{}, the device has {}.{}", info.name,
                             info.least_capability / 10, info.least_capability % 10,
                             device.compute_capability / 10, device.compute_capability % 10);
  }
  return entry;
}

}  // namespace

std::vector<CaseEntry> gemm_cases(const CudaDevice& device, cudaStream_t stream) {
  std::vector<CaseEntry> entries;
  for (const PrecisionInfo& info : kPrecisions) {
    for (const int size : {1024, 4096, 8192}) {
      for (const Power power : {Power::kBurst, Power::kSustained}) {
        entries.push_back(entry_of(info, size, power, device, stream));
      }
    }
  }
  return entries;
}

}  // namespace assay
