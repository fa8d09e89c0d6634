// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Synthetic reports for tests: facts only, as the runner merges them, not judged yet. Serials and
// UUIDs are invented. Change what a test is about, then judge:
//
//   Report report = sample_report(4);                       // four sound H200
//   set_values(report, kBf16, 2, {500, 501, 502, 503, 504});   // GPU 2 slow
//   judge(report);
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "reports/judge.h"
#include "reports/report.h"
#include "reports/statistics.h"

namespace assay::samples {

inline const std::string kBf16 = "gemm/bf16/8192x8192x8192/sustained";
inline const std::string kFp8 = "gemm/fp8_e4m3/8192x8192x8192/sustained";
inline const std::string kRead = "memory/read/4GiB/burst";
inline const std::string kCopy = "memory/copy/4GiB/burst";
inline const std::string kHostTriad = "host/triad/4GiB/sustained";

inline GpuSpec h200_spec() {
  GpuSpec spec;
  spec.sku = "h200-sxm";
  spec.title = "H200 SXM 141 GB";
  spec.names = {"NVIDIA H200"};
  spec.compute_capability = "9.0";
  spec.sm_count = 132;
  spec.memory_gib = 140.4;
  spec.max_clock_mhz = 1980;
  spec.tensor_clock_mhz = 1830;
  spec.dram_gb_per_s = 4800;
  spec.l2_mb = 60;
  spec.tdp_w = 700;
  spec.ops_per_clock_per_sm = {{"fp32", 256}, {"bf16", 4096}, {"fp8", 8192}};
  spec.datasheet_tflops = {{"fp32", 66.9}, {"bf16", 989.4}, {"fp8", 1978.9}};
  spec.nvlink_links = 18;
  spec.nvlink_gb_per_s = 900;
  spec.pcie_generation = 5;
  spec.pcie_gb_per_s = 63;
  spec.source = "sample";
  return spec;
}

// What the harness writes in a record of this id, and targets ask for.
inline std::string pipe_of(const std::string& id) {
  if (id.starts_with("host/")) return "host_memory";
  if (!id.starts_with("gemm/")) return "dram";
  return id.find("fp8") != std::string::npos ? "fp8" : "bf16";
}

inline Target target(const std::string& id, const std::string& metric, double floor, double usual,
                     double run_sd_pct) {
  return {id, metric, pipe_of(id), floor, usual, run_sd_pct, 1.2, 1, "sample card", "2026-11-30"};
}

inline TargetSet h200_targets() {
  TargetSet set;
  set.sku = "h200-sxm";
  set.file = "h200-sxm.yaml";
  set.date = "2026-11-30";
  set.targets = {target(kBf16, "tflops", 620, 669, 0.8), target(kFp8, "tflops", 1160, 1248, 0.8),
                 target(kRead, "gb_per_s", 4400, 4610, 0.2),
                 target(kCopy, "gb_per_s", 4080, 4281, 0.2)};
  return set;
}

inline GpuHealth sound_health() {
  GpuHealth health;
  health.ecc_corrected_volatile = 0;
  health.ecc_uncorrected_volatile = 0;
  health.ecc_uncorrected_aggregate = 0;
  health.remapped_rows_corrected = 0;
  health.remapped_rows_uncorrected = 0;
  health.remap_pending = false;
  health.remap_failure = false;
  health.pcie_replays = 0;
  health.power_limit_w = 700;
  health.temperature_c = 34;
  health.energy_mj = 1'000'000;
  return health;
}

inline GpuInventory h200(int index) {
  GpuInventory gpu;
  gpu.index = index;
  gpu.uuid = fmt::format("GPU-00000000-1111-2222-3333-44444444440{}", index);
  gpu.name = "NVIDIA H200";
  gpu.sku = "h200-sxm";
  gpu.serial = fmt::format("165000000001{}", index);
  gpu.module_id = index + 1;
  gpu.bus_id = fmt::format("0000:{}9:00.0", index + 1);
  gpu.board_part_number = "692-2G520-0280-000";
  gpu.vbios = "96.00.CF.00.01";
  gpu.inforom = "G520.0280.00.04";
  gpu.sm_count = 132;
  gpu.compute_capability = "9.0";
  gpu.memory_bytes = 150'754'820'096;
  gpu.memory_bus_bits = 6016;
  gpu.memory_clock_max_mhz = 3201;
  gpu.sm_clock_max_mhz = 1980;
  gpu.power_limit_w = 700;
  gpu.power_limit_default_w = 700;
  gpu.ecc = true;
  gpu.ecc_pending = true;
  gpu.persistence = true;
  gpu.mig = false;
  gpu.pcie_generation_max = 5;
  gpu.pcie_width = 16;
  gpu.pcie_width_max = 16;
  gpu.numa_node = 0;
  gpu.slowdown_temperature_c = 87;
  gpu.before = sound_health();
  gpu.after = sound_health();
  gpu.xids.emplace();
  return gpu;
}

inline HostInventory sample_host() {
  HostInventory host;
  host.host_name = "rack7-node12.example.org";
  host.os = "Ubuntu 24.04.1 LTS";
  host.kernel = "6.8.0-45-generic";
  host.cpu_model = "Intel(R) Xeon(R) Platinum 8480+";
  host.cpus = 112;
  host.numa_nodes = 2;
  host.memory_bytes = 2'164'663'517'184;
  host.board = "Example Board X1 0042";
  host.bios = "2.1.7";
  host.boot_id = "7c8b3f5e-9d1a-4c2b-8e6f-0a1b2c3d4e5f";
  host.uptime_s = 86'400;
  host.virtualisation = "bare metal";
  return host;
}

// A judged-to-be record with one value a run; limits, intervals and verdicts are left to judge().
inline Record sample_record(const std::string& id, const DeviceRef& device,
                            std::vector<double> values) {
  Record record;
  record.id = id;
  record.family = id.substr(0, id.find('/'));
  record.device = device;
  record.conditions.power = id.ends_with("/sustained") ? Power::kSustained : Power::kBurst;
  const bool compute = record.family == "gemm";
  record.parameters =
      compute ? Json{{"m", 8192}, {"n", 8192}, {"k", 8192}} : Json{{"bytes", 4'294'967'296}};
  record.work.pipe = pipe_of(id);
  record.work.operations = compute ? 2.0 * 8192 * 8192 * 8192 : 0;
  record.work.bytes = 4'294'967'296;
  Metric metric;
  metric.unit = compute ? "TFLOPS" : "GB/s";
  metric.primary = true;
  metric.values = std::move(values);
  metric.value = median(metric.values);
  metric.conditioning = {metric.value * 0.99};
  record.runs = static_cast<int>(metric.values.size());
  record.metrics[compute ? "tflops" : "gb_per_s"] = metric;
  record.verification = {
      VerificationStatus::kVerified, "max relative error", 1e-4, 1e-2, "", {}, 0};
  record.telemetry.samples = 400;
  if (record.family == "host") return record;
  record.telemetry.sm_clock_mhz = compute ? Range{1485, 1500, 1530} : Range{1965, 1980, 1980};
  record.telemetry.memory_clock_mhz = Range{3201, 3201, 3201};
  record.telemetry.power_w = compute ? Range{680, 690, 698} : Range{420, 455, 470};
  record.telemetry.temperature_c = compute ? Range{60, 62, 64} : Range{50, 52, 54};
  if (compute) record.telemetry.event_reasons = {{"sw_power_cap", 0.71}};
  return record;
}

inline DeviceRef device_of(const GpuInventory& gpu) {
  return {gpu.uuid, gpu.name, gpu.index, gpu.sku};
}

inline DeviceRef host_device() { return {kHostUuid, "Intel(R) Xeon(R) Platinum 8480+", {}, {}}; }

// Quick suite on `gpus` sound H200, each a little different, and a host row.
inline Report sample_report(int gpus) {
  Report report;
  report.version = "0.1.0";
  report.complete = true;
  report.command = "accept";
  report.suite = "quick";
  report.started = "2026-11-30T17:05:12Z";
  report.duration_s = 84.2;
  report.plan.gate_ids = {kBf16, kFp8, kRead, kCopy};
  report.plan.m = 4 * gpus;
  report.plan.budget_s = 90;
  report.notes = {"kernel log before this run: needs root"};
  report.samples_sha256 = std::string(64, 'a');
  report.context = {{"assay", "0.1.0"}, {"host_name", "rack7-node12.example.org"}};
  report.benchmarks = {
      {{"name", kHostTriad},
       {"run_name", kHostTriad},
       {"run_type", "iteration"},
       {"repetition_index", 1},
       {"iterations", 20},
       {"real_time", 7.1e7},
       {"cpu_time", 7.1e7},
       {"time_unit", "ns"},
       {"gb_per_s", 182.0},
       {"assay", {{"id", kHostTriad}, {"device", kHostUuid}, {"samples_line", 1}}}}};
  Inventory& inventory = report.inventory;
  inventory.host = sample_host();
  for (int i = 0; i < gpus; ++i) {
    const GpuInventory gpu = h200(i);
    const DeviceRef device = device_of(gpu);
    const double d = 0.5 * i;
    report.records.push_back(
        sample_record(kBf16, device, {669 + d, 665 + d, 673 + d, 668 + d, 670 + d}));
    report.records.push_back(
        sample_record(kFp8, device, {1248 + d, 1241 + d, 1256 + d, 1250 + d, 1247 + d}));
    report.records.push_back(
        sample_record(kRead, device, {4610 + d, 4604 + d, 4615 + d, 4609 + d, 4612 + d}));
    report.records.push_back(
        sample_record(kCopy, device, {4281 + d, 4275 + d, 4286 + d, 4280 + d, 4283 + d}));
    inventory.pci_gpus.push_back(*gpu.bus_id);
    inventory.gpus.push_back(gpu);
  }
  report.records.push_back(sample_record(kHostTriad, host_device(), {182, 181, 183, 182.5, 181.5}));
  if (gpus > 0) {
    inventory.driver = "580.159.04";
    inventory.cuda_driver = "13.0";
    inventory.nvml = "13.580.159.04";
    report.targets = {h200_targets()};
    report.limits = {h200_spec()};
  } else {
    inventory.nvml_error = "libnvidia-ml.so.1: not found";
    report.notes.clear();
    report.plan.m = 0;
  }
  return report;
}

// The record of this id on the GPU of this index.
inline Record& record_of(Report& report, const std::string& id, int gpu) {
  const auto found = std::find_if(
      report.records.begin(), report.records.end(),
      [&](const Record& record) { return record.id == id && record.device.index == gpu; });
  if (found == report.records.end()) throw Error(ExitCode::kMeasurement, "no record " + id);
  return *found;
}

inline void set_values(Report& report, const std::string& id, int gpu, std::vector<double> values) {
  Record& record = record_of(report, id, gpu);
  for (auto& [name, metric] : record.metrics) metric.values = values;
  record.runs = static_cast<int>(values.size());
}

// The fault of this code; null if there is none.
inline const Fault* fault_of(const Report& report, std::string_view code) {
  for (const Fault& fault : report.faults) {
    if (fault.code == code) return &fault;
  }
  return nullptr;
}

}  // namespace assay::samples
