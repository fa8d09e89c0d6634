// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "reports/format_text.h"

namespace assay {
namespace {

// NVML gives limits in milliwatts; some boards round them.
constexpr double kPowerToleranceW = 1.0;

// Of the first field that has a reason; `after` stands for all that is read after the load.
std::string why_unread(const GpuInventory& gpu, std::initializer_list<const char*> fields) {
  for (const char* field : fields) {
    if (const auto found = gpu.unreadable.find(field); found != gpu.unreadable.end()) {
      return found->second;
    }
  }
  const auto after = gpu.unreadable.find("after");
  return after == gpu.unreadable.end() ? "not read" : after->second;
}

class Gates {
 public:
  explicit Gates(const Inventory& inventory) : inventory_(inventory) {}

  GateResults check() && {
    check_counts();
    for (const GpuInventory& gpu : inventory_.gpus) {
      check_sharing(gpu);
      check_memory(gpu);
      check_power(gpu);
      check_link(gpu);
      check_presence(gpu);
    }
    return std::move(results_);
  }

 private:
  // One gate: passed, `fault`, or unread and why.
  void gate(std::optional<bool> sound, const std::string& name, const std::string& why,
            const Fault& fault) {
    if (!sound) {
      results_.unread.push_back(fmt::format("{}: {}", name, why));
      return;
    }
    ++results_.total;
    if (*sound) {
      ++results_.passed;
    } else {
      results_.faults.push_back(fault);
    }
  }

  Fault fault_of(std::string_view code, const GpuInventory& gpu, std::string title,
                 std::string_view field) const {
    Fault fault = make_fault(code, &gpu, std::move(title));
    const auto at = &gpu - inventory_.gpus.data();
    fault.evidence.push_back(fmt::format("inventory.gpus[{}].{}", at, field));
    return fault;
  }

  std::vector<std::string> missing_in_nvml() const;
  void check_counts();
  void check_sharing(const GpuInventory& gpu);
  void check_memory(const GpuInventory& gpu);
  void check_power(const GpuInventory& gpu);
  void check_link(const GpuInventory& gpu);
  void check_presence(const GpuInventory& gpu);

