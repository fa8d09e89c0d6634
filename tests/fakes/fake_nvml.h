// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What the three parts of the fake NVML share.
#pragma once

#include <string>

#include "bench/node/nvml.h"

namespace fake_nvml {

using assay::nvml_abi::Device;
using assay::nvml_abi::Return;

inline constexpr Return kInvalidArgument = 2;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kGpuIsLost = 15;

const char* setting(const char* name, const char* otherwise);
unsigned long long number(const char* name, const char* otherwise);

// Not 0 where the environment lets this function fail.
Return failure(const char* function);

}  // namespace fake_nvml
