// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/node/sensor.h"

#include <array>
#include <chrono>
#include <utility>

#include "bench/node/nvml.h"
#include "bench/node/nvml_counters.h"

namespace assay {
namespace {

constexpr std::array<const char*, 10> kQuantities = {
    "pcie_generation", "pcie_width",      "sm_clock_mhz",      "memory_clock_mhz", "power_w",
    "temperature_c",   "utilisation_pct", "memory_used_bytes", "energy_j",         "event_reasons"};

// What no card of today can reach.
constexpr double kHighestClock_mhz = 10'000;
constexpr double kHighestPower_mw = 2e6;
constexpr double kHighestTemperature_c = 150;
// The driver advances the counter every 0.1 s, and takes 4 ms to tell it (H200, driver 580.159):
// read at each sample it would be most of what the sensor does.
constexpr std::chrono::milliseconds kEnergyPeriod(100);
// A window of a burst is 30 ms and holds one.
constexpr std::chrono::milliseconds kLinkPeriod(20);
constexpr double kLatestGeneration = 7;
constexpr double kMostLanes = 32;
// A clock may be read a little above the highest that the card declares, in steps of 15 MHz.
constexpr double kClockShare = 1.1;

class BlindSensor : public Sensor {
 public:
  explicit BlindSensor(std::string reason) : reason_(std::move(reason)) {}
  [[nodiscard]] SensorReading read() override {
    SensorReading reading;
    for (const char* quantity : kQuantities) reading.unknown[quantity] = reason_;
    return reading;
  }
  [[nodiscard]] CounterReading counters() override {
    CounterReading reading;
    reading.unknown["counters"] = reason_;
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

// NVML has named nine bits so far; a register that did not answer has all.
constexpr unsigned long long kImplausibleReasons = 0xFFFFFFFF;

class NvmlSensor : public Sensor {
 public:
  NvmlSensor(std::shared_ptr<const Nvml> nvml, nvml_abi::Device device)
      : nvml_(std::move(nvml)),
        device_(device),
        highest_sm_mhz_(highest_clock(nvml_abi::kClockSm)),
        highest_memory_mhz_(highest_clock(nvml_abi::kClockMemory)) {}

  [[nodiscard]] SensorReading read() override {
    SensorReading reading;
    const Nvml& n = *nvml_;
    reading.sm_clock_mhz =
        number<unsigned>(reading, {"sm_clock_mhz", 1, highest_sm_mhz_}, n.nvmlDeviceGetClockInfo,
                         "nvmlDeviceGetClockInfo", nvml_abi::kClockSm);
    reading.memory_clock_mhz = number<unsigned>(
        reading, {"memory_clock_mhz", 1, highest_memory_mhz_}, n.nvmlDeviceGetClockInfo,
        "nvmlDeviceGetClockInfo", nvml_abi::kClockMemory);
    reading.power_w =
        scaled(1e-3, number<unsigned>(reading, {"power_w", 1, kHighestPower_mw},
                                      n.nvmlDeviceGetPowerUsage, "nvmlDeviceGetPowerUsage"));
    reading.temperature_c = number<unsigned>(reading, {"temperature_c", 1, kHighestTemperature_c},
                                             n.nvmlDeviceGetTemperature, "nvmlDeviceGetTemperature",
                                             nvml_abi::kTemperatureGpu);
    read_energy(reading);
    read_link(reading);
    read_utilisation(reading);
    read_memory(reading);
    read_reasons(reading);
    return reading;
  }

  [[nodiscard]] CounterReading counters() override { return read_nvml_counters(*nvml_, device_); }

 private:
  // What a raw value may be.
  struct Plausible {
    const char* quantity;
    double least;
    double most;
  };

  static std::optional<double> scaled(double scale, std::optional<double> value) {
    return value ? std::optional(*value * scale) : std::nullopt;
  }

  double highest_clock(unsigned which) const {
    unsigned mhz = 0;
    const std::string error = nvml_->call(nvml_->nvmlDeviceGetMaxClockInfo,
                                          "nvmlDeviceGetMaxClockInfo", device_, which, &mhz);
    const bool sane = error.empty() && mhz > 0 && mhz < kHighestClock_mhz;
    return sane ? kClockShare * mhz : kHighestClock_mhz;
  }

  template <class Raw>
  static std::optional<double> plausible(SensorReading& reading, const Plausible& range, Raw raw) {
    const auto value = static_cast<double>(raw);
    if (value >= range.least && value <= range.most) return value;
    reading.unknown[range.quantity] = "implausible: " + std::to_string(raw);
    return std::nullopt;
  }

  template <class Raw, class Function, class... Selectors>
  std::optional<double> number(SensorReading& reading, const Plausible& range, Function* function,
                               const char* name, Selectors... selectors) {
    Raw raw = 0;
    const std::string error = nvml_->call(function, name, device_, selectors..., &raw);
    if (error.empty()) return plausible(reading, range, raw);
    reading.unknown[range.quantity] = error;
    return std::nullopt;
  }

  void read_energy(SensorReading& reading) {
    const auto now = std::chrono::steady_clock::now();
    if (energy_read_ && now - *energy_read_ < kEnergyPeriod) return;
    energy_read_ = now;
    constexpr double kAnyCount = 0x1p63;
    reading.energy_j =
        scaled(1e-3, number<unsigned long long>(reading, {"energy_j", 0, kAnyCount},
                                                nvml_->nvmlDeviceGetTotalEnergyConsumption,
                                                "nvmlDeviceGetTotalEnergyConsumption"));
  }

  void read_link(SensorReading& reading) {
    const auto now = std::chrono::steady_clock::now();
    if (link_read_ && now - *link_read_ < kLinkPeriod) return;
    link_read_ = now;
    reading.pcie_generation = number<unsigned>(reading, {"pcie_generation", 1, kLatestGeneration},
                                               nvml_->nvmlDeviceGetCurrPcieLinkGeneration,
                                               "nvmlDeviceGetCurrPcieLinkGeneration");
    reading.pcie_width =
        number<unsigned>(reading, {"pcie_width", 1, kMostLanes},
                         nvml_->nvmlDeviceGetCurrPcieLinkWidth, "nvmlDeviceGetCurrPcieLinkWidth");
  }

  void read_utilisation(SensorReading& reading) {
    nvml_abi::Utilisation busy{};
    const std::string error = nvml_->call(nvml_->nvmlDeviceGetUtilizationRates,
                                          "nvmlDeviceGetUtilizationRates", device_, &busy);
    if (error.empty()) {
      reading.utilisation_pct = plausible(reading, {"utilisation_pct", 0, 100}, busy.gpu);
    } else {
      reading.unknown["utilisation_pct"] = error;
    }
  }

  void read_memory(SensorReading& reading) {
    nvml_abi::Memory memory{};
    const std::string error =
        nvml_->call(nvml_->nvmlDeviceGetMemoryInfo, "nvmlDeviceGetMemoryInfo", device_, &memory);
    if (error.empty()) {
      reading.memory_used_bytes = plausible(
          reading, {"memory_used_bytes", 0, static_cast<double>(memory.total)}, memory.used);
    } else {
      reading.unknown["memory_used_bytes"] = error;
    }
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
    if (bits >= kImplausibleReasons) {
      reading.unknown["event_reasons"] = "implausible: " + std::to_string(bits);
      return;
    }
    for (const auto& [bit, name] : kReasons) {
      if ((bits & bit) != 0) reading.event_reasons.emplace_back(name);
    }
  }

  std::shared_ptr<const Nvml> nvml_;
  nvml_abi::Device device_;
  double highest_sm_mhz_;
  double highest_memory_mhz_;
  std::optional<std::chrono::steady_clock::time_point> energy_read_;
  std::optional<std::chrono::steady_clock::time_point> link_read_;
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
