// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The types of the elements that device code reads and writes.
#pragma once

#include <cstdint>

namespace assay {

enum class ElementType { kFp64, kFp32, kFp16, kBf16, kFp8E4M3, kFp8E5M2, kInt8, kInt32 };

[[nodiscard]] constexpr std::int64_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::kFp64:
      return 8;
    case ElementType::kFp32:
    case ElementType::kInt32:
      return 4;
    case ElementType::kFp16:
    case ElementType::kBf16:
      return 2;
    case ElementType::kFp8E4M3:
    case ElementType::kFp8E5M2:
    case ElementType::kInt8:
      return 1;
  }
  return 0;
}

}  // namespace assay
