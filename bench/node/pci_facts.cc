// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/node/pci_facts.h"

#include <cstdint>
#include <regex>
#include <vector>

#include "bench/node/pci.h"

namespace assay {
namespace {

// PCI Express Base Specification, chapter 7.
constexpr std::size_t kCapabilityPointer = 0x34;
constexpr std::size_t kFirstExtended = 0x100;
constexpr unsigned kExpress = 0x10;
constexpr std::size_t kDeviceControl = 8;
constexpr unsigned kRelaxedOrdering = 1U << 4;
constexpr unsigned kAcs = 0x000D;
constexpr std::size_t kAcsControl = 6;
constexpr unsigned kRedirects = (1U << 2) | (1U << 3);  // of requests and of completions
constexpr int kMostCapabilities = 96;                   // a list that runs in a circle ends

using Config = std::vector<std::uint8_t>;

Config read_config(const std::filesystem::path& device) {
  const std::string bytes = read_small(device / "config");
  return {bytes.begin(), bytes.end()};
}

// Little-endian; 0 beyond the end.
unsigned word(const Config& config, std::size_t at) {
  return at + 1 < config.size() ? config[at] | static_cast<unsigned>(config[at + 1]) << 8 : 0;
}

// Offset of the Express capability; null if it was not shown.
std::optional<std::size_t> find_express(const Config& config) {
  if (config.size() < kFirstExtended) return std::nullopt;
  std::size_t at = config[kCapabilityPointer];
  for (int i = 0; i < kMostCapabilities && at >= 0x40 && at + kDeviceControl < config.size(); ++i) {
    if (config[at] == kExpress) return at;
    at = config[at + 1];
  }
  return std::nullopt;
}

// Null if not all extended capabilities were shown; a port without ACS redirects nothing.
std::optional<bool> redirects(const Config& config) {
  if (config.size() <= kFirstExtended) return std::nullopt;
  std::size_t at = kFirstExtended;
  for (int i = 0; i < kMostCapabilities && at >= kFirstExtended && at + 8 <= config.size(); ++i) {
    if (word(config, at) == kAcs) return (word(config, at + kAcsControl) & kRedirects) != 0;
    at = word(config, at + 2) >> 4;
  }
  return at == 0 ? std::optional(false) : std::nullopt;
}

// The folders of the ports above the device, up to its root.
std::vector<std::filesystem::path> ports_above(const std::filesystem::path& device) {
  static const std::regex bus_id("[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
  std::vector<std::filesystem::path> ports;
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(device, error);
  if (error) return ports;
  for (auto path = real.parent_path(); std::regex_match(path.filename().string(), bus_id);
       path = path.parent_path()) {
    ports.push_back(path);
  }
  return ports;
}

void read_iommu(const std::filesystem::path& device, PciFacts& facts) {
  std::error_code error;
  if (!std::filesystem::exists(device, error)) {
    facts.unreadable["iommu"] = "sysfs has no such device";
  } else if (!std::filesystem::exists(device / "iommu_group", error)) {
    facts.iommu = "none";
  } else if (std::string type = read_trimmed(device / "iommu_group" / "type"); !type.empty()) {
    facts.iommu = std::move(type);
  } else {
    facts.unreadable["iommu"] = "sysfs iommu_group/type: not readable";
  }
}

// The files are there where the device shows the capability.
void read_sriov(const std::filesystem::path& device, PciFacts& facts) {
  std::error_code error;
  if (!std::filesystem::exists(device, error)) {
    facts.unreadable["sriov_vfs"] = "sysfs has no such device";
    return;
  }
  if (!std::filesystem::exists(device / "sriov_totalvfs", error)) {
    facts.sriov_vfs = facts.sriov_vfs_max = 0;
    return;
  }
  facts.sriov_vfs = whole_number(read_trimmed(device / "sriov_numvfs"));
  facts.sriov_vfs_max = whole_number(read_trimmed(device / "sriov_totalvfs"));
  if (!facts.sriov_vfs) facts.unreadable["sriov_vfs"] = "sysfs sriov_numvfs: not readable";
}

}  // namespace

PciFacts read_pci_facts(const std::filesystem::path& sysfs, const std::string& bus_id) {
  const std::filesystem::path device = sysfs / "bus" / "pci" / "devices" / bus_id;
  PciFacts facts;
  read_iommu(device, facts);
  read_sriov(device, facts);
  const Config config = read_config(device);
  if (const std::optional<std::size_t> express = find_express(config)) {
    facts.relaxed_ordering = (word(config, *express + kDeviceControl) & kRelaxedOrdering) != 0;
  } else {
    facts.unreadable["relaxed_ordering"] = "PCI configuration space: not readable (root)";
  }
  const std::vector<std::filesystem::path> ports = ports_above(device);
  for (const std::filesystem::path& port : ports) {
    const std::optional<bool> one = redirects(read_config(port));
    if (one) facts.acs_redirect = facts.acs_redirect.value_or(false) || *one;
    if (!one) facts.unreadable["acs_redirect"] = "PCI configuration space: not readable (root)";
  }
  if (ports.empty()) facts.unreadable["acs_redirect"] = "no port above the device is seen";
  // One port that redirects is enough; that none does needs all of them.
  if (facts.acs_redirect == false && facts.unreadable.contains("acs_redirect")) {
    facts.acs_redirect.reset();
  }
  if (facts.acs_redirect == true) facts.unreadable.erase("acs_redirect");
  return facts;
}

}  // namespace assay
