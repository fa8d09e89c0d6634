// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// NVML, opened at run time: a machine without a driver has none, and measuring works without it.
// Every function is optional, since drivers differ; our own declarations stand in for nvml.h, which
// not every toolkit brings (tests/device/nvml_layout_test.cc compares them with it where it is
// there).
//
//   std::string why;
//   std::shared_ptr<const Nvml> nvml = Nvml::open(&why);     // null, and why
//   unsigned mw = 0;
//   std::string error = nvml->call(nvml->nvmlDeviceGetPowerUsage, "nvmlDeviceGetPowerUsage", dev,
//   &mw);
//
// Source: NVML API reference, https://docs.nvidia.com/deploy/nvml-api.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace assay {

// The part of NVML's ABI that is used here.
namespace nvml_abi {
using Device = struct OpaqueDevice*;
using Return = int;  // 0 is success

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct PciInfo {
  std::array<char, 16> bus_id_legacy;
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  std::array<char, 32> bus_id;
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_gpu_memory;
  unsigned gpu_instance_id;
  unsigned compute_instance_id;
};
struct Utilisation {
  unsigned gpu;  // per cent of the last sample period
  unsigned memory;
};
struct ViolationTime {
  unsigned long long reference_us;
  unsigned long long violation_ns;
};
// The member that is set is FieldValue::type's.
union FieldNumber {
  double real;
  unsigned unsigned_int;
  unsigned long unsigned_long;
  unsigned long long unsigned_long_long;
  long long signed_long_long;
  int signed_int;
  unsigned short unsigned_short;
};
struct FieldValue {
  unsigned field;
  unsigned scope;  // the link, for fields of one link
  long long timestamp_us;
  long long latency_us;
  unsigned type;
  Return result;
  FieldNumber value;
};
using EventSet = struct OpaqueEventSet*;
struct EventData {
  Device device;
  unsigned long long type;
  unsigned long long data;  // of an Xid: its number
  unsigned gpu_instance_id;
  unsigned compute_instance_id;
};
inline constexpr unsigned kUnsignedInt = 1;
inline constexpr unsigned kUnsignedLong = 2;
inline constexpr unsigned kUnsignedLongLong = 3;
inline constexpr unsigned kPolicyPower = 0;
inline constexpr unsigned kPolicyThermal = 1;
inline constexpr unsigned kPolicySyncBoost = 2;
inline constexpr unsigned kMaxNvLinks = 36;  // of CUDA 13.4's header; 18 before
inline constexpr unsigned kLinkToGpu = 0;
inline constexpr unsigned kLinkToSwitch = 2;
inline constexpr unsigned kP2pRead = 0;
inline constexpr unsigned kP2pWrite = 1;
inline constexpr unsigned kP2pNvLink = 2;
inline constexpr unsigned long long kEventXid = 0x8;
inline constexpr unsigned kClockSm = 1;
inline constexpr unsigned kClockMemory = 2;
inline constexpr unsigned kTemperatureGpu = 0;
inline constexpr unsigned kThresholdSlowdown = 1;
inline constexpr unsigned kErrorCorrected = 0;
inline constexpr unsigned kErrorUncorrected = 1;
inline constexpr unsigned kCounterVolatile = 0;
inline constexpr unsigned kCounterAggregate = 1;
inline constexpr Return kInvalidArgument = 2;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kInsufficientSize = 7;
inline constexpr Return kTimeout = 10;
}  // namespace nvml_abi

