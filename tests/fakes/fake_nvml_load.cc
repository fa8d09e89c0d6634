// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The half of the fake NVML that a load moves. FAKE_NVML_CLOCK (SM clock, MHz), FAKE_NVML_REASONS
// (bits), FAKE_NVML_LIE=name=value[,name=value] (of sm_clock, memory_clock, power, temperature,
// utilisation, memory_used, energy, reasons, ecc, pcie_replays, or of a field id: the raw value),
// FAKE_NVML_FIELDS=251|269|both|none (which ids are the slowdown times, default 269),
// FAKE_NVML_BRAKE_NS and FAKE_NVML_THERMAL_NS (gained between two readings), FAKE_NVML_NVLINK=total
// or link (two links with errors, counted so), FAKE_NVML_XID (a number, reported once to each event
// set) and FAKE_NVML_XID_GPU (of which GPU).
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "tests/fakes/fake_nvml.h"

using namespace fake_nvml;
namespace abi = assay::nvml_abi;

namespace {

using ULL = unsigned long long;

std::optional<ULL> lie_about(const std::string& name) {
  const std::string lies = std::string(",") + setting("FAKE_NVML_LIE", "");
  const std::size_t at = lies.find("," + name + "=");
  if (at == std::string::npos) return std::nullopt;
  return std::strtoull(lies.c_str() + at + name.size() + 2, nullptr, 0);
}

template <class T>
Return answer(const char* function, T* out, const std::string& name, ULL truth) {
  if (const Return code = failure(function)) return code;
  *out = static_cast<T>(lie_about(name).value_or(truth));
  return 0;
}

// Since the first call: a card at its power cap all the time.
ULL loaded_ns() {
  static const auto start = std::chrono::steady_clock::now();
  const auto now = std::chrono::steady_clock::now() - start;
  return static_cast<ULL>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// Gains what the setting says at each reading.
ULL growing(const char* name) {
  static ULL brake = 0;
  static ULL thermal = 0;
  ULL& total = name == std::string("FAKE_NVML_BRAKE_NS") ? brake : thermal;
  return total += number(name, "0");
}

bool slowdowns_at(unsigned first) {
  const std::string ids = setting("FAKE_NVML_FIELDS", "269");
  return ids == std::to_string(first) || ids == "both";
}

// Two links: of the sums, 7 replays, 2 recoveries, 1 + 4 CRC errors; each link 1, 2, 3.
std::optional<ULL> link_errors(unsigned field) {
  const std::string kind = setting("FAKE_NVML_NVLINK", "");
  const bool total = kind == "total";
  const bool link = kind == "link";
  switch (field) {
    case 52:
      return total ? std::optional<ULL>(7) : std::nullopt;
    case 59:
      return total ? std::optional<ULL>(2) : std::nullopt;
    case 38:
      return total ? std::optional<ULL>(1) : std::nullopt;
    case 45:
      return total ? std::optional<ULL>(4) : std::nullopt;
    case 161:
    case 162:
    case 163:
      return link ? std::optional<ULL>(field - 160) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<ULL> field_value(unsigned field) {
  switch (field) {
    case 74:
      return loaded_ns();
    case 75:
    case 76:
      return 0;
    case 251:
    case 269:
      return slowdowns_at(field) ? std::optional(growing("FAKE_NVML_THERMAL_NS")) : std::nullopt;
    case 252:
    case 270:
      return slowdowns_at(field - 1) ? std::optional<ULL>(0) : std::nullopt;
    case 253:
    case 271:
      return slowdowns_at(field - 2) ? std::optional(growing("FAKE_NVML_BRAKE_NS")) : std::nullopt;
    default:
      return link_errors(field);
  }
}

struct EventSet {
  std::vector<Device> devices;
  bool delivered = false;
};
EventSet* events_of(abi::EventSet set) { return reinterpret_cast<EventSet*>(set); }

}  // namespace

extern "C" {

Return nvmlDeviceGetMemoryInfo(Device, abi::Memory* out) {
  if (const Return code = failure("nvmlDeviceGetMemoryInfo")) return code;
  *out = {143771ULL << 20, 143000ULL << 20, lie_about("memory_used").value_or(771ULL << 20)};
  return 0;
}

Return nvmlDeviceGetClockInfo(Device, unsigned which, unsigned* out) {
  const bool memory = which == abi::kClockMemory;
  return answer("nvmlDeviceGetClockInfo", out, memory ? "memory_clock" : "sm_clock",
                memory ? 3201 : number("FAKE_NVML_CLOCK", "1500"));
}

Return nvmlDeviceGetCurrPcieLinkGeneration(Device, unsigned* out) {
  return answer("nvmlDeviceGetCurrPcieLinkGeneration", out, "pcie_generation", 5);
}

Return nvmlDeviceGetPowerUsage(Device, unsigned* out) {
  return answer("nvmlDeviceGetPowerUsage", out, "power", 690000);
}

Return nvmlDeviceGetTemperature(Device, unsigned, unsigned* out) {
  return answer("nvmlDeviceGetTemperature", out, "temperature", 60);
}

Return nvmlDeviceGetUtilizationRates(Device, abi::Utilisation* out) {
  out->memory = 40;
  return answer("nvmlDeviceGetUtilizationRates", &out->gpu, "utilisation", 99);
}

Return nvmlDeviceGetTotalEnergyConsumption(Device, ULL* out) {
  const ULL mj = 1 + loaded_ns() / 1'000'000 * 690;  // 690 W
  return answer("nvmlDeviceGetTotalEnergyConsumption", out, "energy", mj);
}

Return nvmlDeviceGetCurrentClocksEventReasons(Device, ULL* out) {
  return answer("nvmlDeviceGetCurrentClocksEventReasons", out, "reasons",
                number("FAKE_NVML_REASONS", "4"));
}

Return nvmlDeviceGetTotalEccErrors(Device, unsigned, unsigned, ULL* out) {
  return answer("nvmlDeviceGetTotalEccErrors", out, "ecc", 0);
}

Return nvmlDeviceGetPcieReplayCounter(Device, unsigned* out) {
  return answer("nvmlDeviceGetPcieReplayCounter", out, "pcie_replays", 0);
}

Return nvmlDeviceGetFieldValues(Device, int count, abi::FieldValue* values) {
  if (const Return code = failure("nvmlDeviceGetFieldValues")) return code;
  for (int i = 0; i < count; ++i) {
    abi::FieldValue& field = values[i];
    const auto lie = lie_about(std::to_string(field.field));
    const auto value = lie ? lie : field_value(field.field);
    field.result = value ? 0 : kNotSupported;
    field.type = abi::kUnsignedLongLong;
    field.value.unsigned_long_long = value.value_or(0);
  }
  return 0;
}

Return nvmlDeviceGetViolationStatus(Device, unsigned policy, abi::ViolationTime* out) {
  if (const Return code = failure("nvmlDeviceGetViolationStatus")) return code;
  *out = {loaded_ns() / 1000, policy == abi::kPolicyPower ? loaded_ns() : 0};
  return 0;
}

Return nvmlEventSetCreate(abi::EventSet* out) {
  if (const Return code = failure("nvmlEventSetCreate")) return code;
  *out = reinterpret_cast<abi::EventSet>(new EventSet);
  return 0;
}

Return nvmlEventSetFree(abi::EventSet set) {
  delete events_of(set);
  return failure("nvmlEventSetFree");
}

Return nvmlDeviceRegisterEvents(Device device, ULL, abi::EventSet set) {
  if (const Return code = failure("nvmlDeviceRegisterEvents")) return code;
  events_of(set)->devices.push_back(device);
  return 0;
}

Return nvmlEventSetWait_v2(abi::EventSet set, abi::EventData* out, unsigned timeout_ms) {
  if (const Return code = failure("nvmlEventSetWait_v2")) return code;
  EventSet& events = *events_of(set);
  const auto device =
      reinterpret_cast<Device>(static_cast<unsigned long>(number("FAKE_NVML_XID_GPU", "0")) + 1);
  const ULL xid = number("FAKE_NVML_XID", "0");
  const bool watched = std::ranges::find(events.devices, device) != events.devices.end();
  if (xid == 0 || events.delivered || !watched) {
    usleep(timeout_ms * 1000);
    return abi::kTimeout;
  }
  events.delivered = true;
  *out = {device, abi::kEventXid, xid, 0, 0};
  return 0;
}

}  // extern "C"
