// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/links/spec.h"
#include "reports/error.h"

namespace assay {
namespace {

using testing::HasSubstr;

TEST(LinkSpec, ReadsWhatAnIdSays) {
  const auto spec = parse_link_id("links/d2h/512MiB+pageable+far/burst");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->transfer, Transfer::kD2h);
  EXPECT_EQ(spec->bytes, std::int64_t{512} << 20);
  EXPECT_TRUE(spec->pageable && spec->far);
  EXPECT_FALSE(spec->sm || spec->latency);
  EXPECT_FALSE(parse_link_id("memory/read/4GiB/burst"));
}

TEST(LinkSpec, AnIdAndItsSpecAreOneAndTheSame) {
  for (const char* id :
       {"links/h2d/512MiB/burst", "links/h2d/1B/burst", "links/d2h/1023B+sm/burst",
        "links/both/3KiB+sm+far/burst", "links/d2h/2GiB+pageable/burst", "links/h2d/1024GiB/burst",
        "links/zerocopy/512MiB/burst", "links/zerocopy/7B+far/burst", "links/latency/h2d/burst",
        "links/latency/d2h+far/burst", "links/latency/zerocopy/burst",
        "links/p2p_write/512MiB+to=3/burst", "links/p2p_read/1B+sm+to=0/burst",
        "links/p2p_both/2GiB+to=each/burst", "links/p2p_write/7B+sm+to=each/burst",
        "links/latency/p2p+to=15/burst", "links/latency/p2p+to=each/burst"}) {
    const auto spec = parse_link_id(id);
    ASSERT_TRUE(spec) << id;
    EXPECT_EQ(id_of(*spec), id);
  }
}

TEST(LinkSpec, ReadsToWhichPeer) {
  const auto spec = parse_link_id("links/p2p_read/512MiB+sm+to=3/burst");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->transfer, Transfer::kP2pRead);
  EXPECT_TRUE(spec->sm);
  EXPECT_EQ(spec->to, 3);
  EXPECT_EQ(parse_link_id("links/p2p_both/1KiB+to=each/burst")->to, kEachPeer);
  EXPECT_FALSE(parse_link_id("links/both/1KiB/burst")->to);
  EXPECT_TRUE(parse_link_id("links/latency/p2p+to=1/burst")->latency);
}

TEST(LinkSpec, BytesAreThoseThatCrossTheLink) {
  EXPECT_DOUBLE_EQ(parse_link_id("links/p2p_write/1MiB+to=1/burst")->bytes_moved(), 0x1p20);
  EXPECT_DOUBLE_EQ(parse_link_id("links/p2p_read/1MiB+sm+to=1/burst")->bytes_moved(), 0x1p20);
  EXPECT_DOUBLE_EQ(parse_link_id("links/p2p_both/1MiB+to=1/burst")->bytes_moved(), 0x1p21);
  EXPECT_DOUBLE_EQ(parse_link_id("links/latency/p2p+to=1/burst")->bytes_moved(), 8.0 * kChaseLoads);
  EXPECT_DOUBLE_EQ(parse_link_id("links/latency/zerocopy/burst")->bytes_moved(), 8.0 * kChaseLoads);
  EXPECT_DOUBLE_EQ(parse_link_id("links/latency/h2d/burst")->bytes_moved(), kLatencyCopyBytes);

  EXPECT_DOUBLE_EQ(parse_link_id("links/h2d/512MiB/burst")->bytes_moved(), 512.0 * (1 << 20));
  EXPECT_DOUBLE_EQ(parse_link_id("links/both/512MiB/burst")->bytes_moved(), 1024.0 * (1 << 20));
  EXPECT_DOUBLE_EQ(parse_link_id("links/zerocopy/1B/burst")->bytes_moved(), 1);
  EXPECT_DOUBLE_EQ(parse_link_id("links/h2d/1024GiB/burst")->bytes_moved(), 0x1p40);
}

