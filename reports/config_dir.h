// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Where configs/ lies: $ASSAY_CONFIGS, else configs/ two folders above the program (a bundle or an
// installed tree), else the source tree that it was built from.
#pragma once

#include <filesystem>

namespace assay {

// Throws Error(kUsage) that lists where it looked.
[[nodiscard]] std::filesystem::path config_dir();

}  // namespace assay
