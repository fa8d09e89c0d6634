// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

#include "reports/gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "reports/error.h"
#include "reports/strict_yaml.h"
#include "reports/text.h"

namespace assay {
namespace {

constexpr double kMemoryTolerance = 0.05;
// Sheets print two or three digits and use the maximum clock for FP32 and FP64, a lower one for the
// tensor cores; a slip of a factor two (sparse figures) is what this must catch.
constexpr double kSheetTolerance = 0.05;
constexpr double kBytesPerGib = 1024.0 * 1024.0 * 1024.0;

constexpr std::array<std::string_view, 8> kPipes = {"fp64", "fp64_tc", "fp32", "fp16",
                                                    "tf32", "bf16",    "fp8",  "int8"};
// With 2:4 sparsity the tensor cores of compute capability 8.0 and above skip every other
// multiply-add of these: at most twice the dense rate, in operations of the dense product.
constexpr std::array<std::string_view, 5> kSparsePipes = {"tf32", "fp16", "bf16", "fp8", "int8"};
constexpr double kSparseGain = 2;

char folded(char c) { return c == '-' || c == '\t' || c == '\r' || c == '\n' ? ' ' : lower(c); }

double positive(StrictYaml& file, std::string_view key) {
  const double value = file.number(key);
  if (value <= 0) file.refuse(key, fmt::format("{}: must be above 0", key));
  return value;
}

int positive_integer(StrictYaml& file, std::string_view key) {
  const int value = file.integer(key);
  if (value <= 0) file.refuse(key, fmt::format("{}: must be above 0", key));
  return value;
}

std::map<std::string, double> pipe_figures(StrictYaml& file, std::string_view key) {
  std::map<std::string, double> result = file.numbers(key);
  for (const auto& [pipe, value] : result) {
    if (std::ranges::find(kPipes, pipe) == kPipes.end()) {
      file.refuse(
          key, fmt::format("{}: unknown pipe '{}'; known: {}", key, pipe, fmt::join(kPipes, ", ")));
    }
    if (value <= 0) file.refuse(key, fmt::format("{}.{}: must be above 0", key, pipe));
  }
  return result;
}

// Each pipe has a rate and a sheet figure that agree, or a reason why the card lacks it.
void check_pipes(const StrictYaml& file, const GpuSpec& spec) {
  for (const auto& [pipe, reason] : spec.unsupported) {
    if (std::ranges::find(kPipes, pipe) == kPipes.end()) {
      file.refuse("unsupported", fmt::format("unsupported: unknown pipe '{}'; known: {}", pipe,
                                             fmt::join(kPipes, ", ")));
    }
    if (reason.empty()) {
      file.refuse("unsupported", fmt::format("unsupported.{}: give the reason", pipe));
    }
  }
  for (const std::string_view name : kPipes) {
    const std::string pipe(name);
    const auto rate = spec.ops_per_clock_per_sm.find(pipe);
    const auto sheet = spec.datasheet_tflops.find(pipe);
    const bool has_rate = rate != spec.ops_per_clock_per_sm.end();
    const bool has_sheet = sheet != spec.datasheet_tflops.end();
    const bool has_reason = spec.unsupported.contains(pipe);
    if (has_rate != has_sheet || has_rate == has_reason) {
      file.refuse(
          fmt::format("pipe {}: give both ops_per_clock_per_sm and datasheet_tflops, or a "
                      "reason under unsupported",
                      pipe));
    }
    if (!has_rate) continue;
    const double tflops_per_mhz = spec.sm_count * rate->second * 1e-6;
    const auto agrees = [&](double clock_mhz) {
      return std::abs(sheet->second / (tflops_per_mhz * clock_mhz) - 1) <= kSheetTolerance;
    };
    if (!agrees(spec.max_clock_mhz) && !agrees(spec.tensor_clock_mhz)) {
      file.refuse(
          "datasheet_tflops",
          fmt::format("datasheet_tflops.{}: {} is not SMs x rate x clock ({:.1f} at {} MHz); "
                      "give the dense figure",
                      pipe, sheet->second, tflops_per_mhz * spec.tensor_clock_mhz,
                      spec.tensor_clock_mhz));
    }
  }
}

void check_compute_capability(const StrictYaml& file, const std::string& text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const std::size_t dot = text.find('.');
  const bool sound =
      dot != std::string::npos && dot > 0 && dot + 2 == text.size() &&
      std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(dot), digit) &&
      digit(text.back());
  if (!sound) {
    file.refuse("compute_capability",
                fmt::format("compute_capability: expected such as 9.0, found '{}'", text));
  }
}

// Pipes "bf16_sparse", ... beside "bf16": no card's file lists them, so none can be wrong. Needs
// figures and compute capability that were checked.
void add_sparse_pipes(GpuSpec& spec) {
  if (spec.compute_capability.find('.') < 2 && spec.compute_capability.front() < '8') return;
  for (const std::string_view name : kSparsePipes) {
    const std::string pipe(name);
    const std::string sparse = pipe + "_sparse";
    if (const auto lacks = spec.unsupported.find(pipe); lacks != spec.unsupported.end()) {
      spec.unsupported[sparse] = lacks->second;
      continue;
    }
    spec.ops_per_clock_per_sm[sparse] = kSparseGain * spec.ops_per_clock_per_sm.at(pipe);
    spec.datasheet_tflops[sparse] = kSparseGain * spec.datasheet_tflops.at(pipe);
  }
}

void check_names(const StrictYaml& file, const GpuSpec& spec) {
  if (spec.names.empty()) file.refuse("names: give the names that the driver prints");
  std::vector<std::string> seen;
  for (const std::string& name : spec.names) {
    const std::string normal = normalised_gpu_name(name);
    if (normal.empty()) file.refuse("names", "names: empty name; remove it");
    if (std::ranges::find(seen, normal) != seen.end()) {
      file.refuse("names", fmt::format("names: '{}' is there twice; remove one", name));
    }
    seen.push_back(normal);
  }
}

GpuSpec read_spec(StrictYaml& file) {
  GpuSpec spec;
  spec.sku = file.text("sku");
  spec.title = file.text("title");
  spec.names = file.texts("names");
  spec.compute_capability = file.text("compute_capability");
  spec.sm_count = positive_integer(file, "sm_count");
  spec.memory_gib = positive(file, "memory_gib");
  spec.max_clock_mhz = positive(file, "max_clock_mhz");
  spec.tensor_clock_mhz = positive(file, "tensor_clock_mhz");
  spec.dram_gb_per_s = positive(file, "dram_gb_per_s");
  spec.l2_mb = positive(file, "l2_mb");
  spec.tdp_w = positive(file, "tdp_w");
  spec.ops_per_clock_per_sm = pipe_figures(file, "ops_per_clock_per_sm");
  spec.datasheet_tflops = pipe_figures(file, "datasheet_tflops");
  spec.unsupported = file.text_map("unsupported");
  // A card without NVLink has neither line.
  if (file.has("nvlink_links") || file.has("nvlink_gb_per_s")) {
    spec.nvlink_links = positive_integer(file, "nvlink_links");
    spec.nvlink_gb_per_s = positive(file, "nvlink_gb_per_s");
  }
  spec.pcie_generation = positive_integer(file, "pcie_generation");
  spec.pcie_gb_per_s = positive(file, "pcie_gb_per_s");
  spec.source = file.text("source");
  file.finish();
  check_compute_capability(file, spec.compute_capability);
  check_names(file, spec);
  if (spec.tensor_clock_mhz > spec.max_clock_mhz) {
    file.refuse("tensor_clock_mhz", "tensor_clock_mhz: above max_clock_mhz");
  }
  check_pipes(file, spec);
  add_sparse_pipes(spec);
  return spec;
}

bool memory_agrees(const GpuSpec& spec, double gib) {
  return std::abs(gib / spec.memory_gib - 1) <= kMemoryTolerance;
}

bool has_name(const GpuSpec& spec, const std::string& normal) {
  return std::ranges::any_of(
      spec.names, [&](const std::string& name) { return normalised_gpu_name(name) == normal; });
}

// Two cards that a device could be at once: the same name and SMs, memory whose tolerances meet.
void check_distinct(const StrictYaml& file, const GpuSpec& added, const GpuTable& table) {
  if (table.find(added.sku) != nullptr) {
    file.refuse("sku", fmt::format("sku: '{}' is already defined by another file", added.sku));
  }
  for (const GpuSpec& other : table.specs) {
    if (other.sm_count != added.sm_count) continue;
    if (std::abs(other.memory_gib - added.memory_gib) >
        kMemoryTolerance * (other.memory_gib + added.memory_gib)) {
      continue;
    }
    for (const std::string& name : added.names) {
      if (!has_name(other, normalised_gpu_name(name))) continue;
      file.refuse("names", fmt::format("names: '{}' with {} SMs and {} GiB is also {}; a device "
                                       "could be either",
                                       name, added.sm_count, added.memory_gib, other.sku));
    }
  }
}

}  // namespace

