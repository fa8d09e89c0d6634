// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/node/pci.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace assay {

std::filesystem::path sysfs_root() {
  const char* root = std::getenv("ASSAY_SYSFS");
  return root != nullptr ? root : "/sys";
}

std::string read_trimmed(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<std::string> nvidia_gpus_on_pci(const std::filesystem::path& sysfs) {
  std::vector<std::string> bus_ids;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(sysfs / "bus" / "pci" / "devices", error)) {
    const std::string device_class = read_trimmed(entry.path() / "class");
    // 0x0300: VGA controller, 0x0302: 3D controller.
    const bool display = device_class.starts_with("0x0300") || device_class.starts_with("0x0302");
    if (display && read_trimmed(entry.path() / "vendor") == "0x10de") {
      bus_ids.push_back(entry.path().filename().string());
    }
  }
  std::sort(bus_ids.begin(), bus_ids.end());
  return bus_ids;
}

}  // namespace assay
