// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/chase.h"

#include "tests/device/gpu_test.h"

namespace assay {
namespace {

class Chase : public GpuTest {
 protected:
  void make(std::int64_t nodes) {
    nodes_ = DeviceBuffer(nodes * kChaseSpacing);
    end_ = DeviceBuffer(sizeof(std::uint64_t));
    check_cuda(
        cudaMemsetAsync(nodes_.data(), 0, static_cast<std::size_t>(nodes_.bytes()), stream()),
        "cudaMemsetAsync");
    check_cuda(chase_build(nodes_.data(), RandomOrder(nodes), stream()), "chase_build");
  }
  std::uint64_t end_of(std::int64_t start, std::int64_t loads) {
    check_cuda(chase_run(nodes_.data(), start, loads, end_.as<std::uint64_t>(), stream()),
               "chase_run");
    return download<std::uint64_t>(end_.data(), 1)[0];
  }
  DeviceBuffer nodes_, end_;
};

TEST_F(Chase, VisitsEveryNodeOnceAndCloses) {
  for (const std::int64_t nodes : {1, 2, 16, 1000, 65'536}) {
    make(nodes);
    const auto words =
        download<std::uint64_t>(nodes_.data(), static_cast<std::size_t>(nodes * kChaseSpacing / 8));
    std::vector<bool> seen(static_cast<std::size_t>(nodes));
    std::uint64_t at = chase_node(nodes_.data(), 0);
    for (std::int64_t i = 0; i < nodes; ++i) {
      const std::uint64_t byte = at - chase_node(nodes_.data(), 0);
      ASSERT_EQ(byte % kChaseSpacing, 0U);
      ASSERT_LT(byte / kChaseSpacing, static_cast<std::uint64_t>(nodes));
      ASSERT_FALSE(seen[byte / kChaseSpacing]) << nodes << ": closed after " << i;
      seen[byte / kChaseSpacing] = true;
      at = words[byte / 8];
    }
    EXPECT_EQ(at, chase_node(nodes_.data(), 0));
  }
}

TEST_F(Chase, EndsWhereTheOrderSays) {
  constexpr std::int64_t kNodes = 100'003;
  make(kNodes);
  const RandomOrder order(kNodes);
  EXPECT_EQ(end_of(order(0), 160), chase_node(nodes_.data(), order(160)));
  EXPECT_EQ(end_of(order(kNodes - 8), 16), chase_node(nodes_.data(), order(8)));
  EXPECT_EQ(chase_run(nodes_.data(), 0, 17, end_.as<std::uint64_t>(), stream()),
            cudaErrorInvalidValue);
}

TEST_F(Chase, OneWrongLinkOnTheWayIsFound) {
  constexpr std::int64_t kNodes = 4096;
  make(kNodes);
  const RandomOrder order(kNodes);
  upload<std::uint64_t>(nodes_.data(), static_cast<std::size_t>(order(100) * kChaseSpacing / 8),
                        chase_node(nodes_.data(), order(200)));
  EXPECT_NE(end_of(order(0), 160), chase_node(nodes_.data(), order(160)));
}

}  // namespace
}  // namespace assay
