// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/links/cases.h"

#include <fmt/format.h>

#include <array>

#include "bench/links/copy_case.h"
#include "bench/links/zerocopy_case.h"
#include "bench/node/pci.h"
#include "reports/text.h"

namespace assay {
namespace {

constexpr std::array<const char*, 20> kListed = {"links/h2d/512MiB/burst",
                                                 "links/d2h/512MiB/burst",
                                                 "links/both/512MiB/burst",
                                                 "links/h2d/512MiB+sm/burst",
                                                 "links/d2h/512MiB+sm/burst",
                                                 "links/both/512MiB+sm/burst",
                                                 "links/h2d/512MiB+pageable/burst",
                                                 "links/d2h/512MiB+pageable/burst",
                                                 "links/h2d/512MiB+far/burst",
                                                 "links/d2h/512MiB+far/burst",
                                                 "links/zerocopy/512MiB/burst",
                                                 "links/latency/h2d/burst",
                                                 "links/latency/d2h/burst",
                                                 "links/latency/zerocopy/burst",
                                                 "links/p2p_write/512MiB+to=each/burst",
                                                 "links/p2p_read/512MiB+to=each/burst",
                                                 "links/p2p_both/512MiB+to=each/burst",
                                                 "links/p2p_write/512MiB+sm+to=each/burst",
                                                 "links/p2p_read/512MiB+sm+to=each/burst",
                                                 "links/latency/p2p+to=each/burst"};

const char* pipe_of(const LinkSpec& spec, const HostLink& link) {
  if (link.coherent) return "c2c";
  return spec.transfer == Transfer::kBoth ? "pcie_both" : "pcie";
}

std::string why_not(const LinkSpec& spec, const CudaDevice& device, const HostLink& link) {
  if (spec.far && !link.near.node) {
    return fmt::format("the GPU's NUMA node is not known ({}): which is far?", link.near.why);
  }
  if (spec.far && !link.far) return "the host has one NUMA node with memory";
  const double slots = link_slots(device.l2_bytes, spec.bytes);
  const double needed = spec.latency                           ? 0
                        : spec.transfer == Transfer::kZeroCopy ? 0
                                                               : slots * spec.bytes_moved();
  if (needed <= 0.9 * static_cast<double>(device.memory_bytes)) return {};
  return fmt::format("needs {:.0f} GiB of device memory, the device has {:.0f}", needed / (1 << 30),
                     static_cast<double>(device.memory_bytes) / (1 << 30));
}

CaseEntry entry_of(const LinkSpec& spec, const CudaDevice& device, const HostLink& link,
                   cudaStream_t stream) {
  const std::optional<int> node = spec.far ? link.far : link.near.node;
  const auto as_json = [](std::optional<int> value) { return value ? Json(*value) : Json(); };
  CaseEntry entry;
  entry.info.id = id_of(spec);
  entry.info.parameters = parameters_of(spec);
  entry.info.parameters["gpu_numa_node"] = as_json(link.near.node);
  entry.info.parameters["host_numa_node"] = as_json(node);
  if (spec.latency) entry.info.work.loads = spec.chases() ? kChaseLoads : 1;
  entry.info.work.bytes = spec.bytes_moved();
  entry.info.work.pipe = pipe_of(spec, link);
  entry.info.data = {{"fill", spec.chases() ? "random cycle" : "32-bit counter pattern"},
                     {"seed", kLinkSeed}};
  if (const std::string why = why_not(spec, device, link); !why.empty()) entry.skip = why;
  entry.make = [spec, device, node, stream]() -> std::unique_ptr<Case> {
    if (spec.transfer != Transfer::kZeroCopy) {
      return std::make_unique<CopyCase>(spec, device, node, stream);
    }
    if (spec.latency) return std::make_unique<HostChaseCase>(spec, node, stream);
    return std::make_unique<ZeroCopyCase>(spec, device, node, stream);
  };
  return entry;
}

}  // namespace

HostLink find_host_link() {
  HostLink link;
  std::array<char, 32> bus_id{};
  check_cuda(cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), 0),
             "cudaDeviceGetPCIBusId");
  link.bus_id = plain_bus_id(bus_id.data());
  link.near = numa_node_of(sysfs_root(), *link.bus_id);
  const std::vector<int> nodes = nodes_with_memory(sysfs_root());
  // The kernel names no node for a card of a host that has but one.
  if (!link.near.node && nodes.size() == 1) link.near.node = nodes.front();
  if (link.near.node) link.far = farthest_node(sysfs_root(), *link.near.node);
  int coherent = 0;
  check_cuda(
      cudaDeviceGetAttribute(&coherent, cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0),
      "cudaDeviceGetAttribute");
  link.coherent = coherent != 0;
  return link;
}

std::vector<CaseEntry> link_cases(const CudaDevice& device, const HostLink& link,
                                  const PeerGpus& peers, cudaStream_t stream) {
  std::vector<CaseEntry> entries;
  for (const char* id : kListed) {
    for (const LinkSpec& spec : each_peer(*parse_link_id(id), peers)) {
      entries.push_back(*link_case(id_of(spec), device, link, peers, stream));
    }
  }
  return entries;
}

std::optional<CaseEntry> link_case(const std::string& id, const CudaDevice& device,
                                   const HostLink& link, const PeerGpus& peers,
                                   cudaStream_t stream) {
  const std::optional<LinkSpec> spec = parse_link_id(id);
  if (!spec) return std::nullopt;
  if (spec->to) return peer_case(*spec, device, peers, stream);
  return entry_of(*spec, device, link, stream);
}

}  // namespace assay
