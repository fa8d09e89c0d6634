// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What a stream does and in which order it goes through its tensors. Knows no CUDA.
//
//   StreamShape shape{.elements = 1 << 30};                 // 32-bit words, 16 bytes an access
//   shape.stride = 8;                                       // every eighth, one word an access
#pragma once

#include <cstdint>

namespace assay {

//   read   sum of the words (stored: one sum a block)      scale  out = s * a
//   write  out = pattern                                   add    out = a + b
//   copy   out = a                                         triad  out = a + s * b, fused
//   dot    sum of a * b (stored: one sum a block, and their sum)
enum class StreamOp { kRead, kWrite, kCopy, kScale, kAdd, kTriad, kDot };

[[nodiscard]] constexpr int stream_inputs(StreamOp op) {
  switch (op) {
    case StreamOp::kWrite:
      return 0;
    case StreamOp::kRead:
    case StreamOp::kCopy:
    case StreamOp::kScale:
      return 1;
    case StreamOp::kAdd:
    case StreamOp::kTriad:
    case StreamOp::kDot:
      return 2;
  }
  return 0;
}
// Whether it keeps sums alone.
[[nodiscard]] constexpr bool is_reduction(StreamOp op) {
  return op == StreamOp::kRead || op == StreamOp::kDot;
}
// Whether its elements are numbers, not bit patterns.
[[nodiscard]] constexpr bool is_arithmetic(StreamOp op) {
  return op == StreamOp::kScale || op == StreamOp::kAdd || op == StreamOp::kTriad ||
         op == StreamOp::kDot;
}

inline constexpr int kVectorBytes = 16;
// Of a block: what stores tensors, what sums.
inline constexpr int kMapThreads = 256;
inline constexpr int kReductionThreads = 512;
// Accesses to each tensor of a block of the reductions, four a thread.
inline constexpr std::int64_t kReductionAccesses = 2048;

struct StreamShape {
  std::int64_t elements = 0;  // of each tensor, >= 1
  int element_bytes = 4;      // 4: words, FP32; 8: double words, FP64
  std::int64_t stride = 1;    // elements 0, stride, 2 stride, ... alone
  bool random = false;        // every element, in random order (random_order.h)
  bool aligned = true;        // the tensors begin at a multiple of kVectorBytes

  // Of `elements`, those that are touched.
  [[nodiscard]] constexpr std::int64_t touched() const { return (elements - 1) / stride + 1; }
  // 16 bytes at once where the tensors lie so that it can be done; else one element.
  [[nodiscard]] constexpr bool by_vector() const { return aligned && stride == 1 && !random; }
  [[nodiscard]] constexpr int access_bytes() const {
    return by_vector() ? kVectorBytes : element_bytes;
  }
  // Of the reductions.
  [[nodiscard]] constexpr std::int64_t blocks() const {
    return (touched() - 1) / (kReductionAccesses * (access_bytes() / element_bytes)) + 1;
  }
};

}  // namespace assay
