// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/memory/cases.h"

#include <fmt/format.h>

#include "bench/memory/integrity_case.h"
#include "bench/memory/l2_case.h"
#include "bench/memory/latency_case.h"
#include "bench/memory/spec.h"
#include "bench/memory/stream_case.h"

namespace assay {
namespace {

// Of a set that is much larger than the L2, what a launch left in it is no help to the next.
constexpr std::int64_t kBeyondCache = 32;

std::string fill_of(StreamOp op) {
  if (op == StreamOp::kDot) return "whole numbers -32..31";
  return is_arithmetic(op) ? "uniform[-1,1)" : "32-bit counter pattern";
}

CaseEntry entry_of(const MemorySpec& spec, const CudaDevice& device, cudaStream_t stream) {
  const bool warm = spec.conditions.cache == Cache::kWarm;
  const bool cached = warm && spec.set_bytes() < kBeyondCache * device.l2_bytes;
  const int slots = warm ? 1 : rotation_slots(device.l2_bytes, spec.set_bytes());
  CaseEntry entry;
  entry.info.id = id_of(spec);
  entry.info.conditions = spec.conditions;
  entry.info.parameters = parameters_of(spec);
  entry.info.set_bytes = spec.set_bytes();
  entry.info.work.bytes = spec.bytes();
  entry.info.work.pipe = cached ? "l2" : "dram";
  entry.info.data = {{"fill", fill_of(spec.op)}, {"seed", kMemorySeed}};
  entry.make = [spec, slots, stream] { return std::make_unique<StreamCase>(spec, slots, stream); };
  return entry;
}

CaseEntry entry_of(const LatencySpec& spec, const CudaDevice& device, cudaStream_t stream) {
  const bool warm = spec.conditions.cache == Cache::kWarm;
  const int slots = warm ? 1 : rotation_slots(device.l2_bytes, spec.bytes);
  CaseEntry entry;
  entry.info.id = id_of(spec);
  entry.info.conditions = spec.conditions;
  entry.info.parameters = {{"operation", "latency"},
                           {"tensor_bytes", spec.bytes},
                           {"spacing_bytes", spec.bytes / spec.nodes()}};
  entry.info.set_bytes = spec.bytes;
  entry.info.work.bytes = 8.0 * static_cast<double>(spec.loads());
  entry.info.work.loads = static_cast<double>(spec.loads());
  entry.info.work.pipe = warm && spec.bytes <= device.l2_bytes ? "l2" : "dram";
  entry.info.data = {{"fill", "addresses, one random cycle"}, {"seed", 0}};
  entry.make = [spec, slots, stream] { return std::make_unique<LatencyCase>(spec, slots, stream); };
  return entry;
}

CaseEntry entry_of(const L2Spec& spec, const CudaDevice& device, cudaStream_t stream) {
  const RereadShape shape = reread_shape(spec, device);
  CaseEntry entry;
  entry.info.id = id_of(spec);
  entry.info.conditions = spec.conditions;
  entry.info.parameters = {{"operation", "l2_read"},
                           {"tensor_bytes", spec.bytes},
                           {"blocks", shape.blocks},
                           {"accesses_per_thread", shape.steps * kRereadLoads}};
  entry.info.work.bytes = static_cast<double>(shape.accesses()) * kVectorBytes;
  entry.info.work.pipe = spec.bytes < kBeyondCache * device.l2_bytes ? "l2" : "dram";
  entry.info.data = {{"fill", "32-bit counter pattern"}, {"seed", kMemorySeed}};
  entry.make = [spec, shape, stream] { return std::make_unique<L2Case>(spec, shape, stream); };
  return entry;
}

CaseEntry entry_of(const IntegritySpec& spec, const CudaDevice& device, cudaStream_t stream) {
  const std::int64_t bytes = spec.tested_bytes(device.memory_bytes);
  CaseEntry entry;
  entry.info.id = id_of(spec);
  entry.info.conditions = spec.conditions;
  entry.info.parameters = {{"operation", "integrity"}, {"tested_bytes", bytes}};
  if (spec.share_pct != 0) entry.info.parameters["share_pct"] = spec.share_pct;
  entry.info.work.bytes =
      static_cast<double>(bytes) * kIntegrityPatterns * kIntegrityPassesOfPattern;
  entry.info.work.pipe = "dram";
  entry.info.data = {{"fill", "addresses, zeros, 0101, random bits, and their complements"},
                     {"seed", kMemorySeed}};
  entry.make = [bytes, stream] { return std::make_unique<IntegrityCase>(bytes, stream); };
  return entry;
}

}  // namespace

std::vector<CaseEntry> memory_cases(const CudaDevice& device, cudaStream_t stream) {
  std::vector<CaseEntry> entries;
  for (const char* const width : {"", "+fp64"}) {
    for (const char* const op : {"read", "write", "copy", "scale", "add", "triad", "dot"}) {
      entries.push_back(
          *memory_case(fmt::format("memory/{}/4GiB{}/burst", op, width), device, stream));
    }
  }
  for (const char* const id : {"memory/read/24MiB/burst", "memory/l2_read/24MiB/burst/warm",
                               "memory/latency/16KiB/burst/warm", "memory/latency/8MiB/burst/warm",
                               "memory/latency/4GiB/burst", "memory/integrity/90pct/burst"}) {
    entries.push_back(*memory_case(id, device, stream));
  }
  return entries;
}

std::optional<CaseEntry> memory_case(const std::string& id, const CudaDevice& device,
                                     cudaStream_t stream) {
  if (const auto test = parse_integrity_id(id)) return entry_of(*test, device, stream);
  if (const auto cached = parse_l2_id(id)) return entry_of(*cached, device, stream);
  if (const auto latency = parse_latency_id(id)) return entry_of(*latency, device, stream);
  const std::optional<MemorySpec> spec = parse_memory_id(id);
  if (!spec) return std::nullopt;
  return entry_of(*spec, device, stream);
}

}  // namespace assay
