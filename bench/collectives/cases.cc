// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/collectives/collective_case.h"
#include "reports/json.h"

namespace assay {
namespace {

constexpr int kFp8SumCapability = 90;

constexpr std::array<const char*, 23> kListed = {"collectives/all_reduce/8B/burst",
                                                 "collectives/all_reduce/1KiB/burst",
                                                 "collectives/all_reduce/32KiB/burst",
                                                 "collectives/all_reduce/1MiB/burst",
                                                 "collectives/all_reduce/32MiB/burst",
                                                 "collectives/all_reduce/1GiB/burst",
                                                 "collectives/all_reduce/8GiB/burst",
                                                 "collectives/all_reduce/1GiB+bfloat16/burst",
                                                 "collectives/all_reduce/1GiB+float16/burst",
                                                 "collectives/all_reduce/1GiB+fp8_e4m3/burst",
                                                 "collectives/all_reduce/1GiB+fp8_e5m2/burst",
                                                 "collectives/all_reduce/1GiB+in_place/burst",
                                                 "collectives/all_reduce/1GiB+registered/burst",
                                                 "collectives/all_reduce/1GiB+symmetric/burst",
                                                 "collectives/all_reduce/1KiB+graph/burst",
                                                 "collectives/all_reduce/1GiB+graph/burst",
                                                 "collectives/all_gather/1GiB/burst",
                                                 "collectives/all_gather/1GiB+in_place/burst",
                                                 "collectives/reduce_scatter/1GiB/burst",
                                                 "collectives/broadcast/1GiB/burst",
                                                 "collectives/reduce/1GiB/burst",
                                                 "collectives/all_to_all/1GiB/burst",
                                                 "collectives/send_recv/1GiB/burst"};

bool is_fp8(ElementType type) {
  return type == ElementType::kFp8E4M3 || type == ElementType::kFp8E5M2;
}

// Why it cannot run; null: it can, as far as is known before it is tried.
std::optional<std::string> why_not(const CollectiveSpec& spec, const CollectiveSite& site,
                                   int slots) {
  if (site.ranks > kMostRanks) {
    return fmt::format("{} ranks; sums are exact for {} at most", site.ranks, kMostRanks);
  }
  if (const auto why = why_not_shared(spec, site.ranks)) return why;
  if (spec.in_place && site.ranks == 1) return "in place one rank alone has nothing to do";
  if (is_fp8(spec.type)) {
    if (const auto why = why_no_fp8()) return why;
    if (spec.reduces() && site.device.compute_capability < kFp8SumCapability) {
      return "NCCL adds up FP8 from compute capability 9.0 on";
    }
  }
  if (spec.mode == CollectiveMode::kSymmetric) {
    if (const auto why = why_no_windows()) return why;
  }
  if (slots >= 1) return std::nullopt;
  const double gib = 1 << 30;
  return fmt::format("needs {:.0f} GiB of device memory, the device has {:.0f}",
                     static_cast<double>(collective_set_bytes(spec, site.ranks)) / gib,
                     static_cast<double>(site.device.memory_bytes) / gib);
}

Work work_of(const CollectiveSpec& spec, int ranks) {
  Work work;
  const auto size = static_cast<double>(spec.bytes);
  work.bytes = ranks == 1 ? size : size * bus_factor(spec.op, ranks);
  work.pipe = ranks == 1 ? kLocalCollectivePipe : kCollectivePipe;
  if (spec.latency()) work.loads = 1;
  return work;
}

std::string fill_of(const CollectiveSpec& spec) {
  if (!spec.reduces()) return "random bits";
  return spec.in_place ? "whole numbers that add up to 0" : "whole numbers of exact sums";
}

}  // namespace

CudaDevice smallest_device(Exchange& exchange, const CudaDevice& own) {
  const Json mine = {
      {"capability", own.compute_capability}, {"l2", own.l2_bytes}, {"memory", own.memory_bytes}};
  CudaDevice device = own;
  for (const std::string& part : exchange.all_gather(mine.dump())) {
    const Json other = Json::parse(part);
    device.compute_capability =
        std::min(device.compute_capability, other.at("capability").get<int>());
    device.l2_bytes = std::max(device.l2_bytes, other.at("l2").get<std::int64_t>());
    device.memory_bytes = std::min(device.memory_bytes, other.at("memory").get<std::int64_t>());
  }
  return device;
}

std::vector<CaseEntry> collective_cases(const CollectiveSite& site) {
  std::vector<CaseEntry> entries;
  for (const char* id : kListed) entries.push_back(*collective_case(id, site));
  return entries;
}

std::optional<CaseEntry> collective_case(const std::string& id, const CollectiveSite& site) {
  const std::optional<CollectiveSpec> spec = parse_collective_id(id);
  if (!spec) return std::nullopt;
  const CudaDevice& device = site.device;
  const int slots = collective_slots(*spec, site.ranks, device.l2_bytes, device.memory_bytes);
  const std::int64_t set_bytes = collective_set_bytes(*spec, site.ranks);
  CaseEntry entry;
  entry.info.id = id;
  entry.info.parameters = parameters_of(*spec, site.ranks);
  entry.info.work = work_of(*spec, site.ranks);
  entry.info.data = {{"fill", fill_of(*spec)}, {"seed", kCollectiveSeed}};
  // A few bytes never fill a cache, and are no matter of what it holds.
  if (slots < kMostCollectiveSlots) entry.info.set_bytes = set_bytes;
  entry.skip = why_not(*spec, site, slots);
  entry.make = [spec = *spec, slots, site]() -> std::unique_ptr<Case> {
    return std::make_unique<CollectiveCase>(spec, slots, site.group(), site.stream);
  };
  return entry;
}

}  // namespace assay
