// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Which collective operation a case does, and its id:
//
//   collectives/<op>/<size>[+type][+in_place][+registered|+symmetric|+graph]/burst
//
//   collectives/all_reduce/1GiB/burst
//   collectives/all_gather/64MiB+bfloat16+in_place+symmetric/burst
//
// Operations: all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, send_recv (to
// the next rank, from the one before; the only rank to itself). Reductions are sums; the root is
// rank 0. Types: float32, which is not written, float16, bfloat16, fp8_e4m3, fp8_e5m2, float64,
// int32. registered: buffers that the library allocated and was told of; symmetric: a window of
// such memory; graph: launched as a CUDA graph.
//
// The size is the one that nccl-tests prints: of the input (all_reduce, broadcast, reduce,
// send_recv, reduce_scatter, all_to_all), of all_gather of the output. Where ranks share it
// (all_gather, reduce_scatter, all_to_all) it must divide by their number: nccl-tests cuts such a
// size down, here the case is skipped, so that an id always moves what it says.
//
// in_place is of all_reduce, all_gather and broadcast. A reduce or reduce_scatter in place adds to
// its own input at every launch, so that what is there after many of them depends on their number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/element.h"
#include "reports/json.h"

namespace assay {

enum class CollectiveOp {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kAllToAll,
  kSendRecv
};
enum class CollectiveMode { kPlain, kRegistered, kSymmetric, kGraph };

inline constexpr int kCollectiveRoot = 0;
// Up to this size a collective is a latency: time and not rate is what it is judged by.
inline constexpr std::int64_t kLargestLatencyBytes = 32 << 10;

struct CollectiveSpec {
  CollectiveOp op = CollectiveOp::kAllReduce;
  std::int64_t bytes = 0;
  ElementType type = ElementType::kFp32;
  bool in_place = false;
  CollectiveMode mode = CollectiveMode::kPlain;

  bool operator==(const CollectiveSpec&) const = default;

  [[nodiscard]] bool reduces() const;  // adds up what the ranks give
  [[nodiscard]] bool latency() const { return bytes <= kLargestLatencyBytes; }
};

// Elements of one rank.
struct CollectiveCounts {
  std::int64_t call = 0;  // what the library's call is given
  std::int64_t input = 0;
  std::int64_t output = 0;

  bool operator==(const CollectiveCounts&) const = default;
};

[[nodiscard]] std::string id_of(const CollectiveSpec& spec);

// What a bandwidth by size is multiplied with for the "bus bandwidth" of nccl-tests, which is what
// each rank's link carries one way however many ranks there are (its doc/PERFORMANCE.md): 2(n-1)/n,
// (n-1)/n or 1. With one rank no link carries anything, and of sums and gathers it is 0.
[[nodiscard]] double bus_factor(CollectiveOp op, int ranks);

// Of a size that divides by the ranks where they share it: see why_not_shared().
[[nodiscard]] CollectiveCounts counts_of(const CollectiveSpec& spec, int ranks);

// Why so many ranks cannot share the size; null: they can.
[[nodiscard]] std::optional<std::string> why_not_shared(const CollectiveSpec& spec, int ranks);

// {"op", "type", "bytes", "ranks", "in_place", "mode", "bus_factor"}
[[nodiscard]] Json parameters_of(const CollectiveSpec& spec, int ranks);

// Null for an id of another family. Throws Error(kUsage) for one that is of this family but cannot
// be: an unknown operation, type or variant, a size of 0, above 64 GiB or that is no whole number
// of elements. The canonical id alone is taken: id_of(*parse_collective_id(id)) == id.
[[nodiscard]] std::optional<CollectiveSpec> parse_collective_id(std::string_view id);

}  // namespace assay
