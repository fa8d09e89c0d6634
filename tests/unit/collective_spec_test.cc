// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/collectives/spec.h"
#include "reports/error.h"

namespace assay {
namespace {

using testing::HasSubstr;

TEST(CollectiveSpec, ReadsWhatAnIdSays) {
  const auto spec = parse_collective_id("collectives/all_gather/64MiB+bfloat16+in_place/burst");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->op, CollectiveOp::kAllGather);
  EXPECT_EQ(spec->bytes, std::int64_t{64} << 20);
  EXPECT_EQ(spec->type, ElementType::kBf16);
  EXPECT_TRUE(spec->in_place);
  EXPECT_EQ(spec->mode, CollectiveMode::kPlain);
  EXPECT_EQ(parse_collective_id("collectives/reduce/8B+graph/burst")->mode, CollectiveMode::kGraph);
  EXPECT_EQ(parse_collective_id("collectives/reduce/8B/burst")->type, ElementType::kFp32);
  EXPECT_FALSE(parse_collective_id("links/h2d/1MiB/burst"));
}

TEST(CollectiveSpec, AnIdAndItsSpecAreOneAndTheSame) {
  for (const char* id :
       {"collectives/all_reduce/4B/burst", "collectives/all_reduce/64GiB/burst",
        "collectives/all_reduce/1GiB+float16+in_place+symmetric/burst",
        "collectives/all_gather/12KiB+fp8_e4m3/burst", "collectives/broadcast/1B+fp8_e5m2/burst",
        "collectives/broadcast/8B+float64+in_place/burst", "collectives/reduce/20B+int32/burst",
        "collectives/reduce_scatter/1MiB+bfloat16+registered/burst",
        "collectives/all_to_all/16MiB+graph/burst", "collectives/send_recv/2B+float16/burst"}) {
    const auto spec = parse_collective_id(id);
    ASSERT_TRUE(spec) << id;
    EXPECT_EQ(id_of(*spec), id);
  }
}

TEST(CollectiveSpec, TheBusFactorIsThatOfNcclTests) {
  struct Row {
    CollectiveOp op;
    std::array<double, 4> factors;  // of 1, 2, 4 and 8 ranks
  };
  const Row rows[] = {{CollectiveOp::kAllReduce, {0, 1, 1.5, 1.75}},
                      {CollectiveOp::kAllGather, {0, 0.5, 0.75, 0.875}},
                      {CollectiveOp::kReduceScatter, {0, 0.5, 0.75, 0.875}},
                      {CollectiveOp::kAllToAll, {0, 0.5, 0.75, 0.875}},
                      {CollectiveOp::kBroadcast, {1, 1, 1, 1}},
                      {CollectiveOp::kReduce, {1, 1, 1, 1}},
                      {CollectiveOp::kSendRecv, {1, 1, 1, 1}}};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.factors.size(); ++i) {
      EXPECT_DOUBLE_EQ(bus_factor(row.op, 1 << i), row.factors[i])
          << static_cast<int>(row.op) << " of " << (1 << i);
    }
  }
}

CollectiveCounts counts(const char* id, int ranks) {
  return counts_of(*parse_collective_id(id), ranks);
}

TEST(CollectiveSpec, TheSizeIsThatOfNcclTests) {
  const CollectiveCounts all{256, 256, 256};
  EXPECT_EQ(counts("collectives/all_reduce/1KiB/burst", 8), all);
  EXPECT_EQ(counts("collectives/broadcast/1KiB/burst", 8), all);
  EXPECT_EQ(counts("collectives/reduce/1KiB/burst", 8), all);
  EXPECT_EQ(counts("collectives/send_recv/1KiB/burst", 8), all);
  EXPECT_EQ(counts("collectives/all_gather/1KiB/burst", 8), (CollectiveCounts{32, 32, 256}));
  EXPECT_EQ(counts("collectives/reduce_scatter/1KiB/burst", 8), (CollectiveCounts{32, 256, 32}));
  EXPECT_EQ(counts("collectives/all_to_all/1KiB/burst", 8), (CollectiveCounts{32, 256, 256}));
  EXPECT_EQ(counts("collectives/all_to_all/1KiB/burst", 1), all);
}

