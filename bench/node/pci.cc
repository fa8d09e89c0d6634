// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/node/pci.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace assay {
namespace {

// A file of sysfs is a page at most.
constexpr std::size_t kMostBytes = 65536;

// Whether the driver knows the card and its device node is not ours to open. A card that is lost
// keeps its node, and opening that fails otherwise.
bool node_is_closed(const std::string& bus_id) {
  std::ifstream facts("/proc/driver/nvidia/gpus/" + bus_id + "/information");
  constexpr std::string_view kKey = "Device Minor:";
  for (std::string line; std::getline(facts, line);) {
    if (!line.starts_with(kKey)) continue;
    const std::size_t digits = line.find_first_of("0123456789");
    if (digits == std::string::npos) return false;
    const int node = open(("/dev/nvidia" + line.substr(digits)).c_str(), O_RDWR | O_CLOEXEC);
    if (node < 0) return errno == ENOENT || errno == EACCES || errno == EPERM;
    close(node);
  }
  return false;
}

}  // namespace

std::filesystem::path sysfs_root() {
  const char* root = std::getenv("ASSAY_SYSFS");
  return root != nullptr ? root : "/sys";
}

std::string read_small(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kMostBytes, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

std::string read_trimmed(const std::filesystem::path& path) {
  const std::string text = read_small(path);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= 0 ? std::optional(value) : std::nullopt;
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

std::vector<std::string> hidden_gpus(const std::filesystem::path& sysfs,
                                     const std::vector<std::string>& bus_ids) {
  std::vector<std::string> hidden;
  for (const std::string& id : bus_ids) {
    std::error_code error;
    const auto driver =
        std::filesystem::read_symlink(sysfs / "bus" / "pci" / "devices" / id / "driver", error);
    if (driver.filename() == "vfio-pci" || node_is_closed(id)) hidden.push_back(id);
  }
  return hidden;
}

}  // namespace assay
