// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/node/numa.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "bench/node/pci.h"

namespace assay {
namespace {

std::filesystem::path nodes_folder(const std::filesystem::path& sysfs) {
  return sysfs / "devices" / "system" / "node";
}

std::filesystem::path folder_of(const std::filesystem::path& sysfs, int node) {
  return nodes_folder(sysfs) / ("node" + std::to_string(node));
}

// Sorted.
std::vector<int> all_nodes(const std::filesystem::path& sysfs) {
  std::vector<int> nodes;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(nodes_folder(sysfs), error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("node")) continue;
    if (const std::optional<int> node = whole_number(name.substr(4))) nodes.push_back(*node);
  }
  std::ranges::sort(nodes);
  return nodes;
}

// "Node 0 MemTotal:  131072 kB"
bool has_memory(const std::filesystem::path& node) {
  std::ifstream file(node / "meminfo");
  for (std::string word; file >> word;) {
    std::int64_t kib = 0;
    if (word == "MemTotal:") return file >> kib && kib > 0;
  }
  return false;
}

}  // namespace

NumaNode numa_node_of(const std::filesystem::path& sysfs, const std::string& bus_id) {
  const std::string text = read_trimmed(sysfs / "bus" / "pci" / "devices" / bus_id / "numa_node");
  if (const std::optional<int> node = whole_number(text)) return {node, {}};
  return {std::nullopt, "sysfs numa_node: " + (text.empty() ? "not readable" : text)};
}

std::vector<int> nodes_with_memory(const std::filesystem::path& sysfs) {
  std::vector<int> nodes = all_nodes(sysfs);
  std::erase_if(nodes, [&](int node) { return !has_memory(folder_of(sysfs, node)); });
  return nodes;
}

std::optional<int> farthest_node(const std::filesystem::path& sysfs, int near) {
  // One distance for each node there is, in the order of their numbers, which may have gaps.
  std::istringstream row(read_trimmed(folder_of(sysfs, near) / "distance"));
  std::map<int, int> distances;
  for (const int node : all_nodes(sysfs)) {
    int distance = 0;
    if (!(row >> distance)) break;
    distances[node] = distance;
  }
  std::optional<int> farthest;
  int most = -1;
  for (const int node : nodes_with_memory(sysfs)) {
    if (node == near) continue;
    const auto found = distances.find(node);
    const int distance = found == distances.end() ? 0 : found->second;
    if (distance > most) farthest = node;
    most = std::max(most, distance);
  }
  return farthest;
}

std::int64_t available_host_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string key; file >> key;) {
    std::int64_t kib = 0;
    if (key == "MemAvailable:" && file >> kib) return kib * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::numeric_limits<std::int64_t>::max();
}

std::string bind_pages(void* data, std::int64_t bytes, int node) {
  constexpr int kBits = sizeof(unsigned long) * CHAR_BIT;
  std::array<unsigned long, 16> mask{};
  const auto word = static_cast<std::size_t>(node / kBits);
  if (node < 0 || word >= mask.size()) return "no node " + std::to_string(node);
  mask[word] = 1UL << (node % kBits);
  // The kernel reads one bit less than it is told.
  const long failed = syscall(SYS_mbind, data, static_cast<unsigned long>(bytes), MPOL_BIND,
                              mask.data(), mask.size() * kBits + 1, 0UL);
  return failed == 0 ? std::string() : std::string("mbind: ") + std::strerror(errno);
}

std::optional<int> node_of_page(const void* byte) {
  int node = -1;
  const long failed = syscall(SYS_get_mempolicy, &node, nullptr, 0UL, byte,
                              static_cast<unsigned long>(MPOL_F_NODE | MPOL_F_ADDR));
  return failed == 0 && node >= 0 ? std::optional(node) : std::nullopt;
}

}  // namespace assay
