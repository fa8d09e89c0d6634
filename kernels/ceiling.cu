// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <type_traits>

#include "kernels/ceiling.h"
#include "kernels/ceiling_sm90a.h"
#include "kernels/counter_random.h"

namespace assay {
namespace {

// ---- mma.sync: warps of 16 rows x 64 columns, rows of 128 bytes ----

constexpr int kWarps = 8;
constexpr int kRowsPerWarp = 16;
constexpr int kTiles = 8;  // of 8 columns
constexpr int kColumns = 8 * kTiles;
constexpr int kRowBytes = 128;
constexpr int kMmaThreads = 32 * kWarps;

// A step of 32 bytes of k in each row: four words of A and two of B a thread, whatever the type.
// With g = lane / 4 and t = lane % 4, A holds rows g and g + 8 at words t and t + 4, B column g
// there.
template <class Op, class SumType>
struct WordFragments {
  using Sum = SumType;
  static constexpr int kSteps = 4;
  std::uint32_t a[kSteps][4];
  std::uint32_t b[kTiles][kSteps][2];

  __device__ WordFragments(const void* a_rows, const void* b_rows, int g, int t) {
    constexpr int kWords = kRowBytes / 4;
    const auto* const a_words = static_cast<const std::uint32_t*>(a_rows);
    const auto* const b_words = static_cast<const std::uint32_t*>(b_rows);
    for (int s = 0; s < kSteps; ++s) {
      for (int r = 0; r < 4; ++r) {
        a[s][r] = a_words[(g + r % 2 * 8) * kWords + s * 8 + t + r / 2 * 4];
      }
      for (int tile = 0; tile < kTiles; ++tile) {
        for (int r = 0; r < 2; ++r) {
          b[tile][s][r] = b_words[(tile * 8 + g) * kWords + s * 8 + t + r * 4];
        }
      }
    }
  }

  __device__ void multiply(Sum (&d)[kTiles][4]) const {
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        constexpr Sum kZero[4] = {};
        if (s == 0) {
          Op::issue(d[tile], a[s], b[tile][s], kZero);
        } else {
          Op::issue(d[tile], a[s], b[tile][s], d[tile]);
        }
      }
    }
  }
};

#define ASSAY_MMA(instruction, constraint)                                                     \
  asm volatile(                                                                                \
      "mma.sync.aligned." instruction                                                          \
      " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"                   \
      : "=" constraint(d[0]), "=" constraint(d[1]), "=" constraint(d[2]), "=" constraint(d[3]) \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), constraint(c[0]),    \
        constraint(c[1]), constraint(c[2]), constraint(c[3]))

using Words4 = const std::uint32_t (&)[4];
using Words2 = const std::uint32_t (&)[2];
struct Bf16Op {
  static __device__ void issue(float (&d)[4], Words4 a, Words2 b, const float (&c)[4]) {
    ASSAY_MMA("m16n8k16.row.col.f32.bf16.bf16.f32", "f");
  }
};
struct Fp16Op {
  static __device__ void issue(float (&d)[4], Words4 a, Words2 b, const float (&c)[4]) {
    ASSAY_MMA("m16n8k16.row.col.f32.f16.f16.f32", "f");
  }
};
struct Tf32Op {
  static __device__ void issue(float (&d)[4], Words4 a, Words2 b, const float (&c)[4]) {
    ASSAY_MMA("m16n8k8.row.col.f32.tf32.tf32.f32", "f");
  }
};
struct Int8Op {
  static __device__ void issue(int (&d)[4], Words4 a, Words2 b, const int (&c)[4]) {
    ASSAY_MMA("m16n8k32.row.col.s32.s8.s8.s32", "r");
  }
};

// FP64: the whole row of 16 elements in one instruction of compute capability 9.0, or in the eight
// of 8.0 that it stands for.
struct DoubleFragments {
  using Sum = double;
  double a[8];  // row g + (i % 2) * 8, k = i / 2 * 4 + t
  double b[kTiles][4];

  __device__ DoubleFragments(const void* a_rows, const void* b_rows, int g, int t) {
    constexpr int kElements = kRowBytes / 8;
    const auto* const a_values = static_cast<const double*>(a_rows);
    const auto* const b_values = static_cast<const double*>(b_rows);
    for (int i = 0; i < 8; ++i) a[i] = a_values[(g + i % 2 * 8) * kElements + i / 2 * 4 + t];
    for (int tile = 0; tile < kTiles; ++tile) {
      for (int i = 0; i < 4; ++i) b[tile][i] = b_values[(tile * 8 + g) * kElements + i * 4 + t];
    }
  }

  __device__ void multiply(Sum (&d)[kTiles][4]) const {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) issue(d[tile], b[tile]);
  }

  __device__ void issue(double (&d)[4], const double (&w)[4]) const {
    const double zero = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%16, %16, %16, %16};"
        : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
          "d"(w[0]), "d"(w[1]), "d"(w[2]), "d"(w[3]), "d"(zero));
#else
    for (int q = 0; q < 4; ++q) {
      for (int half = 0; half < 2; ++half) {
        asm volatile(
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
            : "=d"(d[2 * half]), "=d"(d[2 * half + 1])
            : "d"(a[2 * q + half]), "d"(w[q]), "d"(q == 0 ? zero : d[2 * half]),
              "d"(q == 0 ? zero : d[2 * half + 1]));
      }
    }
#endif
  }
};

