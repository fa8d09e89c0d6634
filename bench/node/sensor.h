// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// One reading of a device's clocks, power, temperature and clock event reasons.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct SensorReading {
  std::optional<double> sm_clock_mhz;
  std::optional<double> memory_clock_mhz;
  std::optional<double> power_w;
  std::optional<double> temperature_c;
  std::vector<std::string> event_reasons;      // set now, NVML's names in snake case
  std::map<std::string, std::string> unknown;  // quantity -> why it is not known
};

// A seam: NVML's below, a fake in tests. `read` is called from a thread of its own and never
// throws.
class Sensor {
 public:
  virtual ~Sensor() = default;
  [[nodiscard]] virtual SensorReading read() = 0;
};

// Of the GPU with this UUID; if NVML cannot be used every reading says why. About 10 us a reading.
[[nodiscard]] std::unique_ptr<Sensor> make_nvml_sensor(const std::string& uuid);

// For the host family: nothing is read, and it says so.
[[nodiscard]] std::unique_ptr<Sensor> make_blind_sensor(const std::string& reason);

}  // namespace assay
