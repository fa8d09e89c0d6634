// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/memory/integrity_case.h"

#include <fmt/format.h>

#include <array>

#include "bench/memory/stream_case.h"

namespace assay {
namespace {

constexpr std::array<const char*, kIntegrityPatterns> kPatternNames = {"address", "zeros",
                                                                       "alternating", "random"};
constexpr std::array<const char*, kIntegritySteps> kStepNames = {"store", "invert", "restore",
                                                                 "look"};

std::string text_of(const IntegrityReport& found, std::uint64_t base) {
  const IntegrityError& first = found.kept[0];
  return fmt::format(
      "address {:#x}, offset {}: expected {:#018x}, found {:#018x}, flipped bits {} (pattern {}, "
      "step {}); {} wrong words in all, flipped bits {}",
      first.address, first.address - base, first.expected, first.found,
      bits_text(first.expected ^ first.found),
      kPatternNames.at(static_cast<std::size_t>(first.pattern)),
      kStepNames.at(static_cast<std::size_t>(first.step)), found.errors, bits_text(found.flipped));
}

constexpr const char* kMethod =
    "exact: every word after every step, on the device; unit: wrong words";

}  // namespace

IntegrityCase::IntegrityCase(std::int64_t bytes, cudaStream_t stream) : CudaCase(stream) {
  require_free_memory(bytes);
  memory_ = DeviceBuffer(bytes);
  report_ = DeviceBuffer(sizeof(IntegrityReport));
  check_cuda(integrity_reset(report_.as<IntegrityReport>(), stream), "integrity_reset");
}

void IntegrityCase::begin() {
  check_cuda(cudaMemsetAsync(&report_.as<IntegrityReport>()->steps, 0,
                             sizeof(IntegrityReport::steps), stream()),
             "cudaMemsetAsync");
  ++launches_;
}

void IntegrityCase::poison(int) {
  check_cuda(cudaMemsetAsync(&report_.as<IntegrityReport>()->steps, 0xFF,
                             sizeof(IntegrityReport::steps), stream()),
             "cudaMemsetAsync");
}

void IntegrityCase::run_step(IntegrityPattern pattern, IntegrityStep step) {
  check_cuda(integrity_step(pattern, step, buffer(), kMemorySeed + launches_,
                            report_.as<IntegrityReport>(), stream()),
             "integrity_step");
}

void IntegrityCase::launch(int) {
  begin();
  for (int pattern = 0; pattern < kIntegrityPatterns; ++pattern) {
    for (int step = 0; step < kIntegritySteps; ++step) {
      run_step(static_cast<IntegrityPattern>(pattern), static_cast<IntegrityStep>(step));
    }
  }
}

Verification IntegrityCase::verify(int, int) {
  const auto found = read_back<IntegrityReport>(report_.data(), stream());
  constexpr unsigned long long kSteps = kIntegrityPatterns * kIntegritySteps;
  if (found.errors == 0 && found.steps != kSteps) {
    Verification unfinished;
    unfinished.method = kMethod;
    unfinished.status = VerificationStatus::kWrong;
    unfinished.detail = fmt::format("not all of its {} steps were run", kSteps);
    return unfinished;
  }
  return exact_verification(kMethod, static_cast<double>(found.errors),
                            text_of(found, reinterpret_cast<std::uint64_t>(memory_.data())));
}

}  // namespace assay
