// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/block_sum.cuh"
#include "kernels/mismatch.cuh"
#include "kernels/stream.h"
#include "kernels/stream_elements.cuh"

namespace assay {
namespace {

constexpr int kThreads = kMapThreads;  // of the checks, too
constexpr int kLoads = 4;              // a thread and tensor of the reductions
static_assert(kReductionThreads * kLoads == kReductionAccesses);

template <class T, int kElements>
struct alignas(sizeof(T) * kElements) Vector {
  T element[kElements];
};

// The access-th vector of a tensor; single elements where the place function puts them.
template <class T, int kElements, class Place>
__device__ Vector<T, kElements> loaded(const T* tensor, std::int64_t access, const Place& place) {
  if constexpr (kElements > 1) {
    return reinterpret_cast<const Vector<T, kElements>*>(tensor)[access];
  } else {
    return {tensor[place(access)]};
  }
}

template <StreamOp op, class T>
__device__ T one_result(const T* a, const T* b, std::int64_t at, std::uint32_t seed) {
  if constexpr (op == StreamOp::kWrite) {
    return pattern<T>(seed, at);
  } else if constexpr (kInputs<op> == 1) {
    return mapped<op>(a[at], T{});
  } else {
    return mapped<op>(a[at], b[at]);
  }
}

// One access a thread: a vector, or one element where its place is.
template <StreamOp op, class T, int kElements, class Place>
__global__ void __launch_bounds__(kThreads)
    map_kernel(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ out,
               std::int64_t touched, std::uint32_t seed, Place place) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if constexpr (kElements == 1) {
    if (i < touched) out[place(i)] = one_result<op>(a, b, place(i), seed);
  } else if ((i + 1) * kElements <= touched) {
    Vector<T, kElements> x;
    Vector<T, kElements> y;
    if constexpr (kInputs<op> > 0) x = loaded<T, kElements>(a, i, place);
    if constexpr (kInputs<op> > 1) y = loaded<T, kElements>(b, i, place);
    Vector<T, kElements> result;
#pragma unroll
    for (int k = 0; k < kElements; ++k) {
      if constexpr (op == StreamOp::kWrite) {
        result.element[k] = pattern<T>(seed, i * kElements + k);
      } else if constexpr (kInputs<op> > 1) {
        result.element[k] = mapped<op>(x.element[k], y.element[k]);
      } else {
        result.element[k] = mapped<op>(x.element[k], T{});
      }
    }
    reinterpret_cast<Vector<T, kElements>*>(out)[i] = result;
  } else {  // the last partial vector
    for (std::int64_t at = i * kElements; at < touched; ++at) {
      out[at] = one_result<op>(a, b, at, seed);
    }
  }
}

// First access of this thread; its others follow at distances of kReductionThreads.
__device__ std::int64_t first_access() {
  return static_cast<std::int64_t>(blockIdx.x) * kReductionAccesses + threadIdx.x;
}

template <StreamOp op, class T, int kElements, class Place>
__global__ void __launch_bounds__(kReductionThreads)
    reduce_kernel(const T* __restrict__ a, const T* __restrict__ b,
                  SumOf<op, T>* __restrict__ block_sums, std::int64_t touched, Place place) {
  const std::int64_t first = first_access();
  SumOf<op, T> sum = 0;
  if ((blockIdx.x + std::int64_t{1}) * kReductionAccesses * kElements <= touched) {
    Vector<T, kElements> x[kLoads];
    Vector<T, kElements> y[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      x[i] = loaded<T, kElements>(a, first + i * kReductionThreads, place);
      if constexpr (op == StreamOp::kDot) {
        y[i] = loaded<T, kElements>(b, first + i * kReductionThreads, place);
      }
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
#pragma unroll
      for (int k = 0; k < kElements; ++k) {
        if constexpr (op == StreamOp::kDot) {
          sum += x[i].element[k] * y[i].element[k];
        } else {
          sum += words_of(x[i].element[k]);
        }
      }
    }
  } else {  // the last block: accesses that may lie beyond the end
    for (int i = 0; i < kLoads * kElements; ++i) {
      const std::int64_t index =
          (first + i / kElements * kReductionThreads) * kElements + i % kElements;
      if (index >= touched) continue;
      const std::int64_t at = place(index);
      if constexpr (op == StreamOp::kDot) {
        sum += a[at] * b[at];
      } else {
        sum += words_of(a[at]);
      }
    }
  }
  sum = block_sum<kReductionThreads>(sum);
  if (threadIdx.x == 0) block_sums[blockIdx.x] = sum;
}

// One block: exact, since all sums are whole numbers below 2^53.
template <class T>
__global__ void __launch_bounds__(kReductionThreads)
    total_kernel(const T* block_sums, std::int64_t blocks, double* total) {
  double sum = 0;
#pragma unroll 8
  for (std::int64_t i = threadIdx.x; i < blocks; i += kReductionThreads) sum += block_sums[i];
  sum = block_sum<kReductionThreads>(sum);
  if (threadIdx.x == 0) *total = sum;
}

template <StreamOp op, class T>
__global__ void __launch_bounds__(kThreads)
    fill_kernel(T* tensor, std::int64_t elements, std::uint64_t seed, std::uint32_t folded) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < elements) tensor[i] = input<op, T>(seed, folded, i);
}

