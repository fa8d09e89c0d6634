// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The links family on a real device: what arrives is right, and a planted fault is seen.
#include <gmock/gmock.h>

#include <cstdio>

#include "bench/links/copy_case.h"
#include "bench/links/zerocopy_case.h"
#include "kernels/chase.h"
#include "reports/merge.h"
#include "tests/device/links_test.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

class Links : public LinksTest {
 protected:
  [[nodiscard]] LinkSpec spec(const std::string& id) const { return *parse_link_id(id); }
};

TEST_F(Links, EveryVariantCarriesEveryByteOfAnySize) {
  for (const char* size : {"1B", "63B", "33001B", "4MiB"}) {
    for (const char* what : {"h2d/{}", "d2h/{}", "both/{}", "h2d/{}+sm", "d2h/{}+sm", "both/{}+sm",
                             "h2d/{}+pageable", "d2h/{}+pageable"}) {
      std::string id = std::string("links/") + what + "/burst";
      id.replace(id.find("{}"), 2, size);
      CopyCase copy(spec(id), device_, link_.near.node, stream());
      const Verification sound = launched(copy);
      EXPECT_EQ(sound.status, VerificationStatus::kVerified) << id << ": " << sound.detail;
      const auto hashes = copy.hash_outputs({0});
      ASSERT_EQ(launched(copy).status, VerificationStatus::kVerified) << id;
      EXPECT_EQ(copy.hash_outputs({0}), hashes) << id;
    }
  }
}

TEST_F(Links, AFlippedByteIsSeenOnTheSideWhereItArrived) {
  for (const char* id : {"links/h2d/1MiB/burst", "links/d2h/1MiB/burst", "links/both/1MiB/burst",
                         "links/both/1MiB+sm/burst", "links/d2h/1MiB+pageable/burst"}) {
    CopyCase copy(spec(id), device_, link_.near.node, stream());
    ASSERT_EQ(launched(copy).status, VerificationStatus::kVerified) << id;
    const auto hashes = copy.hash_outputs({0});
    constexpr int kAt = 777'777;
    if (unsigned char* there = copy.arrived_on_device(0)) {
      flip(there + kAt);
      EXPECT_NE(copy.hash_outputs({0}), hashes) << id;
      const Verification wrong = copy.verify(0, 0);
      EXPECT_EQ(wrong.status, VerificationStatus::kWrong) << id;
      EXPECT_EQ(wrong.error, 1) << id;
      EXPECT_THAT(wrong.detail, HasSubstr("to the device")) << id;
      EXPECT_THAT(wrong.detail, HasSubstr(std::to_string(kAt / 4))) << id;
      flip(there + kAt);
    }
    if (unsigned char* back = copy.arrived_on_host(0)) {
      back[kAt] ^= 0x08;
      EXPECT_NE(copy.hash_outputs({0}), hashes) << id;
      EXPECT_THAT(copy.verify(0, 0).detail, HasSubstr("to the host")) << id;
    }
  }
}

TEST_F(Links, ACopyThatLeavesOutItsLastByteIsWrong) {
  for (const char* id : {"links/h2d/1MiB/burst", "links/d2h/1MiB/burst", "links/both/1MiB/burst",
                         "links/h2d/33001B+sm/burst", "links/d2h/33001B+pageable/burst"}) {
    CopyCase copy(spec(id), device_, link_.near.node, stream());
    copy.shorten(1);
    const Verification wrong = launched(copy);
    EXPECT_EQ(wrong.status, VerificationStatus::kWrong) << id;
    EXPECT_EQ(wrong.error, 1) << id;
  }
}

TEST_F(Links, AZeroCopyReadSeesEveryByteOfTheHost) {
  ZeroCopyCase read(spec("links/zerocopy/1000001B/burst"), device_, link_.near.node, stream());
  EXPECT_EQ(launched(read).status, VerificationStatus::kVerified);
  read.source(0)[1'000'000] ^= 1;
  const Verification wrong = launched(read);
  EXPECT_EQ(wrong.status, VerificationStatus::kWrong);
  EXPECT_THAT(wrong.detail, HasSubstr(std::to_string(1'000'000 / kLinkSumBytes)));
}

TEST_F(Links, AChaseThatTakesAnotherWayIsWrong) {
  HostChaseCase chase(spec("links/latency/zerocopy/burst"), link_.near.node, stream());
  EXPECT_EQ(launched(chase).status, VerificationStatus::kVerified);
  auto* const nodes = reinterpret_cast<std::uint64_t*>(chase.nodes());
  std::swap(nodes[5 * kChaseSpacing / 8], nodes[4000 * kChaseSpacing / 8]);
  EXPECT_EQ(launched(chase).status, VerificationStatus::kWrong);
}

TEST_F(Links, WhatIsListedRunsOrSaysWhyNot) {
  for (const CaseEntry& entry : link_cases(device_, link_, {}, stream())) {
    const RunRecord record = measured(entry.info.id);
    if (record.status == RecordStatus::kSkipped) {
      EXPECT_FALSE(record.message.empty());
      std::printf("%s: skipped: %s\n", record.id.c_str(), record.message.c_str());
      continue;
    }
    ASSERT_EQ(record.status, RecordStatus::kOk) << record.id << ": " << record.message;
    const bool pageable = record.id.find("+pageable") != std::string::npos;
    EXPECT_EQ(record.timing.timer, pageable ? "step" : "gated") << record.id;
    EXPECT_EQ(record.verification.hash.has_value(), !record.id.ends_with("latency/zerocopy/burst"))
        << record.id;
    const PrimaryMetric metric = primary_metric_of(record.work, record.timing.median_s);
    std::printf("%s: %.1f %s, %zu samples, %zu rejected, host memory %s\n", record.id.c_str(),
                metric.value, metric.unit.c_str(), record.timing.samples_s.size(),
                record.timing.rejected_s.size(), record.preparation.dump().c_str());
  }
}

// Both directions at once take longer than one and less than one after the other.
TEST_F(Links, BothDirectionsOverlap) {
  const double to_device = measured("links/h2d/256MiB/burst").timing.median_s;
  const double to_host = measured("links/d2h/256MiB/burst").timing.median_s;
  const double both = measured("links/both/256MiB/burst").timing.median_s;
  EXPECT_GE(both, 0.98 * std::max(to_device, to_host));
  EXPECT_LT(both, 0.9 * (to_device + to_host));
}

TEST_F(Links, ASizeBeyondTheMemoryIsSkipped) {
  const RunRecord record = measured("links/h2d/1024GiB/burst");
  EXPECT_EQ(record.status, RecordStatus::kSkipped);
  EXPECT_FALSE(record.message.empty());
}

}  // namespace
}  // namespace assay
