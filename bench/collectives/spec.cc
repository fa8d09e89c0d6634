// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "reports/error.h"
#include "reports/json_fields.h"
#include "reports/size_text.h"
#include "reports/text.h"

namespace assay {

constexpr std::array<EnumName<CollectiveOp>, 7> enum_names(CollectiveOp) {
  return {{{CollectiveOp::kAllReduce, "all_reduce"},
           {CollectiveOp::kAllGather, "all_gather"},
           {CollectiveOp::kReduceScatter, "reduce_scatter"},
           {CollectiveOp::kBroadcast, "broadcast"},
           {CollectiveOp::kReduce, "reduce"},
           {CollectiveOp::kAllToAll, "all_to_all"},
           {CollectiveOp::kSendRecv, "send_recv"}}};
}

constexpr std::array<EnumName<CollectiveMode>, 4> enum_names(CollectiveMode) {
  return {{{CollectiveMode::kPlain, "plain"},
           {CollectiveMode::kRegistered, "registered"},
           {CollectiveMode::kSymmetric, "symmetric"},
           {CollectiveMode::kGraph, "graph"}}};
}

namespace {

constexpr std::string_view kPrefix = "collectives/";
constexpr std::string_view kPower = "burst";
constexpr std::string_view kInPlace = "in_place";
constexpr std::int64_t kLargest = std::int64_t{64} << 30;

struct TypeName {
  ElementType type;
  std::string_view name;
};
// An id's types are not all of ElementType, and go by longer names than a product's.
constexpr std::array<TypeName, 7> kTypes = {{{ElementType::kFp32, "float32"},
                                             {ElementType::kFp16, "float16"},
                                             {ElementType::kBf16, "bfloat16"},
                                             {ElementType::kFp8E4M3, "fp8_e4m3"},
                                             {ElementType::kFp8E5M2, "fp8_e5m2"},
                                             {ElementType::kFp64, "float64"},
                                             {ElementType::kInt32, "int32"}}};

std::string_view type_name(ElementType type) {
  return std::ranges::find(kTypes, type, &TypeName::type)->name;
}

bool can_be_in_place(CollectiveOp op) {
  return op == CollectiveOp::kAllReduce || op == CollectiveOp::kAllGather ||
         op == CollectiveOp::kBroadcast;
}

bool is_shared(CollectiveOp op) {
  return op == CollectiveOp::kAllGather || op == CollectiveOp::kReduceScatter ||
         op == CollectiveOp::kAllToAll;
}

// Reads one id; its errors name it.
class Reader {
 public:
  explicit Reader(std::string_view id) : id_(id) {}

  CollectiveSpec read() const {
    const std::vector<std::string> parts = split(id_.substr(kPrefix.size()), '/');
    if (parts.size() != 3) refuse("expected collectives/<op>/<size>/burst");
    // What bounds a collective is a link, which no load heats.
    if (parts[2] != kPower) refuse(fmt::format("'{}': expected burst", parts[2]));
    const std::vector<std::string> words = split(parts[1], '+');
    CollectiveSpec spec;
    spec.op = op(parts[0]);
    spec.bytes = size(words[0]);
    for (std::size_t i = 1; i < words.size(); ++i) add_variant(spec, words[i]);
    check(spec);
    return spec;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ExitCode::kUsage, fmt::format("case '{}': {}", id_, why));
  }

  CollectiveOp op(const std::string& name) const {
    const std::optional<CollectiveOp> found = parse_enum<CollectiveOp>(name);
    if (!found) {
      refuse(fmt::format(
          "no operation '{}'; there are: all_reduce all_gather reduce_scatter broadcast reduce "
          "all_to_all send_recv",
          name));
    }
    return *found;
  }

  std::int64_t size(std::string_view text) const {
    const auto bytes = parse_size(text);
    if (!bytes || *bytes == 0 || *bytes > kLargest) {
      refuse(fmt::format("'{}': expected a size from 1B to 64GiB", text));
    }
    return *bytes;
  }

