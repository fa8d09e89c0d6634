// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/reread.h"

#include "kernels/pattern.h"
#include "kernels/stream.h"
#include "tests/device/gpu_test.h"

namespace assay {
namespace {

constexpr std::uint64_t kSeed = 17;

class Reread : public GpuTest {
 protected:
  // What the check finds of one launch.
  MismatchReport found(const RereadShape& shape) {
    buffer_ = DeviceBuffer(16 * shape.vectors);
    sums_ = DeviceBuffer(4 * shape.blocks);
    report_ = DeviceBuffer(sizeof(MismatchReport));
    check_cuda(stream_fill(StreamOp::kRead, {.elements = 4 * shape.vectors}, buffer_.data(), kSeed,
                           stream()),
               "stream_fill");
    return again(shape);
  }
  MismatchReport again(const RereadShape& shape) {
    check_cuda(reread(shape, buffer_.data(), sums_.as<std::uint32_t>(), stream()), "reread");
    return checked(shape);
  }
  MismatchReport checked(const RereadShape& shape) {
    check_cuda(reread_check(shape, sums_.as<std::uint32_t>(), kSeed, report_.as<MismatchReport>(),
                            stream()),
               "reread_check");
    return download<MismatchReport>(report_.data(), 1)[0];
  }
  DeviceBuffer buffer_, sums_, report_;
};

TEST_F(Reread, SumsWhatTheHostSumsWhateverTheSize) {
  // Fewer vectors than threads, as many, more, and no multiple.
  for (const std::int64_t vectors : {1, 1000, 1024, 12345}) {
    const RereadShape shape{.vectors = vectors, .blocks = 2, .steps = 3};
    EXPECT_EQ(found(shape).count, 0U) << vectors;
    const auto sums = download<std::uint32_t>(sums_.data(), 2);
    const std::uint32_t folded = pattern_seed(kSeed);
    for (std::int64_t block = 0; block < 2; ++block) {
      std::uint32_t expected = 0;
      for (std::int64_t i = 0; i < shape.accesses(); ++i) {
        if (i / kRereadThreads % 2 != block) continue;
        for (int k = 0; k < 4; ++k) expected += pattern_word(folded, 4 * (i % vectors) + k);
      }
      EXPECT_EQ(sums[static_cast<std::size_t>(block)], expected) << vectors << ", " << block;
    }
  }
}

TEST_F(Reread, AFlippedBitAndAPassTooFewAreSeen) {
  RereadShape shape{.vectors = 5000, .blocks = 3, .steps = 4};
  ASSERT_EQ(found(shape).count, 0U);
  const auto word = download<std::uint32_t>(buffer_.data(), 4 * 5000)[19'999];
  upload<std::uint32_t>(buffer_.data(), 19'999, word ^ 0x100U);
  EXPECT_GT(again(shape).count, 0U);
  upload<std::uint32_t>(buffer_.data(), 19'999, word);
  ASSERT_EQ(again(shape).count, 0U);
  RereadShape less = shape;
  less.steps = 3;
  (void)again(less);
  const MismatchReport report = checked(shape);
  EXPECT_EQ(report.count, 3U);
  EXPECT_EQ(report.first, 0U);
}

}  // namespace
}  // namespace assay
