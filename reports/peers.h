// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Pairs of GPUs: how the inventory says that they are joined, and which rows are about them.
//
//   const GpuPeer* pair = find_peer(report.inventory, record.device.uuid, peer_uuid(record));
//   if (pair != nullptr && on_nvlink(*pair) == true) ...
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reports/report.h"

namespace assay {

// In either order; null if the inventory has no such pair.
[[nodiscard]] const GpuPeer* find_peer(const Inventory& inventory, std::string_view a,
                                       std::string_view b);

// The other GPU of a row between two; empty of any other row.
[[nodiscard]] std::string peer_uuid(const Record& record);

// Whether what one sends the other goes over NVLink; null where nothing says so.
[[nodiscard]] std::optional<bool> on_nvlink(const GpuPeer& pair);

// As `nvidia-smi topo -m` has it: "NV18", "PIX", "SYS"; "unread".
[[nodiscard]] std::string joined_text(const GpuPeer& pair);

// Whether the card sits on a board that wires its NVLinks. On other cards a bridge may be missing.
[[nodiscard]] bool is_sxm(const GpuInventory& gpu);

// Of this card in report.limits; null if it has none.
[[nodiscard]] const GpuSpec* find_spec(const Report& report, const std::optional<std::string>& sku);

// Data sheet, GB/s of one NVLink one way; 0 of a card without.
[[nodiscard]] double nvlink_gb_per_s(const GpuSpec& spec);

// NVLinks that join the pair when all are up: through a switch all of the card's,
// directly the most that any two GPUs of the node share.
[[nodiscard]] int full_nvlinks(const Report& report, const GpuPeer& pair, const GpuSpec& spec);

}  // namespace assay
