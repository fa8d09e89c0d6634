// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What joins the GPUs of a node to each other and to the network, as found: parts of the inventory
// (inventory.h). Bus ids as in sysfs, "0000:19:00.0".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/json_fields.h"

namespace assay {

// A GPU's NVLinks. Active ones are counted by what is at their other end.
struct GpuNvlinks {
  int present = 0;  // links that NVML tells of, active or not
  int active = 0;
  std::vector<int> down;       // numbers of those that are not active
  std::optional<int> version;  // 3 of Ampere, 4 of Hopper
  int to_switch = 0;
  std::map<std::string, int> to_gpus;  // by bus id
  int to_other = 0;                    // a processor's, or NVML does not say

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("present", self.present);
    archive("active", self.active);
    archive("down", self.down);
    archive("version", self.version);
    archive("to_switch", self.to_switch);
    archive("to_gpus", self.to_gpus);
    archive("to_other", self.to_other);
  }
};

// Two GPUs, listed once. `p2p_*` is "ok" or NVML's reason against it.
struct GpuPeer {
  std::string gpu;   // uuid, of the lower index
  std::string peer;  // uuid
  // Between the two: those that end in the other GPU, or, through a switch, as many as both have.
  std::optional<int> nvlinks;
  // Over PCIe, in the words of `nvidia-smi topo -m`: PIX (one bridge), PXB (several), PHB (a host
  // bridge), NODE (several of one NUMA node), SYS (between NUMA nodes), also where NVLink is there.
  std::optional<std::string> path;
  std::optional<std::string> p2p_read;
  std::optional<std::string> p2p_write;
  std::optional<std::string> p2p_nvlink;
  std::map<std::string, std::string> unreadable;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("gpu", self.gpu);
    archive("peer", self.peer);
    archive("nvlinks", self.nvlinks);
    archive("path", self.path);
    archive("p2p_read", self.p2p_read);
    archive("p2p_write", self.p2p_write);
    archive("p2p_nvlink", self.p2p_nvlink);
    archive("unreadable", self.unreadable);
  }
};

struct NicPort {
  int port = 0;
  std::optional<std::string> state;           // "ACTIVE", "DOWN"
  std::optional<std::string> physical_state;  // "LinkUp", "Polling"
  std::optional<double> gbit_per_s;
  std::optional<std::string> link_layer;  // "InfiniBand", "Ethernet"

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("port", self.port);
    archive("state", self.state);
    archive("physical_state", self.physical_state);
    archive("gbit_per_s", self.gbit_per_s);
    archive("link_layer", self.link_layer);
  }
};

struct NicInterface {
  std::string name;                  // "eth0"
  std::optional<std::string> state;  // "up", "down"
  std::optional<double> gbit_per_s;  // null while it is down

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("name", self.name);
    archive("state", self.state);
    archive("gbit_per_s", self.gbit_per_s);
  }
};

// A network card's PCI function, with its RDMA device and network interfaces.
struct Nic {
  std::string bus_id;
  std::optional<int> numa_node;
  std::optional<std::string> rdma;  // "mlx5_0"; null: it has none
  std::optional<std::string> firmware;
  std::optional<int> pcie_width;
  std::optional<int> pcie_width_max;
  std::optional<double> pcie_gt_per_s;  // a lane, of the link as it is now
  std::optional<double> pcie_gt_per_s_max;
  std::vector<NicPort> ports;  // of the RDMA device
  std::vector<NicInterface> interfaces;
  std::map<std::string, std::string> unreadable;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("bus_id", self.bus_id);
    archive("numa_node", self.numa_node);
    archive("rdma", self.rdma);
    archive("firmware", self.firmware);
    archive("pcie_width", self.pcie_width);
    archive("pcie_width_max", self.pcie_width_max);
    archive("pcie_gt_per_s", self.pcie_gt_per_s);
    archive("pcie_gt_per_s_max", self.pcie_gt_per_s_max);
    archive("ports", self.ports);
    archive("interfaces", self.interfaces);
    archive("unreadable", self.unreadable);
  }
};

}  // namespace assay
