// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A libnvidia-ml.so.1 for tests: a node of H200 cards whose facts the environment changes, read
// anew at every call. FAKE_NVML_GPUS (count, default 1), FAKE_NVML_NAME, FAKE_NVML_MIG=1,
// FAKE_NVML_ECC=0, FAKE_NVML_POWER_LIMIT_W (of GPU 0), FAKE_NVML_REMAP_FAILURE=1, FAKE_NVML_BUSY=1,
// FAKE_NVML_INIT_ERROR=code, FAKE_NVML_FAIL=name (that function reports "not supported").
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "bench/node/nvml.h"

namespace {

using assay::nvml_abi::Device;
using assay::nvml_abi::Return;

constexpr Return kNotSupported = 3;
constexpr Return kInvalidArgument = 2;

const char* setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}
unsigned number(const char* name, const char* otherwise) {
  return static_cast<unsigned>(std::strtoul(setting(name, otherwise), nullptr, 10));
}
unsigned gpus() { return number("FAKE_NVML_GPUS", "1"); }
bool fails(const char* function) { return setting("FAKE_NVML_FAIL", "") == std::string(function); }

// Handles are the GPU's index plus one; a slice's has 100 added.
Device handle(unsigned long value) { return reinterpret_cast<Device>(value + 1); }
unsigned index_of(Device device) {
  return static_cast<unsigned>(reinterpret_cast<unsigned long>(device) - 1);
}
bool is_slice(Device device) { return index_of(device) >= 100; }

Return text(const std::string& value, char* out, unsigned size) {
  std::snprintf(out, size, "%s", value.c_str());
  return 0;
}
std::string uuid(Device device) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%s-00000000-0000-0000-0000-%012u",
                is_slice(device) ? "MIG" : "GPU", index_of(device));
  return buffer;
}

}  // namespace

extern "C" {

const char* nvmlErrorString(Return code) {
  return code == kNotSupported ? "Not Supported" : code == 9 ? "Driver Not Loaded" : "Error";
}

Return nvmlInit_v2(void) {
  if (fails("nvmlInit_v2")) return kNotSupported;
  return static_cast<Return>(number("FAKE_NVML_INIT_ERROR", "0"));
}

Return nvmlShutdown(void) {
  if (fails("nvmlShutdown")) return kNotSupported;
  return 0;
}

Return nvmlSystemGetDriverVersion(char* out, unsigned size) {
  if (fails("nvmlSystemGetDriverVersion")) return kNotSupported;
  return text("580.1", out, size);
}

Return nvmlSystemGetNVMLVersion(char* out, unsigned size) {
  if (fails("nvmlSystemGetNVMLVersion")) return kNotSupported;
  return text("13.580.1", out, size);
}

Return nvmlSystemGetCudaDriverVersion_v2(int* out) {
  if (fails("nvmlSystemGetCudaDriverVersion_v2")) return kNotSupported;
  *out = 13000;
  return 0;
}

Return nvmlDeviceGetCount_v2(unsigned* out) {
  if (fails("nvmlDeviceGetCount_v2")) return kNotSupported;
  *out = gpus();
  return 0;
}

Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* out) {
  if (fails("nvmlDeviceGetHandleByIndex_v2")) return kNotSupported;
  if (index >= gpus()) return kInvalidArgument;
  *out = handle(index);
  return 0;
}

Return nvmlDeviceGetHandleByUUID(const char* wanted, Device* out) {
  if (fails("nvmlDeviceGetHandleByUUID")) return kNotSupported;
  for (unsigned i = 0; i < gpus(); ++i) {
    if (uuid(handle(i)) != wanted) continue;
    *out = handle(i);
    return 0;
  }
  return 6;
}

Return nvmlDeviceGetName(Device device, char* out, unsigned size) {
  if (fails("nvmlDeviceGetName")) return kNotSupported;
  const std::string name = setting("FAKE_NVML_NAME", "NVIDIA H200");
  return text(is_slice(device) ? name + " MIG 1g.18gb" : name, out, size);
}

