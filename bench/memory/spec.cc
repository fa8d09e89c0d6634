// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/memory/spec.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <vector>

#include "reports/error.h"
#include "reports/size_text.h"
#include "reports/text.h"

namespace assay {
namespace {

constexpr std::string_view kPrefix = "memory/";
constexpr std::int64_t kLargestOffset = 4096;

struct OpName {
  StreamOp op;
  std::string_view name;
};
constexpr std::array<OpName, 7> kOps = {{{StreamOp::kRead, "read"},
                                         {StreamOp::kWrite, "write"},
                                         {StreamOp::kCopy, "copy"},
                                         {StreamOp::kScale, "scale"},
                                         {StreamOp::kAdd, "add"},
                                         {StreamOp::kTriad, "triad"},
                                         {StreamOp::kDot, "dot"}}};

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value < 0 || value > kLargestSize) return std::nullopt;
  return value;
}

// Reads one id; its errors name it.
class Reader {
 public:
  explicit Reader(std::string_view id) : id_(id) {}

  MemorySpec read() const {
    const std::vector<std::string> parts = split(id_.substr(kPrefix.size()), '/');
    if (parts.size() < 3 || parts.size() > 4 || (parts.size() == 4 && parts[3] != "warm")) {
      refuse("expected memory/<op>/<size>[+option]/<burst|sustained>[/warm]");
    }
    MemorySpec spec;
    spec.op = op(parts[0]);
    const std::vector<std::string> options = split(parts[1], '+');
    const auto bytes = parse_size(options[0]);
    if (!bytes) {
      refuse(fmt::format("'{}': expected a size such as 4GiB, 24MiB or 1000000B", options[0]));
    }
    spec.tensor_bytes = *bytes;
    for (std::size_t i = 1; i < options.size(); ++i) add_option(spec, options[i]);
    const auto power = parse_enum<Power>(parts[2]);
    if (!power) refuse(fmt::format("'{}': expected burst or sustained", parts[2]));
    spec.conditions.power = *power;
    if (parts.size() == 4) spec.conditions.cache = Cache::kWarm;
    check(spec);
    return spec;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ExitCode::kUsage, fmt::format("case '{}': {}", id_, why));
  }

  StreamOp op(std::string_view name) const {
    std::string known;
    for (const OpName& one : kOps) {
      if (one.name == name) return one.op;
      known += fmt::format(" {}", one.name);
    }
    refuse(fmt::format("no operation '{}'; there are:{}", name, known));
  }

  void add_option(MemorySpec& spec, std::string_view option) const {
    const std::size_t equals = option.find('=');
    const std::string_view name = option.substr(0, equals);
    if (option == "fp64") {
      spec.fp64 = true;
    } else if (option == "random") {
      spec.random = true;
    } else if (name == "offset" || name == "stride") {
      const auto value =
          equals == std::string_view::npos ? std::nullopt : whole_number(option.substr(equals + 1));
      if (!value) refuse(fmt::format("'{}': expected {}=N", option, name));
      (name == "offset" ? spec.offset : spec.stride) = *value;
    } else {
      refuse(fmt::format("no option '{}'; there are: fp64 offset=BYTES stride=ELEMENTS random",
                         option));
    }
  }

  void check(const MemorySpec& spec) const {
    const int width = spec.element_bytes();
    if (spec.tensor_bytes == 0) refuse("0 bytes: nothing to measure");
    if (spec.tensor_bytes % width != 0) {
      refuse(
          fmt::format("{} bytes are not a multiple of an element's {}", spec.tensor_bytes, width));
    }
    if (spec.stride == 0) refuse("stride=0: expected 2 or more");
    if (spec.offset % width != 0 || spec.offset > kLargestOffset) {
      refuse(fmt::format("offset={}: elements lie at multiples of their {} bytes, at most {}",
                         spec.offset, width, kLargestOffset));
    }
    if (spec.random && spec.stride != 1) refuse("stride and random exclude each other");
    if (id_of(spec) != id_) refuse(fmt::format("write it {}", id_of(spec)));
  }

  std::string_view id_;
};

}  // namespace

int MemorySpec::tensors() const { return stream_inputs(op) + (is_reduction(op) ? 0 : 1); }

StreamShape MemorySpec::shape() const {
  StreamShape shape;
  shape.elements = tensor_bytes / element_bytes();
  shape.element_bytes = element_bytes();
  shape.stride = stride;
  shape.random = random;
  shape.aligned = offset % kVectorBytes == 0;
  return shape;
}

double MemorySpec::bytes() const {
  const double touched = static_cast<double>(shape().touched()) * element_bytes();
  const double sums = op == StreamOp::kRead ? 4.0 * static_cast<double>(shape().blocks()) : 0;
  return tensors() * touched + sums;
}

std::int64_t MemorySpec::set_bytes() const {
  const std::int64_t sums = is_reduction(op) ? 8 * (shape().blocks() + 1) : 0;
  return tensors() * (tensor_bytes + offset) + sums;
}

std::string op_name(StreamOp op) {
  for (const OpName& one : kOps) {
    if (one.op == op) return std::string(one.name);
  }
  return {};
}

std::string id_of(const MemorySpec& spec) {
  std::string id = fmt::format("{}{}/{}", kPrefix, op_name(spec.op), size_text(spec.tensor_bytes));
  if (spec.fp64) id += "+fp64";
  if (spec.offset != 0) id += fmt::format("+offset={}", spec.offset);
  if (spec.stride != 1) id += fmt::format("+stride={}", spec.stride);
  if (spec.random) id += "+random";
  return id + "/" + condition_suffix(spec.conditions);
}

Json parameters_of(const MemorySpec& spec) {
  const int access_bytes = spec.shape().access_bytes();
  Json fields = {{"operation", op_name(spec.op)},
                 {"tensor_bytes", spec.tensor_bytes},
                 {"bytes_per_thread", access_bytes * (is_reduction(spec.op) ? 4 : 1)},
                 {"threads_per_block", is_reduction(spec.op) ? kReductionThreads : kMapThreads}};
  if (spec.fp64) fields["element_bytes"] = 8;
  if (access_bytes != kVectorBytes) fields["access_bytes"] = access_bytes;
  if (spec.offset != 0) fields["offset_bytes"] = spec.offset;
  if (spec.stride != 1) fields["stride_elements"] = spec.stride;
  if (spec.random) fields["order"] = "random";
  return fields;
}

std::optional<MemorySpec> parse_memory_id(std::string_view id) {
  if (!id.starts_with(kPrefix)) return std::nullopt;
  for (const std::string_view other : {"latency/", "integrity/", "l2_read/"}) {
    if (id.substr(kPrefix.size()).starts_with(other)) return std::nullopt;
  }
  return Reader(id).read();
}

}  // namespace assay
