// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// NVIDIA GPUs on the PCI bus, whether or not a driver is there.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// $ASSAY_SYSFS or /sys; a seam for tests.
[[nodiscard]] std::filesystem::path sysfs_root();

// Sorted bus ids ("0000:19:00.0") of display controllers of vendor 0x10de.
[[nodiscard]] std::vector<std::string> nvidia_gpus_on_pci(const std::filesystem::path& sysfs);

// Of these, the ones that this process cannot use: bound to vfio-pci, or with a device node that is
// not there or may not be opened (a container's or a job's device limits).
[[nodiscard]] std::vector<std::string> hidden_gpus(const std::filesystem::path& sysfs,
                                                   const std::vector<std::string>& bus_ids);

// The bytes of a small file, the first 64 KiB of a larger one; those before the error if reading
// fails, as the speed of a network interface that is switched off does. Never throws for a file.
[[nodiscard]] std::string read_small(const std::filesystem::path& path);

// Trimmed text of a small file; empty if it cannot be read.
[[nodiscard]] std::string read_trimmed(const std::filesystem::path& path);

// Null unless the text is a whole number of 0 or above and nothing else.
[[nodiscard]] std::optional<int> whole_number(std::string_view text);

}  // namespace assay
