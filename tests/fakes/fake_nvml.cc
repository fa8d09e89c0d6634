// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A libnvidia-ml.so.1 for tests: a node of H200 cards whose facts the environment changes, read
// anew at every call. FAKE_NVML_GPUS (count, default 1), FAKE_NVML_NAME, FAKE_NVML_MIG=1,
// FAKE_NVML_ECC=0, FAKE_NVML_POWER_LIMIT_W (of GPU 0), FAKE_NVML_REMAP_FAILURE=1, FAKE_NVML_BUSY=1,
// FAKE_NVML_INIT_ERROR=code, FAKE_NVML_FAIL=name (that function reports "not supported"),
// FAKE_NVML_FAIL_AFTER=n (every call after the nth reports "GPU is lost"); fake_nvml_load.cc lists
// what is of a load, fake_nvml_links.cc what joins the cards.
#include "tests/fakes/fake_nvml.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace fake_nvml {

const char* setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

unsigned long long number(const char* name, const char* otherwise) {
  return std::strtoull(setting(name, otherwise), nullptr, 0);
}

Return failure(const char* function) {
  static std::atomic<unsigned long long> calls = 0;
  if (std::getenv("FAKE_NVML_FAIL_AFTER") == nullptr) {
    calls = 0;
  } else if (++calls > number("FAKE_NVML_FAIL_AFTER", "0")) {
    return kGpuIsLost;
  }
  return setting("FAKE_NVML_FAIL", "") == std::string(function) ? kNotSupported : 0;
}

}  // namespace fake_nvml

using namespace fake_nvml;

namespace {

unsigned gpus() { return static_cast<unsigned>(number("FAKE_NVML_GPUS", "1")); }
unsigned flag(const char* name, const char* otherwise) {
  return static_cast<unsigned>(number(name, otherwise));
}

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
  switch (code) {
    case kNotSupported:
      return "Not Supported";
    case 9:
      return "Driver Not Loaded";
    case kGpuIsLost:
      return "GPU is lost";
    default:
      return "Error";
  }
}

Return nvmlInit_v2(void) {
  if (const Return code = failure("nvmlInit_v2")) return code;
  return static_cast<Return>(flag("FAKE_NVML_INIT_ERROR", "0"));
}

Return nvmlShutdown(void) {
  if (const Return code = failure("nvmlShutdown")) return code;
  return 0;
}

Return nvmlSystemGetDriverVersion(char* out, unsigned size) {
  if (const Return code = failure("nvmlSystemGetDriverVersion")) return code;
  return text("580.1", out, size);
}

Return nvmlSystemGetNVMLVersion(char* out, unsigned size) {
  if (const Return code = failure("nvmlSystemGetNVMLVersion")) return code;
  return text("13.580.1", out, size);
}

Return nvmlSystemGetCudaDriverVersion_v2(int* out) {
  if (const Return code = failure("nvmlSystemGetCudaDriverVersion_v2")) return code;
  *out = 13000;
  return 0;
}

Return nvmlDeviceGetCount_v2(unsigned* out) {
  if (const Return code = failure("nvmlDeviceGetCount_v2")) return code;
  *out = gpus();
  return 0;
}

Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* out) {
  if (const Return code = failure("nvmlDeviceGetHandleByIndex_v2")) return code;
  if (index >= gpus()) return kInvalidArgument;
  *out = handle(index);
  return 0;
}

Return nvmlDeviceGetHandleByUUID(const char* wanted, Device* out) {
  if (const Return code = failure("nvmlDeviceGetHandleByUUID")) return code;
  for (unsigned i = 0; i < gpus(); ++i) {
    if (uuid(handle(i)) != wanted) continue;
    *out = handle(i);
    return 0;
  }
  return 6;
}

Return nvmlDeviceGetName(Device device, char* out, unsigned size) {
  if (const Return code = failure("nvmlDeviceGetName")) return code;
  const std::string name = setting("FAKE_NVML_NAME", "NVIDIA H200");
  return text(is_slice(device) ? name + " MIG 1g.18gb" : name, out, size);
}

Return nvmlDeviceGetUUID(Device device, char* out, unsigned size) {
  if (const Return code = failure("nvmlDeviceGetUUID")) return code;
  return text(uuid(device), out, size);
}

Return nvmlDeviceGetSerial(Device device, char* out, unsigned size) {
  if (const Return code = failure("nvmlDeviceGetSerial")) return code;
  return text("165000000000" + std::to_string(index_of(device)), out, size);
}

Return nvmlDeviceGetVbiosVersion(Device, char* out, unsigned size) {
  if (const Return code = failure("nvmlDeviceGetVbiosVersion")) return code;
  return text("96.00", out, size);
}

Return nvmlDeviceGetPciInfo_v3(Device device, assay::nvml_abi::PciInfo* out) {
  if (const Return code = failure("nvmlDeviceGetPciInfo_v3")) return code;
  *out = {};
  std::snprintf(out->bus_id.data(), out->bus_id.size(), "00000000:%02X:00.0",
                0x10 + index_of(device));
  return 0;
}