template <class Fragments>
__global__ void __launch_bounds__(kMmaThreads, 1)
    mma_kernel(const char* a, const char* b, typename Fragments::Sum* out, int rounds) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int g = lane / 4;
  const int t = lane % 4;
  const std::int64_t row0 = (static_cast<std::int64_t>(blockIdx.x) * kWarps + warp) * kRowsPerWarp;
  const Fragments fragments(a + row0 * kRowBytes, b, g, t);
  typename Fragments::Sum d[kTiles][4] = {};
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) fragments.multiply(d);
  for (int tile = 0; tile < kTiles; ++tile) {
    for (int i = 0; i < 4; ++i) {
      const std::int64_t row = row0 + g + i / 2 * 8;
      out[row * kColumns + tile * 8 + t * 2 + i % 2] = d[tile][i];
    }
  }
}

template <class Fragments>
cudaError_t launch_mma(const void* a, const void* b, void* d, int blocks, int rounds,
                       cudaStream_t stream) {
  mma_kernel<Fragments><<<static_cast<unsigned>(blocks), kMmaThreads, 0, stream>>>(
      static_cast<const char*>(a), static_cast<const char*>(b),
      static_cast<typename Fragments::Sum*>(d), rounds);
  return cudaGetLastError();
}

cudaError_t mma_ceiling(ElementType input, const void* a, const void* b, void* d, int blocks,
                        int rounds, cudaStream_t stream) {
  switch (input) {
    case ElementType::kFp64:
      return launch_mma<DoubleFragments>(a, b, d, blocks, rounds, stream);
    case ElementType::kFp32:
      return launch_mma<WordFragments<Tf32Op, float>>(a, b, d, blocks, rounds, stream);
    case ElementType::kFp16:
      return launch_mma<WordFragments<Fp16Op, float>>(a, b, d, blocks, rounds, stream);
    case ElementType::kBf16:
      return launch_mma<WordFragments<Bf16Op, float>>(a, b, d, blocks, rounds, stream);
    case ElementType::kInt8:
      return launch_mma<WordFragments<Int8Op, int>>(a, b, d, blocks, rounds, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

CeilingShape mma_shape(ElementType input) {
  if (input == ElementType::kFp8E4M3 || input == ElementType::kFp8E5M2 ||
      input == ElementType::kInt32) {
    return {};
  }
  return {kWarps * kRowsPerWarp, kColumns, static_cast<int>(kRowBytes / element_bytes(input))};
}

// ---- Fused multiply-adds ----

// The sign changes in every step and the size hardly: the bits keep toggling, and nothing overflows
// or dies out.
template <class T>
constexpr T kFactor = static_cast<T>(-0.99999);
template <class T>
constexpr T kTerm = static_cast<T>(0.75);
constexpr int kUnrolled = 16;

template <class T>
ASSAY_HOST_DEVICE T chain_start(int lane, int chain) {
  return static_cast<T>(random_uniform(7, static_cast<std::uint64_t>(chain * kFmaLanes + lane)));
}

template <class T>
__global__ void __launch_bounds__(kFmaThreads, 1) fma_kernel(T* out, int rounds, T factor, T term) {
  T x[kFmaChains];
#pragma unroll
  for (int c = 0; c < kFmaChains; ++c) {
    x[c] = chain_start<T>(static_cast<int>(threadIdx.x) % kFmaLanes, c);
  }
#pragma unroll 1
  for (int round = 0; round < rounds; round += kUnrolled) {
#pragma unroll
    for (int i = 0; i < kUnrolled; ++i) {
#pragma unroll
      for (int c = 0; c < kFmaChains; ++c) x[c] = fma(x[c], factor, term);
    }
  }
#pragma unroll
  for (int c = 0; c < kFmaChains; ++c) {
    out[(static_cast<std::int64_t>(blockIdx.x) * kFmaChains + c) * kFmaThreads + threadIdx.x] =
        x[c];
  }
}

template <class T>
cudaError_t launch_fma(void* out, int blocks, int rounds, cudaStream_t stream) {
  fma_kernel<T><<<static_cast<unsigned>(blocks), kFmaThreads, 0, stream>>>(
      static_cast<T*>(out), rounds, kFactor<T>, kTerm<T>);
  return cudaGetLastError();
}

}  // namespace

CeilingShape tensor_ceiling_shape(TensorPath path, ElementType input) {
  return path == TensorPath::kWgmma ? wgmma_shape(input) : mma_shape(input);
}

cudaError_t tensor_ceiling(TensorPath path, ElementType input, const void* a, const void* b,
                           void* d, int blocks, int rounds, cudaStream_t stream) {
  if (blocks <= 0 || rounds <= 0) return cudaErrorInvalidValue;
  return path == TensorPath::kWgmma ? wgmma_ceiling(input, a, b, d, blocks, rounds, stream)
                                    : mma_ceiling(input, a, b, d, blocks, rounds, stream);
}

cudaError_t fma_ceiling(ElementType type, void* out, int blocks, int rounds, cudaStream_t stream) {
  if (blocks <= 0 || rounds <= 0 || rounds % kUnrolled != 0) return cudaErrorInvalidValue;
  switch (type) {
    case ElementType::kFp32:
      return launch_fma<float>(out, blocks, rounds, stream);
    case ElementType::kFp64:
      return launch_fma<double>(out, blocks, rounds, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

template <class T>
std::vector<T> fma_expected(int rounds) {
  std::vector<T> x(kFmaChains * kFmaLanes);
  for (int c = 0; c < kFmaChains; ++c) {
    for (int lane = 0; lane < kFmaLanes; ++lane) {
      x[static_cast<std::size_t>(c * kFmaLanes + lane)] = chain_start<T>(lane, c);
    }
  }
  for (int round = 0; round < rounds; ++round) {
    for (T& value : x) value = std::fma(value, kFactor<T>, kTerm<T>);
  }
  return x;
}
template std::vector<float> fma_expected<float>(int rounds);
template std::vector<double> fma_expected<double>(int rounds);

}  // namespace assay
