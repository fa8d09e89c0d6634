// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/hash.h"

#include "kernels/fill.h"
#include "tests/device/gpu_test.h"

namespace assay {
namespace {

class Hash : public GpuTest {
 protected:
  std::uint64_t hash_of(const DeviceBuffer& buffer, std::int64_t bytes) {
    DeviceBuffer hash(sizeof(std::uint64_t));
    check_cuda(hash_bytes(buffer.data(), bytes, hash.as<std::uint64_t>(), stream()), "hash_bytes");
    return download<std::uint64_t>(hash.data(), 1)[0];
  }
};

TEST_F(Hash, IsTheSameOnTheHostWhateverTheLength) {
  DeviceBuffer buffer(1 << 20);
  check_cuda(fill_uniform(ElementType::kFp32, buffer.data(), 1 << 18, 7, stream()), "fill");
  const auto host = download<char>(buffer.data(), 1 << 20);
  for (const std::int64_t bytes :
       {std::int64_t{1}, std::int64_t{7}, std::int64_t{8}, std::int64_t{15}, std::int64_t{16},
        std::int64_t{1000}, std::int64_t{4097}, std::int64_t{1} << 20}) {
    EXPECT_EQ(hash_of(buffer, bytes), hash_bytes_on_host(host.data(), bytes)) << bytes;
  }
}

TEST_F(Hash, OneFlippedBitAnywhereAndTwoSwappedWordsShow) {
  DeviceBuffer buffer(1 << 20);
  check_cuda(fill_uniform(ElementType::kFp32, buffer.data(), 1 << 18, 7, stream()), "fill");
  const std::uint64_t sound = hash_of(buffer, buffer.bytes());
  const auto words = download<std::uint32_t>(buffer.data(), 1 << 18);
  for (const std::size_t place : {0U, 1U, 131071U, 262143U}) {
    for (const unsigned bit : {0U, 17U, 31U}) {
      upload<std::uint32_t>(buffer.data(), place, words[place] ^ (1U << bit));
      EXPECT_NE(hash_of(buffer, buffer.bytes()), sound) << place << " bit " << bit;
      upload<std::uint32_t>(buffer.data(), place, words[place]);
    }
  }
  EXPECT_EQ(hash_of(buffer, buffer.bytes()), sound);
  upload<std::uint32_t>(buffer.data(), 10, words[20]);
  upload<std::uint32_t>(buffer.data(), 20, words[10]);
  EXPECT_NE(hash_of(buffer, buffer.bytes()), sound) << "the sum must know the place";
}

}  // namespace
}  // namespace assay