Return nvmlDeviceGetUUID(Device device, char* out, unsigned size) {
  if (fails("nvmlDeviceGetUUID")) return kNotSupported;
  return text(uuid(device), out, size);
}

Return nvmlDeviceGetSerial(Device device, char* out, unsigned size) {
  if (fails("nvmlDeviceGetSerial")) return kNotSupported;
  return text("165000000000" + std::to_string(index_of(device)), out, size);
}

Return nvmlDeviceGetVbiosVersion(Device, char* out, unsigned size) {
  if (fails("nvmlDeviceGetVbiosVersion")) return kNotSupported;
  return text("96.00", out, size);
}

Return nvmlDeviceGetPciInfo_v3(Device device, assay::nvml_abi::PciInfo* out) {
  if (fails("nvmlDeviceGetPciInfo_v3")) return kNotSupported;
  *out = {};
  std::snprintf(out->bus_id.data(), out->bus_id.size(), "00000000:%02X:00.0",
                0x10 + index_of(device));
  return 0;
}

Return nvmlDeviceGetModuleId(Device device, unsigned* out) {
  if (fails("nvmlDeviceGetModuleId")) return kNotSupported;
  *out = index_of(device);
  return 0;
}

Return nvmlDeviceGetMemoryInfo(Device, assay::nvml_abi::Memory* out) {
  if (fails("nvmlDeviceGetMemoryInfo")) return kNotSupported;
  *out = {143771ULL << 20, 143000ULL << 20, 771ULL << 20};
  return 0;
}

Return nvmlDeviceGetNumGpuCores(Device, unsigned* out) {
  if (fails("nvmlDeviceGetNumGpuCores")) return kNotSupported;
  *out = 132 * 128;
  return 0;
}

Return nvmlDeviceGetCudaComputeCapability(Device, int* major, int* minor) {
  if (fails("nvmlDeviceGetCudaComputeCapability")) return kNotSupported;
  *major = 9;
  *minor = 0;
  return 0;
}

Return nvmlDeviceGetMemoryBusWidth(Device, unsigned* out) {
  if (fails("nvmlDeviceGetMemoryBusWidth")) return kNotSupported;
  *out = 6016;
  return 0;
}

Return nvmlDeviceGetMaxClockInfo(Device, unsigned which, unsigned* out) {
  if (fails("nvmlDeviceGetMaxClockInfo")) return kNotSupported;
  *out = which == assay::nvml_abi::kClockMemory ? 3201 : 1980;
  return 0;
}

Return nvmlDeviceGetClockInfo(Device, unsigned which, unsigned* out) {
  if (fails("nvmlDeviceGetClockInfo")) return kNotSupported;
  *out = which == assay::nvml_abi::kClockMemory ? 3201 : 1500;
  return 0;
}

Return nvmlDeviceGetPowerManagementLimit(Device device, unsigned* out) {
  if (fails("nvmlDeviceGetPowerManagementLimit")) return kNotSupported;
  *out = index_of(device) == 0 ? number("FAKE_NVML_POWER_LIMIT_W", "700") * 1000 : 700000;
  return 0;
}

Return nvmlDeviceGetPowerManagementDefaultLimit(Device, unsigned* out) {
  if (fails("nvmlDeviceGetPowerManagementDefaultLimit")) return kNotSupported;
  *out = 700000;
  return 0;
}

Return nvmlDeviceGetPowerUsage(Device, unsigned* out) {
  if (fails("nvmlDeviceGetPowerUsage")) return kNotSupported;
  *out = 690000;
  return 0;
}

Return nvmlDeviceGetTemperature(Device, unsigned, unsigned* out) {
  if (fails("nvmlDeviceGetTemperature")) return kNotSupported;
  *out = 60;
  return 0;
}

