// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

#include "reports/gpus.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "reports/config_dir.h"
#include "reports/error.h"
#include "reports/json.h"

namespace assay {
namespace {

constexpr std::int64_t kMib = 1024 * 1024;

const GpuTable& table() {
  static const GpuTable loaded =
      load_gpu_table(std::filesystem::path(ASSAY_SOURCE_DIR) / "configs" / "gpus");
  return loaded;
}

std::string identified(const std::string& name, std::optional<int> sm_count,
                       std::optional<std::int64_t> mib) {
  if (mib) *mib *= kMib;
  const GpuSpec* spec = table().identify(name, sm_count, mib);
  return spec == nullptr ? "" : spec->sku;
}

TEST(Gpus, NamesAreFolded) {
  EXPECT_EQ(normalised_gpu_name("NVIDIA-H100-80GB-HBM3 "), "h100 80gb hbm3");
  EXPECT_EQ(normalised_gpu_name("  nvidia   H200\t"), "h200");
  EXPECT_EQ(normalised_gpu_name("A100-SXM4-40GB"), "a100 sxm4 40gb");
  EXPECT_EQ(normalised_gpu_name("NVIDIAH200"), "nvidiah200");
  EXPECT_EQ(normalised_gpu_name("NVIDIA"), "nvidia");
  EXPECT_EQ(normalised_gpu_name(""), "");
  EXPECT_EQ(normalised_gpu_name(" - "), "");
}

// The field cases name cards in words of their own; here is what such a device reports.
struct Device {
  std::string sku;
  int sm_count = 0;
  std::int64_t mib = 0;
};
Device device_of(const std::string& target, const std::string& name) {
  if (target == "gh200") {
    // The name says the CPU's memory; the device decides.
    return name.find("144G") == std::string::npos ? Device{"gh200-96", 132, 97871}
                                                  : Device{"gh200-144", 132, 145920};
  }
  static const std::map<std::string, Device> devices = {
      {"a100-sxm-40gb", {"a100-sxm4-40", 108, 40536}},
      {"a100-sxm-80gb", {"a100-sxm4-80", 108, 81920}},
      {"a100-pcie-40gb", {"a100-pcie-40", 108, 40960}},
      {"a100-pcie-80gb", {"a100-pcie-80", 108, 81251}},
      {"h100-sxm-80gb", {"h100-sxm", 132, 81559}},
      {"h100-pcie-80gb", {"h100-pcie", 114, 81559}},
      {"h100-nvl-94gb", {"h100-nvl", 132, 95830}},
      {"h200-sxm-141gb", {"h200-sxm", 132, 143771}},
      {"h200-nvl-141gb", {"h200-nvl", 132, 143771}}};
  return devices.at(target);
}

TEST(Gpus, FieldNames) {
  const Json cases = read_json_file(std::filesystem::path(ASSAY_TEST_DATA) / "F32_gpu_names.json");
  ASSERT_EQ(cases.size(), 32U);
  for (const Json& entry : cases) {
    const std::string name = entry.at("name");
    if (entry.at("target").is_null()) {
      // Not even with the figures of a card that is known.
      for (const GpuSpec& spec : table().specs) {
        const auto bytes = static_cast<std::int64_t>(spec.memory_gib * 1024) * kMib;
        EXPECT_EQ(table().identify(name, spec.sm_count, bytes), nullptr) << name << " " << spec.sku;
      }
      continue;
    }
    const Device device = device_of(entry.at("target"), name);
    EXPECT_EQ(identified(name, device.sm_count, device.mib), device.sku) << name;
    EXPECT_EQ(identified(name, device.sm_count - 2, device.mib), "") << name;
    EXPECT_EQ(identified(name, device.sm_count, device.mib * 8 / 10), "") << name;
    EXPECT_EQ(identified(name, device.sm_count, device.mib * 12 / 10), "") << name;
    EXPECT_EQ(identified(name, std::nullopt, device.mib), "") << name;
    EXPECT_EQ(identified(name, device.sm_count, std::nullopt), "") << name;
  }
}

TEST(Gpus, MemoryDecidesBetweenTheTwoGh200) {
  EXPECT_EQ(identified("NVIDIA GH200 480GB", 132, 97871), "gh200-96");
  EXPECT_EQ(identified("NVIDIA GH200 480GB", 132, 145920), "gh200-144");
  EXPECT_EQ(identified("NVIDIA GH200 144G HBM3e", 132, 97871), "gh200-96");
}

TEST(Gpus, MemoryAsCudaAndNvmlReportIt) {
  EXPECT_EQ(table().identify("NVIDIA H200", 132, 150'754'820'096)->sku, "h200-sxm");
  EXPECT_EQ(identified("NVIDIA H200", 132, 143155), "h200-sxm");  // CUDA: 139.8 GiB
  EXPECT_EQ(identified("NVIDIA A100-SXM4-40GB", 108, 40960), "a100-sxm4-40");
  EXPECT_EQ(identified("NVIDIA A100-SXM4-40GB", 108, 81920), "");
  EXPECT_EQ(identified("NVIDIA H200", 132, 0), "");
  EXPECT_EQ(identified("NVIDIA H200", 132, -5), "");
}

TEST(Gpus, ShippedCards) {
  for (const char* sku :
       {"a100-sxm4-40", "a100-sxm4-80", "a100-pcie-40", "a100-pcie-80", "h100-sxm", "h100-pcie",
        "h100-nvl", "h200-sxm", "h200-nvl", "gh200-96", "gh200-144"}) {
    const GpuSpec* spec = table().find(sku);
    ASSERT_NE(spec, nullptr) << sku;
    const bool has_fp8 = spec->ops_per_clock_per_sm.contains("fp8");
    EXPECT_EQ(has_fp8, spec->compute_capability == "9.0") << sku;
    EXPECT_NE(has_fp8, spec->unsupported.contains("fp8")) << sku;
  }
  EXPECT_EQ(table().specs.size(), 11U);
  EXPECT_EQ(table().find("h20"), nullptr);
  EXPECT_DOUBLE_EQ(table().find("h200-sxm")->datasheet_tflops.at("bf16"), 989.4);
}

TEST(Gpus, SparsePipesFollowFromTheDense) {
  for (const GpuSpec& spec : table().specs) {
    for (const char* pipe : {"tf32", "fp16", "bf16", "fp8", "int8"}) {
      const std::string dense(pipe);
      const std::string sparse = dense + "_sparse";
      if (spec.unsupported.contains(dense)) {
        EXPECT_EQ(spec.unsupported.at(sparse), spec.unsupported.at(dense)) << spec.sku;
        EXPECT_FALSE(spec.ops_per_clock_per_sm.contains(sparse)) << spec.sku;
        continue;
      }
      EXPECT_DOUBLE_EQ(spec.ops_per_clock_per_sm.at(sparse),
                       2 * spec.ops_per_clock_per_sm.at(dense));
      EXPECT_DOUBLE_EQ(spec.datasheet_tflops.at(sparse), 2 * spec.datasheet_tflops.at(dense));
    }
    for (const char* pipe : {"fp32_sparse", "fp64_sparse", "fp64_tc_sparse"}) {
      EXPECT_FALSE(spec.ops_per_clock_per_sm.contains(pipe)) << spec.sku;
    }
  }
}

// A folder with one good card, and what becomes of it after one edit.
class GpuFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string("assay_gpus_") +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::string good() {
    return read_file(std::filesystem::path(ASSAY_SOURCE_DIR) / "configs/gpus/a100-pcie-80.yaml");
  }
  static std::string edited(const std::string& from, const std::string& to) {
    std::string text = good();
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  // The message without the folder.
  std::string refusal() const {
    try {
      static_cast<void>(load_gpu_table(folder_));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      const std::string message = error.what();
      const std::string prefix = folder_.string();
      return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
    }
    return "not refused";
  }

  std::filesystem::path folder_;
};

TEST_F(GpuFiles, NoSparsityBeforeAmpere) {
  write("a100-pcie-80.yaml", edited("compute_capability: \"8.0\"", "compute_capability: \"7.5\""));
  const GpuTable old = load_gpu_table(folder_);
  EXPECT_TRUE(old.specs.at(0).ops_per_clock_per_sm.contains("bf16"));
  EXPECT_FALSE(old.specs.at(0).ops_per_clock_per_sm.contains("bf16_sparse"));
}

TEST_F(GpuFiles, Good) {
  write("a100-pcie-80.yaml", good());
  write("notes.txt", "not read");
  EXPECT_EQ(load_gpu_table(folder_).specs.size(), 1U);
}

TEST_F(GpuFiles, ConfigDirObeysTheEnvironmentOrRefuses) {
  const char* before = std::getenv("ASSAY_CONFIGS");
  const std::string kept = before == nullptr ? "" : before;
  std::filesystem::create_directories(folder_ / "gpus");
  ::setenv("ASSAY_CONFIGS", folder_.c_str(), 1);
  EXPECT_EQ(config_dir(), folder_);
  ::setenv("ASSAY_CONFIGS", "/nonexistent", 1);
  EXPECT_THROW(static_cast<void>(config_dir()), Error);
  ::setenv("ASSAY_CONFIGS", "", 1);  // empty is unset: a test program finds the source tree
  EXPECT_TRUE(std::filesystem::exists(config_dir() / "gpus" / "h200-sxm.yaml"));
  ::setenv("ASSAY_CONFIGS", kept.c_str(), 1);
}

TEST_F(GpuFiles, EmptyFolder) {
  EXPECT_EQ(refusal(), ": no *.yaml of a card in this folder; check the configs folder");
}

TEST_F(GpuFiles, EachRefusal) {
  struct Case {
    const char* from;
    const char* to;
    const char* message;
  };
  const std::vector<Case> cases = {
      {"sm_count: 108", "sm_cuont: 108", "unknown key 'sm_cuont'; did you mean 'sm_count'?"},
      {"sm_count: 108", "sm_count: 0", "sm_count: must be above 0"},
      {"sm_count: 108", "sm_count: 108.5", "sm_count: expected a whole number"},
      {"dram_gb_per_s: 1935", "dram_gb_per_s: -1", "dram_gb_per_s: must be above 0"},
      {"tdp_w: 300", "tdp_w: 300\ntdp_w: 300", "duplicate key 'tdp_w'"},
      {"tdp_w: 300", "tdp_w: 300\ncolour: red", "unknown key 'colour'; known: "},
      {"\"8.0\"", "80", "compute_capability: expected such as 9.0, found '80'"},
      {"bf16: 2048", "bf16: 0", "ops_per_clock_per_sm.bf16: must be above 0"},
      {"bf16: 2048", "bfloat: 2048", "ops_per_clock_per_sm: unknown pipe 'bfloat'"},
      {"bf16: 312", "bf16: 624", "datasheet_tflops.bf16: 624 is not SMs x rate x clock (311.9 at"},
      {", bf16: 312", "", "pipe bf16: give both"},
      {"  fp8: no FP8", "  fp9: no FP8", "unsupported: unknown pipe 'fp9'"},
      {"tensor_clock_mhz: 1410", "tensor_clock_mhz: 1500", "tensor_clock_mhz: above max_clock_mhz"},
      {"  - NVIDIA A100 80GB PCIe", "  - NVIDIA A100 80GB PCIe\n  - A100-80GB-pcie",
       "names: 'A100-80GB-pcie' is there twice; remove one"},
      {"sku: a100-pcie-80", "sku: a100-pcie-81", "sku: 'a100-pcie-81' is not the file's name"},
      {"nvlink_gb_per_s: 600", "", "missing key 'nvlink_gb_per_s'; add it"},
  };
  for (const Case& c : cases) {
    write("a100-pcie-80.yaml", edited(c.from, c.to));
    const std::string message = refusal();
    EXPECT_NE(message.find(c.message), std::string::npos) << c.to << ": " << message;
    EXPECT_EQ(message.substr(0, 19), "/a100-pcie-80.yaml:") << message;
    EXPECT_TRUE(message[19] >= '1' && message[19] <= '9') << message;
  }
}

TEST_F(GpuFiles, TheSameCardTwice) {
  write("a100-pcie-80.yaml", good());
  write("b.yaml", good());
  EXPECT_EQ(refusal(), "/b.yaml:3: sku: 'a100-pcie-80' is already defined by another file");
  write("b.yaml", edited("sku: a100-pcie-80", "sku: b"));
  EXPECT_EQ(refusal().substr(0, 60),
            "/b.yaml:6: names: 'NVIDIA A100 80GB PCIe' with 108 SMs and 7");
  // Memory tells two cards of one name apart, when it is far enough.
  std::string other = edited("sku: a100-pcie-80", "sku: b");
  other.replace(other.find("memory_gib: 79.7"), 16, "memory_gib: 39.8");
  write("b.yaml", other);
  EXPECT_EQ(load_gpu_table(folder_).specs.size(), 2U);
}

}  // namespace
}  // namespace assay
