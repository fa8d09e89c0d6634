// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// NVIDIA GPUs on the PCI bus, whether or not a driver is there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

// $ASSAY_SYSFS or /sys; a seam for tests.
[[nodiscard]] std::filesystem::path sysfs_root();

// Sorted bus ids ("0000:19:00.0") of display controllers of vendor 0x10de.
[[nodiscard]] std::vector<std::string> nvidia_gpus_on_pci(const std::filesystem::path& sysfs);

// Trimmed text of a small file; empty if it cannot be read.
[[nodiscard]] std::string read_trimmed(const std::filesystem::path& path);

}  // namespace assay
