// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/gemm_case.h"

#include <fmt/format.h>

#include "bench/gemm/tolerance.h"
#include "kernels/counter_random.h"
#include "kernels/fill.h"

namespace assay {
namespace {

DeviceBuffer filled(ElementType type, std::int64_t count, bool float_data, std::uint64_t seed,
                    cudaStream_t stream) {
  if (!float_data) return gemm_input(type, count, seed, stream);
  DeviceBuffer buffer(count * element_bytes(type));
  check_cuda(fill_uniform_on_fp32_grid(buffer.as<double>(), count, seed, stream),
             "fill_uniform_on_fp32_grid");
  return buffer;
}

template <class T>
DeviceBuffer uploaded(const std::vector<T>& values) {
  const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(T));
  DeviceBuffer buffer(bytes);
  check_cuda(
      cudaMemcpy(buffer.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
      "cudaMemcpy");
  return buffer;
}

// Scale factors: all 1 for a matrix; between 1/2 and 1 where each line has its own, so that a
// factor at the wrong line is seen, and none makes the rounding larger than the tolerance assumes.
DeviceBuffer scales(std::int64_t lines, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(lines), 1.0F);
  for (std::size_t i = 0; lines > 1 && i < values.size(); ++i) {
    values[i] = 0.75F + 0.25F * random_uniform(seed, i);
  }
  return uploaded(values);
}

}  // namespace

DeviceBuffer gemm_input(ElementType type, std::int64_t count, std::uint64_t seed,
                        cudaStream_t stream) {
  DeviceBuffer buffer(count * element_bytes(type));
  check_cuda(fill_uniform(type, buffer.data(), count, seed, stream), "fill_uniform");
  return buffer;
}

GemmProblem problem_of(const GemmSpec& spec, const GemmOperands& operands) {
  const PrecisionInfo& info = info_of(spec.precision);
  const int per_line = spec.rowwise ? 1 : 0;
  GemmProblem problem;
  problem.m = spec.n;
  problem.n = spec.m;
  problem.k = spec.k;
  problem.batch = spec.batch;
  problem.a_type = info.w;
  problem.b_type = info.x;
  problem.d_type = info.d;
  problem.a = operands.w;
  problem.b = operands.x;
  problem.d = operands.d;
  problem.a_strides = spec.w_k_contiguous ? GemmStrides{spec.k, 1, spec.n * spec.k}
                                          : GemmStrides{1, spec.n, spec.n * spec.k};
  problem.b_strides = spec.x_k_contiguous ? GemmStrides{spec.k, 1, spec.m * spec.k}
                                          : GemmStrides{1, spec.m, spec.m * spec.k};
  problem.a_scale = {operands.w_scale, per_line};
  problem.b_scale = {operands.x_scale, per_line};
  problem.bias = operands.bias;
  return problem;
}

GemmCase::GemmCase(const GemmSpec& spec, const CudaDevice& device, cudaStream_t stream)
    : CudaCase(stream), spec_(spec), info_(info_of(spec.precision)), gemm_(spec), check_(stream) {
  const int sets = rotation_slots(device.l2_bytes, static_cast<std::int64_t>(spec.bytes()));
  for (int i = 0; i < sets; ++i) sets_.push_back(make_set(static_cast<std::uint64_t>(i)));
}

GemmCase::Buffers GemmCase::make_set(std::uint64_t index) const {
  const std::uint64_t seed = kGemmSeed + kGemmSeedsPerSet * index;
  Buffers set;
  set.x = filled(info_.x, spec_.batch * spec_.m * spec_.k, spec_.float_data, seed, stream());
  set.w = filled(info_.w, spec_.batch * spec_.n * spec_.k, spec_.float_data, seed + 1, stream());
  set.d = DeviceBuffer(spec_.batch * spec_.m * spec_.n * element_bytes(info_.d));
  if (spec_.bias) set.bias = filled(info_.d, spec_.n, false, seed + 2, stream());
  if (info_.is_fp8()) {
    set.x_scale = scales(spec_.rowwise ? spec_.m : 1, seed + 3);
    set.w_scale = scales(spec_.rowwise ? spec_.n : 1, seed + 4);
  }
  if (spec_.pointers) set.pointers = make_pointers(set);
  return set;
}

DeviceBuffer GemmCase::make_pointers(const Buffers& set) const {
  std::vector<const char*> pointers;
  for (const DeviceBuffer* buffer : {&set.x, &set.w, &set.d}) {
    const std::int64_t stride = buffer->bytes() / spec_.batch;
    for (std::int64_t i = 0; i < spec_.batch; ++i) {
      pointers.push_back(buffer->as<const char>() + i * stride);
    }
  }
  return uploaded(pointers);
}

void GemmCase::launch(int slot) {
  const Buffers& buffers = set(slot);
  GemmOperands operands{.x = buffers.x.data(),
                        .w = buffers.w.data(),
                        .d = buffers.d.data(),
                        .bias = buffers.bias.data(),
                        .x_scale = buffers.x_scale.as<const float>(),
                        .w_scale = buffers.w_scale.as<const float>()};
  if (spec_.pointers) {
    void** const pointers = buffers.pointers.as<void*>();
    operands.x = pointers;
    operands.w = pointers + spec_.batch;
    operands.d = pointers + 2 * spec_.batch;
  }
  gemm_.run(operands, stream());
}

Verification GemmCase::verify(int slot, int attempt) {
  const Buffers& buffers = set(slot);
  const GemmProblem problem = problem_of(spec_, {.x = buffers.x.data(),
                                                 .w = buffers.w.data(),
                                                 .d = buffers.d.data(),
                                                 .bias = buffers.bias.data(),
                                                 .x_scale = buffers.x_scale.as<const float>(),
                                                 .w_scale = buffers.w_scale.as<const float>()});
  const double tolerance =
      gemm_tolerance(spec_.precision, spec_.k, kGemmCheckColumns, gemm_element_sd(spec_.k));
  return check_(problem, tolerance, kGemmSeed + 1000 + static_cast<std::uint64_t>(attempt),
                fmt::format("buffer set {}", slot));
}

}  // namespace assay
