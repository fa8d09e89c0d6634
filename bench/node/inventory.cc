// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/node/inventory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/node/host.h"
#include "bench/node/nics.h"
#include "bench/node/numa.h"
#include "bench/node/nvlinks.h"
#include "bench/node/nvml.h"
#include "bench/node/nvml_counters.h"
#include "bench/node/pci.h"
#include "bench/node/pci_facts.h"
#include "reports/text.h"

namespace assay {
namespace {

using nvml_abi::Device;

// Reads one device, noting under the field's name what could not be read.
class DeviceReader {
 public:
  DeviceReader(const Nvml& nvml, Device device, std::map<std::string, std::string>& unreadable)
      : nvml_(nvml), device_(device), unreadable_(unreadable) {}

  [[nodiscard]] bool ok(const char* field, const std::string& error) const {
    if (error.empty()) return true;
    unreadable_[field] = error;
    return false;
  }

  // A function of (device, selectors..., Raw*), stored as T times `scale`.
  template <class Raw, class T, class Function, class... Selectors>
  void number(const char* field, std::optional<T>& out, Function* function, const char* name,
              double scale, Selectors... selectors) const {
    Raw raw{};
    if (!ok(field, nvml_.call(function, name, device_, selectors..., &raw))) return;
    if constexpr (std::is_floating_point_v<T>) {
      out = static_cast<T>(raw) * scale;
    } else {
      out = static_cast<T>(raw);
    }
  }

  template <class Function>
  void text(const char* field, std::optional<std::string>& out, Function* function,
            const char* name) const {
    std::array<char, 96> buffer{};
    const auto size = static_cast<unsigned>(buffer.size());
    if (ok(field, nvml_.call(function, name, device_, buffer.data(), size))) out = buffer.data();
  }

