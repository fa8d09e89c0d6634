// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Physical limits by card (configs/gpus/*.yaml) and which card a device is.
//
//   GpuTable table = load_gpu_table(config_dir() / "gpus");
//   const GpuSpec* spec = table.identify("NVIDIA H200", 132, 150'754'820'096);   // h200-sxm
//
// A name is matched whole, after folding case, '-', runs of blanks and a leading "NVIDIA "; the SM
// count and the memory must agree too. A MIG slice, a vGPU and an unknown card match nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/json_fields.h"

namespace assay {

struct GpuSpec {
  std::string sku;                 // slug, "h200-sxm"
  std::string title;               // "H200 SXM"
  std::vector<std::string> names;  // as the driver prints them
  std::string compute_capability;  // "9.0"
  int sm_count = 0;
  double memory_gib = 0;        // nominal; a device within 5 % of it matches
  double max_clock_mhz = 0;     // highest SM clock
  double tensor_clock_mhz = 0;  // the clock that the sheet's tensor figures assume
  double dram_gb_per_s = 0;     // data sheet
  double l2_mb = 0;
  double tdp_w = 0;
  // By pipe, dense; 2 a fused multiply-add. "bf16_sparse" and its like (2:4, in operations of the
  // dense product) follow from the dense figures and are in no file.
  std::map<std::string, double> ops_per_clock_per_sm;
  std::map<std::string, double> datasheet_tflops;  // likewise
  std::map<std::string, std::string> unsupported;  // pipe -> reason ("no FP8 before 8.9")
  int nvlink_links = 0;
  double nvlink_gb_per_s = 0;  // both ways, all links
  int pcie_generation = 0;
  double pcie_gb_per_s = 0;  // one way, x16
  std::string source;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive("sku", self.sku);
    archive("title", self.title);
    archive("names", self.names);
    archive("compute_capability", self.compute_capability);
    archive("sm_count", self.sm_count);
    archive("memory_gib", self.memory_gib);
    archive("max_clock_mhz", self.max_clock_mhz);
    archive("tensor_clock_mhz", self.tensor_clock_mhz);
    archive("dram_gb_per_s", self.dram_gb_per_s);
    archive("l2_mb", self.l2_mb);
    archive("tdp_w", self.tdp_w);
    archive("ops_per_clock_per_sm", self.ops_per_clock_per_sm);
    archive("datasheet_tflops", self.datasheet_tflops);
    archive("unsupported", self.unsupported);
    archive("nvlink_links", self.nvlink_links);
    archive("nvlink_gb_per_s", self.nvlink_gb_per_s);
    archive("pcie_generation", self.pcie_generation);
    archive("pcie_gb_per_s", self.pcie_gb_per_s);
    archive("source", self.source);
  }
};

// "NVIDIA-H100-80GB-HBM3 " -> "h100 80gb hbm3"
[[nodiscard]] std::string normalised_gpu_name(std::string_view name);

struct GpuTable {
  std::vector<GpuSpec> specs;

  // Null when no card matches. An SM count or memory that is not known (nullopt) does not match: a
  // name alone is no identity.
  [[nodiscard]] const GpuSpec* identify(std::string_view name, std::optional<int> sm_count,
                                        std::optional<std::int64_t> memory_bytes) const;
  [[nodiscard]] const GpuSpec* find(std::string_view sku) const;
};

// Reads every *.yaml of the folder. Throws Error(kUsage) with file and line for an unknown or
// duplicate key, a figure that is not positive, a SKU or a (name, SMs, memory) that appears twice.
[[nodiscard]] GpuTable load_gpu_table(const std::filesystem::path& folder);

}  // namespace assay
