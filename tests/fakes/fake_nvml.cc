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

#define FAKE(name, parameters)        \
  extern "C" Return name parameters;  \
  extern "C" Return name parameters { \
    if (fails(#name)) return kNotSupported;
#define END }

extern "C" const char* nvmlErrorString(Return code);
extern "C" const char* nvmlErrorString(Return code) {
  return code == kNotSupported ? "Not Supported" : code == 9 ? "Driver Not Loaded" : "Error";
}

FAKE(nvmlInit_v2, (void)) return static_cast<Return>(number("FAKE_NVML_INIT_ERROR", "0"));
END FAKE(nvmlShutdown, (void)) return 0;
END FAKE(nvmlSystemGetDriverVersion, (char* out, unsigned size)) return text("580.1", out, size);
END FAKE(nvmlSystemGetNVMLVersion, (char* out, unsigned size)) return text("13.580.1", out, size);
END FAKE(nvmlSystemGetCudaDriverVersion_v2, (int* out)) * out = 13000;
return 0;
END FAKE(nvmlDeviceGetCount_v2, (unsigned* out)) * out = gpus();
return 0;
END FAKE(nvmlDeviceGetHandleByIndex_v2,
         (unsigned index, Device* out)) if (index >= gpus()) return kInvalidArgument;
*out = handle(index);
return 0;
END FAKE(nvmlDeviceGetHandleByUUID, (const char* wanted, Device* out)) for (unsigned i = 0;
                                                                            i < gpus(); ++i) {
  if (uuid(handle(i)) != wanted) continue;
  *out = handle(i);
  return 0;
}
return 6;
END FAKE(nvmlDeviceGetName, (Device device, char* out,
                             unsigned size)) const std::string name = setting("FAKE_NVML_NAME",
                                                                              "NVIDIA H200");
return text(is_slice(device) ? name + " MIG 1g.18gb" : name, out, size);
END FAKE(nvmlDeviceGetUUID, (Device device, char* out, unsigned size)) return text(uuid(device),
                                                                                   out, size);
END FAKE(nvmlDeviceGetSerial,
         (Device device, char* out,
          unsigned size)) return text("165000000000" + std::to_string(index_of(device)), out, size);
END FAKE(nvmlDeviceGetVbiosVersion, (Device, char* out, unsigned size)) return text("96.00", out,
                                                                                    size);
END FAKE(nvmlDeviceGetPciInfo_v3, (Device device, assay::nvml_abi::PciInfo* out)) * out = {};
std::snprintf(out->bus_id.data(), out->bus_id.size(), "00000000:%02X:00.0",
              0x10 + index_of(device));
return 0;
END FAKE(nvmlDeviceGetModuleId, (Device device, unsigned* out)) * out = index_of(device);
return 0;
END FAKE(nvmlDeviceGetMemoryInfo, (Device, assay::nvml_abi::Memory* out)) * out = {
  143771ULL << 20,
  143000ULL << 20,
  771ULL << 20
};
return 0;
END FAKE(nvmlDeviceGetNumGpuCores, (Device, unsigned* out)) * out = 132 * 128;
return 0;
END FAKE(nvmlDeviceGetCudaComputeCapability, (Device, int* major, int* minor)) * major = 9;
*minor = 0;
return 0;
END FAKE(nvmlDeviceGetMemoryBusWidth, (Device, unsigned* out)) * out = 6016;
return 0;
END FAKE(nvmlDeviceGetMaxClockInfo,
         (Device, unsigned which, unsigned* out)) * out = which == assay::nvml_abi::kClockMemory
                                                              ? 3201
                                                              : 1980;
return 0;
END FAKE(nvmlDeviceGetClockInfo,
         (Device, unsigned which, unsigned* out)) * out = which == assay::nvml_abi::kClockMemory
                                                              ? 3201
                                                              : 1500;
return 0;
END FAKE(nvmlDeviceGetPowerManagementLimit, (Device device, unsigned* out)) * out =
    index_of(device) == 0 ? number("FAKE_NVML_POWER_LIMIT_W", "700") * 1000 : 700000;
return 0;
END FAKE(nvmlDeviceGetPowerManagementDefaultLimit, (Device, unsigned* out)) * out = 700000;
return 0;
END FAKE(nvmlDeviceGetPowerUsage, (Device, unsigned* out)) * out = 690000;
return 0;
END FAKE(nvmlDeviceGetTemperature, (Device, unsigned, unsigned* out)) * out = 60;
return 0;
END FAKE(nvmlDeviceGetTemperatureThreshold, (Device, unsigned, unsigned* out)) * out = 87;
return 0;
END FAKE(nvmlDeviceGetEccMode, (Device, unsigned* current,
                                unsigned* pending)) * current = *pending = number("FAKE_NVML_ECC",
                                                                                  "1");
return 0;
END FAKE(nvmlDeviceGetTotalEccErrors,
         (Device, unsigned, unsigned, unsigned long long* out)) * out = 0;
return 0;
END FAKE(nvmlDeviceGetRemappedRows,
         (Device, unsigned* corrected, unsigned* uncorrected, unsigned* pending,
          unsigned* failure)) * corrected = *uncorrected = *pending = 0;
*failure = number("FAKE_NVML_REMAP_FAILURE", "0");
return 0;
END FAKE(nvmlDeviceGetMigMode, (Device, unsigned* current,
                                unsigned* pending)) * current = *pending = number("FAKE_NVML_MIG",
                                                                                  "0");
return 0;
END FAKE(nvmlDeviceGetMaxMigDeviceCount, (Device, unsigned* out)) * out = 7;
return 0;
END FAKE(nvmlDeviceGetMigDeviceHandleByIndex,
         (Device device, unsigned index,
          Device* out)) if (index != 0 && index != 2) return 6;  // numbered with gaps
*out = handle(100 + 10 * index_of(device) + index);
return 0;
END FAKE(nvmlDeviceGetPersistenceMode, (Device, unsigned* out)) * out = 1;
return 0;
END FAKE(nvmlDeviceGetCurrPcieLinkWidth, (Device, unsigned* out)) * out = 16;
return 0;
END FAKE(nvmlDeviceGetMaxPcieLinkWidth, (Device, unsigned* out)) * out = 16;
return 0;
END FAKE(nvmlDeviceGetMaxPcieLinkGeneration, (Device, unsigned* out)) * out = 5;
return 0;
END FAKE(nvmlDeviceGetPcieReplayCounter, (Device, unsigned* out)) * out = 0;
return 0;
END FAKE(nvmlDeviceGetComputeRunningProcesses_v3,
         (Device, unsigned* count, assay::nvml_abi::ProcessInfo* out)) const
    unsigned busy = number("FAKE_NVML_BUSY", "0");
if (busy > 0 && *count > 0) out[0] = {4242, 1ULL << 30, 0, 0};
*count = busy;
return 0;
END FAKE(nvmlDeviceGetCurrentClocksEventReasons, (Device, unsigned long long* out)) * out = 4;
return 0;
END FAKE(nvmlDeviceGetTotalEnergyConsumption, (Device, unsigned long long* out)) * out = 1;
return 0;
END
