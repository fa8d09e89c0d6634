// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <limits>
#include <thread>

#include "reports/error.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

// The message with which `text` is refused.
std::string refusal(std::string_view text) {
  try {
    (void)parse_json(text, "r.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

TEST(Json, NamesLineAndColumnOfASyntaxError) {
  EXPECT_THAT(refusal("{\n  \"a\": 1,\n  \"b\": 2,,\n}"), HasSubstr("r.json:3:"));
  EXPECT_THAT(refusal(""), HasSubstr("r.json:1:"));
}

TEST(Json, RefusesWhatFollowsTheDocument) {
  EXPECT_THAT(refusal("{}\nSegmentation fault"), HasSubstr("r.json:2:"));
  EXPECT_THAT(refusal("{}{}"), HasSubstr("not JSON"));
}

TEST(Json, RefusesWhatIsNoJsonNumber) {
  for (const char* text : {"[NaN]", "[Infinity]", "[-nan]", "[01]", "[1,5e]", "[0x10]"}) {
    EXPECT_THAT(refusal(text), HasSubstr("r.json")) << text;
  }
  EXPECT_THAT(refusal("[1e999]"), HasSubstr("number overflow"));
}

TEST(Json, RefusesDuplicateKeysAndAbsurdNesting) {
  EXPECT_THAT(refusal(R"({"a": {"x": 1, "x": 2}})"), HasSubstr("duplicate key 'x'"));
  EXPECT_EQ(parse_json(R"([{"x": 1}, {"x": 2}])", "r.json").size(), 2);
  EXPECT_THAT(refusal(std::string(5000, '[')), HasSubstr("nested"));
}

TEST(Json, ByteOrderMarks) {
  EXPECT_EQ(parse_json("\xEF\xBB\xBF{\"a\": 1}", "r.json")["a"], 1);
  EXPECT_THAT(refusal(std::string("\xFF\xFE{\0}\0", 6)), HasSubstr("UTF-16"));
}

TEST(Json, WritesNoNonFiniteNumberAndNamesIt) {
  Json json = {{"rows", {{{"v", 1.0}}, {{"v", std::numeric_limits<double>::quiet_NaN()}}}}};
  try {
    (void)dump_json(json);
    FAIL() << "written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kMeasurement);
    EXPECT_THAT(error.what(), HasSubstr(".rows[1].v"));
  }
}

TEST(Json, KeepsOrderAndValuesThroughARoundTrip) {
  const std::string text =
      "{\n  \"z\": 0.1,\n  \"a\": [\n    1e-300,\n    9007199254740993\n  ]\n}\n";
  EXPECT_EQ(dump_json(parse_json(text, "r.json")), text);
}

class AtomicFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("assay-json-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(AtomicFile, ReplacesPrivatelyAndLeavesNothingElse) {
  const auto path = folder_ / "deep" / "report.json";
  write_file_atomically(path, "old");
  write_file_atomically(path, "new");
  EXPECT_EQ(read_file(path), "new");
  struct stat facts{};
  ASSERT_EQ(stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path.parent_path()), {}), 1);
}

TEST_F(AtomicFile, FollowsLinksAndLeavesDevicesInPlace) {
  write_file_atomically(folder_ / "real", "old");
  std::filesystem::create_symlink(folder_ / "real", folder_ / "link");
  write_file_atomically(folder_ / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "real"), "new");
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  std::jthread reader([&] { EXPECT_EQ(read_file(folder_ / "pipe"), "through"); });
  write_file_atomically(folder_ / "pipe", "through");
  reader.join();
  EXPECT_TRUE(std::filesystem::is_fifo(folder_ / "pipe"));
}

TEST_F(AtomicFile, SaysWhyItCannotWrite) {
  write_file_atomically(folder_ / "file", "x");
  EXPECT_THROW(write_file_atomically(folder_ / "file" / "report.json", "x"), Error);
  std::filesystem::create_directories(folder_ / "folder" / "full");
  EXPECT_THROW(write_file_atomically(folder_ / "folder", "x"), Error);  // cannot replace a folder
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 2) << "leftovers";
  EXPECT_THROW((void)read_file(folder_), Error);
  EXPECT_THROW((void)read_file(folder_ / "missing"), Error);
}

}  // namespace
}  // namespace assay
