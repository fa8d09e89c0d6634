// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "bench/memory/integrity_spec.h"
#include "bench/memory/l2_spec.h"
#include "bench/memory/latency_spec.h"
#include "bench/memory/spec.h"
#include "bench/runner/plan.h"
#include "kernels/random_order.h"
#include "reports/error.h"

namespace assay {
namespace {

using Refusals = std::vector<std::pair<const char*, const char*>>;  // ids, and words of the reason

template <class Parse>
void expect_refused(const Parse& parse, const Refusals& refusals) {
  for (const auto& [id, why] : refusals) {
    try {
      (void)parse(id);
      ADD_FAILURE() << id << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(id), std::string::npos) << error.what();
    }
  }
}

MemorySpec spec_of(const char* id) { return parse_memory_id(id).value(); }

TEST(MemorySpec, ReadsWhatAnIdSays) {
  const MemorySpec spec = spec_of("memory/triad/24MiB+fp64+offset=8+stride=3/sustained/warm");
  EXPECT_EQ(spec.op, StreamOp::kTriad);
  EXPECT_EQ(spec.tensor_bytes, 24 << 20);
  EXPECT_TRUE(spec.fp64);
  EXPECT_EQ(spec.offset, 8);
  EXPECT_EQ(spec.stride, 3);
  EXPECT_FALSE(spec.random);
  EXPECT_EQ(spec.conditions.power, Power::kSustained);
  EXPECT_EQ(spec.conditions.cache, Cache::kWarm);
}

TEST(MemorySpec, AnIdAndItsSpecAreOneAndTheSame) {
  for (const char* id :
       {"memory/read/4GiB/burst", "memory/write/4GiB/burst", "memory/copy/4GiB/burst",
        "memory/triad/4GiB/burst", "memory/read/24MiB/burst", "memory/read/24MiB/burst/warm",
        "memory/dot/4B/burst", "memory/dot/8B+fp64/sustained", "memory/scale/1000004B/burst",
        "memory/add/3KiB+random/burst", "memory/copy/1GiB+fp64+offset=4096+random/burst/warm"}) {
    const auto spec = parse_memory_id(id);
    ASSERT_TRUE(spec) << id;
    EXPECT_EQ(id_of(*spec), id);
  }
}

TEST(MemorySpec, CountsWhatIsReadAndWritten) {
  constexpr double kGiB = 1 << 30;
  EXPECT_DOUBLE_EQ(spec_of("memory/write/1GiB/burst").bytes(), kGiB);
  EXPECT_DOUBLE_EQ(spec_of("memory/copy/1GiB+fp64/burst").bytes(), 2 * kGiB);
  EXPECT_DOUBLE_EQ(spec_of("memory/scale/1GiB/burst").bytes(), 2 * kGiB);
  EXPECT_DOUBLE_EQ(spec_of("memory/add/1GiB/burst").bytes(), 3 * kGiB);
  EXPECT_DOUBLE_EQ(spec_of("memory/triad/1GiB/burst").bytes(), 3 * kGiB);
  EXPECT_DOUBLE_EQ(spec_of("memory/dot/1GiB+fp64/burst").bytes(), 2 * kGiB);
  // Four bytes of sum for each 32 KiB; as many accesses of 4 bytes are 8 KiB.
  EXPECT_DOUBLE_EQ(spec_of("memory/read/1GiB/burst").bytes(), kGiB + kGiB / 8192);
  EXPECT_DOUBLE_EQ(spec_of("memory/read/1GiB+random/burst").bytes(), kGiB + kGiB / 2048);
  // 250000 elements, of which 0, 3, ... 249999 are copied.
  EXPECT_DOUBLE_EQ(spec_of("memory/copy/1000000B+stride=3/burst").bytes(), 2.0 * 83334 * 4);
}

TEST(MemorySpec, TakesElementsOneByOneWhereVectorsCannotLie) {
  EXPECT_EQ(spec_of("memory/copy/4GiB/burst").shape().access_bytes(), 16);
  EXPECT_EQ(spec_of("memory/copy/4GiB+offset=16/burst").shape().access_bytes(), 16);
  EXPECT_EQ(spec_of("memory/copy/4GiB+offset=4/burst").shape().access_bytes(), 4);
  EXPECT_EQ(spec_of("memory/copy/4GiB+fp64+offset=8/burst").shape().access_bytes(), 8);
  EXPECT_EQ(spec_of("memory/copy/4GiB+stride=2/burst").shape().access_bytes(), 4);
  EXPECT_EQ(spec_of("memory/copy/4GiB+random/burst").shape().access_bytes(), 4);
}

TEST(MemorySpec, RefusesWhatCannotBeAndSaysWhy) {
  const Refusals wrong = {
      {"memory/nstream/4GiB/burst", "no operation 'nstream'; there are: read write copy"},
      {"memory/copy/4GiB", "expected memory/<op>/<size>"},
      {"memory/copy/4GiB/burst/cold", "expected memory/<op>/<size>"},
      {"memory/copy/4GiB/warm", "expected burst or sustained"},
      {"memory/copy/0B/burst", "0 bytes"},
      {"memory/copy/0GiB/burst", "0 bytes"},
      {"memory/copy/1B/burst", "1 bytes are not a multiple of an element's 4"},
      {"memory/copy/1000001B/burst", "not a multiple of an element's 4"},
      {"memory/copy/1000004B+fp64/burst", "not a multiple of an element's 8"},
      {"memory/copy/4GB/burst", "expected a size such as 4GiB"},
      {"memory/copy/-4B/burst", "expected a size"},
      {"memory/copy/4.5GiB/burst", "expected a size"},
      {"memory/copy/99999999999999999999B/burst", "expected a size"},
      {"memory/copy/9999999GiB/burst", "expected a size"},
      {"memory/copy/1024MiB/burst", "write it memory/copy/1GiB/burst"},
      {"memory/copy/04GiB/burst", "write it memory/copy/4GiB/burst"},
      {"memory/copy/4GiB+fp32/burst", "no option 'fp32'"},
      {"memory/copy/4GiB+offset/burst", "expected offset=N"},
      {"memory/copy/4GiB+offset=3/burst", "multiples of their 4 bytes"},
      {"memory/copy/4GiB+fp64+offset=4/burst", "multiples of their 8 bytes"},
      {"memory/copy/4GiB+offset=8192/burst", "at most 4096"},
      {"memory/copy/4GiB+offset=0/burst", "write it memory/copy/4GiB/burst"},
      {"memory/copy/4GiB+stride=0/burst", "expected 2 or more"},
      {"memory/copy/4GiB+stride=1/burst", "write it memory/copy/4GiB/burst"},
      {"memory/copy/4GiB+stride=-2/burst", "expected stride=N"},
      {"memory/copy/4GiB+stride=2+random/burst", "exclude each other"},
      {"memory/copy/4GiB+random+fp64/burst", "write it memory/copy/4GiB+fp64+random/burst"}};
  expect_refused(parse_memory_id, wrong);
  EXPECT_FALSE(parse_memory_id("gemm/bf16/256x256x256/burst"));
}

TEST(MemorySpec, ParametersSayWhatTheIdSaysAndHowItIsDone) {
  const Json plain = parameters_of(spec_of("memory/read/4GiB/burst"));
  EXPECT_EQ(plain, Json({{"operation", "read"},
                         {"tensor_bytes", 4LL << 30},
                         {"bytes_per_thread", 64},
                         {"threads_per_block", 512}}));
  EXPECT_EQ(parameters_of(spec_of("memory/copy/4GiB/burst")).at("threads_per_block"), 256);
  const Json fields = parameters_of(spec_of("memory/copy/1GiB+fp64+offset=8+stride=4/burst"));
  EXPECT_EQ(fields.at("bytes_per_thread"), 8);
  EXPECT_EQ(fields.at("access_bytes"), 8);
  EXPECT_EQ(fields.at("element_bytes"), 8);
  EXPECT_EQ(fields.at("offset_bytes"), 8);
  EXPECT_EQ(fields.at("stride_elements"), 4);
}

// A slip in a suite would only be found on a GPU.
TEST(MemorySpec, MakesEveryCaseOfTheShippedSuites) {
  int cases = 0;
  for (const Suite& suite :
       load_all_suites(std::filesystem::path(ASSAY_SOURCE_DIR) / "configs/suites")) {
    for (const SuiteProcess& process : suite.processes) {
      for (const std::string& id : process.cases) {
        if (!id.starts_with("memory/")) continue;
        ++cases;
        EXPECT_NO_THROW(EXPECT_TRUE(parse_memory_id(id) || parse_latency_id(id) ||
                                    parse_integrity_id(id) || parse_l2_id(id))
                        << id)
            << id;
      }
    }
  }
  EXPECT_GT(cases, 10);
}

TEST(LatencySpec, GoesRoundWarmAndNeverTwiceCold) {
  const auto l1 = parse_latency_id("memory/latency/16KiB/burst/warm");
  ASSERT_TRUE(l1);
  EXPECT_EQ(l1->nodes(), 128);
  EXPECT_EQ(l1->loads(), 1 << 18);
  const auto l2 = parse_latency_id("memory/latency/8MiB/burst/warm");
  EXPECT_EQ(l2->loads(), l2->nodes()) << "once round a launch";
  const auto memory = parse_latency_id("memory/latency/4GiB/burst");
  EXPECT_EQ(memory->nodes(), 1 << 25);
  EXPECT_EQ(memory->loads(), 1 << 15);
  const auto small = parse_latency_id("memory/latency/1MiB/sustained");
  EXPECT_LE(small->loads(), small->nodes());
  EXPECT_EQ(id_of(*small), "memory/latency/1MiB/sustained");
  EXPECT_FALSE(parse_memory_id("memory/latency/4GiB/burst"));
  EXPECT_FALSE(parse_latency_id("memory/read/4GiB/burst"));
}

TEST(LatencySpec, RefusesWhatCannotBeAndSaysWhy) {
  const Refusals wrong = {
      {"memory/latency/0B/burst/warm", "0 bytes: expected a multiple of 2048"},
      {"memory/latency/1000B/burst/warm", "1000 bytes: expected a multiple of 2048"},
      {"memory/latency/16KiB/burst", "a cold chase needs 1MiB or more"},
      {"memory/latency/1024MiB/burst", "write it memory/latency/1GiB/burst"},
      {"memory/latency/1GiB+fp64/burst", "expected a size"},
      {"memory/latency/1GiB/warm", "expected burst or sustained"},
      {"memory/latency/1GiB/burst/cold", "expected memory/latency/<size>"}};
  expect_refused(parse_latency_id, wrong);
}

TEST(L2Spec, IsASizeThatIsReadAgainAndAgain) {
  const auto spec = parse_l2_id("memory/l2_read/24MiB/burst/warm");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->bytes, std::int64_t{24} << 20);
  EXPECT_EQ(id_of(*spec), "memory/l2_read/24MiB/burst/warm");
  EXPECT_FALSE(parse_memory_id("memory/l2_read/24MiB/burst/warm"));
  EXPECT_FALSE(parse_l2_id("memory/read/24MiB/burst/warm"));
}

