// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The processors on which a GPU's process runs: those of the GPU's NUMA node, so that its host
// memory is near.
//
//   const Binding binding = bind_to_node(gpu.numa_node, sysfs_root(), allowed_cpus());
//   binding.text;   // "node 0, cpus 0-47", or "not bound: the NUMA node is not known"
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct Binding {
  std::vector<int> cpus;  // empty: not bound
  std::string text;
};

// Of this process, in ascending order; empty where the kernel does not say.
[[nodiscard]] std::vector<int> allowed_cpus();

// "0-2,5" -> {0, 1, 2, 5}; null for anything else, an empty text included.
[[nodiscard]] std::optional<std::vector<int>> parse_cpu_list(const std::string& text);
[[nodiscard]] std::string cpu_list(const std::vector<int>& cpus);

[[nodiscard]] Binding bind_to_node(std::optional<int> node, const std::filesystem::path& sysfs,
                                   const std::vector<int>& allowed);

}  // namespace assay