  const Inventory& inventory_;
  GateResults results_;
};

std::vector<std::string> Gates::missing_in_nvml() const {
  std::vector<std::string> missing;
  for (const std::string& id : inventory_.pci_gpus) {
    const bool seen =
        std::any_of(inventory_.gpus.begin(), inventory_.gpus.end(), [&](const GpuInventory& gpu) {
          return gpu.bus_id && plain_bus_id(*gpu.bus_id) == plain_bus_id(id);
        });
    if (!seen) missing.push_back(id);
  }
  return missing;
}

void Gates::check_counts() {
  const std::size_t on_bus = inventory_.pci_gpus.size();
  const std::size_t in_nvml = inventory_.gpus.size();
  const std::string driver = inventory_.driver.value_or("not loaded");
  const std::string nvml =
      inventory_.nvml
          ? "NVML " + *inventory_.nvml
          : "NVML: " + (inventory_.nvml_error.empty() ? "not found" : inventory_.nvml_error);
  if (on_bus == 0 && in_nvml == 0) {
    results_.faults.push_back(make_fault(
        "GPU-01", nullptr, fmt::format("PCI bus: 0 NVIDIA GPUs.  Driver: {}.  {}.", driver, nvml)));
    results_.faults.back().evidence = {"inventory.pci_gpus"};
    results_.faults.back().effect =
        "Either this machine has none, or it is hidden from this container or VM.";
    return;
  }
  Fault fault = make_fault("GPU-02", nullptr, "");
  fault.evidence = {"inventory.pci_gpus", "inventory.gpus"};
  const std::string count =
      fmt::format("{} on the PCI bus, {} in NVML", counted(on_bus, "GPU"), in_nvml);
  if (!inventory_.nvml) {
    fault =
        make_fault("UNK-01", nullptr, fmt::format("{}.  Driver: {}.  {}.", count, driver, nvml));
    fault.evidence = {"inventory.nvml_error"};
    results_.unread.push_back("GPU count: " + nvml);
    results_.faults.push_back(fault);
    return;
  }
  fault.title = fmt::format("{}; missing: {}", count, join(missing_in_nvml(), ", "));
  const std::vector<std::string> missing = missing_in_nvml();
  const bool hidden = std::all_of(missing.begin(), missing.end(), [&](const std::string& id) {
    const auto& ids = inventory_.hidden_gpus;
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  });
  if (hidden || inventory_.host.virtualisation == "container") {
    // A container or a job sees the whole bus and only the GPUs that it was given: hidden and lost
    // look alike.
    fault.severity = Severity::kNotJudged;
    fault.owner = "operator";
    fault.confidence = "suspected";
    fault.title += ": hidden from this container or job, or lost";
    fault.actions.insert(fault.actions.begin(),
                         "run on the host, or give the container all GPUs (--gpus all)");
  }
  if (!inventory_.nvml_error.empty()) {
    results_.faults.push_back(make_fault("UNK-01", nullptr, "NVML: " + inventory_.nvml_error));
    results_.faults.back().evidence = {"inventory.nvml_error"};
  }
  // A bus that could not be listed leaves NVML's count alone.
  gate(on_bus == 0 ? std::nullopt : std::optional(in_nvml >= on_bus), "GPU count",
       "the PCI bus could not be listed", fault);
}

void Gates::check_sharing(const GpuInventory& gpu) {
  std::vector<std::string> slices;
  for (const MigSlice& slice : gpu.mig_slices) slices.push_back(slice.name + " " + slice.uuid);
  gate(gpu.mig ? std::optional(!*gpu.mig) : std::nullopt, name_of(gpu) + " MIG mode",
       why_unread(gpu, {"mig"}),
       fault_of("ENV-01", gpu,
                fmt::format("{} is in MIG mode ({}): whole-card targets do not apply", name_of(gpu),
                            slices.empty() ? "no slices" : join(slices, ", ")),
                "mig"));
  std::vector<std::string> users;
  for (const GpuProcess& process : gpu.processes) {
    users.push_back(process.memory_bytes
                        ? fmt::format("pid {} ({:.1f} GB)", process.pid,
                                      static_cast<double>(*process.memory_bytes) / 1e9)
                        : fmt::format("pid {}", process.pid));
  }
  const bool read = !gpu.unreadable.contains("processes");
  gate(read ? std::optional(users.empty()) : std::nullopt, name_of(gpu) + " other processes",
       why_unread(gpu, {"processes"}),
       fault_of("ENV-01", gpu, fmt::format("{} is busy: {}", name_of(gpu), join(users, ", ")),
                "processes"));
}

// A state that is set in either reading is set.
std::optional<bool> clear(std::optional<bool> before, std::optional<bool> after) {
  if (!before && !after) return std::nullopt;
  return !before.value_or(false) && !after.value_or(false);
}

void Gates::check_memory(const GpuInventory& gpu) {
  const std::string pending = gpu.ecc_pending == true ? " (on after the next reset)" : "";
  gate(gpu.ecc, name_of(gpu) + " ECC mode", why_unread(gpu, {"ecc"}),
       fault_of("ECC-01", gpu, name_of(gpu) + ": ECC is off" + pending, "ecc"));

  const GpuHealth& before = gpu.before;
  const GpuHealth& after = gpu.after;
  const std::optional<std::int64_t> counters[] = {
      counter_gain(before.ecc_uncorrected_volatile, after.ecc_uncorrected_volatile),
      counter_gain(before.ecc_uncorrected_aggregate, after.ecc_uncorrected_aggregate),
      counter_gain(before.remapped_rows_uncorrected, after.remapped_rows_uncorrected)};
  std::optional<std::int64_t> most;
  for (const auto& counter : counters) {
    if (counter) most = std::max(most.value_or(*counter), *counter);
  }
  gate(most ? std::optional(*most <= 0) : std::nullopt,
       name_of(gpu) + " uncorrectable memory errors",
       why_unread(gpu, {"ecc_uncorrected_volatile", "ecc_uncorrected_aggregate", "remapped_rows"}),
       fault_of("MEM-01", gpu,
                fmt::format("{}: uncorrectable memory errors +{} during load", name_of(gpu),
                            most.value_or(0)),
                "after.ecc_uncorrected_volatile"));
  gate(clear(before.remap_pending, after.remap_pending), name_of(gpu) + " pending row remap",
       why_unread(gpu, {"remapped_rows"}),
       fault_of("MEM-02", gpu, name_of(gpu) + ": a row remap waits for a reset",
                "after.remap_pending"));
  gate(clear(before.remap_failure, after.remap_failure), name_of(gpu) + " failed row remap",
       why_unread(gpu, {"remapped_rows"}),
       fault_of("MEM-03", gpu, name_of(gpu) + ": a row remap failed", "after.remap_failure"));
}

void Gates::check_power(const GpuInventory& gpu) {
  std::optional<double> limit = gpu.power_limit_w;
  for (const auto& reading : {gpu.before.power_limit_w, gpu.after.power_limit_w}) {
    if (reading) limit = std::min(limit.value_or(*reading), *reading);
  }
  std::optional<double> peers;
  for (const GpuInventory& other : inventory_.gpus) {
    if (&other == &gpu || other.name != gpu.name || !other.power_limit_w) continue;
    peers = std::max(peers.value_or(0), *other.power_limit_w);
  }
  const auto reaches = [&](std::optional<double> wanted) -> std::optional<bool> {
    if (!limit || !wanted) return std::nullopt;
    return *limit >= *wanted - kPowerToleranceW;
  };
  const std::optional<bool> by_default = reaches(gpu.power_limit_default_w);
  const std::optional<bool> by_peers = reaches(peers);
  std::string title = fmt::format("{}: power limit {:.0f} W", name_of(gpu), limit.value_or(0));
  if (by_default) title += fmt::format("; board default {:.0f} W", *gpu.power_limit_default_w);
  if (by_peers) title += fmt::format("; peers {:.0f} W", *peers);
  Fault fault = fault_of("PWR-01", gpu, title, "power_limit_w");
  const double wanted = by_default == false ? *gpu.power_limit_default_w : peers.value_or(0);
  fault.actions.front() = fmt::format("nvidia-smi -i {} -pl {:.0f}, then rerun assay accept",
                                      gpu.bus_id.value_or(std::to_string(gpu.index)), wanted);
  const std::string why = why_unread(gpu, {"power_limit_w", "power_limit_default_w"});
  gate(by_default, name_of(gpu) + " power limit against its default", why, fault);
  // One cause, one fault: a limit that misses both is named once.
  if (peers && by_default != false) {
    gate(by_peers, name_of(gpu) + " power limit against the peers", why, fault);
  }
}

void Gates::check_link(const GpuInventory& gpu) {
  const bool widths = gpu.pcie_width && gpu.pcie_width_max;
  Fault narrow = fault_of("PCI-01", gpu,
                          fmt::format("{}: PCIe x{} of x{}, read while idle", name_of(gpu),
                                      gpu.pcie_width.value_or(0), gpu.pcie_width_max.value_or(0)),
                          "pcie_width");
  narrow.severity = Severity::kWarn;  // an idle link may have trained down to save power
  narrow.confidence = "suspected";
  gate(widths ? std::optional(*gpu.pcie_width >= *gpu.pcie_width_max) : std::nullopt,
       name_of(gpu) + " PCIe width", why_unread(gpu, {"pcie_width", "pcie_width_max"}), narrow);
  const auto replays = counter_gain(gpu.before.pcie_replays, gpu.after.pcie_replays);
  gate(replays ? std::optional(*replays <= 0) : std::nullopt, name_of(gpu) + " PCIe replays",
       why_unread(gpu, {"pcie_replays"}),
       fault_of("PCI-02", gpu,
                fmt::format("{}: PCIe replays +{} during load", name_of(gpu), replays.value_or(0)),
                "after.pcie_replays"));
}

// Whether a message of the inventory tells of NVML and its driver, and not of a card.
bool about_nvml(std::string_view message) {
  return !message.starts_with("nvmlDevice") || message.ends_with("not in this NVML") ||
         message.ends_with("Uninitialized") || message.ends_with("Driver Not Loaded");
}

// A card that NVML does not find again after the load is lost, unless it is NVML that went.
void Gates::check_presence(const GpuInventory& gpu) {
  const auto found = gpu.unreadable.find("after");
  if (found == gpu.unreadable.end()) return;
  const std::string& message = found->second;
  const bool others = std::ranges::any_of(inventory_.gpus, [](const GpuInventory& other) {
    return !other.unreadable.contains("after");
  });
  // Without a UUID it was never looked for.
  if (!gpu.uuid.empty() && (others || !about_nvml(message))) {
    gate(false, "", "",
         fault_of("GPU-03", gpu,
                  fmt::format("{} was lost during the run: {}", name_of(gpu), message),
                  "unreadable.after"));
    return;
  }
  results_.unread.push_back(fmt::format("{} after the load: {}", name_of(gpu), message));
  results_.faults.push_back(fault_of(
      "UNK-01", gpu, fmt::format("{} could not be read after the run: {}", name_of(gpu), message),
      "unreadable.after"));
}

}  // namespace

const FaultKind* find_kind(std::string_view code) {
  const auto catalogue = fault_catalogue();
  auto kind = std::ranges::find(catalogue, code, &FaultKind::code);
  // "XID-62" carries the number of the error.
  if (kind == catalogue.end() && code.starts_with("XID-")) {
    kind = std::ranges::find(catalogue, kAnyXid, &FaultKind::code);
  }
  return kind == catalogue.end() ? nullptr : &*kind;
}

Fault make_fault(std::string_view code, const GpuInventory* gpu, std::string title) {
  const FaultKind* kind = find_kind(code);
  if (kind == nullptr) {
    throw Error(ExitCode::kMeasurement, fmt::format("no fault code '{}' in the catalogue", code));
  }
  Fault fault;
  fault.code = kind->code;
  fault.severity = kind->severity;
  fault.owner = kind->owner;
  fault.title = std::move(title);
  fault.confirmed_runs = 1;
  fault.confidence = "certain";
  for (const std::string_view action : kind->actions) {
    if (!action.empty()) fault.actions.emplace_back(action);
  }
  if (gpu != nullptr) fault.scope = scope_of(*gpu);
  return fault;
}

FaultScope scope_of(const GpuInventory& gpu) {
  return {gpu.index, gpu.serial, gpu.module_id, gpu.bus_id, gpu.uuid};
}

GateResults check_gates(const Inventory& inventory) { return Gates(inventory).check(); }

std::vector<std::string> not_checked(const Report& report) {
  std::vector<std::string> lines = check_gates(report.inventory).unread;
  const std::vector<GpuInventory>& gpus = report.inventory.gpus;
  for (const GpuInventory& gpu : gpus) {
    if (gpu.xids && !gpu.unreadable.contains("xids")) continue;
    lines.push_back(fmt::format("{} Xid: {}", name_of(gpu), why_unread(gpu, {"xids"})));
  }
  const bool measured = std::ranges::any_of(
      report.records, [](const Record& record) { return is_peer(record.work.pipe); });
  if (!gpus.empty()) {
    lines.push_back(fmt::format("{}kernel log (not read)", gpus.size() == 1 ? "NVLink (one GPU); "
                                                           : measured       ? ""
                                                                      : "NVLink (not measured); "));
  }
  return lines;
}

}  // namespace assay