std::string normalised_gpu_name(std::string_view name) {
  std::string result;
  for (const char raw : name) {
    const char c = folded(raw);
    if (c == ' ' && (result.empty() || result.back() == ' ')) continue;
    result += c;
  }
  if (result.ends_with(' ')) result.pop_back();
  constexpr std::string_view kVendor = "nvidia ";
  if (result.starts_with(kVendor)) result.erase(0, kVendor.size());
  return result;
}

const GpuSpec* GpuTable::identify(std::string_view name, std::optional<int> sm_count,
                                  std::optional<std::int64_t> memory_bytes) const {
  if (!sm_count || !memory_bytes) return nullptr;
  const std::string normal = normalised_gpu_name(name);
  const double gib = static_cast<double>(*memory_bytes) / kBytesPerGib;
  for (const GpuSpec& spec : specs) {
    if (spec.sm_count == *sm_count && memory_agrees(spec, gib) && has_name(spec, normal)) {
      return &spec;
    }
  }
  return nullptr;
}

const GpuSpec* GpuTable::find(std::string_view sku) const {
  const auto found = std::ranges::find(specs, sku, &GpuSpec::sku);
  return found == specs.end() ? nullptr : &*found;
}

GpuTable load_gpu_table(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == ".yaml") files.push_back(entry->path());
  }
  if (error || files.empty()) {
    throw Error(ExitCode::kUsage,
                fmt::format("{}: no *.yaml of a card in this folder; check the configs folder",
                            folder.string()));
  }
  std::ranges::sort(files);  // the order of a folder differs from machine to machine
  GpuTable table;
  for (const std::filesystem::path& path : files) {
    StrictYaml file = StrictYaml::load(path);
    GpuSpec spec = read_spec(file);
    check_distinct(file, spec, table);
    if (spec.sku != path.stem().string()) {
      file.refuse("sku", fmt::format("sku: '{}' is not the file's name; rename one", spec.sku));
    }
    table.specs.push_back(std::move(spec));
  }
  return table;
}

}  // namespace assay