Return nvmlDeviceGetModuleId(Device device, unsigned* out) {
  if (const Return code = failure("nvmlDeviceGetModuleId")) return code;
  *out = index_of(device);
  return 0;
}

Return nvmlDeviceGetNumGpuCores(Device, unsigned* out) {
  if (const Return code = failure("nvmlDeviceGetNumGpuCores")) return code;
  *out = 132 * 128;
  return 0;
}

Return nvmlDeviceGetCudaComputeCapability(Device, int* major, int* minor) {
  if (const Return code = failure("nvmlDeviceGetCudaComputeCapability")) return code;
  *major = 9;
  *minor = 0;
  return 0;
}

Return nvmlDeviceGetMemoryBusWidth(Device, unsigned* out) {
  if (const Return code = failure("nvmlDeviceGetMemoryBusWidth")) return code;
  *out = 6016;
  return 0;
}

Return nvmlDeviceGetMaxClockInfo(Device, unsigned which, unsigned* out) {
  if (const Return code = failure("nvmlDeviceGetMaxClockInfo")) return code;
  *out = which == assay::nvml_abi::kClockMemory ? 3201 : 1980;
  return 0;
}

Return nvmlDeviceGetPowerManagementLimit(Device device, unsigned* out) {
  if (const Return code = failure("nvmlDeviceGetPowerManagementLimit")) return code;
  *out = index_of(device) == 0 ? flag("FAKE_NVML_POWER_LIMIT_W", "700") * 1000 : 700000;
  return 0;
}

Return nvmlDeviceGetPowerManagementDefaultLimit(Device, unsigned* out) {
  if (const Return code = failure("nvmlDeviceGetPowerManagementDefaultLimit")) return code;
  *out = 700000;
  return 0;
}

Return nvmlDeviceGetTemperatureThreshold(Device, unsigned, unsigned* out) {
  if (const Return code = failure("nvmlDeviceGetTemperatureThreshold")) return code;
  *out = 87;
  return 0;
}

Return nvmlDeviceGetEccMode(Device, unsigned* current, unsigned* pending) {
  if (const Return code = failure("nvmlDeviceGetEccMode")) return code;
  *current = *pending = flag("FAKE_NVML_ECC", "1");
  return 0;
}

Return nvmlDeviceGetRemappedRows(Device, unsigned* corrected, unsigned* uncorrected,
                                 unsigned* pending, unsigned* failed) {
  if (const Return code = failure("nvmlDeviceGetRemappedRows")) return code;
  *corrected = *uncorrected = *pending = 0;
  *failed = flag("FAKE_NVML_REMAP_FAILURE", "0");
  return 0;
}

Return nvmlDeviceGetMigMode(Device, unsigned* current, unsigned* pending) {
  if (const Return code = failure("nvmlDeviceGetMigMode")) return code;
  *current = *pending = flag("FAKE_NVML_MIG", "0");
  return 0;
}

Return nvmlDeviceGetMaxMigDeviceCount(Device, unsigned* out) {
  if (const Return code = failure("nvmlDeviceGetMaxMigDeviceCount")) return code;
  *out = 7;
  return 0;
}

Return nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device* out) {
  if (const Return code = failure("nvmlDeviceGetMigDeviceHandleByIndex")) return code;
  if (index != 0 && index != 2) return 6;  // numbered with gaps
  *out = handle(100 + 10 * index_of(device) + index);
  return 0;
}

Return nvmlDeviceGetPersistenceMode(Device, unsigned* out) {
  if (const Return code = failure("nvmlDeviceGetPersistenceMode")) return code;
  *out = 1;
  return 0;
}

Return nvmlDeviceGetCurrPcieLinkWidth(Device, unsigned* out) {
  if (const Return code = failure("nvmlDeviceGetCurrPcieLinkWidth")) return code;
  *out = 16;
  return 0;
}

Return nvmlDeviceGetMaxPcieLinkWidth(Device, unsigned* out) {
  if (const Return code = failure("nvmlDeviceGetMaxPcieLinkWidth")) return code;
  *out = 16;
  return 0;
}

Return nvmlDeviceGetMaxPcieLinkGeneration(Device, unsigned* out) {
  if (const Return code = failure("nvmlDeviceGetMaxPcieLinkGeneration")) return code;
  *out = 5;
  return 0;
}

Return nvmlDeviceGetComputeRunningProcesses_v3(Device, unsigned* count,
                                               assay::nvml_abi::ProcessInfo* out) {
  if (const Return code = failure("nvmlDeviceGetComputeRunningProcesses_v3")) return code;
  const unsigned busy = flag("FAKE_NVML_BUSY", "0");
  if (busy > 0 && *count > 0) out[0] = {4242, 1ULL << 30, 0, 0};
  *count = busy;
  return 0;
}

}  // extern "C"