template <StreamOp op, class T>
__global__ void __launch_bounds__(kThreads)
    check_kernel(const T* out, std::int64_t touched, std::int64_t stride, StreamSeeds seeds,
                 std::uint32_t folded, MismatchReport* report) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= touched) return;
  const std::int64_t at = i * stride;
  T expected = input<op, T>(seeds.a, folded, at);
  if constexpr (kIsArithmetic<op>) {
    expected = mapped<op>(expected, input<op, T>(seeds.b, folded, at));
  }
  report_if(!same_bits(out[at], expected), at, report);
}

// In integers, whatever the format of the sums.
template <StreamOp op, class T, int kElements, class Place>
__global__ void __launch_bounds__(kReductionThreads)
    check_sums_kernel(const SumOf<op, T>* block_sums, std::int64_t touched, StreamSeeds seeds,
                      std::uint32_t folded, MismatchReport* report, Place place) {
  long long sum = 0;
  for (int i = 0; i < kLoads * kElements; ++i) {
    const std::int64_t index =
        (first_access() + i / kElements * kReductionThreads) * kElements + i % kElements;
    if (index >= touched) continue;
    const std::int64_t at = place(index);
    if constexpr (op == StreamOp::kDot) {
      sum += static_cast<long long>(small_integer(seeds.a, at)) * small_integer(seeds.b, at);
    } else {
      sum += words_of(pattern<T>(folded, at));
    }
  }
  sum = block_sum<kReductionThreads>(sum);
  if (threadIdx.x != 0) return;
  report_if(!same_bits(block_sums[blockIdx.x], static_cast<SumOf<op, T>>(sum)), blockIdx.x, report);
  if (op == StreamOp::kDot) atomicAdd(&report->total, static_cast<unsigned long long>(sum));
}

__global__ void check_total_kernel(const double* total, std::int64_t blocks,
                                   MismatchReport* report) {
  const auto expected = static_cast<double>(static_cast<long long>(report->total));
  report_if(!same_bits(*total, expected), blocks, report);
}

struct EveryStride {
  std::int64_t stride;
  __device__ std::int64_t operator()(std::int64_t i) const { return i * stride; }
};

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads - 1) / kThreads + 1);
}

// Calls body(place, constant number of elements an access).
template <class T, class Body>
cudaError_t with_accesses(const StreamShape& shape, const Body& body) {
  if (shape.by_vector()) {
    body(EveryStride{1}, std::integral_constant<int, kVectorBytes / sizeof(T)>());
  } else if (shape.random) {
    body(RandomOrder(shape.elements), std::integral_constant<int, 1>());
  } else {
    body(EveryStride{shape.stride}, std::integral_constant<int, 1>());
  }
  return cudaGetLastError();
}

// A reduction's sums in `out`.
template <StreamOp op, class T>
SumOf<op, T>* sums_in(void* out) {
  auto* const begin = static_cast<char*>(out) + (op == StreamOp::kDot ? sizeof(double) : 0);
  return reinterpret_cast<SumOf<op, T>*>(begin);
}

template <StreamOp op, class T>
struct Launcher {
  const StreamShape& shape;
  cudaStream_t stream;

  cudaError_t run(const StreamTensors& tensors, std::uint64_t seed) const {
    const auto* const a = static_cast<const T*>(tensors.a);
    const auto* const b = static_cast<const T*>(tensors.b);
    return with_accesses<T>(shape, [&](const auto& place, auto elements) {
      constexpr int kElements = decltype(elements)::value;
      if constexpr (is_reduction(op)) {
        auto* const sums = sums_in<op, T>(tensors.out);
        reduce_kernel<op, T, kElements>
            <<<static_cast<unsigned>(shape.blocks()), kReductionThreads, 0, stream>>>(
                a, b, sums, shape.touched(), place);
        if constexpr (op == StreamOp::kDot) {
          total_kernel<<<1, kReductionThreads, 0, stream>>>(sums, shape.blocks(),
                                                            static_cast<double*>(tensors.out));
        }
      } else {
        const std::int64_t threads = (shape.touched() - 1) / kElements + 1;
        map_kernel<op, T, kElements><<<blocks_for(threads), kThreads, 0, stream>>>(
            a, b, static_cast<T*>(tensors.out), shape.touched(), pattern_seed(seed), place);
      }
    });
  }

