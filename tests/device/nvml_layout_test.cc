// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Our declarations of NVML's structures against nvml.h, where the toolkit brings it.
#include <gtest/gtest.h>

#include "bench/node/nvml.h"

#if __has_include(<nvml.h>)
#include <nvml.h>

#include <cstddef>

namespace assay {
namespace {

static_assert(sizeof(nvml_abi::Memory) == sizeof(nvmlMemory_t));
static_assert(offsetof(nvml_abi::Memory, used) == offsetof(nvmlMemory_t, used));
static_assert(sizeof(nvml_abi::PciInfo) == sizeof(nvmlPciInfo_t));
static_assert(offsetof(nvml_abi::PciInfo, bus_id) == offsetof(nvmlPciInfo_t, busId));
static_assert(sizeof(nvml_abi::ProcessInfo) == sizeof(nvmlProcessInfo_t));
static_assert(offsetof(nvml_abi::ProcessInfo, used_gpu_memory) ==
              offsetof(nvmlProcessInfo_t, usedGpuMemory));
static_assert(nvml_abi::kClockSm == NVML_CLOCK_SM && nvml_abi::kClockMemory == NVML_CLOCK_MEM);
static_assert(nvml_abi::kTemperatureGpu == NVML_TEMPERATURE_GPU);
static_assert(nvml_abi::kThresholdSlowdown == NVML_TEMPERATURE_THRESHOLD_SLOWDOWN);
static_assert(nvml_abi::kErrorUncorrected == NVML_MEMORY_ERROR_TYPE_UNCORRECTED);
static_assert(nvml_abi::kCounterAggregate == NVML_AGGREGATE_ECC);
static_assert(nvml_abi::kInsufficientSize == NVML_ERROR_INSUFFICIENT_SIZE);

}  // namespace
}  // namespace assay

TEST(NvmlLayout, MatchesTheToolkitsHeader) { SUCCEED() << "checked when compiled"; }
#else
TEST(NvmlLayout, MatchesTheToolkitsHeader) { GTEST_SKIP() << "this toolkit has no nvml.h"; }
#endif
