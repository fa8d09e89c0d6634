// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/algorithms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "reports/config_dir.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

StoredAlgorithm stored(const std::string& id, const std::string& library, int algorithm) {
  return {id, "2026-01-01T00:00:00Z", "580.1", {{"library", library}, {"id", algorithm}}, nullptr};
}

TEST(Algorithms, OneACaseAndLibraryVersion) {
  AlgorithmSet set;
  set.put(stored("gemm/b/burst", "cuBLASLt 13.1.0", 1));
  set.put(stored("gemm/a/burst", "cuBLASLt 13.1.0", 2));
  set.put(stored("gemm/a/burst", "cuBLASLt 13.0.0", 3));
  set.put(stored("gemm/a/burst", "cuBLASLt 13.1.0", 4));
  ASSERT_EQ(set.algorithms.size(), 3U);
  EXPECT_EQ(set.algorithms[0].algorithm["id"], 3) << "sorted by id, then library";
  EXPECT_EQ(set.find("gemm/a/burst", "cuBLASLt 13.1.0")->algorithm["id"], 4) << "the last one put";
  EXPECT_EQ(set.find("gemm/a/burst/alone", "cuBLASLt 13.1.0")->algorithm["id"], 4)
      << "the same work on an idle node";
  EXPECT_EQ(set.find("gemm/a/burst", "cuBLASLt 13.2.0"), nullptr);
  EXPECT_EQ(set.find("gemm/a/sustained", "cuBLASLt 13.1.0"), nullptr);
}

class AlgorithmFile : public ::testing::Test {
 protected:
  void SetUp() override {
    file_ =
        std::filesystem::temp_directory_path() / (std::to_string(getpid()) + "-algorithms.json");
  }
  void TearDown() override { std::filesystem::remove(file_); }
  std::string refusal(const std::string& text) {
    write_file_atomically(file_, text);
    try {
      (void)load_algorithms(file_);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      return error.what();
    }
    ADD_FAILURE() << "accepted: " << text;
    return {};
  }
  std::filesystem::path file_;
};

TEST_F(AlgorithmFile, ReadsWhatWasWritten) {
  AlgorithmSet set;
  set.sku = "h200-sxm";
  set.put(stored("gemm/a/burst", "cuBLASLt 13.1.0", 2));
  write_file_atomically(file_, dump_json(to_json_value(set)));
  const AlgorithmSet read = load_algorithms(file_);
  EXPECT_EQ(read.sku, "h200-sxm");
  EXPECT_EQ(to_json_value(read), to_json_value(set));
}

TEST_F(AlgorithmFile, RefusesWhatCannotBeUsed) {
  const std::string head = R"({"schema_version": 1, "sku": "x", "algorithms": [)";
  const std::string one =
      R"({"id": "a", "tuned": "", "driver": "", "algorithm": {"library": "l"}})";
  EXPECT_THAT(refusal("{"), HasSubstr("algorithms.json"));
  EXPECT_THAT(refusal(R"({"schema_version": 2, "sku": "x", "algorithms": []})"),
              HasSubstr("schema_version: 2"));
  EXPECT_THAT(refusal(head + one + "," + one + "]}"), HasSubstr("a second one of l"));
  EXPECT_THAT(refusal(head + R"({"id": "a", "tuned": "", "driver": "", "algorithm": {}}]})"),
              HasSubstr("algorithms[0] (a): no \"library\""));
  EXPECT_THAT(refusal(head + R"({"id": "a", "tuned": "", "driver": ""}]})"),
              HasSubstr("no \"library\""));
}

TEST(Algorithms, EveryShippedFileLoadsAndIsNamedByItsCard) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(config_dir() / "algorithms")) {
    const AlgorithmSet set = load_algorithms(entry.path());
    EXPECT_EQ(set.sku, entry.path().stem());
    EXPECT_FALSE(set.algorithms.empty());
    ++files;
  }
  EXPECT_GT(files, 0);
}

TEST(Algorithms, OfAReportAreThoseThatWereTunedAndEndedOk) {
  Report report;
  report.started = "2026-01-01T00:00:00Z";
  report.inventory.driver = "580.1";
  const Json tuned = {
      {"library", "l"}, {"id", 5}, {"tuning", {{"gain", 1.02}}}, {"chosen", "tuned"}};
  for (const auto& [id, status, algorithm] :
       {std::tuple("a", RecordStatus::kOk, tuned), std::tuple("b", RecordStatus::kErrored, tuned),
        std::tuple("c", RecordStatus::kOk, Json{{"library", "l"}}),
        std::tuple("d", RecordStatus::kOk, Json(nullptr))}) {
    Record record;
    record.id = id;
    record.status = status;
    record.algorithm = algorithm;
    report.records.push_back(record);
  }
  const std::vector<StoredAlgorithm> all = tuned_algorithms(report);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].id, "a");
  EXPECT_EQ(all[0].algorithm, Json({{"library", "l"}, {"id", 5}}));
  EXPECT_EQ(all[0].tuning["gain"], 1.02);
  EXPECT_EQ(all[0].driver, "580.1");
}

}  // namespace
}  // namespace assay
