// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Base of the tests that call the links family as the runner does.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bench/harness/measure.h"
#include "bench/links/cases.h"
#include "bench/links/timer.h"
#include "tests/device/gpu_test.h"

namespace assay {

class LinksTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    link_ = find_host_link();
    peers_ = find_peers();
    gated_.emplace(stream(), device_.sm_count);
    timer_.emplace(*gated_, clock_,
                   [this](const std::string& id) { return waits_for_its_end(id, peers_); });
    sensor_ = make_nvml_sensor(device_.ref.uuid);
  }
  [[nodiscard]] CaseEntry entry(const std::string& id) const {
    return *link_case(id, device_, link_, peers_, stream());
  }
  [[nodiscard]] RunRecord measured(const std::string& id) {
    Bench bench{.timer = *timer_,
                .clock = clock_,
                .sensor = *sensor_,
                .budget = {},
                .family = "links",
                .device = device_.ref,
                .max_clock_mhz = device_.max_clock_mhz};
    RunRecord record;
    measure(entry(id), bench, record);
    return record;
  }
  // Of slot 0, launched once after it was poisoned.
  [[nodiscard]] static Verification launched(Case& one) {
    one.poison(0);
    one.launch(0);
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    return one.verify(0, 0);
  }
  // One bit, wherever the byte lies.
  static void flip(unsigned char* byte) {
    unsigned char value = 0;
    check_cuda(cudaMemcpy(&value, byte, 1, cudaMemcpyDefault), "cudaMemcpy");
    value ^= 0x08;
    check_cuda(cudaMemcpy(byte, &value, 1, cudaMemcpyDefault), "cudaMemcpy");
  }

  HostLink link_;
  PeerGpus peers_;
  SteadyClock clock_;
  std::optional<GatedTimer> gated_;
  std::optional<LinkTimer> timer_;
  std::unique_ptr<Sensor> sensor_;
};

}  // namespace assay
