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
static_assert(sizeof(nvml_abi::Utilisation) == sizeof(nvmlUtilization_t));
static_assert(offsetof(nvml_abi::Utilisation, memory) == offsetof(nvmlUtilization_t, memory));
static_assert(sizeof(nvml_abi::ViolationTime) == sizeof(nvmlViolationTime_t));
static_assert(offsetof(nvml_abi::ViolationTime, violation_ns) ==
              offsetof(nvmlViolationTime_t, violationTime));
static_assert(sizeof(nvml_abi::FieldNumber) == sizeof(nvmlValue_t));
static_assert(sizeof(nvml_abi::FieldValue) == sizeof(nvmlFieldValue_t));
static_assert(offsetof(nvml_abi::FieldValue, scope) == offsetof(nvmlFieldValue_t, scopeId));
static_assert(offsetof(nvml_abi::FieldValue, type) == offsetof(nvmlFieldValue_t, valueType));
static_assert(offsetof(nvml_abi::FieldValue, result) == offsetof(nvmlFieldValue_t, nvmlReturn));
static_assert(offsetof(nvml_abi::FieldValue, value) == offsetof(nvmlFieldValue_t, value));
static_assert(sizeof(nvml_abi::EventData) == sizeof(nvmlEventData_t));
static_assert(offsetof(nvml_abi::EventData, type) == offsetof(nvmlEventData_t, eventType));
static_assert(offsetof(nvml_abi::EventData, data) == offsetof(nvmlEventData_t, eventData));
static_assert(nvml_abi::kUnsignedInt == NVML_VALUE_TYPE_UNSIGNED_INT);
static_assert(nvml_abi::kUnsignedLong == NVML_VALUE_TYPE_UNSIGNED_LONG);
static_assert(nvml_abi::kUnsignedLongLong == NVML_VALUE_TYPE_UNSIGNED_LONG_LONG);
static_assert(nvml_abi::kPolicyPower == NVML_PERF_POLICY_POWER);
static_assert(nvml_abi::kPolicyThermal == NVML_PERF_POLICY_THERMAL);
static_assert(nvml_abi::kPolicySyncBoost == NVML_PERF_POLICY_SYNC_BOOST);
static_assert(nvml_abi::kMaxNvLinks >= NVML_NVLINK_MAX_LINKS);
static_assert(nvml_abi::kLinkToGpu == NVML_NVLINK_DEVICE_TYPE_GPU);
static_assert(nvml_abi::kLinkToSwitch == NVML_NVLINK_DEVICE_TYPE_SWITCH);
static_assert(nvml_abi::kP2pRead == NVML_P2P_CAPS_INDEX_READ);
static_assert(nvml_abi::kP2pWrite == NVML_P2P_CAPS_INDEX_WRITE);
static_assert(nvml_abi::kP2pNvLink == NVML_P2P_CAPS_INDEX_NVLINK);
static_assert(NVML_TOPOLOGY_SINGLE == 10 && NVML_TOPOLOGY_MULTIPLE == 20);
static_assert(NVML_TOPOLOGY_HOSTBRIDGE == 30 && NVML_TOPOLOGY_NODE == 40);
static_assert(NVML_TOPOLOGY_SYSTEM == 50);
static_assert(NVML_P2P_STATUS_OK == 0 && NVML_P2P_STATUS_NOT_SUPPORTED == 5);
static_assert(nvml_abi::kEventXid == nvmlEventTypeXidCriticalError);
static_assert(nvml_abi::kTimeout == NVML_ERROR_TIMEOUT);
static_assert(nvml_abi::kClockSm == NVML_CLOCK_SM && nvml_abi::kClockMemory == NVML_CLOCK_MEM);
static_assert(nvml_abi::kTemperatureGpu == NVML_TEMPERATURE_GPU);
static_assert(nvml_abi::kThresholdSlowdown == NVML_TEMPERATURE_THRESHOLD_SLOWDOWN);
static_assert(nvml_abi::kErrorUncorrected == NVML_MEMORY_ERROR_TYPE_UNCORRECTED);
static_assert(nvml_abi::kCounterAggregate == NVML_AGGREGATE_ECC);
static_assert(nvml_abi::kInvalidArgument == NVML_ERROR_INVALID_ARGUMENT);
static_assert(nvml_abi::kNotSupported == NVML_ERROR_NOT_SUPPORTED);
static_assert(nvml_abi::kInsufficientSize == NVML_ERROR_INSUFFICIENT_SIZE);

}  // namespace
}  // namespace assay

TEST(NvmlLayout, MatchesTheToolkitsHeader) { SUCCEED() << "checked when compiled"; }
#else
TEST(NvmlLayout, MatchesTheToolkitsHeader) { GTEST_SKIP() << "this toolkit has no nvml.h"; }
#endif
