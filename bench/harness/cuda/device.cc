// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/cuda/device.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

int attribute(cudaDeviceAttr which) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, which, 0), "cudaDeviceGetAttribute");
  return value;
}

void require_device() {
  int driver = 0;
  check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  if (driver == 0) throw Skip("no NVIDIA driver on this machine");
  int runtime = 0;
  check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver) {
    throw Skip(fmt::format("the driver serves CUDA {} and this build needs {}; update the driver",
                           version_text(driver), version_text(runtime)));
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) {
    throw Skip("no CUDA device is visible (CUDA_VISIBLE_DEVICES, container flags)");
  }
  check_cuda(error, "cudaGetDeviceCount");
}

}  // namespace

CudaDevice open_cuda_device() {
  require_device();
  check_cuda(cudaSetDevice(0), "cudaSetDevice");
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  CudaDevice device;
  device.ref.uuid = uuid_text(properties.uuid);
  device.ref.name = properties.name;
  device.compute_capability = properties.major * 10 + properties.minor;
  device.sm_count = properties.multiProcessorCount;
  device.l2_bytes = attribute(cudaDevAttrL2CacheSize);
  device.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  device.max_clock_mhz = attribute(cudaDevAttrClockRate) * 1e-3;
  return device;
}

std::string device_uuid(int ordinal) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  return uuid_text(properties.uuid);
}

Json cuda_versions() {
  int runtime = 0;
  int driver = 0;
  check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  return {{"cuda_runtime", version_text(runtime)}, {"cuda_driver", version_text(driver)}};
}

CudaFamily::CudaFamily()
    : device_(open_cuda_device()),
      stream_(make_stream()),
      timer_(stream_.get(), device_.sm_count),
      sensor_(make_nvml_sensor(device_.ref.uuid)) {}

int rotation_slots(std::int64_t l2_bytes, std::int64_t set_bytes) {
  const std::int64_t wanted = (2 * l2_bytes + set_bytes - 1) / std::max<std::int64_t>(set_bytes, 1);
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 2, 4096));
}

}  // namespace assay
