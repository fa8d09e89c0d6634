// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/counter_random.h"
#include "kernels/integrity.h"

namespace assay {
namespace {

constexpr int kThreads = 256;

template <IntegrityPattern pattern>
__device__ std::uint64_t pattern_of(const std::uint64_t* word, std::int64_t index,
                                    std::uint64_t seed) {
  switch (pattern) {
    case IntegrityPattern::kAddress:
      return reinterpret_cast<std::uint64_t>(word);
    case IntegrityPattern::kZeros:
      return 0;
    case IntegrityPattern::kAlternating:
      return 0x5555555555555555ULL;
    case IntegrityPattern::kRandom:
      return random_bits(seed, static_cast<std::uint64_t>(index));
  }
  return 0;
}

// Rare, so that its cost does not matter.
__device__ void note(const std::uint64_t* word, std::uint64_t expected, std::uint64_t found,
                     int pattern, int step, IntegrityReport* report) {
  const unsigned long long place = atomicAdd(&report->errors, 1ULL);
  atomicOr(&report->flipped, static_cast<unsigned long long>(expected ^ found));
  if (place >= IntegrityReport::kKept) return;
  report->kept[place] = {reinterpret_cast<std::uint64_t>(word), expected, found, pattern, step};
}

// Two words a thread.
template <IntegrityPattern pattern, IntegrityStep step>
__global__ void __launch_bounds__(kThreads)
    step_kernel(std::uint64_t* words, std::int64_t pairs, std::uint64_t seed,
                IntegrityReport* report) {
  constexpr bool kDown = step == IntegrityStep::kRestore || step == IntegrityStep::kLook;
  constexpr bool kLooks = step != IntegrityStep::kStore;
  constexpr bool kStores = step != IntegrityStep::kLook;
  if (blockIdx.x == 0 && threadIdx.x == 0) atomicAdd(&report->steps, 1ULL);
  const std::int64_t block = kDown ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  const std::int64_t pair = block * kThreads + threadIdx.x;
  if (pair >= pairs) return;
  std::uint64_t* const word = words + 2 * pair;
  const std::uint64_t expected_inverted = step == IntegrityStep::kRestore ? ~0ULL : 0;
  const std::uint64_t stored_inverted = step == IntegrityStep::kInvert ? ~0ULL : 0;
  const std::uint64_t first = pattern_of<pattern>(word, 2 * pair, seed);
  const std::uint64_t second = pattern_of<pattern>(word + 1, 2 * pair + 1, seed);
  auto* const vector = reinterpret_cast<ulonglong2*>(word);
  if constexpr (kLooks) {
    const ulonglong2 found = *vector;
    const std::uint64_t x = first ^ expected_inverted;
    const std::uint64_t y = second ^ expected_inverted;
    const int p = static_cast<int>(pattern);
    const int s = static_cast<int>(step);
    if (found.x != x) note(word, x, found.x, p, s, report);
    if (found.y != y) note(word + 1, y, found.y, p, s, report);
  }
  if constexpr (kStores) {
    *vector = make_ulonglong2(first ^ stored_inverted, second ^ stored_inverted);
  }
}

template <IntegrityPattern pattern>
void launch(IntegrityStep step, std::uint64_t* words, std::int64_t pairs, std::uint64_t seed,
            IntegrityReport* report, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((pairs - 1) / kThreads + 1);
  using Kernel = void (*)(std::uint64_t*, std::int64_t, std::uint64_t, IntegrityReport*);
  constexpr Kernel kKernels[kIntegritySteps] = {
      step_kernel<pattern, IntegrityStep::kStore>, step_kernel<pattern, IntegrityStep::kInvert>,
      step_kernel<pattern, IntegrityStep::kRestore>, step_kernel<pattern, IntegrityStep::kLook>};
  kKernels[static_cast<int>(step)]<<<blocks, kThreads, 0, stream>>>(words, pairs, seed, report);
}

}  // namespace

cudaError_t integrity_reset(IntegrityReport* report, cudaStream_t stream) {
  return cudaMemsetAsync(report, 0, sizeof(*report), stream);
}

cudaError_t integrity_step(IntegrityPattern pattern, IntegrityStep step,
                           const IntegrityBuffer& buffer, std::uint64_t seed,
                           IntegrityReport* report, cudaStream_t stream) {
  if (buffer.words < 2 || buffer.words % 2 != 0) return cudaErrorInvalidValue;
  auto* const words = static_cast<std::uint64_t*>(buffer.data);
  const std::int64_t pairs = buffer.words / 2;
  switch (pattern) {
    case IntegrityPattern::kAddress:
      launch<IntegrityPattern::kAddress>(step, words, pairs, seed, report, stream);
      break;
    case IntegrityPattern::kZeros:
      launch<IntegrityPattern::kZeros>(step, words, pairs, seed, report, stream);
      break;
    case IntegrityPattern::kAlternating:
      launch<IntegrityPattern::kAlternating>(step, words, pairs, seed, report, stream);
      break;
    case IntegrityPattern::kRandom:
      launch<IntegrityPattern::kRandom>(step, words, pairs, seed, report, stream);
      break;
  }
  return cudaGetLastError();
}

}  // namespace assay
