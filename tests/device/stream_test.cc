// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/stream.h"

#include <cmath>
#include <limits>

#include "kernels/counter_random.h"
#include "kernels/random_order.h"
#include "tests/device/gpu_test.h"

namespace assay {
namespace {

constexpr StreamOp kAllOps[] = {StreamOp::kRead,  StreamOp::kWrite, StreamOp::kCopy,
                                StreamOp::kScale, StreamOp::kAdd,   StreamOp::kTriad,
                                StreamOp::kDot};
constexpr StreamSeeds kSeeds{.a = 5, .b = 6};
constexpr std::int64_t kGuard = 256;  // bytes behind an output that nothing may write

class Stream : public GpuTest {
 protected:
  // Tensors for `shape`, filled, with an output of 0xFF.
  void make(StreamOp op, const StreamShape& shape, std::int64_t offset = 0) {
    op_ = op;
    shape_ = shape;
    offset_ = offset;
    report_ = DeviceBuffer(sizeof(MismatchReport));
    for (int i = 0; i < stream_inputs(op); ++i) {
      in_[i] = DeviceBuffer(offset + shape.elements * shape.element_bytes);
      check_cuda(stream_fill(op, shape, tensor(in_[i]), i == 0 ? kSeeds.a : kSeeds.b, stream()),
                 "stream_fill");
    }
    out_ = DeviceBuffer(offset + stream_output_bytes(op, shape) + kGuard);
    poison();
  }
  void poison() {
    check_cuda(cudaMemsetAsync(out_.data(), 0xFF, static_cast<std::size_t>(out_.bytes()), stream()),
               "cudaMemsetAsync");
  }
  void run() { run(shape_); }
  void run(const StreamShape& shape) {
    check_cuda(
        stream_run(op_, shape, {tensor(in_[0]), tensor(in_[1]), tensor(out_)}, kSeeds.a, stream()),
        "stream_run");
  }
  MismatchReport found() {
    check_cuda(
        stream_check(op_, shape_, tensor(out_), kSeeds, report_.as<MismatchReport>(), stream()),
        "stream_check");
    return download<MismatchReport>(report_.data(), 1)[0];
  }
  void* tensor(const DeviceBuffer& buffer) const { return buffer.as<char>() + offset_; }
  // Flips one bit of a tensor.
  void flip(const DeviceBuffer& buffer, std::int64_t byte, int bit) {
    const auto value = download<std::uint8_t>(static_cast<char*>(tensor(buffer)) + byte, 1)[0];
    upload<std::uint8_t>(tensor(buffer), static_cast<std::size_t>(byte),
                         static_cast<std::uint8_t>(value ^ (1U << bit)));
  }
  // What lies round the output still is 0xFF.
  void expect_untouched_surroundings() {
    const auto bytes = download<std::uint8_t>(out_.data(), static_cast<std::size_t>(out_.bytes()));
    for (std::int64_t i = 0; i < out_.bytes(); ++i) {
      if (i >= offset_ && i < out_.bytes() - kGuard) continue;
      ASSERT_EQ(bytes[static_cast<std::size_t>(i)], 0xFF) << "byte " << i - offset_;
    }
  }

