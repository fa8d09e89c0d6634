// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/node/environment.h"

#include <array>
#include <cstdlib>
#include <ctime>

namespace assay {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

Json recorded_environment() {
  static constexpr std::array kNames = {"CUBLAS_EMULATION_STRATEGY",
                                        "CUBLAS_WORKSPACE_CONFIG",
                                        "CUBLASLT_WORKSPACE_SIZE",
                                        "CUDA_DEVICE_MAX_CONNECTIONS",
                                        "CUDA_DEVICE_ORDER",
                                        "CUDA_FORCE_PTX_JIT",
                                        "CUDA_LAUNCH_BLOCKING",
                                        "CUDA_MODULE_LOADING",
                                        "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
                                        "CUDA_VISIBLE_DEVICES",
                                        "NCCL_ALGO",
                                        "NCCL_DEBUG",
                                        "NCCL_IB_DISABLE",
                                        "NCCL_NVLS_ENABLE",
                                        "NCCL_P2P_DISABLE",
                                        "NCCL_PROTO",
                                        "NCCL_SOCKET_IFNAME",
                                        "NVIDIA_TF32_OVERRIDE",
                                        "NVIDIA_VISIBLE_DEVICES",
                                        "NVSHMEM_DISABLE_NVLS",
                                        "OMP_NUM_THREADS",
                                        "TORCH_SYMM_MEM_DISABLE_MULTICAST"};
  Json found = Json::object();
  for (const char* name : kNames) {
    if (const char* value = std::getenv(name)) found[name] = value;
  }
  return found;
}

}  // namespace assay
