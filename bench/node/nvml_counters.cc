// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/node/nvml_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace assay {
namespace {

using nvml_abi::Device;
using nvml_abi::FieldValue;

#define ASSAY_NVML(function) nvml.function, #function  // NOLINT

// A field's value, or why there is none.
struct Field {
  std::optional<std::int64_t> value;
  std::string why;
};

// Field ids are our own table, for headers and drivers number them differently.
constexpr unsigned kPowerCap = 74;
constexpr unsigned kThermalPolicy = 75;
constexpr unsigned kSyncBoost = 76;

// Time of software thermal, hardware thermal and power brake slowdown. The headers of CUDA 12.9 and
// 13.0 and driver 580.65 have 251-253; the header of CUDA 13.4 and driver 580.159 have 269-271, and
// the driver says "not supported" to the others. Each uses the other's numbers for power smoothing,
// whose values are small settings.
using SlowdownIds = std::array<unsigned, 3>;
constexpr std::array<SlowdownIds, 2> kSlowdownIds = {{{269, 270, 271}, {251, 252, 253}}};

// A sum over all links, or what to sum link by link where the driver has no such field: Hopper and
// later count a link's errors in fields of their own, NVLink 5 its recoveries in another.
struct LinkCounter {
  const char* name;
  std::array<unsigned, 2> totals;    // added; 0: none
  std::array<unsigned, 2> per_link;  // the first that answers; 0: none
};
constexpr std::array<LinkCounter, 3> kLinkCounters = {{
    {"nvlink_replays", {52, 0}, {161, 0}},
    {"nvlink_recoveries", {59, 0}, {162, 215}},
    {"nvlink_crc_errors", {38, 45}, {163, 0}},
}};

// Ten years: no counter of time has run for longer.
constexpr std::int64_t kLongestTime_ns = 315'360'000'000'000'000;
// How far two readings of the same time may lie apart: the driver brings the fields up to date
// every 0.1 s, the older query at each call.
constexpr double kStep_ns = 5e8;
constexpr double kTimeShare = 0.02;

Field field_of(const Nvml& nvml, const FieldValue& found) {
  const std::string name = fmt::format("NVML field {}", found.field);
  if (found.result != 0) return {std::nullopt, name + ": " + nvml.error_text(found.result)};
  unsigned long long raw = 0;
  unsigned long long none = std::numeric_limits<unsigned>::max();
  switch (found.type) {
    case nvml_abi::kUnsignedInt:
      raw = found.value.unsigned_int;
      break;
    case nvml_abi::kUnsignedLong:
      raw = found.value.unsigned_long;
      none = std::numeric_limits<unsigned long>::max();
      break;
    case nvml_abi::kUnsignedLongLong:
      raw = found.value.unsigned_long_long;
      none = std::numeric_limits<unsigned long long>::max();
      break;
    default:
      return {std::nullopt, fmt::format("{}: a value of type {}", name, found.type)};
  }
  if (raw == none || raw > static_cast<unsigned long long>(kLongestTime_ns)) {
    return {std::nullopt, fmt::format("{}: implausible: {}", name, raw)};
  }
  return {static_cast<std::int64_t>(raw), {}};
}

std::vector<FieldValue> read_fields(const Nvml& nvml, Device device, std::span<const unsigned> ids,
                                    unsigned scope, std::string& error) {
  std::vector<FieldValue> values(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    values[i].field = ids[i];
    values[i].scope = scope;
  }
  error = nvml.call(ASSAY_NVML(nvmlDeviceGetFieldValues), device, static_cast<int>(values.size()),
                    values.data());
  return values;
}

Field read_field(const Nvml& nvml, Device device, unsigned id, unsigned scope = 0) {
  std::string error;
  const auto values = read_fields(nvml, device, std::span(&id, 1), scope, error);
  return error.empty() ? field_of(nvml, values.front()) : Field{std::nullopt, error};
}

Field read_violation(const Nvml& nvml, Device device, unsigned policy) {
  nvml_abi::ViolationTime time{};
  const std::string error =
      nvml.call(ASSAY_NVML(nvmlDeviceGetViolationStatus), device, policy, &time);
  if (!error.empty()) return {std::nullopt, error};
  if (time.violation_ns > static_cast<unsigned long long>(kLongestTime_ns)) {
    return {std::nullopt,
            fmt::format("nvmlDeviceGetViolationStatus: implausible: {}", time.violation_ns)};
  }
  return {static_cast<std::int64_t>(time.violation_ns), {}};
}

// A count, unless it is the pattern of a register that did not answer.
template <class Raw>
Field count_of(Raw raw, const std::string& error) {
  if (!error.empty()) return {std::nullopt, error};
  if (raw == std::numeric_limits<unsigned>::max() || raw == std::numeric_limits<Raw>::max()) {
    return {std::nullopt, fmt::format("implausible: {}", raw)};
  }
  return {static_cast<std::int64_t>(raw), {}};
}

void store(CounterReading& reading, const char* name, const Field& field) {
  if (field.value) {
    reading.values[name] = *field.value;
  } else {
    reading.unknown[name] = field.why;
  }
}

bool agree(std::int64_t a, std::int64_t b) {
  const auto [low, high] = std::minmax({static_cast<double>(a), static_cast<double>(b)});
  return high - low <= kStep_ns + kTimeShare * high;
}

std::string disagreement(std::int64_t a, std::int64_t b) {
  return fmt::format("two readings of NVML disagree: {} ns and {} ns", a, b);
}

// The same time by two queries of NVML.
Field cross_checked(const Field& field, const Field& violation) {
  if (!field.value) return violation.value ? violation : field;
  if (!violation.value || agree(*field.value, *violation.value)) return field;
  return {std::nullopt, disagreement(*field.value, *violation.value)};
}

// Which of kSlowdownIds this driver means: the one whose three fields are 64-bit counters.
std::optional<std::array<std::int64_t, 3>> slowdown_times(const Nvml& nvml, Device device,
                                                          std::string& why) {
  std::optional<std::array<std::int64_t, 3>> found;
  for (const SlowdownIds& ids : kSlowdownIds) {
    std::string error;
    const auto values = read_fields(nvml, device, ids, 0, error);
    std::array<std::int64_t, 3> times{};
    for (std::size_t i = 0; i < ids.size() && error.empty(); ++i) {
      const Field field = field_of(nvml, values[i]);
      if (field.value && values[i].type != nvml_abi::kUnsignedLongLong) {
        error = fmt::format("NVML field {}: no 64-bit counter", ids[i]);
      } else {
        error = field.why;
        times[i] = field.value.value_or(0);
      }
    }
    if (!error.empty()) {
      if (why.empty()) why = error;
      continue;
    }
    if (found) {
      why = "NVML fields 251-253 and 269-271 both answer: which are the slowdowns is not known";
      return std::nullopt;
    }
    found = times;
  }
  return found;
}

void read_times(const Nvml& nvml, Device device, CounterReading& reading) {
  store(reading, "power_cap_ns",
        cross_checked(read_field(nvml, device, kPowerCap),
                      read_violation(nvml, device, nvml_abi::kPolicyPower)));
  store(reading, "sync_boost_ns",
        cross_checked(read_field(nvml, device, kSyncBoost),
                      read_violation(nvml, device, nvml_abi::kPolicySyncBoost)));
  const Field policy = cross_checked(read_field(nvml, device, kThermalPolicy),
                                     read_violation(nvml, device, nvml_abi::kPolicyThermal));
  std::string why;
  const auto times = slowdown_times(nvml, device, why);
  if (!times) {
    // The older counter knows of thermal slowdown, none of the power brake.
    store(reading, "thermal_slowdown_ns", policy.value ? policy : Field{std::nullopt, why});
    store(reading, "power_brake_ns", {std::nullopt, why});
    return;
  }
  const auto& [software, hardware, brake] = *times;
  const std::int64_t thermal = software + hardware;
  // The policy's time is that of the software slowdown (nvml.h says so of CUDA 13.4), or of both.
  if (policy.value && !agree(software, *policy.value) && !agree(thermal, *policy.value)) {
    // So the ids are not what they are taken for.
    why = disagreement(thermal, *policy.value);
    store(reading, "thermal_slowdown_ns", {std::nullopt, why});
    store(reading, "power_brake_ns", {std::nullopt, why});
    return;
  }
  reading.values["thermal_slowdown_ns"] = thermal;
  reading.values["power_brake_ns"] = brake;
}

void read_memory(const Nvml& nvml, Device device, CounterReading& reading) {
  for (const auto& [name, kind] : {std::pair("ecc_corrected", nvml_abi::kErrorCorrected),
                                   std::pair("ecc_uncorrected", nvml_abi::kErrorUncorrected)}) {
    unsigned long long count = 0;
    const std::string error = nvml.call(ASSAY_NVML(nvmlDeviceGetTotalEccErrors), device, kind,
                                        nvml_abi::kCounterVolatile, &count);
    store(reading, name, count_of(count, error));
  }
  std::array<unsigned, 4> rows{};
  const std::string error = nvml.call(ASSAY_NVML(nvmlDeviceGetRemappedRows), device, &rows[0],
                                      &rows[1], &rows[2], &rows[3]);
  store(reading, "remapped_rows_corrected", count_of(rows[0], error));
  store(reading, "remapped_rows_uncorrected", count_of(rows[1], error));
}

std::vector<unsigned> active_links(const Nvml& nvml, Device device, std::string& why) {
  std::vector<unsigned> links;
  for (unsigned link = 0; link < nvml_abi::kMaxNvLinks; ++link) {
    unsigned active = 0;
    const std::string error =
        nvml.call(ASSAY_NVML(nvmlDeviceGetNvLinkState), device, link, &active);
    if (error.empty() && active != 0) links.push_back(link);
    if (!error.empty() && why.empty()) why = error;
  }
  if (links.empty() && why.empty()) why = "no link is active";
  return links;
}

// The first error ends a sum: a part of it is no count.
template <class Read>
Field sum_of(std::span<const unsigned> keys, const Read& read) {
  Field sum{0, {}};
  for (const unsigned key : keys) {
    const Field part = read(key);
    if (!part.value) return part;
    *sum.value += *part.value;
  }
  return sum;
}

Field link_count(const Nvml& nvml, Device device, const LinkCounter& counter,
                 std::span<const unsigned> links) {
  const auto used = std::ranges::count_if(counter.totals, [](unsigned id) { return id != 0; });
  Field result = sum_of(std::span(counter.totals).first(static_cast<std::size_t>(used)),
                        [&](unsigned id) { return read_field(nvml, device, id); });
  for (const unsigned id : counter.per_link) {
    if (result.value || id == 0) break;
    const Field sum =
        sum_of(links, [&](unsigned link) { return read_field(nvml, device, id, link); });
    if (sum.value) result = sum;
  }
  return result;
}

}  // namespace

void read_nvlink_counters(const Nvml& nvml, Device device, CounterReading& reading) {
  std::string why;
  const std::vector<unsigned> links = active_links(nvml, device, why);
  for (const LinkCounter& counter : kLinkCounters) {
    store(reading, counter.name,
          links.empty() ? Field{std::nullopt, why} : link_count(nvml, device, counter, links));
  }
}

CounterReading read_nvml_counters(const Nvml& nvml, Device device) {
  CounterReading reading;
  reading.at_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  read_times(nvml, device, reading);
  unsigned replays = 0;
  const std::string error = nvml.call(ASSAY_NVML(nvmlDeviceGetPcieReplayCounter), device, &replays);
  store(reading, "pcie_replays", count_of(replays, error));
  read_nvlink_counters(nvml, device, reading);
  read_memory(nvml, device, reading);
  return reading;
}

#undef ASSAY_NVML

}  // namespace assay
