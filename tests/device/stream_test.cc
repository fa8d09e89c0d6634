// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/stream.h"

#include <cmath>
#include <cstring>

#include "kernels/counter_random.h"
#include "kernels/fill.h"
#include "tests/device/gpu_test.h"

namespace assay {
namespace {

constexpr std::int64_t kBytes = 64 * kReadBlockBytes;
constexpr std::size_t kWords = kBytes / 4;

class Stream : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    a_ = DeviceBuffer(kBytes);
    b_ = DeviceBuffer(kBytes);
    c_ = DeviceBuffer(kBytes);
    report_ = DeviceBuffer(sizeof(MismatchReport));
  }
  // Launches a check and gives what it found.
  template <class Check>
  MismatchReport found(const Check& check) {
    check_cuda(reset_mismatches(report_.as<MismatchReport>(), stream()), "reset_mismatches");
    check_cuda(check(report_.as<MismatchReport>()), "check");
    return download<MismatchReport>(report_.data(), 1)[0];
  }

  DeviceBuffer a_, b_, c_, report_;
};

TEST_F(Stream, WriteAndCopyAreExactAndOneBadWordIsFound) {
  check_cuda(stream_write(a_.data(), kBytes, 5, stream()), "stream_write");
  check_cuda(cudaMemsetAsync(b_.data(), 0xFF, kBytes, stream()), "cudaMemsetAsync");
  check_cuda(stream_copy(a_.data(), b_.data(), kBytes, stream()), "stream_copy");
  const auto check = [&](MismatchReport* report) {
    return check_pattern(b_.data(), kBytes, 5, report, stream());
  };
  EXPECT_EQ(found(check).count, 0U);
  const auto word = download<std::uint32_t>(b_.data(), kWords)[12345];
  upload<std::uint32_t>(b_.data(), 12345, word ^ 0x00010000U);
  EXPECT_EQ(found(check).count, 1U);
  EXPECT_EQ(found(check).first, 12345U);
}

TEST_F(Stream, AnotherSeedIsAnotherPattern) {
  check_cuda(stream_write(a_.data(), kBytes, 6, stream()), "stream_write");
  const MismatchReport report =
      found([&](MismatchReport* r) { return check_pattern(a_.data(), kBytes, 5, r, stream()); });
  EXPECT_EQ(report.count, kWords);
  EXPECT_EQ(report.first, 0U);
}

TEST_F(Stream, ReadSumsEveryWord) {
  check_cuda(stream_write(a_.data(), kBytes, 5, stream()), "stream_write");
  const auto check = [&](MismatchReport* report) {
    return check_block_sums(c_.as<std::uint32_t>(), kBytes, 5, report, stream());
  };
  const auto read = [&] {
    check_cuda(cudaMemsetAsync(c_.data(), 0xFF, kBytes, stream()), "cudaMemsetAsync");
    check_cuda(stream_read(a_.data(), c_.as<std::uint32_t>(), kBytes, stream()), "stream_read");
  };
  read();
  EXPECT_EQ(found(check).count, 0U);
  for (const std::size_t place : {std::size_t{0}, std::size_t{40'000}, kWords - 1}) {
    const auto word = download<std::uint32_t>(a_.data(), kWords)[place];
    upload<std::uint32_t>(a_.data(), place, word ^ 1U);
    read();
    EXPECT_EQ(found(check).count, 1U) << place;
    EXPECT_EQ(found(check).first, place * 4 / kReadBlockBytes) << place;
    upload<std::uint32_t>(a_.data(), place, word);
  }
}

TEST_F(Stream, TriadIsOneFusedMultiplyAddAndOneBadBitIsFound) {
  check_cuda(fill_uniform(ElementType::kFp32, b_.data(), kWords, 1, stream()), "fill_uniform");
  check_cuda(fill_uniform(ElementType::kFp32, c_.data(), kWords, 2, stream()), "fill_uniform");
  check_cuda(cudaMemsetAsync(a_.data(), 0xFF, kBytes, stream()), "cudaMemsetAsync");
  check_cuda(stream_triad(b_.as<float>(), c_.as<float>(), a_.as<float>(), kBytes, stream()),
             "stream_triad");
  const auto check = [&](MismatchReport* report) {
    return check_triad(a_.as<float>(), kBytes, 1, 2, report, stream());
  };
  EXPECT_EQ(found(check).count, 0U);
  const float value = download<float>(a_.data(), kWords)[777];
  EXPECT_EQ(value, std::fma(kTriadScalar, random_uniform(2, 777), random_uniform(1, 777)));
  upload<float>(a_.data(), 777, std::nextafter(value, 10.0F));
  EXPECT_EQ(found(check).count, 1U);
  EXPECT_EQ(found(check).first, 777U);
}

}  // namespace
}  // namespace assay
