// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// One reading of a device's clocks, power, temperature and clock event reasons, and of the counters
// that a load may move. A value that cannot be is unknown ("implausible: 4294967295"), no figure.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/node/counters.h"

namespace assay {

struct SensorReading {
  double at_s = 0;  // when it was asked for, in the clock of who did
  std::optional<double> sm_clock_mhz;
  std::optional<double> memory_clock_mhz;
  std::optional<double> power_w;
  std::optional<double> temperature_c;
  std::optional<double> utilisation_pct;  // of time that the GPU was busy, over NVML's last period
  std::optional<double> memory_used_bytes;
  // In about one reading every 0.02 s.
  std::optional<double> pcie_generation;
  std::optional<double> pcie_width;
  // Since the driver was loaded; in about one reading every 0.1 s, for NVML takes 4 ms to tell it.
  std::optional<double> energy_j;
  std::vector<std::string> event_reasons;      // set now, NVML's names in snake case
  std::map<std::string, std::string> unknown;  // quantity -> why it is not known
};

// A seam: NVML's below, a fake in tests. `read` is called from a thread of its own and never
// throws.
class Sensor {
 public:
  virtual ~Sensor() = default;
  [[nodiscard]] virtual SensorReading read() = 0;
  // Round the load of a case, not within it: milliseconds. Empty where there are none.
  [[nodiscard]] virtual CounterReading counters() { return {}; }
};

// Of the GPU with this UUID; if NVML cannot be used every reading says why. About 20 us a reading,
// 4 ms one in 0.1 s.
[[nodiscard]] std::unique_ptr<Sensor> make_nvml_sensor(const std::string& uuid);

// For the host family: nothing is read, and it says so.
[[nodiscard]] std::unique_ptr<Sensor> make_blind_sensor(const std::string& reason);

}  // namespace assay
