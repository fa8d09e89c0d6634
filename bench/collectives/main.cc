// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <utility>

#include "bench/collectives/cases.h"
#include "bench/collectives/timer.h"
#include "bench/harness/cuda/device.h"
#include "bench/harness/family_main.h"
#include "bench/ranks/exchange.h"

namespace {

class Collectives : public assay::CudaFamily {
 public:
  Collectives(std::unique_ptr<assay::Exchange> exchange, const assay::Clock& clock)
      : exchange_(std::move(exchange)),
        site_{.device = assay::smallest_device(*exchange_, cuda_device()),
              .ranks = exchange_->size(),
              .stream = stream(),
              .group = [this]() -> assay::Communicator& { return group(); }},
        timer_(CudaFamily::timer(), clock, [this] { group().wait(stream()); }) {}

  [[nodiscard]] assay::Json versions() const override {
    assay::Json versions = CudaFamily::versions();
    versions.update(assay::nccl_versions());
    return versions;
  }
  [[nodiscard]] std::vector<assay::CaseEntry> cases() override {
    return assay::collective_cases(site_);
  }
  [[nodiscard]] std::optional<assay::CaseEntry> parse(const std::string& id) override {
    return assay::collective_case(id, site_);
  }
  [[nodiscard]] assay::Timer& timer() override { return timer_; }

 private:
  assay::Communicator& group() {
    if (!group_) group_.emplace(*exchange_);
    return *group_;
  }

  std::unique_ptr<assay::Exchange> exchange_;
  assay::CollectiveSite site_;
  assay::StreamStepTimer timer_;
  std::optional<assay::Communicator> group_;
};

}  // namespace

int main(int argc, char** argv) {
  return assay::family_main(argc, argv, "collectives", [](assay::Clock& clock) {
    return std::make_unique<Collectives>(std::make_unique<assay::SoloExchange>(), clock);
  });
}