TEST(CollectiveSpec, ASizeThatRanksCannotShareSaysSo) {
  const auto why = [](const char* id, int ranks) {
    return why_not_shared(*parse_collective_id(id), ranks).value_or("");
  };
  EXPECT_EQ(why("collectives/all_gather/8B/burst", 8), "8 ranks cannot share 2 elements evenly");
  EXPECT_THAT(why("collectives/reduce_scatter/4B/burst", 2), HasSubstr("2 ranks cannot share 1"));
  EXPECT_THAT(why("collectives/all_to_all/1MiB/burst", 3), HasSubstr("3 ranks cannot share"));
  EXPECT_EQ(why("collectives/all_to_all/8B/burst", 2), "");
  EXPECT_EQ(why("collectives/all_gather/4B/burst", 1), "");
  EXPECT_EQ(why("collectives/all_reduce/4B/burst", 8), "");
}

TEST(CollectiveSpec, WhatIsSmallIsALatency) {
  EXPECT_TRUE(parse_collective_id("collectives/all_reduce/32KiB/burst")->latency());
  EXPECT_FALSE(parse_collective_id("collectives/all_reduce/32772B/burst")->latency());
}

TEST(CollectiveSpec, ParametersSayWhatMovesBetweenWhom) {
  EXPECT_EQ(
      parameters_of(*parse_collective_id("collectives/all_reduce/1KiB+float16+in_place/burst"), 4),
      (Json{{"op", "all_reduce"},
            {"type", "float16"},
            {"bytes", 1024},
            {"ranks", 4},
            {"in_place", true},
            {"mode", "plain"},
            {"bus_factor", 1.5}}));
  const Json other =
      parameters_of(*parse_collective_id("collectives/broadcast/1KiB+symmetric/burst"), 1);
  EXPECT_EQ(other["type"], "float32");
  EXPECT_EQ(other["mode"], "symmetric");
}

std::string refusal(const std::string& id) {
  try {
    (void)parse_collective_id(id);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage) << id;
    return error.what();
  }
  return "taken";
}

TEST(CollectiveSpec, WhatCannotBeIsRefusedWithTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"collectives/all_reduce/0B/burst", "expected a size"},
      {"collectives/all_reduce/65GiB/burst", "expected a size"},
      {"collectives/all_reduce/-4B/burst", "expected a size"},
      {"collectives/all_reduce/1MB/burst", "expected a size"},
      {"collectives/all_reduce//burst", "expected a size"},
      {"collectives/all_reduce/99999999999999999999B/burst", "expected a size"},
      {"collectives/all_reduce/1024MiB/burst", "write it collectives/all_reduce/1GiB/burst"},
      {"collectives/all_reduce/01MiB/burst", "write it collectives/all_reduce/1MiB/burst"},
      {"collectives/all_reduce/1MiB+float32/burst", "write it collectives/all_reduce/1MiB/burst"},
      {"collectives/all_reduce/1MiB+in_place+int32/burst",
       "write it collectives/all_reduce/1MiB+int32+in_place/burst"},
      {"collectives/all_reduce/1MiB+graph+in_place/burst", "write it"},
      {"collectives/all_reduce/1MiB+in_place+in_place/burst", "write it"},
      {"collectives/all_reduce/1MiB+float16+bfloat16/burst", "write it"},
      {"collectives/all_reduce/1MiB+registered+graph/burst", "exclude each other"},
      {"collectives/all_reduce/1MiB+plain/burst", "no variant 'plain'"},
      {"collectives/all_reduce/1MiB+int8/burst", "no variant 'int8'"},
      {"collectives/all_reduce/1MiB+/burst", "no variant ''"},
      {"collectives/allreduce/1MiB/burst", "no operation 'allreduce'"},
      {"collectives//1MiB/burst", "no operation ''"},
      {"collectives/all_reduce/1MiB/sustained", "expected burst"},
      {"collectives/all_reduce/1MiB", "expected collectives/<op>/<size>/burst"},
      {"collectives/all_reduce/1MiB/burst/warm", "expected collectives/<op>/<size>/burst"},
      {"collectives/all_reduce/6B/burst", "6B is no whole number of float32"},
      {"collectives/all_reduce/4B+float64/burst", "no whole number of float64, of 8 bytes"},
      {"collectives/all_reduce/1B+bfloat16/burst", "no whole number of bfloat16"},
      {"collectives/reduce/1MiB+in_place/burst", "in_place is of"},
      {"collectives/reduce_scatter/1MiB+in_place/burst", "in_place is of"},
      {"collectives/all_to_all/1MiB+in_place/burst", "in_place is of"},
      {"collectives/send_recv/1MiB+in_place/burst", "in_place is of"}};
  for (const auto& [id, why] : cases) EXPECT_THAT(refusal(id), HasSubstr(why)) << id;
}

}  // namespace
}  // namespace assay
