// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Does memory keep what is written to it? Four patterns, each in four steps, one kernel a step over
// the whole buffer; all comparing is done on the device.
//
//   store   upwards    write P
//   invert  upwards    is it P? write ~P         moving inversions, both ways: a cell that disturbs
//   restore downwards  is it ~P? write P         its neighbours does so before they are looked at
//   look    downwards  is it P?
//
//   P: the word's own address, so that a fault of addressing shows; all zeros; 0101...; random bits
//
//   integrity_reset(report, stream);
//   for each pattern: for each step: integrity_step(pattern, step, buffer, seed, report, stream);
//
// Up and down is the order in which the blocks of a kernel are started. What is found is added to
// the report, step after step. Asynchronous on `stream`; the launch's error is returned.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace assay {

enum class IntegrityPattern { kAddress, kZeros, kAlternating, kRandom };
enum class IntegrityStep { kStore, kInvert, kRestore, kLook };
inline constexpr int kIntegrityPatterns = 4;
inline constexpr int kIntegritySteps = 4;
// Reads and writes of the whole buffer that a pattern takes.
inline constexpr int kIntegrityPassesOfPattern = 6;

struct IntegrityError {
  unsigned long long address;
  unsigned long long expected;
  unsigned long long found;
  int pattern;
  int step;
};

// Lives in device memory.
struct IntegrityReport {
  static constexpr int kKept = 16;
  unsigned long long steps;    // that were run
  unsigned long long errors;   // words; one that stays wrong counts in each step that looks at it
  unsigned long long flipped;  // bits that were wrong in any of them
  IntegrityError kept[kKept];  // the first that were seen
};

[[nodiscard]] cudaError_t integrity_reset(IntegrityReport* report, cudaStream_t stream);

// `words` of 64 bits from `buffer` on, which is aligned to 16 bytes; an even number.
struct IntegrityBuffer {
  void* data = nullptr;
  std::int64_t words = 0;
};
[[nodiscard]] cudaError_t integrity_step(IntegrityPattern pattern, IntegrityStep step,
                                         const IntegrityBuffer& buffer, std::uint64_t seed,
                                         IntegrityReport* report, cudaStream_t stream);

}  // namespace assay
