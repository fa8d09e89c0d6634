// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/cuda/handles.h"

#include <fmt/format.h>

#include "bench/harness/case.h"

namespace assay {
namespace {

// After one of these every later call of the process fails too; cudaDeviceReset would not bring
// back what the libraries hold.
bool is_sticky(cudaError_t error) {
  // cudaErrorContained and cudaErrorTensorMemoryLeak, which the headers before CUDA 12.9 lack.
  if (static_cast<int>(error) == 226 || static_cast<int>(error) == 721) return true;
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

}  // namespace

void check_cuda(cudaError_t error, const char* call, const std::source_location& where) {
  if (error == cudaSuccess) return;
  const std::string text = fmt::format("{}: {} ({}): {} at {}:{}", call, cudaGetErrorName(error),
                                       static_cast<int>(error), cudaGetErrorString(error),
                                       where.file_name(), where.line());
  (void)cudaGetLastError();  // a non-sticky error must not be found again by the next call
  if (is_sticky(error)) throw ProcessLost(text);
  throw std::runtime_error(text);
}

CurrentDevice::CurrentDevice(int ordinal) {
  check_cuda(cudaGetDevice(&before_), "cudaGetDevice");
  check_cuda(cudaSetDevice(ordinal), "cudaSetDevice");
}
CurrentDevice::~CurrentDevice() { (void)cudaSetDevice(before_); }

CudaStream make_stream() {
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  return CudaStream(stream);
}

CudaEvent make_event() {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreate(&event), "cudaEventCreate");
  return CudaEvent(event);
}

PinnedBuffer::PinnedBuffer(std::int64_t bytes) {
  check_cuda(cudaHostAlloc(&data_, static_cast<std::size_t>(bytes), cudaHostAllocMapped),
             "cudaHostAlloc");
}
PinnedBuffer::~PinnedBuffer() {
  if (data_ != nullptr) (void)cudaFreeHost(data_);
}

DeviceBuffer::DeviceBuffer(std::int64_t bytes) : bytes_(bytes) {
  const cudaError_t error = cudaMalloc(&data_, static_cast<std::size_t>(bytes));
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    std::size_t free = 0;
    std::size_t total = 0;
    (void)cudaMemGetInfo(&free, &total);
    throw Skip(fmt::format("needs {} MiB more device memory, {} of {} MiB are free", bytes >> 20,
                           free >> 20, total >> 20));
  }
  check_cuda(error, "cudaMalloc");
}
DeviceBuffer::~DeviceBuffer() {
  if (data_ != nullptr) (void)cudaFree(data_);
}

}  // namespace assay