  cudaError_t fill(void* tensor, std::uint64_t seed) const {
    fill_kernel<op><<<blocks_for(shape.elements), kThreads, 0, stream>>>(
        static_cast<T*>(tensor), shape.elements, seed, pattern_seed(seed));
    return cudaGetLastError();
  }

  cudaError_t check(const void* out, const StreamSeeds& seeds, MismatchReport* report) const {
    if (const cudaError_t error = reset_mismatches(report, stream); error != cudaSuccess) {
      return error;
    }
    if constexpr (is_reduction(op)) {
      return with_accesses<T>(shape, [&](const auto& place, auto elements) {
        const auto* const sums = sums_in<op, T>(const_cast<void*>(out));
        check_sums_kernel<op, T, decltype(elements)::value>
            <<<static_cast<unsigned>(shape.blocks()), kReductionThreads, 0, stream>>>(
                sums, shape.touched(), seeds, pattern_seed(seeds.a), report, place);
        if constexpr (op == StreamOp::kDot) {
          check_total_kernel<<<1, 1, 0, stream>>>(static_cast<const double*>(out), shape.blocks(),
                                                  report);
        }
      });
    } else {
      check_kernel<op><<<blocks_for(shape.touched()), kThreads, 0, stream>>>(
          static_cast<const T*>(out), shape.touched(), shape.stride, seeds, pattern_seed(seeds.a),
          report);
      return cudaGetLastError();
    }
  }
};

// Calls body(launcher) with the operation and the element's type.
template <StreamOp op, class Body>
cudaError_t with_type(const StreamShape& shape, cudaStream_t stream, const Body& body) {
  if constexpr (is_arithmetic(op)) {
    if (shape.element_bytes == 8) return body(Launcher<op, double>{shape, stream});
    return body(Launcher<op, float>{shape, stream});
  } else {
    if (shape.element_bytes == 8) return body(Launcher<op, std::uint64_t>{shape, stream});
    return body(Launcher<op, std::uint32_t>{shape, stream});
  }
}

template <class Body>
cudaError_t dispatched(StreamOp op, const StreamShape& shape, cudaStream_t stream,
                       const Body& body) {
  switch (op) {
    case StreamOp::kRead:
      return with_type<StreamOp::kRead>(shape, stream, body);
    case StreamOp::kWrite:
      return with_type<StreamOp::kWrite>(shape, stream, body);
    case StreamOp::kCopy:
      return with_type<StreamOp::kCopy>(shape, stream, body);
    case StreamOp::kScale:
      return with_type<StreamOp::kScale>(shape, stream, body);
    case StreamOp::kAdd:
      return with_type<StreamOp::kAdd>(shape, stream, body);
    case StreamOp::kTriad:
      return with_type<StreamOp::kTriad>(shape, stream, body);
    case StreamOp::kDot:
      return with_type<StreamOp::kDot>(shape, stream, body);
  }
  return cudaErrorInvalidValue;
}

}  // namespace

std::int64_t stream_output_bytes(StreamOp op, const StreamShape& shape) {
  switch (op) {
    case StreamOp::kRead:
      return shape.blocks() * 4;
    case StreamOp::kDot:
      return static_cast<std::int64_t>(sizeof(double)) + shape.blocks() * shape.element_bytes;
    default:
      return shape.elements * shape.element_bytes;
  }
}

cudaError_t stream_fill(StreamOp op, const StreamShape& shape, void* tensor, std::uint64_t seed,
                        cudaStream_t stream) {
  return dispatched(op, shape, stream,
                    [&](const auto& launcher) { return launcher.fill(tensor, seed); });
}

cudaError_t stream_run(StreamOp op, const StreamShape& shape, const StreamTensors& tensors,
                       std::uint64_t seed, cudaStream_t stream) {
  return dispatched(op, shape, stream,
                    [&](const auto& launcher) { return launcher.run(tensors, seed); });
}

cudaError_t stream_check(StreamOp op, const StreamShape& shape, const void* out,
                         const StreamSeeds& seeds, MismatchReport* report, cudaStream_t stream) {
  return dispatched(op, shape, stream,
                    [&](const auto& launcher) { return launcher.check(out, seeds, report); });
}

}  // namespace assay
