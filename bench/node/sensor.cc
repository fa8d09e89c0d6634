// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/node/sensor.h"

#include <array>
#include <utility>

#include "bench/node/nvml.h"

namespace assay {
namespace {

constexpr std::array<const char*, 4> kQuantities = {"sm_clock_mhz", "memory_clock_mhz", "power_w",
                                                    "temperature_c"};

class BlindSensor : public Sensor {
 public:
  explicit BlindSensor(std::string reason) : reason_(std::move(reason)) {}
  [[nodiscard]] SensorReading read() override {
    SensorReading reading;
    for (const char* quantity : kQuantities) reading.unknown[quantity] = reason_;
    reading.unknown["event_reasons"] = reason_;
    return reading;
  }

 private:
  std::string reason_;
};

// nvmlClocksEventReasons bits. "gpu_idle" and "display" say nothing about a loaded card.
constexpr std::array<std::pair<unsigned long long, const char*>, 7> kReasons = {{
    {0x002, "applications_clocks_setting"},
    {0x004, "sw_power_cap"},
    {0x008, "hw_slowdown"},
    {0x010, "sync_boost"},
    {0x020, "sw_thermal_slowdown"},
    {0x040, "hw_thermal_slowdown"},
    {0x080, "hw_power_brake_slowdown"},
}};

class NvmlSensor : public Sensor {
 public:
  NvmlSensor(std::shared_ptr<const Nvml> nvml, nvml_abi::Device device)
      : nvml_(std::move(nvml)), device_(device) {}

  [[nodiscard]] SensorReading read() override {
    SensorReading reading;
    const Nvml& n = *nvml_;
    reading.sm_clock_mhz = number(reading, "sm_clock_mhz", n.nvmlDeviceGetClockInfo,
                                  "nvmlDeviceGetClockInfo", nvml_abi::kClockSm);
    reading.memory_clock_mhz = number(reading, "memory_clock_mhz", n.nvmlDeviceGetClockInfo,
                                      "nvmlDeviceGetClockInfo", nvml_abi::kClockMemory);
    reading.power_w =
        number(reading, "power_w", n.nvmlDeviceGetPowerUsage, "nvmlDeviceGetPowerUsage");
    if (reading.power_w) *reading.power_w *= 1e-3;
    reading.temperature_c = number(reading, "temperature_c", n.nvmlDeviceGetTemperature,
                                   "nvmlDeviceGetTemperature", nvml_abi::kTemperatureGpu);
    read_reasons(reading);
    return reading;
  }

 private:
  template <class Function, class... Selectors>
  std::optional<double> number(SensorReading& reading, const char* quantity, Function* function,
                               const char* name, Selectors... selectors) {
    unsigned raw = 0;
    const std::string error = nvml_->call(function, name, device_, selectors..., &raw);
    if (error.empty()) return raw;
    reading.unknown[quantity] = error;
    return std::nullopt;
  }

  void read_reasons(SensorReading& reading) {
    // The older name of the same query, for drivers before 535.
    const bool renamed = nvml_->nvmlDeviceGetCurrentClocksEventReasons != nullptr;
    unsigned long long bits = 0;
    const std::string error =
        renamed ? nvml_->call(nvml_->nvmlDeviceGetCurrentClocksEventReasons,
                              "nvmlDeviceGetCurrentClocksEventReasons", device_, &bits)
                : nvml_->call(nvml_->nvmlDeviceGetCurrentClocksThrottleReasons,
                              "nvmlDeviceGetCurrentClocksThrottleReasons", device_, &bits);
    if (!error.empty()) {
      reading.unknown["event_reasons"] = error;
      return;
    }
    for (const auto& [bit, name] : kReasons) {
      if ((bits & bit) != 0) reading.event_reasons.emplace_back(name);
    }
  }

  std::shared_ptr<const Nvml> nvml_;
  nvml_abi::Device device_;
};

}  // namespace

std::unique_ptr<Sensor> make_nvml_sensor(const std::string& uuid) {
  std::string why;
  std::shared_ptr<const Nvml> nvml = Nvml::open(&why);
  nvml_abi::Device device = nullptr;
  if (nvml != nullptr) {
    why = nvml->call(nvml->nvmlDeviceGetHandleByUUID, "nvmlDeviceGetHandleByUUID", uuid.c_str(),
                     &device);
  }
  if (!why.empty()) return make_blind_sensor(why);
  return std::make_unique<NvmlSensor>(std::move(nvml), device);
}

std::unique_ptr<Sensor> make_blind_sensor(const std::string& reason) {
  return std::make_unique<BlindSensor>(reason);
}

}  // namespace assay
