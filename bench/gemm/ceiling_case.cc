// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/ceiling_case.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "bench/gemm/gemm_case.h"
#include "bench/gemm/tolerance.h"
#include "bench/harness/cuda/cuda_case.h"
#include "kernels/ceiling.h"
#include "kernels/fill.h"

namespace assay {
namespace {

// About a millisecond a launch on an A100 or an H100.
constexpr int kTensorRounds = 3000;
constexpr int kFmaRounds = 16384;

struct TensorCeiling {
  const char* name;
  const char* pipe;
  const char* instruction;
  TensorPath path;
  Precision precision;
};
constexpr std::array<TensorCeiling, 10> kTensorCeilings = {{
    {"fp16", "fp16", "wgmma m64n256k16", TensorPath::kWgmma, Precision::kFp16},
    {"bf16", "bf16", "wgmma m64n256k16", TensorPath::kWgmma, Precision::kBf16},
    {"tf32", "tf32", "wgmma m64n256k8", TensorPath::kWgmma, Precision::kTf32},
    {"fp8", "fp8", "wgmma m64n256k32 (E4M3)", TensorPath::kWgmma, Precision::kFp8E4M3},
    {"int8", "int8", "wgmma m64n256k32", TensorPath::kWgmma, Precision::kInt8},
    {"fp16_mma", "fp16", "mma.sync m16n8k16", TensorPath::kMma, Precision::kFp16},
    {"bf16_mma", "bf16", "mma.sync m16n8k16", TensorPath::kMma, Precision::kBf16},
    {"tf32_mma", "tf32", "mma.sync m16n8k8", TensorPath::kMma, Precision::kTf32},
    {"int8_mma", "int8", "mma.sync m16n8k32", TensorPath::kMma, Precision::kInt8},
    {"fp64_tc", "fp64_tc", "mma.sync m16n8k16, on 8.x m8n8k4", TensorPath::kMma, Precision::kFp64},
}};

ElementType sum_type(Precision precision) {
  if (precision == Precision::kFp64) return ElementType::kFp64;
  return precision == Precision::kInt8 ? ElementType::kInt32 : ElementType::kFp32;
}

class TensorCeilingCase : public CudaCase {
 public:
  TensorCeilingCase(const TensorCeiling& ceiling, const CudaDevice& device, cudaStream_t stream)
      : CudaCase(stream),
        ceiling_(ceiling),
        input_(info_of(ceiling.precision).x),
        shape_(tensor_ceiling_shape(ceiling.path, input_)),
        blocks_(device.sm_count),
        a_(std::int64_t{blocks_} * shape_.rows * shape_.depth * element_bytes(input_)),
        b_(std::int64_t{shape_.columns} * shape_.depth * element_bytes(input_)),
        d_(std::int64_t{blocks_} * shape_.rows * shape_.columns *
           element_bytes(sum_type(ceiling.precision))),
        check_(stream) {
    check_cuda(
        fill_uniform(input_, a_.data(), a_.bytes() / element_bytes(input_), kGemmSeed, stream),
        "fill_uniform");
    check_cuda(
        fill_uniform(input_, b_.data(), b_.bytes() / element_bytes(input_), kGemmSeed + 1, stream),
        "fill_uniform");
  }

  [[nodiscard]] int slots() const override { return 1; }
  void launch(int /*slot*/) override {
    check_cuda(tensor_ceiling(ceiling_.path, input_, a_.data(), b_.data(), d_.data(), blocks_,
                              kTensorRounds, stream()),
               "tensor_ceiling");
  }
  [[nodiscard]] Verification verify(int /*slot*/, int attempt) override {
    GemmProblem problem;  // D^T, column-major
    problem.m = shape_.columns;
    problem.n = std::int64_t{blocks_} * shape_.rows;
    problem.k = shape_.depth;
    problem.a_type = problem.b_type = input_;
    problem.d_type = sum_type(ceiling_.precision);
    problem.a = b_.data();
    problem.b = a_.data();
    problem.d = d_.data();
    problem.a_strides.line = problem.b_strides.line = shape_.depth;
    return check_(problem, ceiling_tolerance(ceiling_.precision, shape_.depth, kGemmCheckColumns),
                  kGemmSeed + 1000 + static_cast<std::uint64_t>(attempt), "ceiling");
  }

 protected:
  [[nodiscard]] const DeviceBuffer& output(int /*slot*/) const override { return d_; }

 private:
  TensorCeiling ceiling_;
  ElementType input_;
  CeilingShape shape_;
  int blocks_;
  DeviceBuffer a_;
  DeviceBuffer b_;
  DeviceBuffer d_;
  ProductCheck check_;
};

template <class T>
class FmaCeilingCase : public CudaCase {
 public:
  FmaCeilingCase(const CudaDevice& device, cudaStream_t stream)
      : CudaCase(stream),
        blocks_(device.sm_count),
        out_(std::int64_t{blocks_} * kFmaChains * kFmaThreads * sizeof(T)),
        expected_(fma_expected<T>(kFmaRounds)) {}

