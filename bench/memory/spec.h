// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What a case of the memory family does, and its id:
//
//   memory/<op>/<size>[+fp64][+offset=B][+stride=N][+random]/<burst|sustained>[/warm]
//   memory/copy/4GiB/burst      memory/dot/1000000B+fp64/burst      memory/read/24MiB/burst/warm
//
// Operations: read write copy scale add triad dot (kernels/stream_shape.h). The size is that of one
// tensor, any number of whole elements; elements are 32-bit words or FP32, with fp64 64 bits wide.
// offset: bytes by which each tensor begins after a multiple of 256; stride: every N-th element
// alone, one an access; random: every element in random order, one an access.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/stream_shape.h"
#include "reports/json.h"
#include "reports/record.h"

namespace assay {

struct MemorySpec {
  StreamOp op = StreamOp::kCopy;
  std::int64_t tensor_bytes = 0;
  bool fp64 = false;
  std::int64_t offset = 0;  // bytes
  std::int64_t stride = 1;  // elements
  bool random = false;
  Conditions conditions;

  bool operator==(const MemorySpec&) const = default;

  [[nodiscard]] int element_bytes() const { return fp64 ? 8 : 4; }
  [[nodiscard]] int tensors() const;  // inputs and output
  [[nodiscard]] StreamShape shape() const;
  // What a launch reads plus what it writes of its tensors, as BabelStream counts; of strides the
  // elements that are touched. Read adds the sums that it stores.
  [[nodiscard]] double bytes() const;
  // Device memory that one set of buffers takes, about.
  [[nodiscard]] std::int64_t set_bytes() const;
};

[[nodiscard]] std::string op_name(StreamOp op);
[[nodiscard]] std::string id_of(const MemorySpec& spec);

// {"operation", "tensor_bytes", "bytes_per_thread", ...}: what the id says, and how it is done.
[[nodiscard]] Json parameters_of(const MemorySpec& spec);

// Null where the id is none of the family's streams. Throws Error(kUsage) for one that is but
// cannot be: an unknown operation or option, 0 bytes or part of an element, an offset at which no
// element can lie. The canonical id alone is taken: id_of(*parse_memory_id(id)) == id.
[[nodiscard]] std::optional<MemorySpec> parse_memory_id(std::string_view id);

}  // namespace assay
