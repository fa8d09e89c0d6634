// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

#include "reports/targets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "reports/error.h"

namespace assay {
namespace {

const GpuTable& table() {
  static const GpuTable loaded =
      load_gpu_table(std::filesystem::path(ASSAY_SOURCE_DIR) / "configs" / "gpus");
  return loaded;
}

constexpr const char* kGood = R"(sku: h200-sxm
targets:
  - id: gemm/bf16/8192x8192x8192/sustained
    metric: tflops
    pipe: bf16
    floor: 620
    usual: 669
    run_sd_pct: 0.8
    chip_sd_pct: 1.2
    cards: 1
    source: one card
    date: 2026-11-30
  - id: memory/read/4GiB/burst
    metric: gb_per_s
    pipe: dram
    floor: 4400
    usual: 4610
    run_sd_pct: 0.2
    chip_sd_pct: 1.2
    cards: 60
    source: sixty cards
    date: 2026-12-01
)";

class Targets : public testing::Test {
 protected:
  void SetUp() override {
    file_ = std::filesystem::path(testing::TempDir()) /
            (std::string("assay_targets_") +
             testing::UnitTest::GetInstance()->current_test_info()->name() + ".yaml");
  }
  void TearDown() override { std::filesystem::remove(file_); }

  static std::string edited(const std::string& from, const std::string& to) {
    std::string text = kGood;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }
  TargetSet load(const std::string& text) const {
    std::ofstream(file_) << text;
    return load_targets(file_, table());
  }
  // The message without the folder and name of the file: "5: floor: ...".
  std::string refusal(const std::string& text) const {
    try {
      static_cast<void>(load(text));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      const std::string message = error.what();
      const std::string prefix = file_.string() + ":";
      EXPECT_TRUE(message.starts_with(prefix)) << message;
      return message.substr(prefix.size());
    }
    return "not refused";
  }

