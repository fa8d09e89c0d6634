// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Fill and check of collective operations, with the ranks of a group played by one GPU: what each
// gives is added up on the host and must be what the check wants, in every type.
#include "kernels/collective.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/device/gpu_test.h"

namespace assay {
namespace {

constexpr ElementType kTypes[] = {ElementType::kFp64,   ElementType::kFp32, ElementType::kInt32,
                                  ElementType::kFp16,   ElementType::kBf16, ElementType::kFp8E4M3,
                                  ElementType::kFp8E5M2};
constexpr std::int64_t kElements = 10'007;  // no whole vector, no whole block
constexpr std::int64_t kCapacity = 24 * 4096;

class Collective : public GpuTest {
 protected:
  // What rank `rank` gives, as it lies on the device.
  [[nodiscard]] std::vector<unsigned char> given(ElementType type, const RankValues& values,
                                                 int rank, std::int64_t elements) const {
    const std::int64_t bytes = elements * element_bytes(type);
    const DeviceBuffer input(bytes);
    check_cuda(collective_fill(type, values, rank, input.data(), elements, stream()),
               "collective_fill");
    return download<unsigned char>(input.data(), static_cast<std::size_t>(bytes));
  }

  // How many elements of `output`, followed by poison, are wrong.
  [[nodiscard]] MismatchReport checked(ElementType type, const RankValues& values,
                                       const CollectiveLayout& layout,
                                       const std::vector<unsigned char>& output) const {
    const DeviceBuffer device(kCapacity);
    const DeviceBuffer report(sizeof(MismatchReport));
    check_cuda(cudaMemset(device.data(), kCollectivePoison, kCapacity), "cudaMemset");
    check_cuda(cudaMemcpy(device.data(), output.data(), output.size(), cudaMemcpyHostToDevice),
               "cudaMemcpy");
    check_cuda(check_collective(type, values, layout, device.data(), kCapacity,
                                report.as<MismatchReport>(), stream()),
               "check_collective");
    return read_back<MismatchReport>(report.data(), stream());
  }
};

template <class T>
void add_as(std::vector<unsigned char>& total, const std::vector<unsigned char>& part) {
  for (std::size_t at = 0; at < total.size(); at += sizeof(T)) {
    T a;
    T b;
    std::memcpy(&a, &total[at], sizeof(T));
    std::memcpy(&b, &part[at], sizeof(T));
    T sum;
    if constexpr (std::is_arithmetic_v<T>) {
      sum = static_cast<T>(a + b);
    } else {
      sum = T(static_cast<float>(a) + static_cast<float>(b));  // rounded to the type each time
    }
    std::memcpy(&total[at], &sum, sizeof(T));
  }
}

void add(ElementType type, std::vector<unsigned char>& total,
         const std::vector<unsigned char>& part) {
  switch (type) {
    case ElementType::kFp64:
      return add_as<double>(total, part);
    case ElementType::kFp32:
      return add_as<float>(total, part);
    case ElementType::kInt32:
      return add_as<std::int32_t>(total, part);
    case ElementType::kFp16:
      return add_as<__half>(total, part);
    case ElementType::kBf16:
      return add_as<__nv_bfloat16>(total, part);
    case ElementType::kFp8E4M3:
      return add_as<__nv_fp8_e4m3>(total, part);
    case ElementType::kFp8E5M2:
      return add_as<__nv_fp8_e5m2>(total, part);
    case ElementType::kInt8:
      FAIL() << "no collective has this type";
  }
}

RankValues values_of(ElementType type, ValueKind kind, int ranks) {
  return {.kind = kind, .limit = largest_whole(type), .ranks = ranks, .seed = 11};
}

TEST_F(Collective, TheRanksAddUpToWhatTheCheckWantsInEitherOrder) {
  for (const ElementType type : kTypes) {
    for (const ValueKind kind : {ValueKind::kSum, ValueKind::kCancel}) {
      for (const int ranks : {1, 2, 3, 4, 8, 72}) {
        const RankValues values = values_of(type, kind, ranks);
        std::vector<unsigned char> up = given(type, values, 0, kElements);
        std::vector<unsigned char> down = given(type, values, ranks - 1, kElements);
        for (int rank = 1; rank < ranks; ++rank) {
          add(type, up, given(type, values, rank, kElements));
          add(type, down, given(type, values, ranks - 1 - rank, kElements));
        }
        const CollectiveLayout layout{.elements = kElements, .block = kElements};
        EXPECT_EQ(checked(type, values, layout, up).count, 0U)
            << static_cast<int>(type) << " of " << ranks;
        EXPECT_EQ(checked(type, values, layout, down).count, 0U)
            << static_cast<int>(type) << " of " << ranks;
      }
    }
  }
}

TEST_F(Collective, ARankThatIsMissingIsSeen) {
  for (const ElementType type : kTypes) {
    const RankValues values = values_of(type, ValueKind::kSum, 8);
    std::vector<unsigned char> total = given(type, values, 0, kElements);
    for (int rank = 1; rank < 7; ++rank) add(type, total, given(type, values, rank, kElements));
    const MismatchReport found =
        checked(type, values, {.elements = kElements, .block = kElements}, total);
    EXPECT_GE(found.count, static_cast<unsigned long long>(kElements / 2 - 8))
        << static_cast<int>(type);
  }
}

TEST_F(Collective, GatheredBlocksAreThoseOfTheirRanks) {
  for (const ElementType type : kTypes) {
    const RankValues values = values_of(type, ValueKind::kBits, 4);
    constexpr std::int64_t kShare = 1501;
    std::vector<unsigned char> gathered;
    std::vector<unsigned char> swapped;
    for (const int rank : {0, 1, 2, 3}) {
      const auto part = given(type, values, rank, kShare);
      gathered.insert(gathered.end(), part.begin(), part.end());
      const auto other = given(type, values, rank ^ 1, kShare);
      swapped.insert(swapped.end(), other.begin(), other.end());
    }
    const CollectiveLayout layout{.elements = 4 * kShare, .block = kShare};
    EXPECT_EQ(checked(type, values, layout, gathered).count, 0U);
    EXPECT_GT(checked(type, values, layout, swapped).count, 4U * kShare * 9 / 10);
  }
}

TEST_F(Collective, AnOutputOfAnotherRankAndPlaceIsFoundThere) {
  const RankValues values = values_of(ElementType::kFp32, ValueKind::kBits, 8);
  const auto all = given(ElementType::kFp32, values, 5, 3000);
  const std::vector<unsigned char> part(all.begin() + 4 * 1000, all.begin() + 4 * 2000);
  const CollectiveLayout right{.elements = 1000, .block = 1000, .source = 5, .offset = 1000};
  EXPECT_EQ(checked(ElementType::kFp32, values, right, part).count, 0U);
  CollectiveLayout wrong = right;
  wrong.source = 4;
  EXPECT_EQ(checked(ElementType::kFp32, values, wrong, part).count, 1000U);
  wrong = right;
  wrong.offset = 1001;
  EXPECT_EQ(checked(ElementType::kFp32, values, wrong, part).count, 1000U);
}

TEST_F(Collective, OneFlippedBitOneMissingElementAndOneTooManyAreFoundWhereTheyAre) {
  for (const ElementType type : kTypes) {
    const auto size = static_cast<std::size_t>(element_bytes(type));
    const RankValues values = values_of(type, ValueKind::kSum, 1);
    const CollectiveLayout layout{.elements = kElements, .block = kElements};
    const auto sound = given(type, values, 0, kElements);
    auto output = sound;
    output[777 * size] ^= 0x01;
    MismatchReport found = checked(type, values, layout, output);
    EXPECT_EQ(found.count, 1U);
    EXPECT_EQ(found.first, 777U);

    output = sound;
    output.resize(output.size() - size);
    found = checked(type, values, layout, output);
    EXPECT_EQ(found.count, 1U);
    EXPECT_EQ(found.first, static_cast<unsigned long long>(kElements - 1));

    output = sound;
    output.push_back(0);  // the first byte beyond the end
    found = checked(type, values, layout, output);
    EXPECT_EQ(found.count, 1U);
    EXPECT_EQ(found.first, static_cast<unsigned long long>(kElements));
  }
}

TEST_F(Collective, OneElementIsEnough) {
  for (const ElementType type : kTypes) {
    const RankValues values = values_of(type, ValueKind::kSum, 1);
    const CollectiveLayout one{.elements = 1, .block = 1};
    EXPECT_EQ(checked(type, values, one, given(type, values, 0, 1)).count, 0U);
    EXPECT_EQ(checked(type, values, one, {}).count, 1U);
  }
}

}  // namespace
}  // namespace assay
