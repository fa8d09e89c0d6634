// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Links between GPUs on real devices. Where there is but one, both ends lie on it: what is right
// and what is seen to be wrong does not depend on the way that the bytes took.
#include "bench/links/peer_case.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
#include <cstdio>

#include "bench/links/copy_case.h"
#include "kernels/chase.h"
#include "reports/merge.h"
#include "tests/device/links_test.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

constexpr std::array<const char*, 6> kCopies = {"p2p_write/{}",   "p2p_read/{}",
                                                "p2p_both/{}",    "p2p_write/{}+sm",
                                                "p2p_read/{}+sm", "p2p_both/{}+sm"};

LinkSpec spec_of(const std::string& copy, const std::string& size) {
  std::string id = "links/" + copy + "+to=1/burst";
  return *parse_link_id(id.replace(id.find("{}"), 2, size));
}

class PeerLinks : public LinksTest {
 protected:
  void SetUp() override {
    LinksTest::SetUp();
    if (IsSkipped()) return;
    check_cuda(cudaGetDeviceCount(&gpus_), "cudaGetDeviceCount");
  }
  // Every ordered pair of different GPUs, each with the own one current; the one with itself if
  // there is no other.
  template <class Check>
  void on_every_pair(const Check& check) {
    for (int own = 0; own < gpus_; ++own) {
      for (int peer = 0; peer < gpus_; ++peer) {
        if (own == peer && gpus_ > 1) continue;
        const CurrentDevice on(own);
        const CudaStream stream = make_stream();
        check(PeerEnds{.own = own, .peer = peer, .direct = can_reach(own, peer)}, stream.get());
        int current = -1;
        check_cuda(cudaGetDevice(&current), "cudaGetDevice");
        EXPECT_EQ(current, own) << "what was current is put back";
      }
    }
  }
  int gpus_ = 0;
};

TEST_F(PeerLinks, EveryCopyCarriesEveryByteOfAnySize) {
  for (const char* copy : kCopies) {
    for (const char* size : {"1B", "63B", "33001B", "4MiB"}) {
      const LinkSpec spec = spec_of(copy, size);
      on_every_pair([&](const PeerEnds& ends, cudaStream_t stream) {
        if (spec.sm && !ends.direct) return;
        PeerCopyCase one(spec, device_, ends, stream);
        const Verification sound = launched(one);
        EXPECT_EQ(sound.status, VerificationStatus::kVerified)
            << id_of(spec) << " " << ends.own << "-" << ends.peer << ": " << sound.detail;
        const auto hashes = one.hash_outputs({0});
        ASSERT_EQ(launched(one).status, VerificationStatus::kVerified) << id_of(spec);
        EXPECT_EQ(one.hash_outputs({0}), hashes) << id_of(spec);
      });
    }
  }
}

// As the driver does it where a GPU does not reach the other: through the host, waiting for its
// end.
TEST_F(PeerLinks, ACopyThroughTheHostCarriesEveryByte) {
  for (const char* copy : {"p2p_write/{}", "p2p_read/{}", "p2p_both/{}"}) {
    const LinkSpec spec = spec_of(copy, "4MiB");
    on_every_pair([&](PeerEnds ends, cudaStream_t stream) {
      ends.direct = false;
      PeerCopyCase one(spec, device_, ends, stream);
      one.poison(0);
      one.launch(0);
      EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess) << "its launch waits";
      const Verification sound = one.verify(0, 0);
      EXPECT_EQ(sound.status, VerificationStatus::kVerified) << id_of(spec) << sound.detail;
    });
  }
}

