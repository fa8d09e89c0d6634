// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The wgmma path of ceiling.h, which dispatches to it.
#pragma once

#include "kernels/ceiling.h"

namespace assay {

[[nodiscard]] CeilingShape wgmma_shape(ElementType input);
[[nodiscard]] cudaError_t wgmma_ceiling(ElementType input, const void* a, const void* b, void* d,
                                        int blocks, int rounds, cudaStream_t stream);

}  // namespace assay
