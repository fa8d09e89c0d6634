// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <locale>
#include <string>

#include "reports/format_text.h"
#include "tests/unit/sample_report.h"

namespace assay {
namespace {

using namespace samples;
using testing::HasSubstr;
using testing::Not;

Report failing_report() {
  Report report = sample_report(4);
  report.inventory.gpus[2].power_limit_w = 500;
  set_values(report, kBf16, 2, {500, 501, 502, 503, 504});
  set_values(report, kRead, 1, {3000, 3001, 3002, 3003, 3004});
  set_values(report, kCopy, 3, {4281, 4070, 4280, 4282, 4290});
  return report;
}

constexpr const char* kGoodNode =
    R"(assay 0.1.0 accept --suite quick   2026-11-30T17:05:12Z   84 s   not root, bare metal
PASS   1 of 1 GPU: 10 of 10 gates, 4 of 4 measurements.                        exit 0

GPU 0   NVIDIA H200  S/N 1650000000010  module 1  bus 19:00.0  VBIOS 96.00.CF.00.01  driver 580.159.04

                               measured      range (runs)    floor   of limit
BF16 8192^3 sustained          669 TF/s      665..673 (5)      620   0.82 at 1500 MHz
FP8 E4M3 8192^3 sustained     1248 TF/s    1241..1256 (5)     1160   0.77 at 1500 MHz
DRAM read 4GiB                4610 GB/s    4604..4615 (5)     4400   0.96
DRAM copy 4GiB                4281 GB/s    4275..4286 (5)     4080   0.89

host, for information only, never part of a GPU verdict
  host/triad/4GiB/sustained  182 GB/s  181..183 (5)

results verified  all 4
links             NVLink: one GPU, no peer
fastest precision measured as correct: FP8 E4M3, 1248 TF/s (gemm/fp8_e4m3/8192x8192x8192/sustained)
during load       Xid 0  ECC +0  remap +0  PCIe replay +0  NVLink not read
                  hottest 64 C, 23 C below slowdown; power cap in up to 71 % of the samples (normal at 700 W)
blind spot        a card up to 7.3 % slow in GEMM, 4.7 % in DRAM would still pass
floors            h200-sxm.yaml 2026-11-30, from 1 card: PROVISIONAL
not judged        NVLink (one GPU); kernel log (not read)
                  kernel log before this run: needs root
report            out/report.json
)";

constexpr const char* kNoGpu =
    R"(assay 0.1.0 accept --suite quick   2026-11-30T17:05:12Z   84 s   not root, bare metal
NOT JUDGED   No GPU was judged.                                                exit 2

[1] GPU-01  (not judged)   owner: operator
    PCI bus: 0 NVIDIA GPUs.  Driver: not loaded.  NVML: libnvidia-ml.so.1: not found.
    Either this machine has none, or it is hidden from this container or VM.
    Do: 1 lspci -d 10de: on the host
        2 seating and power
        3 containers need --gpus all

host, for information only, never part of a GPU verdict
  host/triad/4GiB/sustained  182 GB/s  181..183 (5)

report            out/report.json
)";

constexpr const char* kFailingNode =
    R"(assay 0.1.0 accept --suite quick   2026-11-30T17:05:12Z   84 s   not root, bare metal
FAIL   2 faults: 1 hardware suspect, 1 setting. Clear: GPU 0 only.             exit 1

[1] PWR-01  GPU 2  S/N 1650000000012  module 3  bus 39:00.0   owner: operator
    GPU 2: power limit 500 W; board default 700 W; peers 700 W
    BF16 8192^3 sustained 502 TF/s, floor 620
    Do: 1 nvidia-smi -i 0000:39:00.0 -pl 700, then rerun assay accept
        2 do not RMA
    Explains: gemm/bf16/8192x8192x8192/sustained (not counted again)
[2] PRF-01  GPU 1  S/N 1650000000011  module 2  bus 29:00.0   owner: hardware
    DRAM read 4GiB 3002 GB/s, floor 4400; peers 4610..4612
    at its clock, 3201 MHz, 0.62 of the limit
    Do: 1 rerun assay accept --gpus with this GPU alone
        2 field diagnostic
        3 run nvidia-bug-report.sh, open an RMA with the serial and this report

