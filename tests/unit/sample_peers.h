// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What joins the GPUs of a sample report, and rows between them.
//
//   Report report = on_switch(8);
//   add_pair_rows(report, "p2p_write", 390);           // each GPU to each other
//   row_between(report, "p2p_write", 1, 3).metrics ...
#pragma once

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "tests/unit/sample_report.h"

namespace assay::samples {

inline Report joined(Report report, bool by_switch, int links) {
  std::vector<GpuInventory>& gpus = report.inventory.gpus;
  for (GpuInventory& gpu : gpus) {
    GpuNvlinks& own = gpu.nvlinks.emplace();
    own.present = own.active = 18;
    own.version = 4;
    if (by_switch) own.to_switch = 18;
    for (const GpuInventory& other : gpus) {
      if (!by_switch && other.uuid != gpu.uuid) own.to_gpus[*other.bus_id] = links;
    }
  }
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (std::size_t j = i + 1; j < gpus.size(); ++j) {
      report.inventory.peers.push_back(
          {gpus[i].uuid, gpus[j].uuid, links, "NODE", "ok", "ok", "ok", {}});
    }
  }
  return report;
}
// 18 links of each GPU to a switch.
inline Report on_switch(int gpus) { return joined(sample_report(gpus), true, 18); }
// Six links of each GPU to each other one.
inline Report four_direct() { return joined(sample_report(4), false, 6); }

inline GpuPeer& pair_of(Report& report, std::size_t a, std::size_t b) {
  for (GpuPeer& pair : report.inventory.peers) {
    if (pair.gpu == report.inventory.gpus[a].uuid && pair.peer == report.inventory.gpus[b].uuid) {
      return pair;
    }
  }
  throw Error(ExitCode::kMeasurement, "no such pair");
}

// Takes one link between two GPUs down at both ends.
inline void take_link_down(Report& report, std::size_t a, std::size_t b, int at_a, int at_b) {
  for (const auto& [from, to, link] : {std::tuple(a, b, at_a), std::tuple(b, a, at_b)}) {
    GpuNvlinks& links = *report.inventory.gpus[from].nvlinks;
    --links.active;
    links.down.push_back(link);
    --links.to_gpus[*report.inventory.gpus[to].bus_id];
  }
  --*pair_of(report, a, b).nvlinks;
}
// Of a GPU behind a switch.
inline void take_switch_link_down(Report& report, std::size_t gpu, int link) {
  GpuNvlinks& links = *report.inventory.gpus[gpu].nvlinks;
  --links.active;
  --links.to_switch;
  links.down.push_back(link);
  for (GpuPeer& pair : report.inventory.peers) {
    const std::string& uuid = report.inventory.gpus[gpu].uuid;
    if (pair.gpu == uuid || pair.peer == uuid)
      *pair.nvlinks = std::min(*pair.nvlinks, links.active);
  }
}

inline std::string peer_id(const std::string& kind, std::size_t to) {
  return fmt::format("links/{}/512MiB+to={}/burst", kind, to);
}

// One row from each GPU to each other, near `usual`.
inline void add_pair_rows(Report& report, const std::string& kind, double usual) {
  const std::vector<GpuInventory> gpus = report.inventory.gpus;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (std::size_t j = 0; j < gpus.size(); ++j) {
      if (i == j) continue;
      std::vector<double> values;
      for (const double run : {0.0, 0.1, 0.2, 0.3, 0.4}) values.push_back(usual + run);
      Record record = sample_record(kRead, device_of(gpus[i]), values);
      record.id = peer_id(kind, j);
      record.family = "links";
      record.work.pipe = kind == "p2p_both" ? kPeerBoth : kPeer;
      record.parameters = {{"peer_uuid", gpus[j].uuid}};
      report.records.push_back(record);
    }
  }
}

inline Record& row_between(Report& report, const std::string& kind, std::size_t from,
                           std::size_t to) {
  return record_of(report, peer_id(kind, to), static_cast<int>(from));
}
inline void set_rate(Report& report, const std::string& kind, std::size_t from, std::size_t to,
                     double value) {
  set_values(report, peer_id(kind, to), static_cast<int>(from),
             {value, value + 0.1, value + 0.2, value + 0.3, value + 0.4});
}
inline void add_floor(Report& report, const std::string& kind, std::size_t to, double floor) {
  Target one = target(peer_id(kind, to), "gb_per_s", floor, floor * 1.05, 0.2);
  one.pipe = kind == "p2p_both" ? kPeerBoth : kPeer;
  report.targets[0].targets.push_back(one);
}

}  // namespace assay::samples