TEST(L2Spec, RefusesWhatCannotBeAndSaysWhy) {
  expect_refused(
      parse_l2_id,
      {{"memory/l2_read/24MiB/burst", "expected memory/l2_read/<size>"},
       {"memory/l2_read/24MiB/burst/cold", "expected memory/l2_read/<size>"},
       {"memory/l2_read/24MB/burst/warm", "expected a size"},
       {"memory/l2_read/24MiB/fast/warm", "expected burst or sustained"},
       {"memory/l2_read/0B/burst/warm", "0 bytes: expected a multiple of 16"},
       {"memory/l2_read/1000B/burst/warm", "1000 bytes: expected a multiple of 16"},
       {"memory/l2_read/1024KiB/burst/warm", "write it memory/l2_read/1MiB/burst/warm"}});
}

TEST(IntegritySpec, TestsAShareOrASize) {
  const auto share = parse_integrity_id("memory/integrity/90pct/burst");
  ASSERT_TRUE(share);
  constexpr std::int64_t kMemory = 150'754'820'096;
  const std::int64_t bytes = share->tested_bytes(kMemory);
  EXPECT_EQ(bytes % (2 << 20), 0);
  EXPECT_LE(bytes, kMemory * 9 / 10);
  EXPECT_GT(bytes, kMemory * 9 / 10 - (3 << 20));
  const auto size = parse_integrity_id("memory/integrity/64GiB/sustained");
  EXPECT_EQ(size->tested_bytes(kMemory), std::int64_t{64} << 30);
  EXPECT_EQ(id_of(*size), "memory/integrity/64GiB/sustained");
  EXPECT_FALSE(parse_integrity_id("memory/read/4GiB/burst"));
  EXPECT_FALSE(parse_memory_id("memory/integrity/90pct/burst"));
  EXPECT_EQ(bits_text(1ULL << 17), "17");
  EXPECT_EQ(bits_text(1ULL | 1ULL << 63), "0 63");
}

