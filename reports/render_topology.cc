// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/render_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "reports/format_text.h"
#include "reports/peers.h"
#include "reports/text.h"

namespace assay {
namespace {

// Keys with what was counted under them, in the order in which they came.
using Groups = std::vector<std::pair<std::string, std::vector<std::string>>>;

void add_to(Groups& groups, const std::string& key, const std::string& item) {
  const auto found =
      std::ranges::find_if(groups, [&](const auto& group) { return group.first == key; });
  if (found == groups.end()) {
    groups.push_back({key, {item}});
  } else {
    found->second.push_back(item);
  }
}

std::string links_text(const GpuInventory& gpu) {
  if (!gpu.nvlinks) {
    const auto why = gpu.unreadable.find("nvlinks");
    return why == gpu.unreadable.end() ? "not read" : "not read (" + why->second + ")";
  }
  const GpuNvlinks& links = *gpu.nvlinks;
  std::string text = fmt::format("{} of {} links", links.active, links.present);
  if (links.to_switch > 0) return text + " to a switch";
  return text + (links.to_gpus.empty() ? " up" : " to GPUs");
}

std::string version_text(const Inventory& inventory) {
  std::set<int> versions;
  for (const GpuInventory& gpu : inventory.gpus) {
    if (gpu.nvlinks && gpu.nvlinks->version) versions.insert(*gpu.nvlinks->version);
  }
  return versions.size() == 1 ? fmt::format("NVLink {}: ", *versions.begin()) : "NVLink: ";
}

std::string nvlink_line(const Inventory& inventory) {
  std::string line = version_text(inventory);
  const std::vector<GpuInventory>& gpus = inventory.gpus;
  if (gpus.size() == 1) {
    return line + "one GPU, no peer" + (gpus[0].nvlinks ? "; " + links_text(gpus[0]) : "");
  }
  Groups states;
  for (const GpuInventory& gpu : gpus) {
    add_to(states, links_text(gpu), std::to_string(gpu.index));
  }
  Groups pairs;
  for (const GpuPeer& pair : inventory.peers) add_to(pairs, joined_text(pair), "");
  std::vector<std::string> parts;
  for (const auto& [state, indices] : states) {
    parts.push_back(state + (states.size() == 1 ? fmt::format(" on each of {} GPUs", gpus.size())
                                                : fmt::format(" on GPU {}", join(indices, " "))));
  }
  for (const auto& [joined, found] : pairs) {
    parts.push_back(counted(found.size(), "pair") + " " + joined);
  }
  return line + join(parts, "; ");
}

// " at 400 Gb/s", " at 100 to 400 Gb/s"; empty if none is known.
std::string rate_text(const std::vector<double>& rates) {
  if (rates.empty()) return {};
  const auto [low, high] = std::ranges::minmax(rates);
  return low == high ? fmt::format(" at {:g} Gb/s", low)
                     : fmt::format(" at {:g} to {:g} Gb/s", low, high);
}

// Ports or interfaces of one kind.
struct Ends {
  int all = 0;
  int working = 0;
  std::vector<double> rates;  // of the working ones

  void add(bool works, const std::optional<double>& rate) {
    ++all;
    if (!works) return;
    ++working;
    if (rate) rates.push_back(*rate);
  }
};

std::string nics_line(const std::vector<Nic>& nics) {
  std::map<std::string, Ends> ports;  // by link layer
  Ends interfaces;                    // of cards without RDMA
  std::vector<std::string> parts;
  for (const Nic& nic : nics) {
    for (const NicPort& port : nic.ports) {
      ports[port.link_layer.value_or("RDMA")].add(port.state == "ACTIVE", port.gbit_per_s);
    }
    if (nic.rdma) continue;
    for (const NicInterface& one : nic.interfaces) {
      interfaces.add(one.state == "up", one.gbit_per_s);
    }
  }
  for (const auto& [layer, ends] : ports) {
    parts.push_back(fmt::format("{}, {} active{}", counted(ends.all, layer + " RDMA port"),
                                ends.working, rate_text(ends.rates)));
  }
  if (interfaces.all > 0) {
    parts.push_back(fmt::format("{}, {} up{}", counted(interfaces.all, "other interface"),
                                interfaces.working, rate_text(interfaces.rates)));
  }
  for (const Nic& nic : nics) {
    if (!nic.pcie_width || !nic.pcie_width_max || *nic.pcie_width >= *nic.pcie_width_max) continue;
    parts.push_back(fmt::format("{} on PCIe x{} of x{}", short_bus_id(nic.bus_id), *nic.pcie_width,
                                *nic.pcie_width_max));
  }
  return "NICs: " + join(parts, "; ");
}

}  // namespace

std::vector<std::string> topology_lines(const Report& report) {
  std::vector<std::string> lines;
  if (!report.inventory.gpus.empty()) lines.push_back(nvlink_line(report.inventory));
  if (!report.inventory.nics.empty()) lines.push_back(nics_line(report.inventory.nics));
  return lines;
}

}  // namespace assay
