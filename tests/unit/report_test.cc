// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sample_report.h"

namespace assay {
namespace {

using samples::sample_report;
using ::testing::HasSubstr;

std::string refusal(const Json& json) {
  try {
    (void)report_from_json(json, "r.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

TEST(ReportJson, IsTheSameBytesAfterARoundTrip) {
  const std::string text = dump_json(to_json_value(sample_report(1)));
  const Report read = report_from_json(parse_json(text, "r.json"), "r.json");
  EXPECT_EQ(dump_json(to_json_value(read)), text);
}

TEST(ReportJson, BeginsWithTheSummary) {
  const Json json = to_json_value(sample_report(1));
  std::vector<std::string> keys;
  for (const auto& [key, value] : json["assay"].items()) keys.push_back(key);
  const auto at = [&](const char* key) { return std::find(keys.begin(), keys.end(), key); };
  EXPECT_LT(at("complete"), at("records"));
  EXPECT_LT(at("verdict"), at("records"));
  EXPECT_LT(at("faults"), at("records"));
}

TEST(ReportJson, NamesTheFieldThatIsWrong) {
  Json json = to_json_value(sample_report(1));
  json["assay"]["records"][1]["status"] = "fine";
  EXPECT_THAT(refusal(json), HasSubstr("r.json: assay.records[1].status: unknown value 'fine'"));
  json = to_json_value(sample_report(1));
  json["assay"]["records"][0].erase("id");
  EXPECT_THAT(refusal(json), HasSubstr("assay.records[0].id: missing"));
  json = to_json_value(sample_report(1));
  json["assay"]["plan"]["m"] = "six";
  EXPECT_THAT(refusal(json), HasSubstr("assay.plan.m: expected a whole number"));
  for (const Json& number : {Json(4'294'967'297), Json(-4'294'967'297), Json(UINT64_MAX)}) {
    json["assay"]["plan"]["m"] = number;
    EXPECT_THAT(refusal(json), HasSubstr("assay.plan.m: " + number.dump() + " is out of range"));
  }
}

TEST(ReportJson, RefusesWhatIsNoReportAndWhatIsTooNew) {
  EXPECT_THAT(refusal(Json::array()), HasSubstr("not a report of this suite"));
  EXPECT_THAT(refusal({{"benchmarks", Json::array()}}), HasSubstr("not a report of this suite"));
  Json json = to_json_value(sample_report(1));
  json["assay"]["schema_version"] = kSchemaVersion + 1;
  EXPECT_THAT(refusal(json), HasSubstr("newer"));
  json["assay"]["schema_version"] = 4'294'967'297;
  EXPECT_THAT(refusal(json), HasSubstr("out of range"));
}

TEST(ReportJson, WithoutAVerdictStaysWithoutOne) {
  Report report = sample_report(1);
  EXPECT_FALSE(report_from_json(to_json_value(report), "r.json").verdict);
  judge(report);
  EXPECT_EQ(report_from_json(to_json_value(report), "r.json").verdict->exit_code, 0);
}

TEST(Report, FindsGpusAndRecords) {
  const Report report = sample_report(2);
  const GpuInventory& gpu = report.inventory.gpus[1];
  EXPECT_EQ(find_gpu(report, gpu.uuid), &gpu);
  EXPECT_EQ(find_gpu(report, ""), nullptr);
  EXPECT_EQ(find_record(report, samples::kRead, gpu.uuid)->device.index, 1);
  EXPECT_EQ(find_record(report, samples::kRead, kHostUuid), nullptr);
  EXPECT_TRUE(find_record(report, samples::kHostTriad, kHostUuid)->device.is_host());
}

TEST(ReportJson, ReadsPastFieldsThatItDoesNotKnow) {
  Json json = to_json_value(sample_report(1));
  json["assay"]["records"][0]["added_later"] = {1, 2, 3};
  json["assay"]["added_later"] = true;
  EXPECT_EQ(dump_json(to_json_value(report_from_json(json, "r.json"))),
            dump_json(to_json_value(sample_report(1))));
}

}  // namespace
}  // namespace assay
