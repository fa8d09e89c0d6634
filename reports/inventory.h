// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What the node holds, as found: filled by bench/node, judged by faults.h. A quantity that could
// not be read is null and `unreadable` says why (field name -> "nvmlDeviceGetSerial: Not
// Supported"); its key "after" says why nothing could be read after the load.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/json_fields.h"
#include "reports/topology.h"

namespace assay {

// Counters that should not move, and settings that should not change, under load.
struct GpuHealth {
  std::optional<std::int64_t> ecc_corrected_volatile;
  std::optional<std::int64_t> ecc_uncorrected_volatile;
  std::optional<std::int64_t> ecc_uncorrected_aggregate;
  std::optional<std::int64_t> remapped_rows_corrected;
  std::optional<std::int64_t> remapped_rows_uncorrected;
  std::optional<bool> remap_pending;
  std::optional<bool> remap_failure;
  std::optional<std::int64_t> pcie_replays;
  std::optional<std::int64_t> nvlink_replays;  // over all links
  std::optional<std::int64_t> nvlink_recoveries;
  std::optional<std::int64_t> nvlink_crc_errors;
  std::optional<double> power_limit_w;
  std::optional<double> temperature_c;
  std::optional<std::int64_t> energy_mj;  // millijoules since the driver was loaded

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("ecc_corrected_volatile", self.ecc_corrected_volatile);
    archive("ecc_uncorrected_volatile", self.ecc_uncorrected_volatile);
    archive("ecc_uncorrected_aggregate", self.ecc_uncorrected_aggregate);
    archive("remapped_rows_corrected", self.remapped_rows_corrected);
    archive("remapped_rows_uncorrected", self.remapped_rows_uncorrected);
    archive("remap_pending", self.remap_pending);
    archive("remap_failure", self.remap_failure);
    archive("pcie_replays", self.pcie_replays);
    archive("nvlink_replays", self.nvlink_replays);
    archive("nvlink_recoveries", self.nvlink_recoveries);
    archive("nvlink_crc_errors", self.nvlink_crc_errors);
    archive("power_limit_w", self.power_limit_w);
    archive("temperature_c", self.temperature_c);
    archive("energy_mj", self.energy_mj);
  }
};

// What a counter gained; null where either reading is missing. NVML's counters are unsigned: a
// negative one was not read from it.
[[nodiscard]] inline std::optional<std::int64_t> counter_gain(std::optional<std::int64_t> before,
                                                              std::optional<std::int64_t> after) {
  if (!before || !after || *before < 0 || *after < 0) return std::nullopt;
  return *after - *before;
}

// An error that the driver reported of a GPU during the run.
struct XidEvent {
  int xid = 0;
  std::string time;  // UTC, RFC 3339: when it was received

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("xid", self.xid);
    archive("time", self.time);
  }
};

struct MigSlice {
  std::string uuid;
  std::string name;  // "NVIDIA A100-SXM4-40GB MIG 3g.20gb"

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("uuid", self.uuid);
    archive("name", self.name);
  }
};

struct GpuProcess {
  std::int64_t pid = 0;
  std::optional<std::int64_t> memory_bytes;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("pid", self.pid);
    archive("memory_bytes", self.memory_bytes);
  }
};

