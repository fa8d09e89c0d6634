// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

#include "reports/claims.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "reports/error.h"

namespace assay {
namespace {

constexpr const char* kTf32 = "gemm/tf32/8192x8192x8192/sustained";
constexpr const char* kFp32 = "gemm/fp32/8192x8192x8192/sustained";
constexpr const char* kFp8 = "gemm/fp8_e4m3/8192x8192x8192/sustained";
constexpr const char* kRead = "memory/read/4GiB/burst";
constexpr const char* kWrite = "memory/write/4GiB/burst";

const std::vector<Claim>& documents() {
  static const std::vector<Claim> loaded = load_claims(std::filesystem::path(ASSAY_SOURCE_DIR) /
                                                       "configs" / "targets" / "documents.yaml");
  return loaded;
}

// A card as the inventory would hold it.
GpuInventory card(const std::string& sku, int sm_count, const std::string& compute_capability,
                  const std::string& uuid = "GPU-1") {
  GpuInventory gpu;
  gpu.uuid = uuid;
  gpu.name = "card " + sku;
  gpu.sku = sku;
  gpu.sm_count = sm_count;
  gpu.compute_capability = compute_capability;
  return gpu;
}

Report report_of(GpuInventory gpu) {
  Report report;
  report.inventory.gpus.push_back(std::move(gpu));
  return report;
}

// Five runs, `spread` to either side of `value`.
Record measured(const std::string& id, double value, double spread,
                const std::string& uuid = "GPU-1") {
  Record record;
  record.id = id;
  record.device.uuid = uuid;
  Metric metric;
  metric.value = value;
  metric.ci_low = value - spread;
  metric.ci_high = value + spread;
  metric.level = 0.9375;
  metric.unit = id.starts_with("memory") ? "GB/s" : "TFLOPS";
  metric.primary = true;
  record.metrics[id.starts_with("memory") ? "gb_per_s" : "tflops"] = metric;
  record.runs = 5;
  record.verification.status = VerificationStatus::kVerified;
  return record;
}

Record not_ok(const std::string& id, RecordStatus status, const std::string& message) {
  Record record;
  record.id = id;
  record.device.uuid = "GPU-1";
  record.status = status;
  record.message = message;
  return record;
}

std::vector<ClaimResult> results_of(const std::string& id, const Report& report) {
  std::vector<ClaimResult> results;
  for (const ClaimResult& result : judge_claims(documents(), report)) {
    if (result.claim->id == id) results.push_back(result);
  }
  return results;
}

// The only result of a claim.
ClaimResult result_of(const std::string& id, const Report& report) {
  const std::vector<ClaimResult> results = results_of(id, report);
  EXPECT_EQ(results.size(), 1U) << id;
  return results.empty() ? ClaimResult{} : results.front();
}

TEST(Claims, AllFortyTwoAreThere) {
  ASSERT_EQ(documents().size(), 42U);
  for (std::size_t i = 0; i < documents().size(); ++i) {
    const Claim& claim = documents()[i];
    const std::string number = std::to_string(i + 1);
    EXPECT_EQ(claim.id, "D" + std::string(2 - number.size(), '0') + number);
    EXPECT_TRUE(claim.document.find("P27") != std::string::npos ||
                claim.document.find("P28") != std::string::npos)
        << claim.id;
    EXPECT_FALSE(claim.quote.empty());
    EXPECT_FALSE(claim.plain.empty());
    EXPECT_NE(claim.checks.empty(), claim.reason.empty()) << claim.id;
  }
}

TEST(Claims, EachClaimHasAResultEvenWithoutAGpu) {
  const std::vector<ClaimResult> results = judge_claims(documents(), Report{});
  ASSERT_EQ(results.size(), 42U);
  for (const ClaimResult& result : results) {
    EXPECT_EQ(result.verdict, ClaimVerdict::kNotMeasured) << result.claim->id;
    EXPECT_FALSE(result.reason.empty()) << result.claim->id;
    EXPECT_TRUE(result.device.empty()) << result.claim->id;
  }
}

TEST(Claims, IdentityIsConfirmedAndRefuted) {
  const Report a100 = report_of(card("a100-sxm4-80", 108, "8.0"));
  EXPECT_EQ(result_of("D01", a100).verdict, ClaimVerdict::kConfirmed);
  EXPECT_EQ(result_of("D02", a100).verdict, ClaimVerdict::kConfirmed);
  EXPECT_EQ(result_of("D02", a100).device, "GPU-1");
  const Report pcie = report_of(card("h100-pcie", 114, "9.0"));
  EXPECT_EQ(result_of("D01", pcie).verdict, ClaimVerdict::kConfirmed);
  EXPECT_EQ(result_of("D02", pcie).verdict, ClaimVerdict::kRefuted);
  EXPECT_EQ(result_of("D02", pcie).measured, "sm_count = 114, claimed 132");
}

TEST(Claims, WhatCouldNotBeReadIsNotMeasured) {
  GpuInventory gpu = card("a100-sxm4-80", 108, "8.0");
  gpu.sm_count.reset();
  gpu.unreadable["sm_count"] = "no CUDA context";
  const ClaimResult result = result_of("D02", report_of(gpu));
  EXPECT_EQ(result.verdict, ClaimVerdict::kNotMeasured);
  EXPECT_EQ(result.reason, "sm_count could not be read: no CUDA context");
}

TEST(Claims, CardsThatTheDocumentsDoNotSpeakOf) {
  Report h200 = report_of(card("h200-sxm", 132, "9.0"));
  h200.records.push_back(measured(kRead, 4610, 5));
  for (const char* id : {"D01", "D02", "D03", "D07", "D39"}) {
    const ClaimResult result = result_of(id, h200);
    EXPECT_EQ(result.verdict, ClaimVerdict::kNotMeasured) << id;
    EXPECT_EQ(result.reason, "the documents do not speak of this card (h200-sxm)") << id;
  }
  // A slug is matched up to a dash: h100 is no prefix of h1000-x.
  EXPECT_EQ(result_of("D01", report_of(card("h1000-x", 132, "9.0"))).verdict,
            ClaimVerdict::kNotMeasured);
  GpuInventory unknown = card("", 108, "8.0");
  unknown.sku.reset();
  unknown.name = "NVIDIA A100X";
  EXPECT_EQ(result_of("D02", report_of(unknown)).reason,
            "the documents do not speak of this card (NVIDIA A100X)");
}

TEST(Claims, BandwidthIsTheBestKernelAgainstTheFigure) {
  Report report = report_of(card("a100-sxm4-80", 108, "8.0"));
  EXPECT_EQ(result_of("D03", report).verdict, ClaimVerdict::kNotMeasured);
  report.records.push_back(measured(kRead, 1776, 5));  // 0.888 of 2000
  EXPECT_EQ(result_of("D03", report).verdict, ClaimVerdict::kRefuted);
  report.records.push_back(measured(kWrite, 1908, 5));  // 0.954
  const ClaimResult result = result_of("D03", report);
  EXPECT_EQ(result.verdict, ClaimVerdict::kConfirmed);
  EXPECT_EQ(
      result.measured,
      "HBM bandwidth, memory/write/4GiB/burst: 1908 GB/s = 0.954 (0.952..0.957) of the claimed "
      "2000, asked at least 0.9");
}

TEST(Claims, BandwidthOfSmallerCards) {
  Report a100 = report_of(card("a100-sxm4-40", 108, "8.0"));
  a100.records.push_back(measured(kWrite, 1539, 5));
  EXPECT_EQ(result_of("D03", a100).verdict, ClaimVerdict::kRefuted);
  Report h100 = report_of(card("h100-sxm", 132, "9.0"));
  h100.records.push_back(measured(kRead, 3180, 5));
  EXPECT_EQ(result_of("D03", h100).verdict, ClaimVerdict::kConfirmed);
}

TEST(Claims, AnIntervalOverTheBoundIsInconclusive) {
  Report report = report_of(card("a100-sxm4-80", 108, "8.0"));
  report.records.push_back(measured(kRead, 1801, 10));
  const ClaimResult result = result_of("D03", report);
  EXPECT_EQ(result.verdict, ClaimVerdict::kInconclusive);
  EXPECT_EQ(result.reason, "the interval reaches over the bound of the claim");
}

TEST(Claims, FewRunsOrABrokenRecordAreInconclusive) {
  Report report = report_of(card("a100-sxm4-80", 108, "8.0"));
  Record one_run = measured(kRead, 1908, 0);
  one_run.runs = 1;
  one_run.metrics["gb_per_s"].ci_low.reset();
  one_run.metrics["gb_per_s"].ci_high.reset();
  one_run.metrics["gb_per_s"].level.reset();
  report.records.push_back(one_run);
  EXPECT_EQ(result_of("D03", report).verdict, ClaimVerdict::kInconclusive);
  report.records[0] = measured(kRead, 1908, 5);
  report.records[0].metrics["gb_per_s"].level = 0.875;  // four runs
  EXPECT_EQ(result_of("D03", report).verdict, ClaimVerdict::kInconclusive);
  report.records[0] = not_ok(kRead, RecordStatus::kInvalid, "wrong sum");
  EXPECT_EQ(result_of("D03", report).verdict, ClaimVerdict::kInconclusive);
  EXPECT_EQ(result_of("D03", report).reason, "memory/read/4GiB/burst is invalid: wrong sum");
}

TEST(Claims, Tf32Ratio) {
  Report report = report_of(card("a100-sxm4-80", 108, "8.0"));
  EXPECT_EQ(result_of("D05", report).verdict, ClaimVerdict::kNotMeasured);
  report.records = {measured(kTf32, 127, 1)};
  EXPECT_EQ(result_of("D05", report).verdict, ClaimVerdict::kNotMeasured);
  EXPECT_NE(result_of("D05", report).reason.find(std::string(kFp32) + " is missing"),
            std::string::npos);
  report.records = {measured(kTf32, 127, 1), measured(kFp32, 19.2, 0.1)};
  const ClaimResult result = result_of("D05", report);
  EXPECT_EQ(result.verdict, ClaimVerdict::kConfirmed);
  // 126 / 19.3 and 128 / 19.1: the worst of both intervals.
  EXPECT_EQ(result.measured, "TF32 / FP32 = 6.61x (6.53..6.70), claimed at least 5.4");
  report.records = {measured(kTf32, 402, 1), measured(kFp32, 52, 0.1)};
  EXPECT_EQ(result_of("D05", report).verdict, ClaimVerdict::kConfirmed);
  report.records = {measured(kTf32, 15, 1), measured(kFp32, 19.2, 0.1)};
  EXPECT_EQ(result_of("D05", report).verdict, ClaimVerdict::kRefuted);
  report.records = {measured(kTf32, 104, 3), measured(kFp32, 19.2, 0.3)};
  EXPECT_EQ(result_of("D05", report).verdict, ClaimVerdict::kInconclusive);
}

// One value a run; the record as merge and judge leave it.
Record in_runs(const std::string& id, std::vector<double> values) {
  const auto [low, high] = std::ranges::minmax(values);
  Record record = measured(id, (low + high) / 2, (high - low) / 2);
  record.metrics["tflops"].values = std::move(values);
  return record;
}

// Both drift by a tenth together: the ratio hardly does.
TEST(Claims, RatiosArePairedRunByRun) {
  Report report = report_of(card("h200-sxm", 132, "9.0"));
  report.records = {in_runs(kTf32, {300, 310, 320, 325, 330}),
                    in_runs(kFp32, {50, 51, 53, 54, 55})};
  const ClaimResult paired = result_of("D05", report);
  EXPECT_EQ(paired.verdict, ClaimVerdict::kConfirmed);
  EXPECT_EQ(paired.measured, "TF32 / FP32 = 6.02x (6.00..6.08, 5 pairs), claimed at least 5.4");
  report.records = {in_runs(kTf32, {274, 290, 300, 310, 330}),
                    in_runs(kFp32, {50, 51, 53, 54, 55})};
  EXPECT_EQ(result_of("D05", report).verdict, ClaimVerdict::kConfirmed) << "5.48 at the least";
  // A wrong run was replaced in a later round.
  report.records[0].wrong_runs = 1;
  EXPECT_EQ(result_of("D05", report).measured.find("pairs"), std::string::npos);
  // A run more on one side: nobody knows which belong together, and 274 / 55 is below 5.4.
  report.records[0] = in_runs(kTf32, {274, 290, 300, 310, 330, 330});
  EXPECT_EQ(result_of("D05", report).verdict, ClaimVerdict::kInconclusive);
  EXPECT_EQ(result_of("D05", report).measured.find("pairs"), std::string::npos);
}

std::string product(const std::string& precision, int size, const std::string& variant = "") {
  return fmt::format("gemm/{}/{}x{}x{}{}/sustained", precision, size, size, size, variant);
}

TEST(Claims, SparseOverDense) {
  Report report = report_of(card("h200-sxm", 132, "9.0"));
  for (const char* precision : {"bf16", "fp8_e4m3"}) {
    for (const int size : {8192, 16384}) {
      report.records.push_back(in_runs(product(precision, size), {600, 601, 602, 603, 604}));
      report.records.push_back(
          in_runs(product(precision, size, "+sparse"), {1190, 1191, 1192, 1193, 1194}));
    }
  }
  EXPECT_EQ(result_of("D09", report).verdict, ClaimVerdict::kConfirmed);
  report.records.back() = in_runs(product("fp8_e4m3", 16384, "+sparse"), {800, 801, 802, 803, 804});
  EXPECT_EQ(result_of("D09", report).verdict, ClaimVerdict::kRefuted) << "one of four";
  report.records.pop_back();
  EXPECT_EQ(result_of("D09", report).verdict, ClaimVerdict::kNotMeasured);
  // No FP8 on an A100: it is judged by BF16 alone.
  report.inventory.gpus[0] = card("a100-sxm4-80", 108, "8.0");
  EXPECT_EQ(result_of("D09", report).verdict, ClaimVerdict::kConfirmed);
}

TEST(Claims, SparseFp8AgainstTheSheet) {
  Report report = report_of(card("h100-sxm", 132, "9.0"));
  report.records = {measured(product("fp8_e4m3", 8192, "+sparse"), 1600, 5),
                    measured(product("fp8_e4m3", 16384, "+sparse"), 1700, 5)};
  const ClaimResult result = result_of("D08", report);
  EXPECT_EQ(result.verdict, ClaimVerdict::kRefuted);
  EXPECT_NE(result.measured.find("16384x16384x16384+sparse/sustained: 1700"), std::string::npos)
      << "the better of the two: " << result.measured;
  report.records[0] = measured(product("fp8_e4m3", 8192, "+sparse"), 3600, 5);
  EXPECT_EQ(result_of("D08", report).verdict, ClaimVerdict::kConfirmed);
}

TEST(Claims, TheLinearLayerRanBothWays) {
  Report report = report_of(card("h200-sxm", 132, "9.0"));
  report.records = {measured("gemm/linear_fp8/64x1024x1024+gemm/burst", 100, 1)};
  EXPECT_EQ(result_of("D27", report).verdict, ClaimVerdict::kNotMeasured);
  report.records.push_back(measured("gemm/linear_fp8/64x1024x1024+cast/burst", 40, 1));
  EXPECT_EQ(result_of("D27", report).verdict, ClaimVerdict::kConfirmed);
  report.records[1].verification.status = VerificationStatus::kNotRun;
  EXPECT_EQ(result_of("D27", report).verdict, ClaimVerdict::kInconclusive);
}

TEST(Claims, EnergyIsAFigureOrAReason) {
  Report report = report_of(card("h200-sxm", 132, "9.0"));
  report.records = {measured(product("bf16", 8192), 669, 1)};
  report.records[0].telemetry.unknown["energy_j"] = "the counter was not read";
  EXPECT_EQ(result_of("D33", report).verdict, ClaimVerdict::kNotMeasured);
  EXPECT_EQ(result_of("D33", report).reason,
            product("bf16", 8192) + " has no gflop_per_joule: the counter was not read");
  Metric& energy = report.records[0].metrics["gflop_per_joule"];
  energy.unit = "GFLOP/J";
  EXPECT_EQ(result_of("D33", report).verdict, ClaimVerdict::kNotMeasured) << "no value";
  energy.values = {970};
  energy.value = 970;
  EXPECT_EQ(result_of("D33", report).verdict, ClaimVerdict::kConfirmed);
  EXPECT_EQ(result_of("D33", report).measured, product("bf16", 8192) + ": 970 GFLOP/J");
}

TEST(Claims, TheFastestPrecisionByCard) {
  Report h100 = report_of(card("h100-sxm", 132, "9.0"));
  h100.records = {in_runs(kFp8, {1290, 1291, 1292, 1293, 1294})};
  EXPECT_EQ(result_of("D35", h100).verdict, ClaimVerdict::kNotMeasured) << "against what?";
  h100.records.push_back(in_runs(product("bf16", 8192), {700, 701, 702, 703, 704}));
  EXPECT_EQ(result_of("D35", h100).verdict, ClaimVerdict::kConfirmed);
  h100.records[0].verification.status = VerificationStatus::kWrong;
  EXPECT_EQ(result_of("D35", h100).verdict, ClaimVerdict::kNotMeasured) << "wrong is never fast";
  h100.records[0] = in_runs(kFp8, {600, 601, 602, 603, 604});
  EXPECT_EQ(result_of("D35", h100).verdict, ClaimVerdict::kRefuted);
  h100.records[0] = in_runs(kFp8, {690, 700, 702, 703, 710});
  EXPECT_EQ(result_of("D35", h100).verdict, ClaimVerdict::kInconclusive);
  Report a100 = report_of(card("a100-sxm4-80", 108, "8.0"));
  a100.records = {in_runs(product("bf16", 8192), {250, 251, 252, 253, 254}),
                  in_runs(kTf32, {120, 121, 122, 123, 124})};
  EXPECT_EQ(result_of("D35", a100).verdict, ClaimVerdict::kConfirmed);
}

TEST(Claims, RatioWithoutACommonRun) {
  Report report = report_of(card("h200-sxm", 132, "9.0"));
  report.records = {measured(kTf32, 342, 1),
                    not_ok(kFp32, RecordStatus::kErrored, "out of memory")};
  EXPECT_EQ(result_of("D05", report).verdict, ClaimVerdict::kInconclusive);
  EXPECT_EQ(result_of("D05", report).reason,
            std::string("no common run: ") + kFp32 + " is errored: out of memory");
  report.records[1] = measured(kFp32, 51, 0.5);
  report.records[1].conditions.peers = Peers::kAlone;
  EXPECT_EQ(result_of("D05", report).verdict, ClaimVerdict::kInconclusive);
  // The other record is of another card.
  report.records[1] = measured(kFp32, 51, 0.5, "GPU-2");
  EXPECT_EQ(result_of("D05", report).verdict, ClaimVerdict::kNotMeasured);
}

TEST(Claims, Fp8RanOrWasSkipped) {
  Report a100 = report_of(card("a100-pcie-80", 108, "8.0"));
  a100.records = {not_ok(kFp8, RecordStatus::kSkipped, "no FP8 before compute capability 8.9")};
  EXPECT_EQ(result_of("D07", a100).verdict, ClaimVerdict::kConfirmed);
  a100.records = {measured(kFp8, 500, 1)};
  EXPECT_EQ(result_of("D07", a100).verdict, ClaimVerdict::kRefuted);
  a100.records = {not_ok(kFp8, RecordStatus::kErrored, "crashed")};
  EXPECT_EQ(result_of("D07", a100).verdict, ClaimVerdict::kInconclusive);
  Report h100 = report_of(card("h100-sxm", 132, "9.0"));
  EXPECT_EQ(result_of("D07", h100).verdict, ClaimVerdict::kNotMeasured);
  h100.records = {measured(kFp8, 1290, 5)};
  EXPECT_EQ(result_of("D07", h100).verdict, ClaimVerdict::kConfirmed);
  h100.records = {not_ok(kFp8, RecordStatus::kSkipped, "out of time")};
  EXPECT_EQ(result_of("D07", h100).verdict, ClaimVerdict::kInconclusive);
}

TEST(Claims, DriverIsOfTheHost) {
  Report report = report_of(card("a100-sxm4-80", 108, "8.0"));
  report.inventory.gpus.push_back(card("a100-sxm4-80", 108, "8.0", "GPU-2"));
  EXPECT_EQ(result_of("D18", report).verdict, ClaimVerdict::kNotMeasured);
  report.inventory.driver = "580.159.04";
  EXPECT_EQ(result_of("D18", report).verdict, ClaimVerdict::kConfirmed);
  EXPECT_EQ(result_of("D18", report).measured, "driver 580.159.04, claimed at least 525");
  EXPECT_TRUE(result_of("D18", report).device.empty());
  report.inventory.driver = "515.65";
  EXPECT_EQ(result_of("D18", report).verdict, ClaimVerdict::kInconclusive);
}

TEST(Claims, Mig) {
  GpuInventory gpu = card("h100-sxm", 132, "9.0");
  gpu.unreadable["mig"] = "nvmlDeviceGetMigMode: Not Supported";
  EXPECT_EQ(result_of("D39", report_of(gpu)).verdict, ClaimVerdict::kNotMeasured);
  gpu.mig = false;
  EXPECT_EQ(result_of("D39", report_of(gpu)).verdict, ClaimVerdict::kRefuted);
  EXPECT_EQ(result_of("D39", report_of(gpu)).measured, "MIG offered = true, claimed false");
  EXPECT_EQ(result_of("D21", report_of(gpu)).verdict, ClaimVerdict::kNotMeasured);
  gpu.mig = true;
  gpu.mig_slices.resize(7);
  EXPECT_EQ(result_of("D21", report_of(gpu)).verdict, ClaimVerdict::kConfirmed);
  gpu.mig_slices.resize(8);
  EXPECT_EQ(result_of("D21", report_of(gpu)).verdict, ClaimVerdict::kRefuted);
}

TEST(Claims, OneResultACard) {
  Report report = report_of(card("a100-sxm4-80", 108, "8.0", "GPU-1"));
  report.inventory.gpus.push_back(card("h100-pcie", 114, "9.0", "GPU-2"));
  report.inventory.gpus.push_back(card("h200-sxm", 132, "9.0", "GPU-3"));
  const std::vector<ClaimResult> results = results_of("D02", report);
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[0].verdict, ClaimVerdict::kConfirmed);
  EXPECT_EQ(results[1].verdict, ClaimVerdict::kRefuted);
  EXPECT_EQ(results[2].verdict, ClaimVerdict::kNotMeasured);
  EXPECT_EQ(results[2].device, "GPU-3");
  EXPECT_EQ(results_of("D06", report).size(), 1U);  // nothing judges it yet
}

class ClaimFiles : public testing::Test {
 protected:
  // The message without the file's path, after one claim with these lines was read.
  static std::string refusal(const std::string& kind, const std::string& rest) {
    const std::filesystem::path file =
        std::filesystem::path(testing::TempDir()) / "assay_claims_test.yaml";
    std::ofstream(file)
        << "claims:\n  - id: D01\n    document: P27\n    quote: q\n    plain: p\n    kind: " << kind
        << "\n    judged_by: j\n"
        << rest;
    std::string message = "not refused";
    try {
      static_cast<void>(load_claims(file));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      message = error.what();
      EXPECT_TRUE(message.starts_with(file.string() + ":")) << message;
      message.erase(0, file.string().size() + 1);
    }
    std::filesystem::remove(file);
    return message;
  }
  static std::string check(const std::string& fields) {
    return refusal("metric", "    checks:\n      - {" + fields + "}\n");
  }
};

TEST_F(ClaimFiles, EachRefusal) {
  EXPECT_EQ(refusal("metric", "    reason: later\n"), "not refused");
  EXPECT_EQ(refusal("metric", ""), "2: D01 has no checks; give the reason");
  EXPECT_EQ(refusal("fact", "    reason: later\n"),
            "6: kind: expected metric, context or not_measurable, found 'fact'");
  EXPECT_EQ(refusal("metric", "    reasno: later\n"),
            "8: unknown key 'reasno'; did you mean 'reason'?");
  EXPECT_EQ(refusal("not_measurable", "    checks:\n      - {type: driver, at_least: 525}\n"),
            "9: checks: D01 is not_measurable, yet has checks");
  const std::string twice =
      "    reason: later\n  - {id: D01, document: d, quote: q, plain: p, kind: metric, judged_by: "
      "j, "
      "reason: r}\n";
  EXPECT_EQ(refusal("metric", twice), "9: id: D01 is there twice; remove one");
  EXPECT_EQ(
      check("type: guess"),
      "9: type: unknown check 'guess'; known: ratio, share, inventory, mig_slices, ran, fastest, "
      "nvlink_rate, driver, nvlink_pairs, host_facts");
  EXPECT_EQ(check("type: ratio, id: a, at_least: 1"), "9: missing key 'base_id'; add it");
  EXPECT_EQ(check("type: ratio, id: a, base_id: b"),
            "9: the check has no bound; give at_least, at_most or both");
  EXPECT_EQ(check("type: ratio, id: a, base_id: b, at_least: 3, at_most: 2"),
            "9: at_least: above at_most");
  EXPECT_EQ(check("type: share, id: a, of: 0, at_least: 1"), "9: of: must be above 0");
  EXPECT_EQ(check("type: ran, id: a, equals: failed"),
            "9: equals: expected ok or skipped, found 'failed'");
  EXPECT_EQ(check("type: inventory, field: serial, equals: x").substr(0, 41),
            "9: field: unknown field 'serial'; known: ");
  EXPECT_EQ(check("type: ran, id: a, equals: ok, of: 3").substr(0, 19), "9: unknown key 'of'");
  EXPECT_EQ(check("type: ran, id: a, equals: skipped, metric: joules"),
            "9: metric: what was skipped has no figure; remove the key");
  EXPECT_EQ(check("type: share, id: a, of: 1, at_least: 1, metric: joules").substr(0, 23),
            "9: unknown key 'metric'");
  EXPECT_EQ(check("type: fastest, any_of: []"), "9: any_of: name the precisions, such as fp8_e4m3");
  EXPECT_EQ(check("type: driver, at_least: 525, skus: [a100]"),
            "9: skus: driver is of the node; remove the key");
  EXPECT_EQ(check("type: ran, id: a, equals: ok}\n      - {type: driver, at_least: 525"),
            "9: checks: D01 mixes checks of the node and of a card");
}

}  // namespace
}  // namespace assay
