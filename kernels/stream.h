// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Streaming kernels over device memory and their exact checks, for tensors of any number of
// elements: a last partial vector is done element by element. The shapes are the fastest found on
// an H200: what stores tensors makes one 16-byte access a thread and tensor (more loads a thread
// copy at 4070-4150 instead of 4280 GB/s), what sums makes four in blocks of 512 (4604 GB/s; one
// load in blocks of 256 gives 4400, since each block ends in a reduction). Tensors that are not
// aligned to 16 bytes, strides and random orders take one element an access.
//
//   const StreamShape shape{.elements = n};
//   stream_fill(StreamOp::kCopy, shape, a, seed, stream);
//   stream_run(StreamOp::kCopy, shape, {a, nullptr, out}, seed, stream);
//   stream_check(StreamOp::kCopy, shape, out, {seed, 0}, report, stream);
//
// Read, write and copy move a pattern of bits; scale, add and triad numbers uniform in [-1, 1),
// rounded once, so that each result is one value; dot whole numbers from -32 to 31, of which every
// sum that occurs is exact in its format, so that no order of additions matters. Asynchronous on
// `stream`; the launch's error is returned. A check makes each expected value again from the seeds;
// nothing is compared with something that was itself read from the memory under test.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/mismatch.h"
#include "kernels/stream_shape.h"

namespace assay {

inline constexpr double kStreamScalar = 0.4;  // FP32: rounded to it

// Of the reductions a whole number of sums; `out` is aligned to 16 bytes then.
struct StreamTensors {
  const void* a = nullptr;
  const void* b = nullptr;
  void* out = nullptr;
};

// Each input tensor is made from a seed of its own.
struct StreamSeeds {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
};

// Bytes of `out`: the tensor; of read one 32-bit sum a block; of dot the total as FP64 and then one
// sum a block in the format of its elements.
[[nodiscard]] std::int64_t stream_output_bytes(StreamOp op, const StreamShape& shape);

// The input that `op` wants, all elements of it.
[[nodiscard]] cudaError_t stream_fill(StreamOp op, const StreamShape& shape, void* tensor,
                                      std::uint64_t seed, cudaStream_t stream);

// `seed` is what write makes its pattern from. Dot is two kernels, the others one.
[[nodiscard]] cudaError_t stream_run(StreamOp op, const StreamShape& shape,
                                     const StreamTensors& tensors, std::uint64_t seed,
                                     cudaStream_t stream);

// Every element that was touched, or every sum. `first` is an element; of a reduction a block, or
// blocks() for the total of dot; `total` is what the sum of all products of dot must be.
[[nodiscard]] cudaError_t stream_check(StreamOp op, const StreamShape& shape, const void* out,
                                       const StreamSeeds& seeds, MismatchReport* report,
                                       cudaStream_t stream);

}  // namespace assay
