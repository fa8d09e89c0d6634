// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/cuda/device.h"
#include "bench/harness/family_main.h"
#include "bench/links/cases.h"
#include "bench/links/timer.h"

namespace {

class Links : public assay::CudaFamily {
 public:
  explicit Links(const assay::Clock& clock)
      : link_(assay::find_host_link()),
        peers_(assay::find_peers()),
        timer_(CudaFamily::timer(), clock,
               [this](const std::string& id) { return assay::waits_for_its_end(id, peers_); }) {}

  [[nodiscard]] std::vector<assay::CaseEntry> cases() override {
    return assay::link_cases(cuda_device(), link_, peers_, stream());
  }
  [[nodiscard]] std::optional<assay::CaseEntry> parse(const std::string& id) override {
    return assay::link_case(id, cuda_device(), link_, peers_, stream());
  }
  [[nodiscard]] assay::Timer& timer() override { return timer_; }

 private:
  assay::HostLink link_;
  assay::PeerGpus peers_;
  assay::LinkTimer timer_;
};

}  // namespace

int main(int argc, char** argv) {
  return assay::family_main(argc, argv, "links",
                            [](assay::Clock& clock) { return std::make_unique<Links>(clock); });
}
