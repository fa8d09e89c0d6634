// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What NVIDIA's libraries call the types of our elements.
#pragma once

#include <library_types.h>

#include "kernels/element.h"

namespace assay {

[[nodiscard]] constexpr cudaDataType_t cuda_data_type(ElementType type) {
  switch (type) {
    case ElementType::kFp64:
      return CUDA_R_64F;
    case ElementType::kFp32:
      return CUDA_R_32F;
    case ElementType::kFp16:
      return CUDA_R_16F;
    case ElementType::kBf16:
      return CUDA_R_16BF;
    case ElementType::kFp8E4M3:
      return CUDA_R_8F_E4M3;
    case ElementType::kFp8E5M2:
      return CUDA_R_8F_E5M2;
    case ElementType::kInt8:
      return CUDA_R_8I;
    case ElementType::kInt32:
      return CUDA_R_32I;
  }
  return CUDA_R_64F;  // not reached: every type is above
}

}  // namespace assay