TEST(IntegritySpec, RefusesWhatCannotBeAndSaysWhy) {
  const Refusals wrong = {
      {"memory/integrity/0pct/burst", "expected 1pct to 99pct"},
      {"memory/integrity/100pct/burst", "expected 1pct to 99pct"},
      {"memory/integrity/090pct/burst", "write it memory/integrity/90pct/burst"},
      {"memory/integrity/pct/burst", "expected 1pct to 99pct"},
      {"memory/integrity/90/burst", "expected a share or a size"},
      {"memory/integrity/0B/burst", "expected 1GiB or more"},
      {"memory/integrity/512MiB/burst", "expected 1GiB or more"},
      {"memory/integrity/2147483649B/burst", "a multiple of 16"},
      {"memory/integrity/90pct/warm", "expected burst or sustained"},
      {"memory/integrity/90pct/burst/warm", "expected memory/integrity/"}};
  expect_refused(parse_integrity_id, wrong);
}

TEST(RandomOrder, TakesEachPlaceOnceAndNotInTurn) {
  for (const std::int64_t count : {1, 2, 3, 5, 64, 1000, 65536, 65537, 1'000'003}) {
    const RandomOrder order(count);
    std::vector<bool> taken(static_cast<std::size_t>(count));
    std::int64_t neighbours = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t place = order(i);
      ASSERT_TRUE(place >= 0 && place < count) << count;
      ASSERT_FALSE(taken[static_cast<std::size_t>(place)]) << count << ": " << place << " twice";
      taken[static_cast<std::size_t>(place)] = true;
      if (i > 0 && std::abs(place - order(i - 1)) <= 8) ++neighbours;
    }
    // Of a random order 16 in `count` lie that near; allow twice as many.
    if (count >= 1000) {
      EXPECT_LE(neighbours, 40) << count;
    }
  }
}

TEST(RandomOrder, CountsIn64Bits) {
  const std::int64_t count = (std::int64_t{1} << 36) + 12345;
  const RandomOrder order(count);
  std::set<std::int64_t> places;
  std::int64_t largest = 0;
  for (std::int64_t i = count - 100'000; i < count; ++i) {
    const std::int64_t place = order(i);
    ASSERT_TRUE(place >= 0 && place < count);
    places.insert(place);
    largest = std::max(largest, place);
  }
  EXPECT_EQ(places.size(), 100'000U);
  EXPECT_GT(largest, count - count / 1000);
}

}  // namespace
}  // namespace assay
