// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/node/nics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <regex>

#include "bench/node/numa.h"
#include "bench/node/pci.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) entries.push_back(entry.path());
  std::ranges::sort(entries);
  return entries;
}

// The device behind a class entry, or what it hangs on (a virtio device hangs on a PCI device);
// empty if that is not on the PCI bus.
std::string bus_id_of(const fs::path& entry) {
  static const std::regex bus_id("[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
  std::error_code error;
  const fs::path real = fs::canonical(entry / "device", error);
  if (error) return {};
  for (const fs::path& at : {real, real.parent_path()}) {
    if (std::regex_match(at.filename().string(), bus_id)) return at.filename().string();
  }
  return {};
}

// "400 Gb/sec (4X NDR)", "32.0 GT/s PCIe" and "100000" begin with a number; null if it is not above
// 0, as of a link that is down.
std::optional<double> leading_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && value > 0 && std::isfinite(value) ? std::optional(value)
                                                                   : std::nullopt;
}

std::optional<std::string> word_of(const fs::path& path) {
  std::string text = read_trimmed(path);
  if (const std::size_t at = text.find(": "); at != std::string::npos) text.erase(0, at + 2);
  return text.empty() ? std::nullopt : std::optional(text);
}

NicPort read_port(const fs::path& folder) {
  NicPort port;
  port.port = whole_number(folder.filename().string()).value_or(0);
  port.state = word_of(folder / "state");
  port.physical_state = word_of(folder / "phys_state");
  port.gbit_per_s = leading_number(read_trimmed(folder / "rate"));
  port.link_layer = word_of(folder / "link_layer");
  return port;
}

void read_link(const fs::path& device, Nic& nic) {
  nic.pcie_width = whole_number(read_trimmed(device / "current_link_width"));
  nic.pcie_width_max = whole_number(read_trimmed(device / "max_link_width"));
  nic.pcie_gt_per_s = leading_number(read_trimmed(device / "current_link_speed"));
  nic.pcie_gt_per_s_max = leading_number(read_trimmed(device / "max_link_speed"));
  for (const auto& [name, read] :
       {std::pair("pcie_width", nic.pcie_width && nic.pcie_width_max),
        std::pair("pcie_gt_per_s", nic.pcie_gt_per_s && nic.pcie_gt_per_s_max)}) {
    if (!read) nic.unreadable[name] = "sysfs current_link and max_link: not readable";
  }
}

Nic& nic_at(const fs::path& sysfs, const std::string& bus_id, std::map<std::string, Nic>& nics) {
  const auto [at, fresh] = nics.try_emplace(bus_id);
  Nic& nic = at->second;
  if (!fresh) return nic;
  nic.bus_id = bus_id;
  const NumaNode found = numa_node_of(sysfs, bus_id);
  nic.numa_node = found.node;
  if (!found.node) nic.unreadable["numa_node"] = found.why;
  read_link(sysfs / "bus" / "pci" / "devices" / bus_id, nic);
  return nic;
}

}  // namespace

std::vector<Nic> read_nics(const fs::path& sysfs) {
  std::map<std::string, Nic> by_bus_id;
  for (const fs::path& entry : sorted_entries(sysfs / "class" / "infiniband")) {
    const std::string bus_id = bus_id_of(entry);
    if (bus_id.empty()) continue;
    Nic& nic = nic_at(sysfs, bus_id, by_bus_id);
    nic.rdma = entry.filename().string();
    nic.firmware = word_of(entry / "fw_ver");
    if (!nic.firmware) nic.unreadable["firmware"] = "sysfs fw_ver: not readable";
    for (const fs::path& port : sorted_entries(entry / "ports")) {
      nic.ports.push_back(read_port(port));
    }
  }
  for (const fs::path& entry : sorted_entries(sysfs / "class" / "net")) {
    const std::string bus_id = bus_id_of(entry);
    if (bus_id.empty()) continue;
    NicInterface interface;
    interface.name = entry.filename().string();
    interface.state = word_of(entry / "operstate");
    // In Mbit/s; -1 or no answer while it is down.
    const auto mbit_per_s = leading_number(read_trimmed(entry / "speed"));
    if (mbit_per_s) interface.gbit_per_s = *mbit_per_s / 1e3;
    nic_at(sysfs, bus_id, by_bus_id).interfaces.push_back(std::move(interface));
  }
  std::vector<Nic> nics;
  for (auto& [bus_id, nic] : by_bus_id) nics.push_back(std::move(nic));
  return nics;
}

}  // namespace assay
