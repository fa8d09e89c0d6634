// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The host's memory and its NUMA nodes, by sysfs and system calls; no libnuma.
//
//   const NumaNode gpu = numa_node_of(sysfs_root(), "0000:19:00.0");
//   if (gpu.node) std::optional<int> far = farthest_node(sysfs_root(), *gpu.node);
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct NumaNode {
  std::optional<int> node;
  std::string why;  // it is null
};
// Where a PCI device sits.
[[nodiscard]] NumaNode numa_node_of(const std::filesystem::path& sysfs, const std::string& bus_id);

// In ascending order.
[[nodiscard]] std::vector<int> nodes_with_memory(const std::filesystem::path& sysfs);

// The node with memory that the kernel's table of distances puts farthest from `near`; null if
// there is no other.
[[nodiscard]] std::optional<int> farthest_node(const std::filesystem::path& sysfs, int near);

// What programs may still take of the host's memory; as much as a number holds if the kernel does
// not say.
[[nodiscard]] std::int64_t available_host_bytes();

// Pages of this range that are touched from now on come from `node` alone. Empty, or why not
// (containers may forbid it). `data` is aligned to a page.
[[nodiscard]] std::string bind_pages(void* data, std::int64_t bytes, int node);

// Where the page lies that holds this byte; null if the kernel does not say.
[[nodiscard]] std::optional<int> node_of_page(const void* byte);

}  // namespace assay
