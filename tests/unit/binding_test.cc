// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner/binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "bench/runner/process.h"
#include "reports/json.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(CpuList, IsReadAsTheKernelWritesIt) {
  EXPECT_THAT(*parse_cpu_list("0-2,5"), ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(*parse_cpu_list("7"), ElementsAre(7));
  for (const char* text : {"", "a", "1-", "-1", "3-1", "0,", "0-99999", "1 2"}) {
    EXPECT_FALSE(parse_cpu_list(text)) << text;
  }
  EXPECT_EQ(cpu_list({0, 1, 2, 5}), "0-2,5");
  EXPECT_EQ(cpu_list({}), "");
}

class Binding_ : public ::testing::Test {
 protected:
  void SetUp() override {
    sysfs_ = std::filesystem::temp_directory_path() / ("assay-numa-" + std::to_string(getpid()));
    const std::filesystem::path nodes = sysfs_ / "devices/system/node";
    std::filesystem::create_directories(nodes / "node0");
    std::filesystem::create_directories(nodes / "node1");
    std::ofstream(nodes / "node0/cpulist") << "0-3,8-11\n";
  }
  void TearDown() override { std::filesystem::remove_all(sysfs_); }
  std::filesystem::path sysfs_;
};

TEST_F(Binding_, IsToTheNodesCpusThatWeMayUse) {
  const Binding binding = bind_to_node(0, sysfs_, {2, 3, 4, 8});
  EXPECT_THAT(binding.cpus, ElementsAre(2, 3, 8));
  EXPECT_EQ(binding.text, "node 0, cpus 2-3,8");
}

TEST_F(Binding_, WhereItIsNotPossibleTheReasonIsSaid) {
  for (const auto& [binding, reason] :
       {std::pair{bind_to_node(std::nullopt, sysfs_, {0}), "is not known"},
        std::pair{bind_to_node(0, sysfs_, {4, 5}), "none of the cpus of node 0 may be used"},
        std::pair{bind_to_node(1, sysfs_, {0}), "cpulist of node 1 is not readable"}}) {
    EXPECT_THAT(binding.cpus, IsEmpty());
    EXPECT_THAT(binding.text, HasSubstr("not bound: "));
    EXPECT_THAT(binding.text, HasSubstr(reason));
  }
}

TEST_F(Binding_, AChildRunsThere) {
  const int cpu = allowed_cpus().back();
  const std::filesystem::path output = sysfs_ / "child.log";
  Child child({.arguments = {"/bin/sh", "-c", "grep Cpus_allowed_list /proc/self/status"},
               .environment = {},
               .output = output,
               .cpus = {cpu}});
  while (!child.poll()) usleep(1000);
  EXPECT_THAT(read_file(output), HasSubstr("\t" + std::to_string(cpu) + "\n"));
}

}  // namespace
}  // namespace assay