TEST(LinkSpec, ParametersSayWhoCopiesWhat) {
  const Json plain = parameters_of(*parse_link_id("links/h2d/1KiB/burst"));
  EXPECT_EQ(plain, (Json{{"transfer", "h2d"},
                         {"engine", "copy engine"},
                         {"host_memory", "page-locked"},
                         {"host_node", "near"},
                         {"bytes", 1024}}));
  EXPECT_EQ(parameters_of(*parse_link_id("links/d2h/1KiB+sm/burst"))["engine"], "processors");
  EXPECT_EQ(parameters_of(*parse_link_id("links/zerocopy/1KiB/burst"))["engine"], "processors");
  EXPECT_EQ(parameters_of(*parse_link_id("links/d2h/1KiB+pageable/burst"))["host_memory"],
            "pageable");
  EXPECT_EQ(parameters_of(*parse_link_id("links/d2h/1KiB+far/burst"))["host_node"], "far");
  EXPECT_EQ(parameters_of(*parse_link_id("links/latency/zerocopy/burst"))["loads"], kChaseLoads);
  EXPECT_EQ(parameters_of(*parse_link_id("links/p2p_write/1KiB+to=1/burst")),
            (Json{{"transfer", "p2p_write"}, {"engine", "copy engine"}, {"bytes", 1024}}));
  EXPECT_EQ(parameters_of(*parse_link_id("links/p2p_read/1KiB+sm+to=1/burst"))["engine"],
            "processors");
  EXPECT_EQ(parameters_of(*parse_link_id("links/latency/p2p+to=1/burst")),
            (Json{{"transfer", "p2p"}, {"engine", "processors"}, {"loads", kChaseLoads}}));
}

std::string refusal(const std::string& id) {
  try {
    (void)parse_link_id(id);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage) << id;
    return error.what();
  }
  return "taken";
}

TEST(LinkSpec, WhatCannotBeIsRefusedWithTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"links/h2d/0B/burst", "expected a size"},
      {"links/h2d/0GiB/burst", "expected a size"},
      {"links/h2d/-1MiB/burst", "expected a size"},
      {"links/h2d/1025GiB/burst", "expected a size"},
      {"links/h2d/99999999999999999999B/burst", "expected a size"},
      {"links/h2d/1MB/burst", "expected a size"},
      {"links/h2d/MiB/burst", "expected a size"},
      {"links/h2d//burst", "expected a size"},
      {"links/h2d/1024MiB/burst", "write it links/h2d/1GiB/burst"},
      {"links/h2d/01MiB/burst", "write it links/h2d/1MiB/burst"},
      {"links/h2d/1MiB+far+sm/burst", "write it links/h2d/1MiB+sm+far/burst"},
      {"links/h2d/1MiB+sm+sm/burst", "write it"},
      {"links/h2d/1MiB+fast/burst", "no variant 'fast'"},
      {"links/x2d/1MiB/burst", "no transfer 'x2d'"},
      {"links/h2d/1MiB/sustained", "expected burst"},
      {"links/h2d/1MiB", "expected links/<transfer>/<size>/burst"},
      {"links/h2d/1MiB/burst/warm", "expected links/<transfer>/<size>/burst"},
      {"links/h2d/1MiB+sm+pageable/burst", "do not reach pageable"},
      {"links/both/1MiB+pageable/burst", "never under way"},
      {"links/zerocopy/1MiB+sm/burst", "only variant"},
      {"links/zerocopy/1MiB+pageable/burst", "only variant"},
      {"links/latency/both/burst", "one direction"},
      {"links/latency/h2d+sm/burst", "only variant"},
      {"links/latency/1MiB/burst", "no transfer '1MiB'"},
      {"links/p2p_write/1MiB/burst", "says to which"},
      {"links/latency/p2p/burst", "says to which"},
      {"links/h2d/1MiB+to=1/burst", "to= is of transfers between GPUs"},
      {"links/latency/h2d+to=1/burst", "to= is of transfers between GPUs"},
      {"links/p2p_write/1MiB+to=/burst", "expected NVML's index"},
      {"links/p2p_write/1MiB+to=-1/burst", "expected NVML's index"},
      {"links/p2p_write/1MiB+to=all/burst", "expected NVML's index"},
      {"links/p2p_write/1MiB+to=1x/burst", "expected NVML's index"},
      {"links/p2p_write/1MiB+to=99999999999/burst", "expected NVML's index"},
      {"links/p2p_write/1MiB+to=01/burst", "write it links/p2p_write/1MiB+to=1/burst"},
      {"links/p2p_write/1MiB+to=1+sm/burst", "write it links/p2p_write/1MiB+sm+to=1/burst"},
      {"links/p2p_write/1MiB+to=1+to=2/burst", "write it links/p2p_write/1MiB+to=2/burst"},
      {"links/p2p_write/1MiB+pageable+to=1/burst", "are of host memory"},
      {"links/p2p_read/1MiB+far+to=1/burst", "are of host memory"},
      {"links/p2p/1MiB+to=1/burst", "p2p is the latency between GPUs"},
      {"links/latency/p2p_write+to=1/burst", "p2p is the latency between GPUs"},
      {"links/latency/p2p+sm+to=1/burst", "only variant"},
      {"links/p2p_write/0B+to=1/burst", "expected a size"},
      {"links/p2p_write/1MiB+to=1/sustained", "expected burst"}};
  for (const auto& [id, why] : cases) EXPECT_THAT(refusal(id), HasSubstr(why)) << id;
}

}  // namespace
}  // namespace assay
