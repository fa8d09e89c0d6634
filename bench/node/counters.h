// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Counters of a device that a load may move, read before and after it.
//
//   const CounterReading before = sensor.counters();
//   ... load of one case ...
//   add_deltas(telemetry, before, sensor.counters());
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "reports/record.h"

namespace assay {

// By name: power_cap_ns, thermal_slowdown_ns, power_brake_ns, sync_boost_ns (time that the clock
// was held for this reason), pcie_replays, nvlink_replays, nvlink_recoveries, nvlink_crc_errors,
// ecc_corrected, ecc_uncorrected, remapped_rows_corrected, remapped_rows_uncorrected.
struct CounterReading {
  double at_s = 0;  // of a steady clock; 0: not known
  std::map<std::string, std::int64_t> values;
  std::map<std::string, std::string> unknown;  // name -> why
};

// Fills `deltas` and `load_s`. A counter that went down, gained more time than passed, or lacks a
// reading is unknown with its reason; it is never 0 for that.
void add_deltas(Telemetry& telemetry, const CounterReading& before, const CounterReading& after);

}  // namespace assay