// name, then the parameters after which it returns nvml_abi::Return
#define ASSAY_NVML_FUNCTIONS(X)                                                                \
  X(nvmlInit_v2, (void))                                                                       \
  X(nvmlShutdown, (void))                                                                      \
  X(nvmlSystemGetDriverVersion, (char*, unsigned))                                             \
  X(nvmlSystemGetNVMLVersion, (char*, unsigned))                                               \
  X(nvmlSystemGetCudaDriverVersion_v2, (int*))                                                 \
  X(nvmlDeviceGetCount_v2, (unsigned*))                                                        \
  X(nvmlDeviceGetHandleByIndex_v2, (unsigned, nvml_abi::Device*))                              \
  X(nvmlDeviceGetHandleByUUID, (const char*, nvml_abi::Device*))                               \
  X(nvmlDeviceGetName, (nvml_abi::Device, char*, unsigned))                                    \
  X(nvmlDeviceGetUUID, (nvml_abi::Device, char*, unsigned))                                    \
  X(nvmlDeviceGetSerial, (nvml_abi::Device, char*, unsigned))                                  \
  X(nvmlDeviceGetBoardPartNumber, (nvml_abi::Device, char*, unsigned))                         \
  X(nvmlDeviceGetVbiosVersion, (nvml_abi::Device, char*, unsigned))                            \
  X(nvmlDeviceGetInforomImageVersion, (nvml_abi::Device, char*, unsigned))                     \
  X(nvmlDeviceGetPciInfo_v3, (nvml_abi::Device, nvml_abi::PciInfo*))                           \
  X(nvmlDeviceGetModuleId, (nvml_abi::Device, unsigned*))                                      \
  X(nvmlDeviceGetMemoryInfo, (nvml_abi::Device, nvml_abi::Memory*))                            \
  X(nvmlDeviceGetNumGpuCores, (nvml_abi::Device, unsigned*))                                   \
  X(nvmlDeviceGetCudaComputeCapability, (nvml_abi::Device, int*, int*))                        \
  X(nvmlDeviceGetMemoryBusWidth, (nvml_abi::Device, unsigned*))                                \
  X(nvmlDeviceGetMaxClockInfo, (nvml_abi::Device, unsigned, unsigned*))                        \
  X(nvmlDeviceGetClockInfo, (nvml_abi::Device, unsigned, unsigned*))                           \
  X(nvmlDeviceGetPowerManagementLimit, (nvml_abi::Device, unsigned*))                          \
  X(nvmlDeviceGetPowerManagementDefaultLimit, (nvml_abi::Device, unsigned*))                   \
  X(nvmlDeviceGetPowerUsage, (nvml_abi::Device, unsigned*))                                    \
  X(nvmlDeviceGetTemperature, (nvml_abi::Device, unsigned, unsigned*))                         \
  X(nvmlDeviceGetTemperatureThreshold, (nvml_abi::Device, unsigned, unsigned*))                \
  X(nvmlDeviceGetEccMode, (nvml_abi::Device, unsigned*, unsigned*))                            \
  X(nvmlDeviceGetTotalEccErrors, (nvml_abi::Device, unsigned, unsigned, unsigned long long*))  \
  X(nvmlDeviceGetRemappedRows, (nvml_abi::Device, unsigned*, unsigned*, unsigned*, unsigned*)) \
  X(nvmlDeviceGetMigMode, (nvml_abi::Device, unsigned*, unsigned*))                            \
  X(nvmlDeviceGetMaxMigDeviceCount, (nvml_abi::Device, unsigned*))                             \
  X(nvmlDeviceGetMigDeviceHandleByIndex, (nvml_abi::Device, unsigned, nvml_abi::Device*))      \
  X(nvmlDeviceGetPersistenceMode, (nvml_abi::Device, unsigned*))                               \
  X(nvmlDeviceGetCurrPcieLinkWidth, (nvml_abi::Device, unsigned*))                             \
  X(nvmlDeviceGetCurrPcieLinkGeneration, (nvml_abi::Device, unsigned*))                        \
  X(nvmlDeviceGetMaxPcieLinkWidth, (nvml_abi::Device, unsigned*))                              \
  X(nvmlDeviceGetMaxPcieLinkGeneration, (nvml_abi::Device, unsigned*))                         \
  X(nvmlDeviceGetPcieReplayCounter, (nvml_abi::Device, unsigned*))                             \
  X(nvmlDeviceGetComputeRunningProcesses_v3,                                                   \
    (nvml_abi::Device, unsigned*, nvml_abi::ProcessInfo*))                                     \
  X(nvmlDeviceGetCurrentClocksEventReasons, (nvml_abi::Device, unsigned long long*))           \
  X(nvmlDeviceGetCurrentClocksThrottleReasons, (nvml_abi::Device, unsigned long long*))        \
  X(nvmlDeviceGetTotalEnergyConsumption, (nvml_abi::Device, unsigned long long*))              \
  X(nvmlDeviceGetUtilizationRates, (nvml_abi::Device, nvml_abi::Utilisation*))                 \
  X(nvmlDeviceGetFieldValues, (nvml_abi::Device, int, nvml_abi::FieldValue*))                  \
  X(nvmlDeviceGetViolationStatus, (nvml_abi::Device, unsigned, nvml_abi::ViolationTime*))      \
  X(nvmlDeviceGetNvLinkState, (nvml_abi::Device, unsigned, unsigned*))                         \
  X(nvmlDeviceGetNvLinkVersion, (nvml_abi::Device, unsigned, unsigned*))                       \
  X(nvmlDeviceGetNvLinkRemoteDeviceType, (nvml_abi::Device, unsigned, unsigned*))              \
  X(nvmlDeviceGetNvLinkRemotePciInfo_v2, (nvml_abi::Device, unsigned, nvml_abi::PciInfo*))     \
  X(nvmlDeviceGetTopologyCommonAncestor, (nvml_abi::Device, nvml_abi::Device, unsigned*))      \
  X(nvmlDeviceGetP2PStatus, (nvml_abi::Device, nvml_abi::Device, unsigned, unsigned*))         \
  X(nvmlEventSetCreate, (nvml_abi::EventSet*))                                                 \
  X(nvmlEventSetFree, (nvml_abi::EventSet))                                                    \
  X(nvmlDeviceRegisterEvents, (nvml_abi::Device, unsigned long long, nvml_abi::EventSet))      \
  X(nvmlEventSetWait_v2, (nvml_abi::EventSet, nvml_abi::EventData*, unsigned))

class Nvml {
 public:
  // Loads libnvidia-ml.so.1 and initialises it; null, and `why` in one line, when that fails.
  [[nodiscard]] static std::shared_ptr<const Nvml> open(std::string* why);
  ~Nvml();
  // Owns the library.
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

#define ASSAY_NVML_DECLARE(name, parameters) nvml_abi::Return(*name) parameters = nullptr;
  ASSAY_NVML_FUNCTIONS(ASSAY_NVML_DECLARE)
#undef ASSAY_NVML_DECLARE

  // Empty on success, else "nvmlDeviceGetSerial: Not Supported".
  template <class Function, class... Arguments>
  [[nodiscard]] std::string call(Function* function, const char* name,
                                 Arguments... arguments) const {
    if (function == nullptr) return std::string(name) + ": not in this NVML";
    const nvml_abi::Return code = function(arguments...);
    return code == 0 ? std::string() : std::string(name) + ": " + error_text(code);
  }

  [[nodiscard]] std::string error_text(nvml_abi::Return code) const;

 private:
  explicit Nvml(void* library);
  void* library_;
  const char* (*error_string_)(nvml_abi::Return) = nullptr;
  bool initialised_ = false;
};

}  // namespace assay
