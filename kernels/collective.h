// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Fills a rank's input of a collective operation and checks an output, with the values of
// collective_values.h. Any count of elements; the pointers are aligned to 16 bytes or, within a
// buffer, to an element. Asynchronous on `stream`; the launch's error is returned.
//
//   collective_fill(type, values, rank, input, elements, stream);
//   ... all_gather of `share` elements from each rank ...
//   check_collective(type, values, {.elements = ranks * share, .block = share}, output, capacity,
//                    report, stream);
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/collective_values.h"
#include "kernels/mismatch.h"

namespace assay {

// Memory in which nothing was written holds this byte: NaN in every floating-point format.
inline constexpr int kCollectivePoison = 0xFF;

// What an output holds: blocks of `block` elements, of the ranks `source`, `source` + 1, ...; each
// block's elements have the places from `offset` on in their rank's input. Sums have no source.
struct CollectiveLayout {
  std::int64_t elements = 0;
  std::int64_t block = 1;  // >= 1
  int source = 0;
  std::int64_t offset = 0;
};

[[nodiscard]] cudaError_t collective_fill(ElementType type, const RankValues& values, int rank,
                                          void* input, std::int64_t elements, cudaStream_t stream);

// The first `layout.elements` must be exact, and all bytes behind them, up to `capacity`, a
// multiple of an element's size, still kCollectivePoison. `first` is an element.
[[nodiscard]] cudaError_t check_collective(ElementType type, const RankValues& values,
                                           const CollectiveLayout& layout, const void* output,
                                           std::int64_t capacity, MismatchReport* report,
                                           cudaStream_t stream);

}  // namespace assay
