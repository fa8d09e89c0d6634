// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/link.h"

#include <numeric>
#include <string>

#include "kernels/pattern.h"
#include "kernels/stream.h"
#include "tests/device/gpu_test.h"

namespace assay {
namespace {

constexpr std::int64_t kCapacity = std::int64_t{256} << 10;
constexpr std::uint64_t kSeed = 11;

class Link : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    source_ = DeviceBuffer(kCapacity);
    destination_ = DeviceBuffer(kCapacity);
    sums_ = DeviceBuffer(4 * link_sums(kCapacity) + 4);
    report_ = DeviceBuffer(sizeof(MismatchReport));
    check_cuda(
        stream_fill(StreamOp::kCopy, {.elements = kCapacity / 4}, source_.data(), kSeed, stream()),
        "stream_fill");
  }
  void copy(std::int64_t bytes, int blocks) {
    check_cuda(cudaMemsetAsync(destination_.data(), 0xFF, kCapacity, stream()), "cudaMemsetAsync");
    check_cuda(link_copy(source_.data(), destination_.data(), bytes, blocks, stream()),
               "link_copy");
  }
  template <class Check>
  MismatchReport found(const Check& check) {
    check_cuda(check(report_.as<MismatchReport>()), "check");
    return download<MismatchReport>(report_.data(), 1)[0];
  }
  MismatchReport copied(std::int64_t bytes) {
    return found([&](MismatchReport* report) {
      return check_link_copy(destination_.data(), bytes, kCapacity, kSeed, report, stream());
    });
  }

  DeviceBuffer source_, destination_, sums_, report_;
};

TEST_F(Link, ACopyOfAnySizeIsExactWhateverTheGrid) {
  for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{15}, std::int64_t{16},
                                   std::int64_t{4097}, kCapacity - 1, kCapacity}) {
    for (const int blocks : {1, 3, 1000}) {
      copy(bytes, blocks);
      EXPECT_EQ(copied(bytes).count, 0U) << bytes << " in " << blocks;
    }
  }
}

TEST_F(Link, OneFlippedByteAndOneByteTooFewOrTooManyAreFound) {
  constexpr std::int64_t kBytes = kCapacity - 4099;
  copy(kBytes, 100);
  for (const std::int64_t at : {std::int64_t{0}, kBytes / 2, kBytes - 1, kBytes, kCapacity - 1}) {
    const auto index = static_cast<std::size_t>(at);
    const auto byte = download<std::uint8_t>(destination_.data(), kCapacity)[index];
    upload<std::uint8_t>(destination_.data(), index, byte ^ 0x40U);
    EXPECT_EQ(copied(kBytes).count, 1U) << at;
    EXPECT_EQ(copied(kBytes).first, static_cast<unsigned long long>(at / 4)) << at;
    upload<std::uint8_t>(destination_.data(), index, byte);
  }
  EXPECT_EQ(copied(kBytes).count, 0U);
  copy(kBytes - 1, 100);
  EXPECT_EQ(copied(kBytes).count, 1U);
  copy(kBytes + 1, 100);
  EXPECT_EQ(copied(kBytes).count, 1U);
}

TEST_F(Link, AReadSumsEveryByteAndStoresNoSumTooMany) {
  const auto read = [&](std::int64_t bytes) {
    check_cuda(
        cudaMemsetAsync(sums_.data(), 0xFF, static_cast<std::size_t>(sums_.bytes()), stream()),
        "cudaMemsetAsync");
    check_cuda(link_read(source_.data(), sums_.as<std::uint32_t>(), bytes, stream()), "link_read");
    return found([&](MismatchReport* report) {
      return check_link_sums(sums_.as<std::uint32_t>(), bytes, kSeed, report, stream());
    });
  };
  for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{17}, kLinkSumBytes,
                                   kLinkSumBytes + 1, kCapacity - 5, kCapacity}) {
    EXPECT_EQ(read(bytes).count, 0U) << bytes;
    const auto sums = static_cast<std::size_t>(link_sums(bytes));
    EXPECT_EQ(download<std::uint32_t>(sums_.data(), sums + 1)[sums], kLinkPoison) << bytes;
  }
  // By the host: the check shares its generator with the kernels, this does not.
  (void)read(kLinkSumBytes);
  const auto words = download<std::uint32_t>(source_.data(), kLinkSumBytes / 4);
  EXPECT_EQ(download<std::uint32_t>(sums_.data(), 1)[0],
            std::accumulate(words.begin(), words.end(), 0U));
  EXPECT_EQ(words[5], pattern_word(pattern_seed(kSeed), 5));

  const std::size_t last = kCapacity - 1;
  const auto byte = download<std::uint8_t>(source_.data(), kCapacity)[last];
  upload<std::uint8_t>(source_.data(), last, byte ^ 1U);
  const MismatchReport report = read(kCapacity);
  EXPECT_EQ(report.count, 1U);
  EXPECT_EQ(report.first, static_cast<unsigned long long>(link_sums(kCapacity) - 1));
}

}  // namespace
}  // namespace assay