  [[nodiscard]] int slots() const override { return 1; }
  void launch(int /*slot*/) override {
    constexpr ElementType kType = sizeof(T) == 4 ? ElementType::kFp32 : ElementType::kFp64;
    check_cuda(fma_ceiling(kType, out_.data(), blocks_, kFmaRounds, stream()), "fma_ceiling");
  }
  [[nodiscard]] Verification verify(int /*slot*/, int /*attempt*/) override {
    std::vector<T> found(static_cast<std::size_t>(out_.bytes()) / sizeof(T));
    check_cuda(cudaMemcpyAsync(found.data(), out_.data(), found.size() * sizeof(T),
                               cudaMemcpyDeviceToHost, stream()),
               "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    Verification result;
    result.method = "each chain of multiply-adds made again on the host: values that differ";
    result.tolerance = 0;
    result.error = 0;
    result.status = VerificationStatus::kVerified;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::size_t chain = i / kFmaThreads % kFmaChains;
      const T& expected = expected_[chain * kFmaLanes + i % kFmaLanes];
      if (std::memcmp(&found[i], &expected, sizeof(T)) == 0) continue;
      if (*result.error == 0) {
        result.detail =
            fmt::format("block {}, chain {}, thread {}: {:.9g}, expected {:.9g}",
                        i / (kFmaThreads * kFmaChains), chain, i % kFmaThreads, found[i], expected);
      }
      result.error = *result.error + 1;
      result.status = VerificationStatus::kWrong;
    }
    return result;
  }

 protected:
  [[nodiscard]] const DeviceBuffer& output(int /*slot*/) const override { return out_; }

 private:
  int blocks_;
  DeviceBuffer out_;
  std::vector<T> expected_;
};

CaseEntry entry_of(const std::string& name, const std::string& pipe, Power power) {
  CaseEntry entry;
  entry.info.conditions.power = power;
  entry.info.id = fmt::format("gemm/ceiling/{}/{}", name, condition_suffix(entry.info.conditions));
  entry.info.work.pipe = pipe;
  return entry;
}

CaseEntry tensor_entry(const TensorCeiling& ceiling, Power power, const CudaDevice& device,
                       cudaStream_t stream) {
  CaseEntry entry = entry_of(ceiling.name, ceiling.pipe, power);
  const CeilingShape shape = tensor_ceiling_shape(ceiling.path, info_of(ceiling.precision).x);
  entry.info.parameters = {{"instruction", ceiling.instruction}, {"rounds", kTensorRounds}};
  entry.info.work.operations = shape.operations() * kTensorRounds * device.sm_count;
  entry.info.data = {{"fill", input_fill(ceiling.precision)}, {"seed", kGemmSeed}};
  entry.make = [&ceiling, &device, stream]() -> std::unique_ptr<Case> {
    return std::make_unique<TensorCeilingCase>(ceiling, device, stream);
  };
  const int capability = device.compute_capability;
  if (ceiling.path == TensorPath::kWgmma && capability != 90) {
    entry.skip = fmt::format("wgmma exists on compute capability 9.0 alone, the device has {}.{}",
                             capability / 10, capability % 10);
  } else if (capability < 80) {
    entry.skip = "mma.sync with these types needs compute capability 8.0";
  }
  return entry;
}

template <class T>
CaseEntry fma_entry(const char* name, Power power, const CudaDevice& device, cudaStream_t stream) {
  CaseEntry entry = entry_of(name, name, power);
  entry.info.parameters = {{"instruction", "fused multiply-add"}, {"rounds", kFmaRounds}};
  entry.info.work.operations = 2.0 * kFmaThreads * kFmaChains * kFmaRounds * device.sm_count;
  entry.make = [&device, stream]() -> std::unique_ptr<Case> {
    return std::make_unique<FmaCeilingCase<T>>(device, stream);
  };
  return entry;
}

}  // namespace

std::vector<CaseEntry> ceiling_cases(const CudaDevice& device, cudaStream_t stream) {
  std::vector<CaseEntry> entries;
  for (const Power power : {Power::kBurst, Power::kSustained}) {
    for (const TensorCeiling& ceiling : kTensorCeilings) {
      entries.push_back(tensor_entry(ceiling, power, device, stream));
    }
    entries.push_back(fma_entry<float>("fp32", power, device, stream));
    entries.push_back(fma_entry<double>("fp64", power, device, stream));
  }
  return entries;
}

}  // namespace assay
