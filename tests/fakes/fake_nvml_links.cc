// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The third of the fake NVML that knows what joins its GPUs; without it the library is an old one.
// FAKE_NVML_TOPOLOGY=switch (18 links of each GPU to a switch), direct (18 links of each GPU, as
// many to each other one), anything else or none (no NVLink); FAKE_NVML_LINK_DOWN=gpu:link[,...]
// (that end of a link is not active); FAKE_NVML_LINK_VERSION (raw, default 6: NVLink 4),
// FAKE_NVML_LINK_END=255 (the type of every other end). FAKE_NVML_NVLINK=total or link, as in
// fake_nvml_load.cc, gives a GPU two links.
#include <cstdio>

#include "tests/fakes/fake_nvml.h"

using namespace fake_nvml;
namespace abi = assay::nvml_abi;

namespace {

unsigned gpus() { return static_cast<unsigned>(number("FAKE_NVML_GPUS", "1")); }
unsigned index_of(Device device) {
  return static_cast<unsigned>(reinterpret_cast<unsigned long>(device) - 1);
}

bool topology_is(const char* name) {
  return setting("FAKE_NVML_TOPOLOGY", "") == std::string(name);
}

unsigned links() {
  if (topology_is("switch") || topology_is("direct")) return 18;
  return std::string(setting("FAKE_NVML_NVLINK", "")).empty() ? 0 : 2;
}

bool is_down(Device device, unsigned link) {
  const std::string wanted = std::to_string(index_of(device)) + ":" + std::to_string(link);
  const std::string down = std::string(",") + setting("FAKE_NVML_LINK_DOWN", "") + ",";
  return down.find("," + wanted + ",") != std::string::npos;
}

// Of a link between GPUs: the next ones in turn.
unsigned other_end(Device device, unsigned link) {
  const unsigned each = links() / (gpus() - 1);
  return (index_of(device) + 1 + link / each) % gpus();
}

// What is asked of a link that is not active fails.
Return link_failure(const char* function, Device device, unsigned link) {
  if (const Return code = failure(function)) return code;
  if (links() == 0) return abi::kNotSupported;
  if (link >= links()) return abi::kInvalidArgument;
  return is_down(device, link) ? abi::kNotSupported : 0;
}

}  // namespace

extern "C" {

Return nvmlDeviceGetNvLinkState(Device device, unsigned link, unsigned* out) {
  if (const Return code = failure("nvmlDeviceGetNvLinkState")) return code;
  if (links() == 0) return abi::kNotSupported;
  if (link >= links()) return abi::kInvalidArgument;
  *out = is_down(device, link) ? 0 : 1;
  return 0;
}

Return nvmlDeviceGetNvLinkVersion(Device device, unsigned link, unsigned* out) {
  if (const Return code = link_failure("nvmlDeviceGetNvLinkVersion", device, link)) return code;
  *out = static_cast<unsigned>(number("FAKE_NVML_LINK_VERSION", "6"));
  return 0;
}

Return nvmlDeviceGetNvLinkRemoteDeviceType(Device device, unsigned link, unsigned* out) {
  if (const Return code = link_failure("nvmlDeviceGetNvLinkRemoteDeviceType", device, link)) {
    return code;
  }
  *out = static_cast<unsigned>(number("FAKE_NVML_LINK_END", topology_is("direct") ? "0" : "2"));
  return 0;
}

Return nvmlDeviceGetNvLinkRemotePciInfo_v2(Device device, unsigned link, abi::PciInfo* out) {
  if (const Return code = link_failure("nvmlDeviceGetNvLinkRemotePciInfo_v2", device, link)) {
    return code;
  }
  *out = {};
  std::snprintf(out->bus_id.data(), out->bus_id.size(), "00000000:%02X:00.0",
                0x10 + other_end(device, link));
  return 0;
}

// Four GPUs a socket.
Return nvmlDeviceGetTopologyCommonAncestor(Device a, Device b, unsigned* out) {
  if (const Return code = failure("nvmlDeviceGetTopologyCommonAncestor")) return code;
  *out = index_of(a) / 4 == index_of(b) / 4 ? 40 : 50;
  return 0;
}

Return nvmlDeviceGetP2PStatus(Device, Device, unsigned which, unsigned* out) {
  if (const Return code = failure("nvmlDeviceGetP2PStatus")) return code;
  constexpr unsigned kNotSupportedHere = 5;
  *out = which == abi::kP2pNvLink && links() == 0 ? kNotSupportedHere : 0;
  return 0;
}

}  // extern "C"
