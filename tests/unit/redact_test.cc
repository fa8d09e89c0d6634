// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "reports/render.h"
#include "reports/sha256.h"
#include "tests/unit/sample_report.h"

namespace assay {
namespace {

using namespace samples;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

// Every place of a report where a part or a person can be named.
Report telling_report() {
  Report report = sample_report(2);
  set_values(report, kBf16, 1, {500, 501, 502, 503, 504});
  const std::string uuid = report.inventory.gpus[1].uuid;
  report.inventory.gpus[1].mig_slices = {{"MIG-12345678-1111-2222-3333-444444444444", "slice"}};
  report.notes = {"alice ran this on rack7-node12, GPU " + uuid,
                  "bare form: " + uuid.substr(4) + ", board Example Board X1 0042"};
  report.context = {{"host_name", "rack7-node12.example.org"},
                    {"user", "alice"},
                    {"executable", "/home/bob/assay/build/bin/assay"},
                    {"environment", {{"CUDA_VISIBLE_DEVICES", uuid}}}};
  report.benchmarks = Json::array({{{"name", kBf16}, {"assay", {{"device", uuid}}}}});
  record_of(report, kCopy, 1).warnings = {"serial 1650000000011 was slow once"};
  report.inventory.peers = {{report.inventory.gpus[0].uuid, uuid, {}, {}, {}, {}, {}, {}}};
  judge(report);
  // Of a part that the inventory no longer lists.
  report.faults.at(0).peer = {3, "1650000000099", 4, "0000:49:00.0",
                              "GPU-99999999-1111-2222-3333-444444444449"};
  return report;
}

TEST(Redact, UuidsThatTheInventoryDoesNotNameAndShortenedOnes) {
  Report report = sample_report(1);
  report.context["environment"] = {{"CUDA_VISIBLE_DEVICES", "GPU-5f60b96d"}};
  report.notes = {"MIG-6f1c2a7e-1d2b-5c3d-9e4f-0a1b2c3d4e5f was there; see GPU-01"};
  const std::string text = dump_json(to_json_value(redacted(report)));
  EXPECT_EQ(text.find("5f60b96d"), std::string::npos);
  EXPECT_EQ(text.find("6f1c2a7e"), std::string::npos);
  EXPECT_NE(text.find("see GPU-01"), std::string::npos);
}

TEST(Redact, NothingIsLeft) {
  const std::string text = dump_json(to_json_value(redacted(telling_report())));
  const Report plain = telling_report();
  for (const std::string secret :
       {"GPU-00000000", "00000000-1111-2222", "1650000000010", "1650000000011", "1650000000099",
        "GPU-99999999", "MIG-12345678", "rack7-node12", "example.org",
        "7c8b3f5e-9d1a-4c2b-8e6f-0a1b2c3d4e5f", "Example Board", "alice", "bob"}) {
    EXPECT_THAT(dump_json(to_json_value(plain)), HasSubstr(secret));
    EXPECT_THAT(text, Not(HasSubstr(secret)));
  }
}

TEST(Redact, SameValueSameTokenDifferentValuesDifferentTokens) {
  const Report report = redacted(telling_report());
  std::set<std::string> tokens;
  for (const GpuInventory& gpu : report.inventory.gpus) {
    EXPECT_THAT(gpu.uuid, MatchesRegex("redacted-[0-9a-f]{12}"));
    EXPECT_THAT(*gpu.serial, MatchesRegex("redacted-[0-9a-f]{12}"));
    tokens.insert(gpu.uuid);
    tokens.insert(*gpu.serial);
  }
  EXPECT_EQ(tokens.size(), 4U);
  const std::string& uuid = report.inventory.gpus[1].uuid;
  EXPECT_EQ(report.faults.at(0).scope.uuid, uuid);
  EXPECT_EQ(report.benchmarks[0]["assay"]["device"], uuid);
  EXPECT_EQ(report.context["environment"]["CUDA_VISIBLE_DEVICES"], uuid);
  EXPECT_THAT(report.notes[0], HasSubstr(uuid));
}

TEST(Redact, WhatHelpsToJudgeStays) {
  const Report plain = telling_report();
  const Report report = redacted(plain);
  EXPECT_TRUE(report.redacted);
  EXPECT_EQ(report.inventory.gpus[0].name, "NVIDIA H200");
  EXPECT_EQ(report.inventory.gpus[0].bus_id, plain.inventory.gpus[0].bus_id);
  EXPECT_EQ(report.inventory.gpus[0].vbios, plain.inventory.gpus[0].vbios);
  EXPECT_EQ(report.inventory.host.cpu_model, plain.inventory.host.cpu_model);
  EXPECT_EQ(report.records.back().device.uuid, "host");
}

TEST(Redact, IsIdempotentAndRepeatable) {
  const Report once = redacted(telling_report());
  EXPECT_EQ(to_json_value(redacted(once)).dump(), to_json_value(once).dump());
  EXPECT_EQ(to_json_value(redacted(telling_report())).dump(), to_json_value(once).dump());
}

TEST(Redact, JudgedAlike) {
  Report plain = telling_report();
  Report report = redacted(plain);
  judge(report);
  EXPECT_EQ(report.verdict->summary, plain.verdict->summary);
  EXPECT_EQ(report.verdict->exit_code, plain.verdict->exit_code);
  ASSERT_EQ(report.faults.size(), plain.faults.size());
  for (std::size_t i = 0; i < plain.faults.size(); ++i) {
    EXPECT_EQ(report.faults[i].code, plain.faults[i].code);
    EXPECT_EQ(report.faults[i].scope.gpu, plain.faults[i].scope.gpu);
  }
}

// A machine may be called like a word of the format.
TEST(Redact, VocabularySurvivesUnluckyNames) {
  for (const std::string name : {"node", "host", "pass", "gemm", "burst", "GB/s", "accept", "red",
                                 "edacted-", "records", "device", "assay", "h200-sxm"}) {
    Report report = telling_report();
    report.inventory.host.host_name = name;
    report.context["user"] = name;
    Report hidden = redacted(report);
    judge(hidden);
    EXPECT_EQ(hidden.verdict->exit_code, report.verdict->exit_code) << name;
    EXPECT_EQ(hidden.verdict->status, report.verdict->status) << name;
    EXPECT_EQ(hidden.faults.size(), report.faults.size()) << name;
  }
}

TEST(Redact, ShortAndCommonNamesAreLeft) {
  Report report = sample_report(1);
  report.inventory.host.host_name = "a1";
  report.context["user"] = "root";
  report.notes = {"a1: kernel log needs root"};
  EXPECT_EQ(redacted(report).notes[0], "a1: kernel log needs root");
}

TEST(Redact, EmptyReport) {
  const Report report = redacted(Report{});
  EXPECT_TRUE(report.redacted);
  EXPECT_EQ(report.inventory.host.host_name, "");
}

TEST(Sha256, VectorsOfFips180) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Around the block and the length field: what Python's hashlib says.
TEST(Sha256, PaddingBoundaries) {
  EXPECT_EQ(sha256_hex(std::string(55, 'x')),
            "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
  EXPECT_EQ(sha256_hex(std::string(56, 'x')),
            "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
  EXPECT_EQ(sha256_hex(std::string(63, 'x')),
            "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2");
  EXPECT_EQ(sha256_hex(std::string(64, 'x')),
            "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
  EXPECT_EQ(sha256_hex(std::string(65, '\xff')),
            "855c9a28fff2bbbd71327165554a00c6fdd44d5d58c1f12b8fdff29b5d67f001");
}

}  // namespace
}  // namespace assay
