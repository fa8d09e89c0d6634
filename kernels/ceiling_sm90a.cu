// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The warpgroup half of ceiling.h: sm_90a, in a library of its own.
#include <cuda_runtime.h>

#include <type_traits>

#include "kernels/ceiling_sm90a.h"

namespace assay {
namespace {

// Rows of 128 bytes: four instructions of 32 bytes each. Two warpgroups of 64 rows share B.
constexpr int kRows = 128;
constexpr int kColumns = 256;
constexpr int kThreads = 256;
constexpr int kChunks = 8;  // of 16 bytes, a row
constexpr int kSteps = 4;
constexpr int kAccumulators = 128;  // of a thread: 64 x 256 / 128
constexpr int kSharedBytes = (kRows + kColumns) * kChunks * 16;

// 128 registers, by place.
#define ASSAY_D                                                                  \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, "  \
  "%17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "  \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, "  \
  "%47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "  \
  "%62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, "  \
  "%77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, "  \
  "%92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, " \
  "%106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, "     \
  "%118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define ASSAY_D8(c, d, i)                                                                         \
  c((d)[i]), c((d)[(i) + 1]), c((d)[(i) + 2]), c((d)[(i) + 3]), c((d)[(i) + 4]), c((d)[(i) + 5]), \
      c((d)[(i) + 6]), c((d)[(i) + 7])
#define ASSAY_D32(c, d, i) \
  ASSAY_D8(c, d, i), ASSAY_D8(c, d, (i) + 8), ASSAY_D8(c, d, (i) + 16), ASSAY_D8(c, d, (i) + 24)
#define ASSAY_D128(c, d) \
  ASSAY_D32(c, d, 0), ASSAY_D32(c, d, 32), ASSAY_D32(c, d, 64), ASSAY_D32(c, d, 96)
// d (+)= a x b for descriptors a and b: added if `adds`, else from zero.
#define ASSAY_WGMMA(instruction, tail, constraint)                                          \
  asm volatile(                                                                             \
      "{.reg .pred p; setp.ne.b32 p, %130, 0;"                                              \
      "wgmma.mma_async.sync.aligned." instruction " {" ASSAY_D "}, %128, %129, p" tail ";}" \
      : ASSAY_D128(constraint, d)                                                           \
      : "l"(a), "l"(b), "r"(adds))

struct Bf16 {
  using Sum = float;
  static __device__ void multiply(Sum (&d)[kAccumulators], std::uint64_t a, std::uint64_t b,
                                  int adds) {
    ASSAY_WGMMA("m64n256k16.f32.bf16.bf16", ", 1, 1, 0, 0", "+f");
  }
};
struct Fp16 {
  using Sum = float;
  static __device__ void multiply(Sum (&d)[kAccumulators], std::uint64_t a, std::uint64_t b,
                                  int adds) {
    ASSAY_WGMMA("m64n256k16.f32.f16.f16", ", 1, 1, 0, 0", "+f");
  }
};
struct Tf32 {
  using Sum = float;
  static __device__ void multiply(Sum (&d)[kAccumulators], std::uint64_t a, std::uint64_t b,
                                  int adds) {
    ASSAY_WGMMA("m64n256k8.f32.tf32.tf32", ", 1, 1", "+f");
  }
};
struct E4m3 {
  using Sum = float;
  static __device__ void multiply(Sum (&d)[kAccumulators], std::uint64_t a, std::uint64_t b,
                                  int adds) {
    ASSAY_WGMMA("m64n256k32.f32.e4m3.e4m3", ", 1, 1", "+f");
  }
};
struct Int8 {
  using Sum = int;
  static __device__ void multiply(Sum (&d)[kAccumulators], std::uint64_t a, std::uint64_t b,
                                  int adds) {
    ASSAY_WGMMA("m64n256k32.s32.s8.s8", "", "+r");
  }
};

// The compiler must not move a read of the sums before the wait for them.
__device__ void settle(float& sum) { asm volatile("" : "+f"(sum)::"memory"); }
__device__ void settle(int& sum) { asm volatile("" : "+r"(sum)::"memory"); }

// Operand in shared memory, k contiguous, not swizzled: core matrices of 8 rows x 16 bytes lie row
// group after row group (128 bytes apart), chunk of k after chunk (`rows` x 16 bytes apart).
__device__ std::uint64_t descriptor(const uint4* tile, int rows) {
  const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(tile));
  const auto between_chunks = static_cast<std::uint64_t>(rows);  // in units of 16 bytes
  constexpr std::uint64_t kBetweenGroups = 8;
  return (address >> 4 & 0x3FFF) | between_chunks << 16 | kBetweenGroups << 32;
}

// Row-major in global memory to chunk-major in shared memory.
__device__ void load(const uint4* matrix, int rows, uint4* tile) {
  for (int i = static_cast<int>(threadIdx.x); i < rows * kChunks; i += kThreads) {
    tile[i % kChunks * rows + i / kChunks] = matrix[i];
  }
}

template <class Op>
__global__ void __launch_bounds__(kThreads, 1)
    wgmma_kernel(const uint4* a, const uint4* b, typename Op::Sum* out, int rounds) {
  extern __shared__ __align__(128) uint4 tiles[];
  uint4* const tile_b = tiles + kRows * kChunks;
  load(a + static_cast<std::int64_t>(blockIdx.x) * kRows * kChunks, kRows, tiles);
  load(b, kColumns, tile_b);
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();

  const int warpgroup = static_cast<int>(threadIdx.x) / 128;
  const std::uint64_t a0 = descriptor(tiles + warpgroup * 64, kRows);
  const std::uint64_t b0 = descriptor(tile_b, kColumns);
  typename Op::Sum sums[kAccumulators] = {};
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      Op::multiply(sums, a0 + static_cast<std::uint64_t>(2 * step * kRows),
                   b0 + static_cast<std::uint64_t>(2 * step * kColumns), step > 0);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (auto& sum : sums) settle(sum);

  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;  // 16 rows each
  const std::int64_t row0 = static_cast<std::int64_t>(blockIdx.x) * kRows + warp * 16 + lane / 4;
#pragma unroll
  for (int i = 0; i < kAccumulators; ++i) {
    const std::int64_t row = row0 + (i & 2) * 4;
    const int column = i / 4 * 8 + lane % 4 * 2 + (i & 1);
    out[row * kColumns + column] = sums[i];
  }
}

template <class Op>
cudaError_t launch(const void* a, const void* b, void* d, int blocks, int rounds,
                   cudaStream_t stream) {
  const cudaError_t error = cudaFuncSetAttribute(
      wgmma_kernel<Op>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (error != cudaSuccess) return error;
  wgmma_kernel<Op><<<static_cast<unsigned>(blocks), kThreads, kSharedBytes, stream>>>(
      static_cast<const uint4*>(a), static_cast<const uint4*>(b), static_cast<typename Op::Sum*>(d),
      rounds);
  return cudaGetLastError();
}

}  // namespace

CeilingShape wgmma_shape(ElementType input) {
  switch (input) {
    case ElementType::kBf16:
    case ElementType::kFp16:
    case ElementType::kFp32:
    case ElementType::kFp8E4M3:
    case ElementType::kInt8:
      return {kRows, kColumns, static_cast<int>(kChunks * 16 / element_bytes(input))};
    default:
      return {};
  }
}

cudaError_t wgmma_ceiling(ElementType input, const void* a, const void* b, void* d, int blocks,
                          int rounds, cudaStream_t stream) {
  switch (input) {
    case ElementType::kBf16:
      return launch<Bf16>(a, b, d, blocks, rounds, stream);
    case ElementType::kFp16:
      return launch<Fp16>(a, b, d, blocks, rounds, stream);
    case ElementType::kFp32:
      return launch<Tf32>(a, b, d, blocks, rounds, stream);
    case ElementType::kFp8E4M3:
      return launch<E4m3>(a, b, d, blocks, rounds, stream);
    case ElementType::kInt8:
      return launch<Int8>(a, b, d, blocks, rounds, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace assay
