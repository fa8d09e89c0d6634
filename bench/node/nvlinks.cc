// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/node/nvlinks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/text.h"

namespace assay {
namespace {

using nvml_abi::Device;

#define ASSAY_NVML(function) nvml.function, #function  // NOLINT

// nvmlNvlinkVersion_t counts 1.0, 2.0, 2.2, 3.0, 3.1, 4.0, 5.0 from 1.
constexpr std::array<int, 8> kVersions = {0, 1, 2, 2, 3, 3, 4, 5};

// Hopper is known to call itself NVLink 5: what the silicon does not have is not believed.
int newest_of(const std::string& compute_capability) {
  if (compute_capability.starts_with("7.")) return 2;
  if (compute_capability.starts_with("8.")) return 3;
  return compute_capability.starts_with("9.") ? 4 : kVersions.back();
}

void read_version(const Nvml& nvml, Device device, unsigned link, GpuInventory& gpu,
                  GpuNvlinks& links) {
  unsigned raw = 0;
  std::string error = nvml.call(ASSAY_NVML(nvmlDeviceGetNvLinkVersion), device, link, &raw);
  const int version = raw < kVersions.size() ? kVersions.at(raw) : 0;
  const std::string capability = gpu.compute_capability.value_or("");
  if (error.empty() && (version == 0 || version > newest_of(capability))) {
    error = fmt::format("implausible: version {} on compute capability {}", raw, capability);
  }
  if (error.empty()) {
    links.version = version;
  } else {
    gpu.unreadable["nvlink_version"] = error;
  }
}

void read_end(const Nvml& nvml, Device device, unsigned link, GpuInventory& gpu,
              GpuNvlinks& links) {
  unsigned type = 0;
  nvml_abi::PciInfo pci{};
  std::string error =
      nvml.call(ASSAY_NVML(nvmlDeviceGetNvLinkRemoteDeviceType), device, link, &type);
  if (error.empty() && type == nvml_abi::kLinkToSwitch) {
    ++links.to_switch;
    return;
  }
  if (error.empty() && type == nvml_abi::kLinkToGpu) {
    error = nvml.call(ASSAY_NVML(nvmlDeviceGetNvLinkRemotePciInfo_v2), device, link, &pci);
    if (error.empty()) {
      ++links.to_gpus[plain_bus_id(pci.bus_id.data())];
      return;
    }
  }
  ++links.to_other;
  if (!error.empty()) gpu.unreadable["nvlink_ends"] = error;
}

// nvmlGpuTopologyLevel_t: one board 0, a bridge 10, bridges 20, host bridge 30, node 40, system 50.
std::string path_of(unsigned level) {
  if (level < 20) return "PIX";
  if (level < 30) return "PXB";
  if (level < 40) return "PHB";
  return level < 50 ? "NODE" : "SYS";
}

// nvmlGpuP2PStatus_t.
std::string p2p_text(unsigned status) {
  constexpr std::array<const char*, 6> kTexts = {"ok",
                                                 "the chipset does not support it",
                                                 "the GPU does not support it",
                                                 "the topology does not support it",
                                                 "disabled in the driver's settings",
                                                 "not supported"};
  return status < kTexts.size() ? kTexts.at(status) : "unknown";
}

// Null, and why, where a link's other end is not known.
std::optional<int> links_between(const GpuInventory& a, const GpuInventory& b, std::string& why) {
  for (const GpuInventory* gpu : {&a, &b}) {
    if (!gpu->nvlinks) {
      const auto found = gpu->unreadable.find("nvlinks");
      why = found == gpu->unreadable.end() ? "not read" : found->second;
      return std::nullopt;
    }
    if (gpu->nvlinks->to_other > 0 || !gpu->bus_id) {
      why = fmt::format("the other end of {} of GPU {} is not known",
                        counted(gpu->nvlinks->to_other, "link"), gpu->index);
      return std::nullopt;
    }
  }
  const auto direct = [](const GpuInventory& from, const GpuInventory& to) {
    const auto found = from.nvlinks->to_gpus.find(*to.bus_id);
    return found == from.nvlinks->to_gpus.end() ? 0 : found->second;
  };
  return std::min(direct(a, b), direct(b, a)) +
         std::min(a.nvlinks->to_switch, b.nvlinks->to_switch);
}

GpuPeer read_peer(const Nvml& nvml, Device a, Device b) {
  GpuPeer peer;
  unsigned level = 0;
  std::string error = nvml.call(ASSAY_NVML(nvmlDeviceGetTopologyCommonAncestor), a, b, &level);
  if (error.empty()) {
    peer.path = path_of(level);
  } else {
    peer.unreadable["path"] = error;
  }
  struct Status {
    const char* field;
    unsigned index;
    std::optional<std::string> GpuPeer::* out;
  };
  for (const Status& status : {Status{"p2p_read", nvml_abi::kP2pRead, &GpuPeer::p2p_read},
                               Status{"p2p_write", nvml_abi::kP2pWrite, &GpuPeer::p2p_write},
                               Status{"p2p_nvlink", nvml_abi::kP2pNvLink, &GpuPeer::p2p_nvlink}}) {
    unsigned found = 0;
    error = nvml.call(ASSAY_NVML(nvmlDeviceGetP2PStatus), a, b, status.index, &found);
    if (error.empty()) {
      peer.*status.out = p2p_text(found);
    } else {
      peer.unreadable[status.field] = error;
    }
  }
  return peer;
}

}  // namespace

void read_nvlinks(const Nvml& nvml, Device device, GpuInventory& gpu) {
  GpuNvlinks links;
  std::string why = "nvmlDeviceGetNvLinkState: not in this NVML";
  for (unsigned link = 0; link < nvml_abi::kMaxNvLinks; ++link) {
    if (nvml.nvmlDeviceGetNvLinkState == nullptr) break;
    unsigned active = 0;
    const nvml_abi::Return code = nvml.nvmlDeviceGetNvLinkState(device, link, &active);
    const bool lost = code != 0 && code != nvml_abi::kInvalidArgument &&
                      code != nvml_abi::kNotSupported;  // no count is left then
    if (lost) links = {};
    if (lost || (code != 0 && link == 0)) {
      why = "nvmlDeviceGetNvLinkState: " + nvml.error_text(code);
    }
    if (lost) break;
    if (code != 0) continue;
    ++links.present;
    if (active == 0) {
      links.down.push_back(static_cast<int>(link));
      continue;
    }
    if (links.active++ == 0) read_version(nvml, device, link, gpu, links);
    read_end(nvml, device, link, gpu, links);
  }
  if (links.present > 0) {
    gpu.nvlinks = links;
  } else {
    gpu.unreadable["nvlinks"] = why;
  }
}

std::vector<GpuPeer> read_peers(const Nvml& nvml, const std::vector<Device>& devices,
                                const std::vector<GpuInventory>& gpus) {
  std::vector<GpuPeer> peers;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (std::size_t j = i + 1; j < gpus.size(); ++j) {
      GpuPeer peer = read_peer(nvml, devices[i], devices[j]);
      peer.gpu = gpus[i].uuid;
      peer.peer = gpus[j].uuid;
      std::string why;
      peer.nvlinks = links_between(gpus[i], gpus[j], why);
      if (!peer.nvlinks) peer.unreadable["nvlinks"] = why;
      peers.push_back(std::move(peer));
    }
  }
  return peers;
}

#undef ASSAY_NVML

}  // namespace assay
