// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The GPU of a benchmark process: device 0 of those that it sees. The runner shows it one, by UUID,
// in CUDA_VISIBLE_DEVICES; of links between GPUs the peers behind it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/harness/cuda/gated_timer.h"
#include "bench/harness/cuda/handles.h"
#include "bench/harness/family_main.h"
#include "bench/node/sensor.h"

namespace assay {

struct CudaDevice {
  DeviceRef ref;               // sku stays null: the runner knows it
  int compute_capability = 0;  // 90
  int sm_count = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  double max_clock_mhz = 0;  // of the processors
};

// Makes device 0 current. Throws Skip with the reason when there is no driver, no device, or a
// driver too old for the runtime.
[[nodiscard]] CudaDevice open_cuda_device();

// As NVML and nvidia-smi print it, "GPU-...".
[[nodiscard]] std::string device_uuid(int ordinal);

// {"cuda_runtime": "13.0", "cuda_driver": "13.0"}
[[nodiscard]] Json cuda_versions();

// What families on one stream have in common; they add cases().
class CudaFamily : public Family {
 public:
  CudaFamily();
  [[nodiscard]] DeviceRef device() const override { return device_.ref; }
  [[nodiscard]] Json versions() const override { return cuda_versions(); }
  [[nodiscard]] Timer& timer() override { return timer_; }
  [[nodiscard]] Sensor& sensor() override { return *sensor_; }
  [[nodiscard]] std::int64_t cache_bytes() const override { return device_.l2_bytes; }
  [[nodiscard]] std::optional<double> max_clock_mhz() const override {
    return device_.max_clock_mhz;
  }

 protected:
  [[nodiscard]] const CudaDevice& cuda_device() const { return device_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }

 private:
  CudaDevice device_;
  CudaStream stream_;
  GatedTimer timer_;
  std::unique_ptr<Sensor> sensor_;
};

// Buffer sets of `set_bytes` that together are at least twice the L2, so that nothing of a launch
// is left in it when its set comes again; two at least, 4096 at most.
[[nodiscard]] int rotation_slots(std::int64_t l2_bytes, std::int64_t set_bytes);

}  // namespace assay