  void add_variant(CollectiveSpec& spec, const std::string& variant) const {
    const auto type = std::ranges::find(kTypes, variant, &TypeName::name);
    const std::optional<CollectiveMode> mode = parse_enum<CollectiveMode>(variant);
    if (type != kTypes.end()) {
      spec.type = type->type;
    } else if (variant == kInPlace) {
      spec.in_place = true;
    } else if (mode && *mode != CollectiveMode::kPlain) {
      if (spec.mode != CollectiveMode::kPlain) {
        refuse("registered, symmetric and graph exclude each other");
      }
      spec.mode = *mode;
    } else {
      refuse(
          fmt::format("no variant '{}'; there are: float16 bfloat16 fp8_e4m3 fp8_e5m2 float64 "
                      "int32 in_place registered symmetric graph",
                      variant));
    }
  }

  void check(const CollectiveSpec& spec) const {
    if (id_of(spec) != id_) refuse(fmt::format("write it {}", id_of(spec)));
    if (spec.bytes % element_bytes(spec.type) != 0) {
      refuse(fmt::format("{} is no whole number of {}, of {} bytes each", size_text(spec.bytes),
                         type_name(spec.type), element_bytes(spec.type)));
    }
    if (spec.in_place && !can_be_in_place(spec.op)) {
      refuse("in_place is of all_reduce, all_gather and broadcast");
    }
  }

  std::string_view id_;
};

}  // namespace

bool CollectiveSpec::reduces() const {
  return op == CollectiveOp::kAllReduce || op == CollectiveOp::kReduceScatter ||
         op == CollectiveOp::kReduce;
}

std::string id_of(const CollectiveSpec& spec) {
  std::string id = fmt::format("{}{}/{}", kPrefix, to_string(spec.op), size_text(spec.bytes));
  if (spec.type != ElementType::kFp32) id += fmt::format("+{}", type_name(spec.type));
  if (spec.in_place) id += fmt::format("+{}", kInPlace);
  if (spec.mode != CollectiveMode::kPlain) id += fmt::format("+{}", to_string(spec.mode));
  return fmt::format("{}/{}", id, kPower);
}

double bus_factor(CollectiveOp op, int ranks) {
  const double n = ranks;
  switch (op) {
    case CollectiveOp::kAllReduce:
      return 2 * (n - 1) / n;
    case CollectiveOp::kAllGather:
    case CollectiveOp::kReduceScatter:
    case CollectiveOp::kAllToAll:
      return (n - 1) / n;
    case CollectiveOp::kBroadcast:
    case CollectiveOp::kReduce:
    case CollectiveOp::kSendRecv:
      return 1;
  }
  return 0;
}

CollectiveCounts counts_of(const CollectiveSpec& spec, int ranks) {
  const std::int64_t all = spec.bytes / element_bytes(spec.type);
  if (!is_shared(spec.op)) return {all, all, all};
  const std::int64_t share = all / ranks;
  return {.call = share,
          .input = spec.op == CollectiveOp::kAllGather ? share : all,
          .output = spec.op == CollectiveOp::kReduceScatter ? share : all};
}

std::optional<std::string> why_not_shared(const CollectiveSpec& spec, int ranks) {
  const std::int64_t all = spec.bytes / element_bytes(spec.type);
  if (!is_shared(spec.op) || all % ranks == 0) return std::nullopt;
  return fmt::format("{} ranks cannot share {} elements evenly", ranks, all);
}

Json parameters_of(const CollectiveSpec& spec, int ranks) {
  return {{"op", to_string(spec.op)},
          {"type", type_name(spec.type)},
          {"bytes", spec.bytes},
          {"ranks", ranks},
          {"in_place", spec.in_place},
          {"mode", to_string(spec.mode)},
          {"bus_factor", bus_factor(spec.op, ranks)}};
}

std::optional<CollectiveSpec> parse_collective_id(std::string_view id) {
  if (!id.starts_with(kPrefix)) return std::nullopt;
  return Reader(id).read();
}

}  // namespace assay