TEST_F(PeerLinks, AFlippedByteIsSeenWhereItArrived) {
  constexpr int kAt = 777'777;
  for (const char* copy : kCopies) {
    const LinkSpec spec = spec_of(copy, "1MiB");
    on_every_pair([&](const PeerEnds& ends, cudaStream_t stream) {
      if (spec.sm && !ends.direct) return;
      PeerCopyCase one(spec, device_, ends, stream);
      ASSERT_EQ(launched(one).status, VerificationStatus::kVerified) << id_of(spec);
      EXPECT_EQ(one.arrived_at_peer(0) != nullptr, spec.transfer != Transfer::kP2pRead);
      EXPECT_EQ(one.arrived_at_own(0) != nullptr, spec.transfer != Transfer::kP2pWrite);
      const auto hashes = one.hash_outputs({0});
      for (unsigned char* const there : {one.arrived_at_peer(0), one.arrived_at_own(0)}) {
        if (there == nullptr) continue;
        flip(there + kAt);
        EXPECT_NE(one.hash_outputs({0}), hashes) << id_of(spec);
        const Verification wrong = one.verify(0, 0);
        EXPECT_EQ(wrong.status, VerificationStatus::kWrong) << id_of(spec);
        EXPECT_EQ(wrong.error, 1) << id_of(spec);
        EXPECT_THAT(wrong.detail,
                    HasSubstr(there == one.arrived_at_peer(0) ? "to the peer" : "from the peer"));
        EXPECT_THAT(wrong.detail, HasSubstr(std::to_string(kAt / 4))) << id_of(spec);
        flip(there + kAt);
      }
      EXPECT_EQ(one.hash_outputs({0}), hashes) << id_of(spec);
    });
  }
}

TEST_F(PeerLinks, ACopyThatIsShortOrLongByOneByteIsWrong) {
  for (const char* copy : kCopies) {
    for (const int left_out : {1, -1}) {
      const LinkSpec spec = spec_of(copy, "33001B");
      PeerCopyCase one(spec, device_, {}, stream());
      one.shorten(left_out);
      const Verification wrong = launched(one);
      EXPECT_EQ(wrong.status, VerificationStatus::kWrong) << id_of(spec) << " " << left_out;
      EXPECT_EQ(wrong.error, 1) << id_of(spec) << " " << left_out;
    }
  }
}

TEST_F(PeerLinks, AChaseGoesThroughTheWholeMemoryOnceAndOn) {
  EXPECT_GE(peer_chain_nodes(device_.l2_bytes) * kChaseSpacing, 2 * device_.l2_bytes);
  EXPECT_GE(peer_chain_nodes(0), kChaseLoads);
  on_every_pair([&](const PeerEnds& ends, cudaStream_t stream) {
    if (!ends.direct) return;
    PeerChaseCase chase(device_, ends, stream);
    for (int i = 0; i < 3; ++i) {
      const Verification sound = launched(chase);
      EXPECT_EQ(sound.status, VerificationStatus::kVerified) << sound.detail;
    }
  });
}

TEST_F(PeerLinks, AChaseThatTakesAnotherWayIsWrong) {
  PeerChaseCase chase(device_, {}, stream());
  EXPECT_EQ(launched(chase).status, VerificationStatus::kVerified);
  const std::int64_t nodes = peer_chain_nodes(device_.l2_bytes);
  const RandomOrder order(nodes);
  // The next launch begins at this place.
  const auto at = static_cast<std::size_t>(order(kChaseLoads + 100) * kChaseSpacing / 8);
  upload<std::uint64_t>(chase.nodes(), at, chase_node(chase.nodes(), order(0)));
  EXPECT_EQ(launched(chase).status, VerificationStatus::kWrong);
}

// The family as the runner calls it.
using PeerFamily = PeerLinks;