GPU 0   NVIDIA H200  S/N 1650000000010  module 1  bus 19:00.0  VBIOS 96.00.CF.00.01  driver 580.159.04
GPU 1   NVIDIA H200  S/N 1650000000011  module 2  bus 29:00.0  VBIOS 96.00.CF.00.01  driver 580.159.04
GPU 2   NVIDIA H200  S/N 1650000000012  module 3  bus 39:00.0  VBIOS 96.00.CF.00.01  driver 580.159.04
GPU 3   NVIDIA H200  S/N 1650000000013  module 4  bus 49:00.0  VBIOS 96.00.CF.00.01  driver 580.159.04

GPU                                    0       1       2       3    floor
BF16 8192^3 sustained       TF/s     669     670     502*    670      620
FP8 E4M3 8192^3 sustained   TF/s    1248    1248    1249    1250     1160
DRAM read 4GiB              GB/s    4610    3002*   4611    4612     4400
DRAM copy 4GiB              GB/s    4281    4282    4282    4281?    4080
* below the floor  ? undecided; of limit: see the report

host, for information only, never part of a GPU verdict
  host/triad/4GiB/sustained  182 GB/s  181..183 (5)

results verified  all 16
links             NVLink: not read on each of 4 GPUs
fastest precision measured as correct: FP8 E4M3, 1248 to 1250 TF/s (gemm/fp8_e4m3/8192x8192x8192/sustained), GPU 0 1 2 3
during load       Xid 0  ECC +0  remap +0  PCIe replay +0  NVLink not read
                  hottest 64 C, 23 C below slowdown; power cap in up to 71 % of the samples
blind spot        a card up to 7.3 % slow in GEMM, 4.7 % in DRAM would still pass
floors            h200-sxm.yaml 2026-11-30, from 1 card: PROVISIONAL
warnings          GPU 3 DRAM copy 4GiB: run s.d. 2.25 % is more than 3 x the 0.20 % expected
not judged        GPU 3 DRAM copy 4GiB: needs 12 runs in all: rerun assay accept
                  NVLink (not measured); kernel log (not read)
                  kernel log before this run: needs root
report            out/report.json
)";

std::string summary_of(Report report) {
  judge(report);
  return render_summary(report, "out/report.json");
}

TEST(Summary, AResultThatWasWrongOnceIsNotCalledVerified) {
  Report report = sample_report(1);
  report.records[0].wrong_runs = 1;
  judge(report);
  const std::string text = render_summary(report, "r.json");
  EXPECT_EQ(text.find("results verified  all"), std::string::npos);
  EXPECT_NE(text.find(report.records[0].id + " wrong in 1 run"), std::string::npos);
}

TEST(Summary, Golden) {
  EXPECT_EQ(summary_of(sample_report(1)), kGoodNode);
  EXPECT_EQ(summary_of(sample_report(0)), kNoGpu);
  EXPECT_EQ(summary_of(failing_report()), kFailingNode);
}

// As de_DE writes figures: 1.234,5.
class GermanFigures : public std::numpunct<char> {
 protected:
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

class LocaleGuard {
 public:
  explicit LocaleGuard(const std::locale& locale) : before_(std::locale::global(locale)) {}
  ~LocaleGuard() { std::locale::global(before_); }
  LocaleGuard(const LocaleGuard&) = delete;
  LocaleGuard& operator=(const LocaleGuard&) = delete;