struct GpuInventory {
  int index = 0;  // NVML's, for the eye only
  std::string uuid;
  std::string name;
  std::optional<std::string> sku;  // slug of configs/gpus by name, SM count and memory
  std::optional<std::string> serial;
  std::optional<int> module_id;
  std::optional<std::string> bus_id;  // 0000:19:00.0
  std::optional<std::string> board_part_number;
  std::optional<std::string> vbios;
  std::optional<std::string> inforom;
  std::optional<int> sm_count;
  std::optional<std::string> compute_capability;  // "9.0"
  std::optional<std::int64_t> memory_bytes;
  std::optional<int> memory_bus_bits;
  std::optional<double> memory_clock_max_mhz;
  std::optional<double> sm_clock_max_mhz;
  std::optional<double> power_limit_w;
  std::optional<double> power_limit_default_w;
  std::optional<bool> ecc;
  std::optional<bool> ecc_pending;
  std::optional<bool> persistence;
  std::optional<bool> mig;
  std::vector<MigSlice> mig_slices;
  std::vector<GpuProcess> processes;  // compute processes found before the first load
  std::optional<int> pcie_generation_max;
  std::optional<int> pcie_width;
  std::optional<int> pcie_width_max;
  std::optional<int> numa_node;
  // Of the host, and able to slow transfers: type of the IOMMU group ("none", "identity", "DMA",
  // ...), whether a port above redirects (ACS), whether relaxed ordering is allowed.
  std::optional<std::string> iommu;
  std::optional<bool> acs_redirect;
  std::optional<bool> relaxed_ordering;
  // Virtual functions that are switched on, and that the card offers (SR-IOV).
  std::optional<int> sriov_vfs;
  std::optional<int> sriov_vfs_max;
  std::optional<GpuNvlinks> nvlinks;
  std::optional<double> slowdown_temperature_c;
  GpuHealth before;
  GpuHealth after;
  std::optional<std::vector<XidEvent>> xids;  // during the run; null: not watched
  std::map<std::string, std::string> unreadable;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("index", self.index);
    archive("uuid", self.uuid);
    archive("name", self.name);
    archive("sku", self.sku);
    archive("serial", self.serial);
    archive("module_id", self.module_id);
    archive("bus_id", self.bus_id);
    archive("board_part_number", self.board_part_number);
    archive("vbios", self.vbios);
    archive("inforom", self.inforom);
    archive("sm_count", self.sm_count);
    archive("compute_capability", self.compute_capability);
    archive("memory_bytes", self.memory_bytes);
    archive("memory_bus_bits", self.memory_bus_bits);
    archive("memory_clock_max_mhz", self.memory_clock_max_mhz);
    archive("sm_clock_max_mhz", self.sm_clock_max_mhz);
    archive("power_limit_w", self.power_limit_w);
    archive("power_limit_default_w", self.power_limit_default_w);
    archive("ecc", self.ecc);
    archive("ecc_pending", self.ecc_pending);
    archive("persistence", self.persistence);
    archive("mig", self.mig);
    archive("mig_slices", self.mig_slices);
    archive("processes", self.processes);
    archive("pcie_generation_max", self.pcie_generation_max);
    archive("pcie_width", self.pcie_width);
    archive("pcie_width_max", self.pcie_width_max);
    archive("numa_node", self.numa_node);
    archive("iommu", self.iommu);
    archive("acs_redirect", self.acs_redirect);
    archive("relaxed_ordering", self.relaxed_ordering);
    archive("sriov_vfs", self.sriov_vfs);
    archive("sriov_vfs_max", self.sriov_vfs_max);
    archive("nvlinks", self.nvlinks);
    archive("slowdown_temperature_c", self.slowdown_temperature_c);
    archive("before", self.before);
    archive("after", self.after);
    archive("xids", self.xids);
    archive("unreadable", self.unreadable);
  }
};

struct HostInventory {
  std::string host_name;
  std::string os;
  std::string kernel;
  std::string cpu_model;
  int cpus = 0;  // processors that this process may use
  int numa_nodes = 0;
  std::optional<std::int64_t> memory_bytes;
  std::optional<std::string> board;
  std::optional<std::string> bios;
  std::optional<std::string> boot_id;
  std::optional<double> uptime_s;
  std::string virtualisation;  // "bare metal", "vm", "container"
  bool root = false;
  std::map<std::string, std::string> unreadable;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("host_name", self.host_name);
    archive("os", self.os);
    archive("kernel", self.kernel);
    archive("cpu_model", self.cpu_model);
    archive("cpus", self.cpus);
    archive("numa_nodes", self.numa_nodes);
    archive("memory_bytes", self.memory_bytes);
    archive("board", self.board);
    archive("bios", self.bios);
    archive("boot_id", self.boot_id);
    archive("uptime_s", self.uptime_s);
    archive("virtualisation", self.virtualisation);
    archive("root", self.root);
    archive("unreadable", self.unreadable);
  }
};

struct Inventory {
  std::vector<GpuInventory> gpus;  // as NVML sees them
  std::vector<GpuPeer> peers;      // each pair of them
  std::vector<Nic> nics;
  std::vector<std::string> pci_gpus;  // bus ids of NVIDIA display controllers on the PCI bus
  // Those of pci_gpus that are not ours to use: no device node that we may open, or given to vfio.
  std::vector<std::string> hidden_gpus;
  std::optional<std::string> driver;       // "580.159.04"; null: no kernel driver loaded
  std::optional<std::string> cuda_driver;  // highest CUDA that the driver serves, "13.0"
  std::optional<std::string> nvml;         // NVML's version; null: not found or not initialised
  std::string nvml_error;                  // why `nvml` is null
  HostInventory host;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("gpus", self.gpus);
    archive("peers", self.peers);
    archive("nics", self.nics);
    archive("pci_gpus", self.pci_gpus);
    archive("hidden_gpus", self.hidden_gpus);
    archive("driver", self.driver);
    archive("cuda_driver", self.cuda_driver);
    archive("nvml", self.nvml);
    archive("nvml_error", self.nvml_error);
    archive("host", self.host);
  }
};

}  // namespace assay
