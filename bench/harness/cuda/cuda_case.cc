// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/cuda/cuda_case.h"

#include "kernels/hash.h"

namespace assay {

void CudaCase::poison(int slot) {
  const DeviceBuffer& out = output(slot);
  check_cuda(cudaMemsetAsync(out.data(), 0xFF, static_cast<std::size_t>(out.bytes()), stream_),
             "cudaMemsetAsync");
}

std::vector<std::uint64_t> CudaCase::hash_outputs(const std::vector<int>& slots) {
  std::vector<std::uint64_t> hashes(slots.size());
  const std::size_t bytes = hashes.size() * sizeof(std::uint64_t);
  if (hashes_.bytes() < static_cast<std::int64_t>(bytes)) {
    hashes_ = DeviceBuffer(static_cast<std::int64_t>(bytes));
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const DeviceBuffer& out = output(slots[i]);
    check_cuda(hash_bytes(out.data(), out.bytes(), hashes_.as<std::uint64_t>() + i, stream_),
               "hash_bytes");
  }
  check_cuda(cudaMemcpyAsync(hashes.data(), hashes_.data(), bytes, cudaMemcpyDeviceToHost, stream_),
             "cudaMemcpyAsync");
  check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  return hashes;
}

}  // namespace assay
