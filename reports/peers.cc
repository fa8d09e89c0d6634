// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/peers.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay {

const GpuPeer* find_peer(const Inventory& inventory, std::string_view a, std::string_view b) {
  const auto found = std::ranges::find_if(inventory.peers, [&](const GpuPeer& pair) {
    return (pair.gpu == a && pair.peer == b) || (pair.gpu == b && pair.peer == a);
  });
  return found == inventory.peers.end() ? nullptr : &*found;
}

std::string peer_uuid(const Record& record) {
  return is_peer(record.work.pipe) ? text_of(record.parameters, "peer_uuid") : std::string();
}

std::optional<bool> on_nvlink(const GpuPeer& pair) {
  const bool denied = pair.p2p_nvlink && *pair.p2p_nvlink != "ok";
  if (pair.nvlinks) return *pair.nvlinks > 0 && !denied;
  // A driver that does not tell of links denies what it does not know, too.
  return pair.p2p_nvlink && !denied ? std::optional(true) : std::nullopt;
}

std::string joined_text(const GpuPeer& pair) {
  if (pair.nvlinks.value_or(0) > 0) return fmt::format("NV{}", *pair.nvlinks);
  return on_nvlink(pair) == true ? "NVLink" : pair.path.value_or("unread");
}

bool is_sxm(const GpuInventory& gpu) {
  return gpu.sku && gpu.sku->find("-sxm") != std::string::npos;
}

const GpuSpec* find_spec(const Report& report, const std::optional<std::string>& sku) {
  for (const GpuSpec& spec : report.limits) {
    if (sku == spec.sku) return &spec;
  }
  return nullptr;
}

double nvlink_gb_per_s(const GpuSpec& spec) {
  return spec.nvlink_links > 0 ? spec.nvlink_gb_per_s / spec.nvlink_links / 2 : 0;
}

int full_nvlinks(const Report& report, const GpuPeer& pair, const GpuSpec& spec) {
  const GpuInventory* gpu = find_gpu(report, pair.gpu);
  if (gpu == nullptr || !gpu->nvlinks || gpu->nvlinks->to_gpus.empty()) return spec.nvlink_links;
  int most = 0;
  for (const GpuPeer& other : report.inventory.peers) {
    most = std::max(most, other.nvlinks.value_or(0));
  }
  return most > 0 ? most : spec.nvlink_links;  // no pair's number is known
}

}  // namespace assay