  StreamOp op_ = StreamOp::kCopy;
  StreamShape shape_;
  std::int64_t offset_ = 0;
  DeviceBuffer in_[2], out_, report_;
};

TEST_F(Stream, EveryOperationIsExactAtAnySize) {
  for (const StreamOp op : kAllOps) {
    for (const int width : {4, 8}) {
      for (const std::int64_t elements :
           {1, 2, 3, 4, 5, 7, 255, 256, 257, 1023, 8191, 8192, 8193, 16'385, 250'001, 1'000'003}) {
        make(op, {.elements = elements, .element_bytes = width});
        EXPECT_GT(found().count, 0U) << "an output that nothing wrote is wrong";
        run();
        EXPECT_EQ(found().count, 0U) << static_cast<int>(op) << ' ' << width << ' ' << elements
                                     << " first " << found().first;
        expect_untouched_surroundings();
      }
    }
  }
}

TEST_F(Stream, EveryOperationIsExactMisalignedStridedAndInRandomOrder) {
  for (const StreamOp op : kAllOps) {
    for (const int width : {4, 8}) {
      for (const std::int64_t elements : {1, 3, 257, 8193, 250'001}) {
        StreamShape shape{.elements = elements, .element_bytes = width};
        const std::int64_t offset = is_reduction(op) ? 0 : width;
        shape.aligned = false;
        make(op, shape, offset);
        run();
        EXPECT_EQ(found().count, 0U) << "misaligned " << static_cast<int>(op) << ' ' << elements;
        expect_untouched_surroundings();
        shape.random = true;
        make(op, shape);
        run();
        EXPECT_EQ(found().count, 0U) << "random " << static_cast<int>(op) << ' ' << elements;
        expect_untouched_surroundings();
        shape.random = false;
        for (const std::int64_t stride : {2, 7, 1000}) {
          shape.stride = stride;
          make(op, shape);
          run();
          EXPECT_EQ(found().count, 0U) << stride << ' ' << static_cast<int>(op) << ' ' << elements;
          expect_untouched_surroundings();
        }
      }
    }
  }
}

TEST_F(Stream, AStrideLeavesWhatLiesBetweenAlone) {
  make(StreamOp::kWrite, {.elements = 100, .stride = 3});
  run();
  const auto words = download<std::uint32_t>(out_.data(), 100);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(words[i] == 0xFFFFFFFFU, i % 3 != 0) << i;
}

TEST_F(Stream, OneFlippedBitIsFoundWhereverItIs) {
  constexpr std::int64_t kElements = 100'003;
  for (const StreamOp op : kAllOps) {
    if (is_reduction(op)) continue;
    for (const int width : {4, 8}) {
      make(op, {.elements = kElements, .element_bytes = width});
      run();
      for (const std::int64_t place : {std::int64_t{0}, kElements / 2, kElements - 1}) {
        flip(out_, place * width, 0);
        EXPECT_EQ(found().count, 1U) << static_cast<int>(op) << ' ' << place;
        EXPECT_EQ(found().first, static_cast<unsigned long long>(place));
        flip(out_, place * width, 0);
      }
      EXPECT_EQ(found().count, 0U);
    }
  }
}

TEST_F(Stream, AnOperationThatSkipsItsLastPartialVectorIsFound) {
  constexpr std::int64_t kElements = 100'003;  // three words, one double beyond the last vector
  for (const StreamOp op : kAllOps) {
    for (const int width : {4, 8}) {
      make(op, {.elements = kElements, .element_bytes = width});
      StreamShape whole_vectors = shape_;
      whole_vectors.elements -= kElements % (kVectorBytes / width);
      ASSERT_EQ(whole_vectors.blocks(), shape_.blocks());
      run(whole_vectors);
      const MismatchReport report = found();
      EXPECT_GT(report.count, 0U) << static_cast<int>(op) << ' ' << width;
      if (is_reduction(op)) {
        EXPECT_EQ(report.first, static_cast<unsigned long long>(shape_.blocks() - 1));
      } else {
        EXPECT_EQ(report.count, static_cast<unsigned long long>(kElements % (16 / width)));
        EXPECT_EQ(report.first, static_cast<unsigned long long>(whole_vectors.elements));
      }
    }
  }
}

TEST_F(Stream, ReductionsSeeEveryElement) {
  constexpr std::int64_t kElements = 100'003;
  for (const StreamOp op : {StreamOp::kRead, StreamOp::kDot}) {
    for (const int width : {4, 8}) {
      make(op, {.elements = kElements, .element_bytes = width});
      const std::int64_t per_block = kReductionAccesses * kVectorBytes / width;
      for (std::int64_t place : {std::int64_t{0}, std::int64_t{40'000}, kElements - 1}) {
        const auto is_zero = [&](std::uint64_t seed) {
          return random_bits(seed, static_cast<std::uint64_t>(place)) >> 58 == 32;
        };
        while (is_zero(kSeeds.a) || is_zero(kSeeds.b)) --place;
        ASSERT_GE(place, 0);
        flip(in_[0], place * width + width - 1, 7);  // the sign, where there is one
        poison();
        run();
        EXPECT_EQ(found().count, op == StreamOp::kDot ? 2U : 1U) << "of dot the total as well";
        EXPECT_EQ(found().first, static_cast<unsigned long long>(place / per_block));
        flip(in_[0], place * width + width - 1, 7);
      }
      poison();
      run();
      EXPECT_EQ(found().count, 0U);
    }
  }
}

TEST_F(Stream, DotIsTheSumThatTheHostFinds) {
  constexpr std::int64_t kElements = 300'007;
  for (const int width : {4, 8}) {
    make(StreamOp::kDot, {.elements = kElements, .element_bytes = width});
    run();
    long long expected = 0;
    for (std::uint64_t i = 0; i < kElements; ++i) {
      const auto value = [&](std::uint64_t seed) {
        return static_cast<long long>(random_bits(seed, i) >> 58) - 32;
      };
      expected += value(kSeeds.a) * value(kSeeds.b);
    }
    EXPECT_EQ(download<double>(out_.data(), 1)[0], static_cast<double>(expected));
    // One wrong factor changes the total: the first place where the other one is not 0.
    std::int64_t place = 0;
    while (random_bits(kSeeds.b, static_cast<std::uint64_t>(place)) >> 58 == 32) ++place;
    if (width == 4) upload<float>(in_[0].data(), static_cast<std::size_t>(place), 100.0F);
    if (width == 8) upload<double>(in_[0].data(), static_cast<std::size_t>(place), 100.0);
    run();
    EXPECT_EQ(found().count, 2U) << "a block and the total";
    upload<double>(out_.data(), 0, static_cast<double>(expected));
  }
}

TEST_F(Stream, TriadIsOneFusedMultiplyAdd) {
  make(StreamOp::kTriad, {.elements = 1000});
  run();
  const float single = download<float>(out_.data(), 1000)[777];
  EXPECT_EQ(single, std::fma(0.4F, random_uniform(kSeeds.b, 777), random_uniform(kSeeds.a, 777)));
  make(StreamOp::kTriad, {.elements = 1000, .element_bytes = 8});
  run();
  const double twice = download<double>(out_.data(), 1000)[777];
  EXPECT_EQ(twice, std::fma(0.4, random_uniform_double(kSeeds.b, 777),
                            random_uniform_double(kSeeds.a, 777)));
  upload<double>(out_.data(), 777, std::nextafter(twice, 10.0));
  EXPECT_EQ(found().count, 1U);
  EXPECT_EQ(found().first, 777U);
}

TEST_F(Stream, AnotherSeedIsAnotherPattern) {
  make(StreamOp::kWrite, {.elements = 1000});
  run();
  check_cuda(stream_check(op_, shape_, out_.data(), {.a = 7, .b = 0}, report_.as<MismatchReport>(),
                          stream()),
             "stream_check");
  EXPECT_EQ(download<MismatchReport>(report_.data(), 1)[0].count, 1000U);
}

TEST_F(Stream, RandomReadsGoWhereTheHostSaysTheyGo) {
  StreamShape shape{.elements = 5000};
  shape.random = true;
  make(StreamOp::kRead, shape);
  run();
  const auto words = download<std::uint32_t>(in_[0].data(), 5000);
  const auto sums = download<std::uint32_t>(out_.data(), static_cast<std::size_t>(shape.blocks()));
  const RandomOrder order(5000);
  std::uint32_t expected = 0;
  for (std::int64_t i = 0; i < kReductionAccesses; ++i) {
    expected += words[static_cast<std::size_t>(order(i))];
  }
  EXPECT_EQ(sums[0], expected);
}

}  // namespace
}  // namespace assay