 private:
  std::locale before_;
};

TEST(Render, SameBytesWhateverTheLocale) {
  Report report = failing_report();
  judge(report);
  const std::string markdown = render_markdown(report);
  const std::string rows = dump_json(render_rows_json(report));
  const std::string whole = dump_json(to_json_value(report));
  const LocaleGuard guard(std::locale(std::locale(), new GermanFigures));
  Report again = failing_report();
  judge(again);
  EXPECT_EQ(render_summary(again, "out/report.json"), kFailingNode);
  EXPECT_EQ(render_markdown(again), markdown);
  EXPECT_EQ(dump_json(render_rows_json(again)), rows);
  EXPECT_EQ(dump_json(to_json_value(again)), whole);
}

TEST(Summary, TheShareOfTheCeilingStandsBesideTheLimit) {
  Report report = sample_report(1);
  Record ceiling = sample_record("gemm/ceiling/bf16/sustained", device_of(report.inventory.gpus[0]),
                                 {700, 701, 702, 703, 704});
  report.records.push_back(ceiling);
  derive_limits(report);
  const std::string text = summary_of(report);
  EXPECT_THAT(text, HasSubstr("0.82 at 1500 MHz  0.95\n"));
  EXPECT_THAT(text, HasSubstr("of limit          of ceiling\n"));
  EXPECT_THAT(text, HasSubstr("0.77 at 1500 MHz  -\n")) << "no ceiling of FP8";
  EXPECT_THAT(render_markdown(report), HasSubstr("| 0.68 | 0.82 | 0.95 |"));
}

TEST(Summary, NothingReadIsSaid) {
  Report report = sample_report(1);
  GpuInventory& gpu = report.inventory.gpus[0];
  gpu.serial.reset();
  gpu.module_id.reset();
  gpu.vbios.reset();
  gpu.after.pcie_replays.reset();
  for (Record& record : report.records) record.telemetry = {};
  const std::string text = summary_of(report);
  EXPECT_THAT(text, HasSubstr("S/N unread  bus 19:00.0  VBIOS unread"));
  EXPECT_THAT(text, HasSubstr("PCIe replay not read"));
  EXPECT_THAT(text, HasSubstr("temperature not read"));
}

TEST(Summary, WhatWasNotMeasuredIsListed) {
  Report report = sample_report(2);
  report.complete = false;
  std::erase_if(report.records,
                [](const Record& r) { return r.id == kRead && r.device.index == 1; });
  Record& fp8 = record_of(report, kFp8, 0);
  fp8.status = RecordStatus::kErrored;
  fp8.message = "cublasLtMatmul: CUBLAS_STATUS_NOT_SUPPORTED";
  fp8.metrics.clear();
  const std::string text = summary_of(report);
  EXPECT_THAT(text, HasSubstr("the run was cut off before its end"));
  EXPECT_THAT(text, HasSubstr("GPU 1 DRAM read 4GiB: not measured"));
  EXPECT_THAT(text, HasSubstr("GPU 0 FP8 E4M3 8192^3 sustained: errored: cublasLtMatmul"));
}

// What `assay run` leaves: facts, no verdict.
TEST(Render, AReportThatNobodyJudged) {
  Report report = sample_report(1);
  report.command = "run";
  Record& fp8 = record_of(report, kFp8, 0);
  fp8.status = RecordStatus::kSkipped;
  fp8.message = "no FP8 before 8.9";
  fp8.metrics.clear();
  derive_limits(report);
  const std::string text = render_summary(report, "out/report.json");
  EXPECT_THAT(text, HasSubstr("MEASURED   no verdict was asked for"));
  EXPECT_THAT(text, HasSubstr("FP8 E4M3 8192^3 sustained: skipped: no FP8 before 8.9"));
  EXPECT_THAT(text, Not(HasSubstr("floors ")));
  EXPECT_THAT(text, Not(HasSubstr("exit")));
  const Json json = render_rows_json(report);
  EXPECT_EQ(json["verdict"], "info");
  EXPECT_TRUE(json["exit_code"].is_null());
  EXPECT_EQ(json["counts"]["info"], 4);
  EXPECT_EQ(json["counts"]["not_measured"], 1);
  EXPECT_TRUE(to_json_value(report)["assay"]["verdict"].is_null());
  EXPECT_THAT(render_markdown(report), HasSubstr("# assay quick: measured, not judged\n"));
}

TEST(RowsJson, Shape) {
  Report report = failing_report();
  std::erase_if(report.records,
                [](const Record& r) { return r.id == kFp8 && r.device.index == 0; });
  judge(report);
  const Json json = render_rows_json(report);
  EXPECT_EQ(json["verdict"], "fail");
  EXPECT_EQ(json["exit_code"], 1);
  ASSERT_EQ(json["rows"].size(), report.records.size() + 1);
  for (const Json& row : json["rows"]) {
    EXPECT_TRUE(row["id"].is_string());
    EXPECT_TRUE(row["device"].is_string());
    EXPECT_TRUE(parse_enum<JudgedStatus>(row["status"].get<std::string>()));
  }
  EXPECT_EQ(json["counts"]["fail"], 2);
  EXPECT_EQ(json["counts"]["inconclusive"], 1);
  EXPECT_EQ(json["counts"]["not_measured"], 1);
  EXPECT_EQ(json["counts"]["info"], 1);
  EXPECT_EQ(json["counts"]["pass"], 12);
  EXPECT_EQ(json["faults"].size(), 2U);
  Report none = sample_report(0);
  judge(none);
  EXPECT_EQ(render_rows_json(none)["verdict"], "not_measured");
}

TEST(Markdown, TextCannotBreakATable) {
  Report report = sample_report(1);
  report.inventory.host.cpu_model = "A|B <script> & `c`\n[x](y)";
  report.notes = {"one | two"};
  judge(report);
  const std::string text = render_markdown(report);
  EXPECT_THAT(text, HasSubstr("A\\|B &lt;script> &amp; \\`c\\` \\[x\\](y)"));
  EXPECT_THAT(text, HasSubstr("- one \\| two"));
  EXPECT_THAT(text, Not(HasSubstr("<script")));
  EXPECT_TRUE(text.ends_with("\n"));
}

TEST(Markdown, NamesVerdictFaultsAndFloors) {
  Report report = failing_report();
  judge(report);
  const std::string text = render_markdown(report);
  EXPECT_TRUE(text.starts_with("# assay quick: fail\n"));
  EXPECT_THAT(text, HasSubstr("### PWR-01 (fail, owner: operator)"));
  EXPECT_THAT(text, HasSubstr("| `memory/read/4GiB/burst` | GPU 1 | 3002 GB/s | 3000..3004 | 5 | "
                              "4400 | 0.63 | 0.62 |  | fail | 3002 GB/s, floor 4400 (PRF-01) |"));
  EXPECT_THAT(text, HasSubstr("1 (provisional)"));
}

// An unread gate, a warning of the targets and those of runs and verdict are said everywhere.
TEST(Render, NothingIsDroppedSilently) {
  Report report = sample_report(1);
  report.inventory.gpus[0].ecc.reset();
  report.inventory.gpus[0].unreadable["ecc"] = "nvmlDeviceGetEccMode: Not Supported";
  report.targets[0].warnings = {"floor of X is too near"};
  record_of(report, kRead, 0).warnings = {"stalls"};
  set_values(report, kRead, 0, {4610, 4610, 4610, 4610, 4610});
  judge(report);
  const std::string summary = render_summary(report, "r.json");
  EXPECT_THAT(summary, HasSubstr("9 of 9 gates"));
  const std::string unread = "GPU 0 ECC mode: nvmlDeviceGetEccMode: Not Supported";
  EXPECT_THAT(summary, HasSubstr("not judged        " + unread + "\n"));
  EXPECT_THAT(summary, HasSubstr("PROVISIONAL\n                  floor of X is too near\n"));
  EXPECT_THAT(summary, HasSubstr("DRAM read 4GiB: stalls\n"));
  EXPECT_THAT(summary, HasSubstr("DRAM read 4GiB: all runs gave the same value"));
  const std::string markdown = render_markdown(report);
  EXPECT_THAT(markdown, HasSubstr("- not judged: " + unread + "\n"));
  EXPECT_THAT(markdown, HasSubstr("stalls\n"));
  EXPECT_THAT(markdown, HasSubstr("all runs gave the same value"));
  const Json json = render_rows_json(report);
  EXPECT_EQ(json["not_checked"][0], unread);
  EXPECT_EQ(json["rows"][2]["warnings"].size(), 2U);
}

TEST(Claims, CountsAtTheEnd) {
  Claim claim;
  claim.id = "D05";
  claim.plain = "TF32 is up to 6 times FP32";
  ClaimResult result;
  result.claim = &claim;
  result.verdict = ClaimVerdict::kConfirmed;
  result.device = "GPU-1";
  result.measured = "5.4x";
  EXPECT_EQ(render_claims({result}),
            "D05  confirmed     TF32 is up to 6 times FP32\n     on GPU-1\n     5.4x\n"
            "1 confirmed, 0 refuted, 0 inconclusive, 0 not_measured\n");
  const Json json = render_claims_json({result});
  EXPECT_EQ(json["verdict"], "info");
  EXPECT_EQ(json["rows"][0]["status"], "confirmed");
  EXPECT_EQ(json["counts"]["confirmed"], 1);
  EXPECT_EQ(json["counts"]["refuted"], 0);
}

TEST(FormatText, Figures) {
  for (const auto& [value, text] :
       {std::pair(4610.4, "4610"), std::pair(668.97, "669"), std::pair(99.96, "100"),
        std::pair(55.44, "55.4"), std::pair(9.996, "10.0"), std::pair(1.254, "1.25"),
        std::pair(0.01234, "0.0123"), std::pair(0.0, "0"), std::pair(-3.14159, "-3.14")}) {
    EXPECT_EQ(figure(value), text);
  }
  EXPECT_EQ(figure_like(55.0, 55.44), "55.0");
  EXPECT_EQ(figure_like(100.04, 99.2), "100.0");
}

TEST(FormatText, Titles) {
  EXPECT_EQ(case_title("gemm/bf16/8192x8192x8192/sustained"), "BF16 8192^3 sustained");
  EXPECT_EQ(case_title("gemm/bf16/8192x3072x8192/burst/warm"), "BF16 8192x3072x8192 burst warm");
  EXPECT_EQ(case_title("gemm/fp8_e4m3/8192x8192x8192+bias+sparse/burst"),
            "FP8 E4M3 8192^3 bias sparse burst");
  EXPECT_EQ(case_title("gemm/ceiling/bf16_mma/sustained"), "BF16 MMA ceiling sustained");
  EXPECT_EQ(case_title("gemm/linear_fp8/64x1024x1024+cast/burst"),
            "FP8 linear 64x1024x1024 cast burst");
  EXPECT_EQ(case_title("memory/copy/4GiB/burst"), "DRAM copy 4GiB");
  EXPECT_EQ(case_title("memory/copy/4GiB/burst/alone"), "DRAM copy 4GiB alone");
  EXPECT_EQ(case_title("memory/dot/4GiB+fp64/burst"), "DRAM dot 4GiB fp64");
  EXPECT_EQ(case_title("memory/read/24MiB/burst/warm"), "memory read 24MiB warm");
  EXPECT_EQ(case_title("memory/l2_read/24MiB/burst/warm"), "L2 read 24MiB");
  EXPECT_EQ(case_title("memory/latency/16KiB/burst/warm"), "memory latency 16KiB warm");
  EXPECT_EQ(case_title("memory/integrity/90pct/burst"), "memory integrity 90pct");
  EXPECT_EQ(case_title("links/h2d/512MiB+pageable+far/burst"),
            "host to device 512MiB pageable far");
  EXPECT_EQ(case_title("links/both/512MiB+sm/burst/alone"), "host, both ways 512MiB sm alone");
  EXPECT_EQ(case_title("links/latency/zerocopy+far/burst"), "latency zero-copy read far");
  EXPECT_EQ(case_title("links/p2p_write/512MiB+sm+to=3/burst"), "peer write 512MiB sm GPU 3");
  EXPECT_EQ(case_title("links/latency/p2p+to=12/burst"), "latency peer GPU 12");
  EXPECT_EQ(case_title("links/p2p_read/512MiB+to=each/burst"), "peer read 512MiB each GPU");
  EXPECT_EQ(case_title("conv/fprop/0/burst"), "conv/fprop/0/burst");
  EXPECT_EQ(case_title("gemm"), "gemm");
  EXPECT_EQ(case_title(""), "");
}

TEST(Summary, WhatTheLoadDid) {
  Report report = sample_report(2);
  Record& row = record_of(report, kBf16, 0);
  row.telemetry.deltas = {{"power_cap_ns", 1'500'000'000}, {"ecc_corrected", 2}};
  row.telemetry.load_s = 2;
  row.verification.hash = "0123456789abcdef";
  row.verification.repetitions = 40;
  report.inventory.gpus[0].xids = {{{31, "2026-11-30T17:05:12Z"}}};
  std::string text = render_summary(report, "r.json");
  EXPECT_THAT(text, HasSubstr("results verified  all 8; 40 repetitions bit-identical"));
  EXPECT_THAT(text, HasSubstr("Xid 1  ECC +2  remap +0  PCIe replay +0  NVLink not read"));
  EXPECT_THAT(text, HasSubstr("power cap in up to 75 % of the time (normal at 700 W)"));
  // What one GPU could not tell is not 0.
  report.inventory.gpus[1].xids.reset();
  report.inventory.gpus[1].after.ecc_corrected_volatile.reset();
  report.inventory.gpus[1].after.pcie_replays.reset();
  row.telemetry.unknown["power_cap_ns"] = "implausible";
  text = render_summary(report, "r.json");
  EXPECT_THAT(text, HasSubstr("Xid 1 or more  ECC +2 or more  remap +0  PCIe replay not read"));
  EXPECT_THAT(text, HasSubstr("of the samples"));
}

}  // namespace
}  // namespace assay
