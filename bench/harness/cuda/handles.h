// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Errors of the CUDA runtime as exceptions, and one move-only owner a handle. Destructors never
// throw and never end the process: an error there belongs to a context that is being torn down.
//
//   CurrentDevice on(1);        // where more than one is visible; else there is device 0
//   DeviceBuffer buffer(bytes);
//   check_cuda(fill_uniform(type, buffer.data(), n, seed, stream.get()), "fill_uniform");
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <source_location>
#include <string>
#include <utility>

namespace assay {

// Throws std::runtime_error "call: name (code): text at file:line", or ProcessLost for an error
// after which the context is unusable.
void check_cuda(cudaError_t error, const char* call,
                const std::source_location& where = std::source_location::current());

// Makes a device current until it goes out of scope. Whatever is made meanwhile belongs to that
// device for ever; it may be given back while another is current.
class CurrentDevice {
 public:
  explicit CurrentDevice(int ordinal);
  ~CurrentDevice();
  // Puts back what was current before.
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

// Owns a handle that `destroy` gives back; move-only.
template <class Handle, auto destroy>
class Owner {
 public:
  explicit Owner(Handle handle) : handle_(handle) {}
  ~Owner() {
    if (handle_ != nullptr) (void)destroy(handle_);
  }
  Owner(Owner&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owner& operator=(Owner&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  [[nodiscard]] Handle get() const { return handle_; }

 private:
  Handle handle_;
};

using CudaStream = Owner<cudaStream_t, cudaStreamDestroy>;
using CudaEvent = Owner<cudaEvent_t, cudaEventDestroy>;
[[nodiscard]] CudaStream make_stream();  // not blocking the legacy stream
[[nodiscard]] CudaEvent make_event();    // with timing

// Page-locked host memory that the device sees at the same address.
class PinnedBuffer {
 public:
  explicit PinnedBuffer(std::int64_t bytes);
  ~PinnedBuffer();
  PinnedBuffer(PinnedBuffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  // Throws Skip if it does not fit.
  explicit DeviceBuffer(std::int64_t bytes);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  [[nodiscard]] void* data() const { return data_; }
  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data_);
  }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

// What the device holds there once all that was queued on the stream has ended.
template <class T>
[[nodiscard]] T read_back(const void* from, cudaStream_t stream) {
  T value{};
  check_cuda(cudaMemcpyAsync(&value, from, sizeof(value), cudaMemcpyDeviceToHost, stream),
             "cudaMemcpyAsync");
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return value;
}

}  // namespace assay
