// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/node/numa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <fstream>

#include "bench/node/pci.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Numa : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path(testing::TempDir()) /
            (std::string("numa_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::filesystem::path& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << '\n';
  }
  void node(int number, int kib, const std::string& distances) const {
    const std::string folder = "devices/system/node/node" + std::to_string(number);
    write(folder + "/meminfo",
          "Node 0 MemFree: 1 kB\nNode 0 MemTotal:       " + std::to_string(kib) + " kB");
    write(folder + "/distance", distances);
  }

  std::filesystem::path root_;
};

TEST_F(Numa, ADeviceSitsWhereSysfsSays) {
  write("bus/pci/devices/0000:19:00.0/numa_node", "1");
  write("bus/pci/devices/0000:1a:00.0/numa_node", "-1");
  EXPECT_EQ(numa_node_of(root_, "0000:19:00.0").node, 1);
  EXPECT_FALSE(numa_node_of(root_, "0000:1a:00.0").node);
  EXPECT_THAT(numa_node_of(root_, "0000:1a:00.0").why, HasSubstr("-1"));
  EXPECT_THAT(numa_node_of(root_, "0000:1b:00.0").why, HasSubstr("not readable"));
}

TEST_F(Numa, TheFarthestNodeHasMemoryAndTheLargestDistance) {
  node(0, 1000, "10 12 32 32");
  node(1, 1000, "12 10 32 32");
  node(2, 1000, "32 32 10 12");
  node(3, 0, "32 32 12 10");  // processors alone
  write("devices/system/node/possible", "0-3");
  EXPECT_THAT(nodes_with_memory(root_), ElementsAre(0, 1, 2));
  EXPECT_EQ(farthest_node(root_, 0), 2);
  EXPECT_EQ(farthest_node(root_, 2), 0);
}

TEST_F(Numa, NumbersMayHaveGaps) {
  node(0, 1000, "10 20 40 80");
  node(1, 1000, "20 10 40 80");
  node(8, 1000, "40 40 10 80");
  node(10, 0, "80 80 80 10");
  EXPECT_EQ(farthest_node(root_, 0), 8);
  EXPECT_EQ(farthest_node(root_, 1), 8);
  EXPECT_EQ(farthest_node(root_, 8), 0);
}

TEST_F(Numa, OneNodeHasNoOther) {
  node(0, 1000, "10");
  EXPECT_FALSE(farthest_node(root_, 0));
  EXPECT_THAT(nodes_with_memory(root_ / "nowhere"), ElementsAre());
}

TEST_F(Numa, BoundPagesComeFromTheirNode) {
  const std::vector<int> nodes = nodes_with_memory(sysfs_root());
  if (nodes.empty()) GTEST_SKIP() << "no NUMA in sysfs";
  constexpr std::int64_t kBytes = 1 << 20;
  void* const data =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(data, MAP_FAILED);
  const std::string error = bind_pages(data, kBytes, nodes.back());
  static_cast<char*>(data)[kBytes / 2] = 1;
  const std::optional<int> found = node_of_page(static_cast<char*>(data) + kBytes / 2);
  EXPECT_FALSE(bind_pages(data, kBytes, 1000).empty()) << "there is no such node";
  munmap(data, kBytes);
  if (!error.empty() || !found) GTEST_SKIP() << "the kernel lets nobody bind: " << error;
  EXPECT_EQ(found, nodes.back());
}

}  // namespace
}  // namespace assay
