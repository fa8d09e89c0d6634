// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Real faults of a real program on a real device: each ends one process at most, and its record
// says what happened, while the sound case beside it keeps its result.
#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>

#include "bench/runner/supervise.h"
#include "tests/device/gpu_test.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

class Supervised : public GpuTest {
 protected:
  // The records of the faulty case and of a sound one in the same process.
  std::vector<RunRecord> run(const std::string& fault) {
    const std::filesystem::path folder =
        std::filesystem::path(::testing::TempDir()) / ("assay-" + fault);
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    Task task;
    task.program = std::filesystem::path(ASSAY_BIN_DIR) / "assay-faulty";
    task.family = "faulty";
    task.ids = {"faulty/" + fault + "/burst", "faulty/none/burst"};
    if (fault == "none") task.ids.pop_back();
    task.device = device_.ref;
    task.log = folder / "run.jsonl";
    task.output = folder / "output.log";
    task.id_timeout_s = 6;
    const std::atomic<bool> stop{false};
    return supervise(task, stop).records;
  }
  void expect(const std::string& fault, RecordStatus status, const std::string& message) {
    const std::vector<RunRecord> records = run(fault);
    ASSERT_EQ(records.size(), 2U);
    for (const RunRecord& record : records) {
      if (record.id == "faulty/none/burst") {
        EXPECT_EQ(record.status, RecordStatus::kOk) << record.message;
      } else {
        EXPECT_EQ(record.status, status);
        EXPECT_THAT(record.message, HasSubstr(message));
      }
    }
  }
};

TEST_F(Supervised, ASoundCaseIsOk) {
  const std::vector<RunRecord> records = run("none");
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].status, RecordStatus::kOk) << records[0].message;
}
TEST_F(Supervised, ALaunchThatSynchronises) {
  expect("synchronises", RecordStatus::kErrored, "waits for its stream");
}
TEST_F(Supervised, ALaunchThatThrows) { expect("throws", RecordStatus::kErrored, "planted"); }
TEST_F(Supervised, ALaunchThatNeverEnds) { expect("endless", RecordStatus::kErrored, "hung"); }
TEST_F(Supervised, AStickyError) {
  expect("illegal_address", RecordStatus::kErrored, "cudaErrorIllegalAddress");
}
TEST_F(Supervised, OutOfMemory) { expect("out_of_memory", RecordStatus::kSkipped, "MiB more"); }

}  // namespace
}  // namespace assay