TEST_F(PeerFamily, APeerThatIsNoneIsSkippedWithTheReason) {
  if (gpus_ == 1) {
    for (const char* id :
         {"links/p2p_write/1MiB+to=each/burst", "links/latency/p2p+to=each/burst"}) {
      const RunRecord record = measured(id);
      EXPECT_EQ(record.status, RecordStatus::kSkipped);
      EXPECT_EQ(record.message, "one GPU: there is no peer");
      EXPECT_EQ(record.conditions.peers, Peers::kPair);
      EXPECT_TRUE(record.parameters["peer_uuid"].is_null());
    }
    return;
  }
  EXPECT_THAT(measured("links/p2p_write/1MiB+to=each/burst").message, HasSubstr("for suites"));
  EXPECT_THAT(measured("links/p2p_write/1MiB+to=999/burst").message, HasSubstr("no GPU 999"));
  ASSERT_TRUE(peers_.own_index) << peers_.why;
  const std::string own = fmt::format("links/p2p_write/1MiB+to={}/burst", *peers_.own_index);
  EXPECT_THAT(measured(own).message, HasSubstr("this GPU"));
}

// One peer as if the GPU did not reach it: no device is asked.
TEST_F(PeerFamily, WhatNeedsDirectAccessSaysSo) {
  peers_ = {.own_index = 90, .others = {{1, "GPU-far", 91, false}}, .why = {}};
  for (const char* id : {"links/p2p_read/1MiB+sm+to=91/burst", "links/latency/p2p+to=91/burst"}) {
    EXPECT_THAT(entry(id).skip.value_or(""), HasSubstr("no direct access to the memory of GPU 91"));
    EXPECT_EQ(entry(id).info.parameters["direct"], false);
  }
  EXPECT_FALSE(entry("links/p2p_read/1MiB+to=91/burst").skip);
  EXPECT_TRUE(waits_for_its_end("links/p2p_read/1MiB+to=91/burst", peers_));
  EXPECT_TRUE(waits_for_its_end("links/p2p_read/1MiB+to=91/burst/alone", peers_));
  EXPECT_TRUE(waits_for_its_end("links/h2d/1MiB+pageable/burst", peers_));
  EXPECT_FALSE(waits_for_its_end("links/h2d/1MiB/burst", peers_));
  peers_.others[0].direct = true;
  EXPECT_FALSE(waits_for_its_end("links/p2p_read/1MiB+to=91/burst", peers_));
  const CaseInfo info = entry("links/p2p_both/1MiB+to=91/burst").info;
  EXPECT_EQ(info.work.pipe, kPeerBoth);
  EXPECT_EQ(info.work.bytes, 2 << 20);
  EXPECT_EQ(info.parameters["peer_index"], 91);
  EXPECT_EQ(info.parameters["peer_uuid"], "GPU-far");
  EXPECT_EQ(entry("links/latency/p2p+to=91/burst").info.work.loads, kChaseLoads);
  EXPECT_EQ(entry("links/p2p_both/1024GiB+to=91/burst").skip.has_value(), true);
}

TEST_F(PeerFamily, WhatASuiteRunsOnEveryPeer) {
  if (gpus_ < 2) GTEST_SKIP() << "one GPU: there is no peer";
  for (const PeerGpu& peer : peers_.others) {
    ASSERT_TRUE(peer.index) << peers_.why;
    for (const char* what : {"p2p_write/512MiB", "p2p_read/512MiB", "p2p_both/512MiB",
                             "p2p_write/512MiB+sm", "p2p_read/512MiB+sm", "latency/p2p"}) {
      const RunRecord record = measured(fmt::format("links/{}+to={}/burst", what, *peer.index));
      if (record.status == RecordStatus::kSkipped) {
        EXPECT_FALSE(peer.direct) << record.message;
        continue;
      }
      ASSERT_EQ(record.status, RecordStatus::kOk) << record.id << ": " << record.message;
      EXPECT_EQ(record.parameters["peer_uuid"], peer.uuid);
      EXPECT_EQ(record.timing.timer, peer.direct ? "gated" : "step") << record.id;
      const PrimaryMetric metric = primary_metric_of(record.work, record.timing.median_s);
      std::printf("%s: %.1f %s, direct %d, %zu samples\n", record.id.c_str(), metric.value,
                  metric.unit.c_str(), peer.direct, record.timing.samples_s.size());
    }
  }
}

}  // namespace
}  // namespace assay