  std::filesystem::path file_;
};

TEST_F(Targets, Good) {
  const TargetSet set = load(kGood);
  EXPECT_EQ(set.sku, "h200-sxm");
  EXPECT_EQ(set.file, file_.filename().string());
  EXPECT_EQ(set.date, "2026-12-01");
  EXPECT_TRUE(set.warnings.empty());
  ASSERT_EQ(set.targets.size(), 2U);
  EXPECT_EQ(set.find("nothing/of/the/kind"), nullptr);
  const Target* target = set.find("gemm/bf16/8192x8192x8192/sustained");
  ASSERT_NE(target, nullptr);
  EXPECT_DOUBLE_EQ(target->floor, 620);
  EXPECT_TRUE(target->provisional());
  EXPECT_FALSE(set.find("memory/read/4GiB/burst")->provisional());
}

TEST_F(Targets, ProvisionalBelow59Cards) {
  EXPECT_TRUE(load(edited("cards: 1", "cards: 58")).targets[0].provisional());
  EXPECT_FALSE(load(edited("cards: 1", "cards: 59")).targets[0].provisional());
}

TEST_F(Targets, EachRefusal) {
  struct Case {
    const char* from;
    const char* to;
    const char* message;
  };
  const std::vector<Case> cases = {
      {"floor: 620", "flor: 620", "6: unknown key 'flor'; did you mean 'floor'?"},
      {"floor: 620", "floor: 620\n    floor: 630", "7: duplicate key 'floor', first on line 6"},
      {"cards: 1\n", "cards: 1\n    owner: me\n", "11: unknown key 'owner'; known: "},
      {"sku: h200-sxm", "sku: h300", "1: sku: no card 'h300' in configs/gpus"},
      {"    source: one card\n", "", "3: missing key 'source'; add it"},
      {"source: one card", "source: ''", "11: source: empty text"},
      {"    date: 2026-11-30\n", "", "3: missing key 'date'; add it"},
      {"date: 2026-11-30", "date: 30.11.2026", "12: date: expected YYYY-MM-DD, found '30.11.2026'"},
      {"date: 2026-11-30", "date: 2026-11-31", "12: date: expected YYYY-MM-DD, found '2026-11-31'"},
      {"date: 2026-11-30", "date: 2026-1-030", "12: date: expected YYYY-MM-DD"},
      {"usual: 669", "usual: 669\n    best: 660",
       "8: best: 660 is below the usual figure 669; give the highest figure known or leave it out"},
      {"floor: 620", "floor: 670", "6: floor: 670 is above the usual figure 669"},
      {"floor: 620", "floor: 0", "6: floor: must be above 0"},
      {"floor: 620", "floor: 0x26c", "6: floor: expected a decimal number"},
      {"floor: 620", "floor: 240", "6: floor: 240 is 0.24 of the data sheet's 989.4"},
      {"floor: 620\n    usual: 669", "floor: 990\n    usual: 999",
       "6: floor: 990 is 1.00 of the data sheet's 989.4"},
      {"floor: 4400", "floor: 1100", "16: floor: 1100 is 0.23 of the data sheet's 4800"},
      {"pipe: bf16", "pipe: fp4",
       "5: pipe: h200-sxm has no 'fp4'; give dram or a pipe of its file"},
      {"    pipe: bf16\n", "", "3: missing key 'pipe'; add it"},
      {"metric: tflops", "metric: gb_per_s",
       "4: metric: 'gb_per_s' does not fit pipe bf16; expected 'tflops'"},
      {"metric: gb_per_s", "metric: tflops",
       "14: metric: 'tflops' does not fit pipe dram; expected 'gb_per_s'"},
      {"cards: 1\n", "cards: 0\n", "10: cards: expected 1 or more"},
      {"run_sd_pct: 0.8", "run_sd_pct: -1", "8: run_sd_pct: expected 0 to 50 per cent"},
      {"chip_sd_pct: 1.2", "chip_sd_pct: 51", "9: chip_sd_pct: expected 0 to 50 per cent"},
      {"memory/read/4GiB/burst", "gemm/bf16/8192x8192x8192/sustained", "13: id: a second target"},
      {"id: gemm/bf16/8192x8192x8192/sustained", "id: gemm/bf16", "3: id: 'gemm/bf16' is no id"},
      {"id: gemm/bf16/8192x8192x8192/sustained", "id: gemm//8192/burst",
       "3: id: 'gemm//8192/burst'"},
  };
  for (const Case& c : cases) {
    std::string text = edited(c.from, c.to);
    // The second target's metric must fit when its id is changed to another pipe.
    if (std::string(c.from) == "memory/read/4GiB/burst") {
      text.replace(text.find("metric: gb_per_s"), 16, "metric: tflops");
      text.replace(text.find("pipe: dram"), 10, "pipe: bf16");
      text.replace(text.find("floor: 4400"), 11, "floor: 600");
    }
    const std::string message = refusal(text);
    EXPECT_EQ(message.substr(0, std::string(c.message).size()), c.message) << c.to;
  }
}

TEST_F(Targets, NoTargets) {
  EXPECT_EQ(refusal("sku: h200-sxm\n"), "1: targets: none given; add one or remove the file");
}

TEST_F(Targets, PipeThatTheCardLacks) {
  std::string text = edited("sku: h200-sxm", "sku: a100-sxm4-80");
  text.replace(text.find("pipe: bf16"), 10, "pipe: fp8");
  EXPECT_EQ(refusal(text),
            "5: pipe: a100-sxm4-80 has no fp8 (no FP8 before compute capability 8.9); "
            "remove this target");
}

TEST_F(Targets, BetweenGpusNvlinkIsTheLimit) {
  for (const auto& [pipe, message] :
       {std::pair("pipe: peer", "16: floor: 4400 is 9.78 of the data sheet's 450;"),
        std::pair("pipe: peer_both", "16: floor: 4400 is 4.89 of the data sheet's 900;")}) {
    EXPECT_TRUE(refusal(edited("pipe: dram", pipe)).starts_with(message)) << pipe;
  }
}

// 2.5 x 0.8 % + 3 x 1.2 % = 5.6 % of 669 = 37.5: the warning starts above 631.5.
TEST_F(Targets, WarnsOfAFloorThatIsTooNear) {
  EXPECT_TRUE(load(edited("floor: 620", "floor: 631")).warnings.empty());
  const TargetSet near = load(edited("floor: 620", "floor: 632"));
  ASSERT_EQ(near.warnings.size(), 1U);
  EXPECT_EQ(
      near.warnings[0],
      "floor of gemm/bf16/8192x8192x8192/sustained is 5.5 % below the usual figure, nearer than "
      "2.5 run s.d. + 3 chip s.d. (5.6 %): expect INCONCLUSIVE");
}

TEST(RequireTargets, OfACardThatIsHere) {
  TargetSet set;
  set.sku = "h200-sxm";
  set.file = "mine.yaml";
  const GpuSpec& h200 = *table().find("h200-sxm");
  const GpuSpec& a100 = *table().find("a100-sxm4-80");
  EXPECT_NO_THROW(require_targets_for(set, {a100, h200}));
  for (const auto& [cards, words] :
       {std::pair(std::vector{a100}, "the cards here are: a100-sxm4-80;"),
        std::pair(std::vector<GpuSpec>(), "the cards here are: none that is known;")}) {
    try {
      require_targets_for(set, cards);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }
}

TEST(ShippedTargets, LoadAreSoundAndProvisional) {
  std::vector<std::string> skus;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(ASSAY_SOURCE_DIR) / "configs/targets")) {
    if (entry.path().extension() != ".yaml" || entry.path().stem() == "documents") continue;
    const TargetSet set = load_targets(entry.path(), table());
    skus.push_back(set.sku);
    EXPECT_EQ(set.sku, entry.path().stem().string());
    EXPECT_TRUE(set.warnings.empty()) << set.sku << ": " << set.warnings.front();
    const bool has_fp8 = table().find(set.sku)->datasheet_tflops.contains("fp8");
    for (const Target& target : set.targets) {
      EXPECT_TRUE(target.provisional()) << set.sku << " " << target.id;
      EXPECT_TRUE(has_fp8 || target.pipe != "fp8") << set.sku;
      const std::string dtype = target.id.starts_with("gemm/")         ? target.id.substr(5)
                                : target.id.starts_with("links/both/") ? "pcie_both"
                                : target.id.starts_with("links/")      ? "pcie"
                                                                       : "dram";
      const bool is_fp64 = dtype.starts_with("fp64/");  // a product runs on the tensor cores
      EXPECT_TRUE(is_fp64 ? target.pipe == "fp64_tc" : dtype.starts_with(target.pipe))
          << set.sku << " " << target.id;
      EXPECT_GT(target.source.size(), 10U);
    }
    for (const char* id :
         {"gemm/bf16/8192x8192x8192/sustained", "gemm/tf32/8192x8192x8192/sustained",
          "memory/read/4GiB/burst", "memory/write/4GiB/burst", "memory/copy/4GiB/burst",
          "memory/triad/4GiB/burst", "gemm/fp64/8192x8192x8192/sustained",
          "gemm/fp32/8192x8192x8192/sustained", "gemm/fp16/8192x8192x8192/sustained",
          "gemm/int8/8192x8192x8192/sustained"}) {
      EXPECT_NE(set.find(id), nullptr) << set.sku << " " << id;
    }
    EXPECT_EQ(set.find("gemm/fp8_e4m3/8192x8192x8192/sustained") != nullptr, has_fp8) << set.sku;
  }
  for (const char* sku :
       {"a100-sxm4-40", "a100-sxm4-80", "a100-pcie-80", "h100-sxm", "h100-pcie", "h200-sxm"}) {
    EXPECT_NE(std::ranges::find(skus, sku), skus.end()) << sku;
  }
}

}  // namespace
}  // namespace assay
