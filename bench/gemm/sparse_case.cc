// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/sparse_case.h"

#include <fmt/format.h>

#include "bench/gemm/gemm_case.h"
#include "bench/gemm/tolerance.h"
#include "kernels/fill.h"

namespace assay {
namespace {

// Seconds that the device spends on what `work` queues.
template <class Work>
double device_seconds(cudaStream_t stream, const Work& work) {
  const CudaEvent begin = make_event();
  const CudaEvent end = make_event();
  check_cuda(cudaEventRecord(begin.get(), stream), "cudaEventRecord");
  work();
  check_cuda(cudaEventRecord(end.get(), stream), "cudaEventRecord");
  check_cuda(cudaEventSynchronize(end.get()), "cudaEventSynchronize");
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace

SparseGemmCase::SparseGemmCase(const GemmSpec& spec, const CudaDevice& device, cudaStream_t stream)
    : CudaCase(stream), spec_(spec), gemm_(spec), check_(stream) {
  const int sets = rotation_slots(device.l2_bytes, static_cast<std::int64_t>(spec.bytes()));
  for (int i = 0; i < sets; ++i) sets_.push_back(make_set(static_cast<std::uint64_t>(i)));
}

SparseGemmCase::Buffers SparseGemmCase::make_set(std::uint64_t index) {
  const PrecisionInfo& info = info_of(spec_.precision);
  const std::uint64_t seed = kGemmSeed + kGemmSeedsPerSet * index;
  Buffers set;
  set.x = gemm_input(info.x, spec_.m * spec_.k, seed, stream());
  set.pruned = DeviceBuffer(spec_.n * spec_.k * element_bytes(info.w));
  set.compressed = DeviceBuffer(gemm_.compressed_bytes());
  set.d = DeviceBuffer(spec_.m * spec_.n * element_bytes(info.d));
  make_weights(set, seed + 1);
  return set;
}

void SparseGemmCase::make_weights(Buffers& set, std::uint64_t seed) {
  const DeviceBuffer w = gemm_input(info_of(spec_.precision).w, spec_.n * spec_.k, seed, stream());
  prune_s_ = device_seconds(stream(), [&] { gemm_.prune(w.data(), set.pruned.data(), stream()); });
  if (!gemm_.is_pruned(set.pruned.data(), stream())) {
    throw std::runtime_error("cuSPARSELt does not find 2:4 what it has pruned itself");
  }
  compress_s_ = device_seconds(
      stream(), [&] { gemm_.compress(set.pruned.data(), set.compressed.data(), stream()); });
}

void SparseGemmCase::launch(int slot) {
  const Buffers& buffers = set(slot);
  gemm_.run({.x = buffers.x.data(), .compressed = buffers.compressed.data(), .d = buffers.d.data()},
            stream());
}

Verification SparseGemmCase::verify(int slot, int attempt) {
  const Buffers& buffers = set(slot);
  GemmOperands operands;
  operands.x = buffers.x.data();
  operands.w = buffers.pruned.data();
  operands.d = buffers.d.data();
  // Of the dense product, whose elements have a larger s.d.: 1/3 sqrt(k), not 0.3 sqrt(k).
  const double tolerance =
      gemm_tolerance(spec_.precision, spec_.k, kGemmCheckColumns, gemm_element_sd(spec_.k));
  return check_(problem_of(spec_, operands), tolerance,
                kGemmSeed + 1000 + static_cast<std::uint64_t>(attempt),
                fmt::format("buffer set {}", slot));
}

Json SparseGemmCase::preparation() const {
  return {{"pruning", "strip: the two of each four along k that are nearest to 0"},
          {"prune_s", prune_s_},
          {"compress_s", compress_s_},
          {"compressed_bytes", gemm_.compressed_bytes()}};
}

}  // namespace assay
