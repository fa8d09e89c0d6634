// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner/binding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "bench/node/pci.h"
#include "reports/text.h"

namespace assay {
namespace {

// A number of a CPU, with nothing behind it.
std::optional<int> cpu_number(const std::string& text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  // As many as a cpu_set_t holds: a list that names more was not written by a kernel we know.
  if (!whole || number < 0 || number >= CPU_SETSIZE) return std::nullopt;
  return number;
}

}  // namespace

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

std::optional<std::vector<int>> parse_cpu_list(const std::string& text) {
  std::vector<int> cpus;
  for (const std::string& range : split(text, ',')) {
    const std::size_t dash = range.find('-');
    const std::optional<int> first = cpu_number(range.substr(0, dash));
    const std::optional<int> last =
        dash == std::string::npos ? first : cpu_number(range.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  std::ranges::sort(cpus);
  return cpus;
}

std::string cpu_list(const std::vector<int>& cpus) {
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    ranges.push_back(last == i ? std::to_string(cpus[i])
                               : fmt::format("{}-{}", cpus[i], cpus[last]));
    i = last + 1;
  }
  return fmt::format("{}", fmt::join(ranges, ","));
}

Binding bind_to_node(std::optional<int> node, const std::filesystem::path& sysfs,
                     const std::vector<int>& allowed) {
  if (!node) return {{}, "not bound: the NUMA node is not known"};
  const std::filesystem::path file =
      sysfs / "devices" / "system" / "node" / fmt::format("node{}", *node) / "cpulist";
  const std::optional<std::vector<int>> cpus = parse_cpu_list(read_trimmed(file));
  if (!cpus) return {{}, fmt::format("not bound: the cpulist of node {} is not readable", *node)};
  Binding binding;
  std::ranges::set_intersection(*cpus, allowed, std::back_inserter(binding.cpus));
  if (binding.cpus.empty()) {
    binding.text = fmt::format("not bound: none of the cpus of node {} may be used", *node);
  } else {
    binding.text = fmt::format("node {}, cpus {}", *node, cpu_list(binding.cpus));
  }
  return binding;
}

}  // namespace assay
