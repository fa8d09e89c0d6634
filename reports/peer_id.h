// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Cases over a link between two GPUs name the other one in their id, by NVML's index; in a suite
// `each` stands for every other GPU of the node.
//
//   peer_of_id("links/p2p_write/512MiB+sm+to=3/burst")        // "3"
//   peer_of_id("links/h2d/512MiB/burst")                      // null
//   with_peer("links/latency/p2p+to=each/burst", 5)           // "links/latency/p2p+to=5/burst"
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

inline constexpr std::string_view kPeerVariant = "+to=";
inline constexpr std::string_view kEachPeerName = "each";

[[nodiscard]] inline std::optional<std::string_view> peer_of_id(std::string_view id) {
  const std::size_t at = id.find(kPeerVariant);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = id.substr(at + kPeerVariant.size());
  return rest.substr(0, std::min(rest.find_first_of("+/"), rest.size()));
}

// As it is if it names no peer.
[[nodiscard]] inline std::string with_peer(std::string id, int index) {
  const std::optional<std::string_view> peer = peer_of_id(id);
  if (!peer) return id;
  const std::size_t at = static_cast<std::size_t>(peer->data() - id.data());
  return id.replace(at, peer->size(), std::to_string(index));
}

}  // namespace assay