 private:
  const Nvml& nvml_;
  Device device_;
  std::map<std::string, std::string>& unreadable_;
};

// A member function of Nvml and its name, for DeviceReader's calls.
#define ASSAY_NVML(function) nvml.function, #function  // NOLINT

void read_identity(const Nvml& nvml, Device device, GpuInventory& gpu) {
  const DeviceReader reader(nvml, device, gpu.unreadable);
  std::optional<std::string> name;
  std::optional<std::string> uuid;
  reader.text("name", name, ASSAY_NVML(nvmlDeviceGetName));
  reader.text("uuid", uuid, ASSAY_NVML(nvmlDeviceGetUUID));
  gpu.name = name.value_or("");
  gpu.uuid = uuid.value_or("");
  reader.text("serial", gpu.serial, ASSAY_NVML(nvmlDeviceGetSerial));
  reader.text("board_part_number", gpu.board_part_number, ASSAY_NVML(nvmlDeviceGetBoardPartNumber));
  reader.text("vbios", gpu.vbios, ASSAY_NVML(nvmlDeviceGetVbiosVersion));
  reader.text("inforom", gpu.inforom, ASSAY_NVML(nvmlDeviceGetInforomImageVersion));
  reader.number<unsigned>("module_id", gpu.module_id, ASSAY_NVML(nvmlDeviceGetModuleId), 1);
  nvml_abi::PciInfo pci{};
  if (reader.ok("bus_id", nvml.call(ASSAY_NVML(nvmlDeviceGetPciInfo_v3), device, &pci))) {
    gpu.bus_id = plain_bus_id(pci.bus_id.data());
  }
}

void read_silicon(const Nvml& nvml, Device device, GpuInventory& gpu) {
  const DeviceReader reader(nvml, device, gpu.unreadable);
  int major = 0;
  int minor = 0;
  unsigned cores = 0;
  if (reader.ok("compute_capability", nvml.call(ASSAY_NVML(nvmlDeviceGetCudaComputeCapability),
                                                device, &major, &minor))) {
    gpu.compute_capability = fmt::format("{}.{}", major, minor);
    if (reader.ok("sm_count", nvml.call(ASSAY_NVML(nvmlDeviceGetNumGpuCores), device, &cores))) {
      // NVML counts FP32 lanes: 64 an SM on 8.0, 128 on everything since.
      gpu.sm_count = static_cast<int>(cores) / (major == 8 && minor == 0 ? 64 : 128);
    }
  }
  nvml_abi::Memory memory{};
  if (reader.ok("memory_bytes", nvml.call(ASSAY_NVML(nvmlDeviceGetMemoryInfo), device, &memory))) {
    gpu.memory_bytes = static_cast<std::int64_t>(memory.total);
  }
  reader.number<unsigned>("memory_bus_bits", gpu.memory_bus_bits,
                          ASSAY_NVML(nvmlDeviceGetMemoryBusWidth), 1);
  reader.number<unsigned>("memory_clock_max_mhz", gpu.memory_clock_max_mhz,
                          ASSAY_NVML(nvmlDeviceGetMaxClockInfo), 1, nvml_abi::kClockMemory);
  reader.number<unsigned>("sm_clock_max_mhz", gpu.sm_clock_max_mhz,
                          ASSAY_NVML(nvmlDeviceGetMaxClockInfo), 1, nvml_abi::kClockSm);
}

void read_settings(const Nvml& nvml, Device device, GpuInventory& gpu) {
  const DeviceReader reader(nvml, device, gpu.unreadable);
  reader.number<unsigned>("power_limit_w", gpu.power_limit_w,
                          ASSAY_NVML(nvmlDeviceGetPowerManagementLimit), 1e-3);
  reader.number<unsigned>("power_limit_default_w", gpu.power_limit_default_w,
                          ASSAY_NVML(nvmlDeviceGetPowerManagementDefaultLimit), 1e-3);
  unsigned current = 0;
  unsigned pending = 0;
  if (reader.ok("ecc", nvml.call(ASSAY_NVML(nvmlDeviceGetEccMode), device, &current, &pending))) {
    gpu.ecc = current != 0;
    gpu.ecc_pending = pending != 0;
  }
  reader.number<unsigned>("persistence", gpu.persistence, ASSAY_NVML(nvmlDeviceGetPersistenceMode),
                          1);
  reader.number<unsigned>("pcie_generation_max", gpu.pcie_generation_max,
                          ASSAY_NVML(nvmlDeviceGetMaxPcieLinkGeneration), 1);
  reader.number<unsigned>("pcie_width", gpu.pcie_width, ASSAY_NVML(nvmlDeviceGetCurrPcieLinkWidth),
                          1);
  reader.number<unsigned>("pcie_width_max", gpu.pcie_width_max,
                          ASSAY_NVML(nvmlDeviceGetMaxPcieLinkWidth), 1);
  reader.number<unsigned>("slowdown_temperature_c", gpu.slowdown_temperature_c,
                          ASSAY_NVML(nvmlDeviceGetTemperatureThreshold), 1,
                          nvml_abi::kThresholdSlowdown);
}

// nvmlDeviceGetNumaNodeId speaks of GPUs that are nodes themselves; where the card sits, sysfs
// knows.
void read_numa_node(GpuInventory& gpu) {
  const NumaNode found = numa_node_of(sysfs_root(), gpu.bus_id.value_or(""));
  gpu.numa_node = found.node;
  if (!found.node) gpu.unreadable["numa_node"] = found.why;
}

void read_host_settings(GpuInventory& gpu) {
  PciFacts facts = read_pci_facts(sysfs_root(), gpu.bus_id.value_or(""));
  gpu.iommu = facts.iommu;
  gpu.acs_redirect = facts.acs_redirect;
  gpu.relaxed_ordering = facts.relaxed_ordering;
  gpu.sriov_vfs = facts.sriov_vfs;
  gpu.sriov_vfs_max = facts.sriov_vfs_max;
  gpu.unreadable.merge(facts.unreadable);
}

void read_mig(const Nvml& nvml, Device device, GpuInventory& gpu) {
  const DeviceReader reader(nvml, device, gpu.unreadable);
  unsigned current = 0;
  unsigned pending = 0;
  if (!reader.ok("mig", nvml.call(ASSAY_NVML(nvmlDeviceGetMigMode), device, &current, &pending))) {
    return;
  }
  gpu.mig = current != 0;
  unsigned count = 0;
  if (current == 0 ||
      !nvml.call(ASSAY_NVML(nvmlDeviceGetMaxMigDeviceCount), device, &count).empty()) {
    return;
  }
  for (unsigned i = 0; i < count; ++i) {
    Device slice = nullptr;
    if (!nvml.call(ASSAY_NVML(nvmlDeviceGetMigDeviceHandleByIndex), device, i, &slice).empty()) {
      continue;  // instances are numbered with gaps
    }
    std::map<std::string, std::string> ignored;
    const DeviceReader slice_reader(nvml, slice, ignored);
    std::optional<std::string> name;
    std::optional<std::string> uuid;
    slice_reader.text("name", name, ASSAY_NVML(nvmlDeviceGetName));
    slice_reader.text("uuid", uuid, ASSAY_NVML(nvmlDeviceGetUUID));
    gpu.mig_slices.push_back({uuid.value_or(""), name.value_or("")});
  }
}

void read_processes(const Nvml& nvml, Device device, GpuInventory& gpu) {
  const DeviceReader reader(nvml, device, gpu.unreadable);
  // NVML says how many there are when the room does not suffice; some may come in between.
  constexpr unsigned kSpare = 16;
  std::vector<nvml_abi::ProcessInfo> processes(kSpare);
  auto count = kSpare;
  if (nvml.nvmlDeviceGetComputeRunningProcesses_v3 != nullptr &&
      nvml.nvmlDeviceGetComputeRunningProcesses_v3(device, &count, processes.data()) ==
          nvml_abi::kInsufficientSize) {
    processes.resize(count + kSpare);
  }
  count = static_cast<unsigned>(processes.size());
  const std::string error = nvml.call(ASSAY_NVML(nvmlDeviceGetComputeRunningProcesses_v3), device,
                                      &count, processes.data());
  if (!reader.ok("processes", error)) return;
  processes.resize(std::min<std::size_t>(count, processes.size()));
  for (const nvml_abi::ProcessInfo& found : processes) {
    GpuProcess process;
    process.pid = found.pid;
    constexpr unsigned long long kNotAvailable = ~0ULL;
    if (found.used_gpu_memory != kNotAvailable) {
      process.memory_bytes = static_cast<std::int64_t>(found.used_gpu_memory);
    }
    gpu.processes.push_back(process);
  }
}

void read_nvlink(const Nvml& nvml, Device device, GpuHealth& health,
                 std::map<std::string, std::string>& unreadable) {
  CounterReading reading;
  read_nvlink_counters(nvml, device, reading);
  for (const auto& [name, counter] :
       {std::pair("nvlink_replays", &GpuHealth::nvlink_replays),
        std::pair("nvlink_recoveries", &GpuHealth::nvlink_recoveries),
        std::pair("nvlink_crc_errors", &GpuHealth::nvlink_crc_errors)}) {
    if (const auto value = reading.values.find(name); value != reading.values.end()) {
      health.*counter = value->second;
    } else {
      unreadable[name] = reading.unknown[name];
    }
  }
}

GpuHealth read_health(const Nvml& nvml, Device device,
                      std::map<std::string, std::string>& unreadable) {
  using ULL = unsigned long long;
  GpuHealth health;
  const DeviceReader reader(nvml, device, unreadable);
  reader.number<ULL>("ecc_corrected_volatile", health.ecc_corrected_volatile,
                     ASSAY_NVML(nvmlDeviceGetTotalEccErrors), 1, nvml_abi::kErrorCorrected,
                     nvml_abi::kCounterVolatile);
  reader.number<ULL>("ecc_uncorrected_volatile", health.ecc_uncorrected_volatile,
                     ASSAY_NVML(nvmlDeviceGetTotalEccErrors), 1, nvml_abi::kErrorUncorrected,
                     nvml_abi::kCounterVolatile);
  reader.number<ULL>("ecc_uncorrected_aggregate", health.ecc_uncorrected_aggregate,
                     ASSAY_NVML(nvmlDeviceGetTotalEccErrors), 1, nvml_abi::kErrorUncorrected,
                     nvml_abi::kCounterAggregate);
  std::array<unsigned, 4> rows{};
  if (reader.ok("remapped_rows", nvml.call(ASSAY_NVML(nvmlDeviceGetRemappedRows), device, &rows[0],
                                           &rows[1], &rows[2], &rows[3]))) {
    health.remapped_rows_corrected = rows[0];
    health.remapped_rows_uncorrected = rows[1];
    health.remap_pending = rows[2] != 0;
    health.remap_failure = rows[3] != 0;
  }
  reader.number<unsigned>("pcie_replays", health.pcie_replays,
                          ASSAY_NVML(nvmlDeviceGetPcieReplayCounter), 1);
  read_nvlink(nvml, device, health, unreadable);
  reader.number<unsigned>("power_limit_w", health.power_limit_w,
                          ASSAY_NVML(nvmlDeviceGetPowerManagementLimit), 1e-3);
  reader.number<unsigned>("temperature_c", health.temperature_c,
                          ASSAY_NVML(nvmlDeviceGetTemperature), 1, nvml_abi::kTemperatureGpu);
  reader.number<ULL>("energy_mj", health.energy_mj, ASSAY_NVML(nvmlDeviceGetTotalEnergyConsumption),
                     1);
  return health;
}

GpuInventory read_gpu(const Nvml& nvml, Device device, int index, const GpuTable& table) {
  GpuInventory gpu;
  gpu.index = index;
  read_identity(nvml, device, gpu);
  read_silicon(nvml, device, gpu);
  read_settings(nvml, device, gpu);
  read_numa_node(gpu);
  read_host_settings(gpu);
  read_nvlinks(nvml, device, gpu);
  read_mig(nvml, device, gpu);
  read_processes(nvml, device, gpu);
  gpu.before = read_health(nvml, device, gpu.unreadable);
  gpu.unreadable["xids"] = "not watched";
  if (const GpuSpec* spec = table.identify(gpu.name, gpu.sm_count, gpu.memory_bytes)) {
    gpu.sku = spec->sku;
  }
  return gpu;
}

void read_gpus(const Nvml& nvml, const GpuTable& table, Inventory& inventory) {
  unsigned count = 0;
  std::vector<Device> devices;
  inventory.nvml_error = nvml.call(ASSAY_NVML(nvmlDeviceGetCount_v2), &count);
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    const std::string error = nvml.call(ASSAY_NVML(nvmlDeviceGetHandleByIndex_v2), i, &device);
    if (error.empty()) {
      inventory.gpus.push_back(read_gpu(nvml, device, static_cast<int>(i), table));
      devices.push_back(device);
    } else {
      inventory.nvml_error = fmt::format("GPU {}: {}", i, error);
    }
  }
  inventory.peers = read_peers(nvml, devices, inventory.gpus);
}

void read_versions(const Nvml& nvml, Inventory& inventory) {
  std::array<char, 96> buffer{};
  const auto size = static_cast<unsigned>(buffer.size());
  if (nvml.call(ASSAY_NVML(nvmlSystemGetNVMLVersion), buffer.data(), size).empty()) {
    inventory.nvml = buffer.data();
  } else {
    inventory.nvml = "unknown";
  }
  if (!inventory.driver &&
      nvml.call(ASSAY_NVML(nvmlSystemGetDriverVersion), buffer.data(), size).empty()) {
    inventory.driver = buffer.data();
  }
  int version = 0;
  if (nvml.call(ASSAY_NVML(nvmlSystemGetCudaDriverVersion_v2), &version).empty()) {
    inventory.cuda_driver = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  }
}

}  // namespace