Return nvmlDeviceGetTemperatureThreshold(Device, unsigned, unsigned* out) {
  if (fails("nvmlDeviceGetTemperatureThreshold")) return kNotSupported;
  *out = 87;
  return 0;
}

Return nvmlDeviceGetEccMode(Device, unsigned* current, unsigned* pending) {
  if (fails("nvmlDeviceGetEccMode")) return kNotSupported;
  *current = *pending = number("FAKE_NVML_ECC", "1");
  return 0;
}

Return nvmlDeviceGetTotalEccErrors(Device, unsigned, unsigned, unsigned long long* out) {
  if (fails("nvmlDeviceGetTotalEccErrors")) return kNotSupported;
  *out = 0;
  return 0;
}

Return nvmlDeviceGetRemappedRows(Device, unsigned* corrected, unsigned* uncorrected,
                                 unsigned* pending, unsigned* failure) {
  if (fails("nvmlDeviceGetRemappedRows")) return kNotSupported;
  *corrected = *uncorrected = *pending = 0;
  *failure = number("FAKE_NVML_REMAP_FAILURE", "0");
  return 0;
}

Return nvmlDeviceGetMigMode(Device, unsigned* current, unsigned* pending) {
  if (fails("nvmlDeviceGetMigMode")) return kNotSupported;
  *current = *pending = number("FAKE_NVML_MIG", "0");
  return 0;
}

Return nvmlDeviceGetMaxMigDeviceCount(Device, unsigned* out) {
  if (fails("nvmlDeviceGetMaxMigDeviceCount")) return kNotSupported;
  *out = 7;
  return 0;
}

Return nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device* out) {
  if (fails("nvmlDeviceGetMigDeviceHandleByIndex")) return kNotSupported;
  if (index != 0 && index != 2) return 6;  // numbered with gaps
  *out = handle(100 + 10 * index_of(device) + index);
  return 0;
}

Return nvmlDeviceGetPersistenceMode(Device, unsigned* out) {
  if (fails("nvmlDeviceGetPersistenceMode")) return kNotSupported;
  *out = 1;
  return 0;
}

Return nvmlDeviceGetCurrPcieLinkWidth(Device, unsigned* out) {
  if (fails("nvmlDeviceGetCurrPcieLinkWidth")) return kNotSupported;
  *out = 16;
  return 0;
}

Return nvmlDeviceGetMaxPcieLinkWidth(Device, unsigned* out) {
  if (fails("nvmlDeviceGetMaxPcieLinkWidth")) return kNotSupported;
  *out = 16;
  return 0;
}

Return nvmlDeviceGetMaxPcieLinkGeneration(Device, unsigned* out) {
  if (fails("nvmlDeviceGetMaxPcieLinkGeneration")) return kNotSupported;
  *out = 5;
  return 0;
}

Return nvmlDeviceGetPcieReplayCounter(Device, unsigned* out) {
  if (fails("nvmlDeviceGetPcieReplayCounter")) return kNotSupported;
  *out = 0;
  return 0;
}

Return nvmlDeviceGetComputeRunningProcesses_v3(Device, unsigned* count,
                                               assay::nvml_abi::ProcessInfo* out) {
  if (fails("nvmlDeviceGetComputeRunningProcesses_v3")) return kNotSupported;
  const unsigned busy = number("FAKE_NVML_BUSY", "0");
  if (busy > 0 && *count > 0) out[0] = {4242, 1ULL << 30, 0, 0};
  *count = busy;
  return 0;
}

Return nvmlDeviceGetCurrentClocksEventReasons(Device, unsigned long long* out) {
  if (fails("nvmlDeviceGetCurrentClocksEventReasons")) return kNotSupported;
  *out = 4;
  return 0;
}

Return nvmlDeviceGetTotalEnergyConsumption(Device, unsigned long long* out) {
  if (fails("nvmlDeviceGetTotalEnergyConsumption")) return kNotSupported;
  *out = 1;
  return 0;
}

}  // extern "C"