Inventory read_inventory(const GpuTable& table) {
  Inventory inventory;
  inventory.host = read_host();
  inventory.pci_gpus = nvidia_gpus_on_pci(sysfs_root());
  inventory.hidden_gpus = hidden_gpus(sysfs_root(), inventory.pci_gpus);
  inventory.nics = read_nics(sysfs_root());
  inventory.driver = loaded_driver();
  std::string why;
  if (const auto nvml = Nvml::open(&why)) {
    read_versions(*nvml, inventory);
    read_gpus(*nvml, table, inventory);
  } else {
    inventory.nvml_error = why;
  }
  return inventory;
}

void read_health_after(Inventory& inventory) {
  if (inventory.gpus.empty()) return;
  std::string why;
  const auto nvml = Nvml::open(&why);
  for (GpuInventory& gpu : inventory.gpus) {
    Device device = nullptr;
    std::string error = why;
    if (gpu.uuid.empty()) {
      error = "its UUID is not known";
    } else if (nvml != nullptr) {
      error = nvml->call(nvml->nvmlDeviceGetHandleByUUID, "nvmlDeviceGetHandleByUUID",
                         gpu.uuid.c_str(), &device);
    }
    if (error.empty()) {
      gpu.after = read_health(*nvml, device, gpu.unreadable);
    } else {
      gpu.unreadable["after"] = error;
    }
  }
}

#undef ASSAY_NVML

}  // namespace assay
