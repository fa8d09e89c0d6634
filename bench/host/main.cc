// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/family_main.h"
#include "bench/host/cases.h"
#include "bench/node/host.h"

namespace {

class Host : public assay::Family {
 public:
  explicit Host(assay::Clock& clock)
      : timer_(clock), sensor_(assay::make_blind_sensor("not read on the host")) {}
  [[nodiscard]] assay::DeviceRef device() const override {
    assay::DeviceRef ref;
    ref.uuid = assay::kHostUuid;
    ref.name = assay::read_host().cpu_model;
    return ref;
  }
  [[nodiscard]] assay::Json versions() const override { return assay::Json::object(); }
  [[nodiscard]] std::vector<assay::CaseEntry> cases() override { return assay::host_cases(); }
  [[nodiscard]] assay::Timer& timer() override { return timer_; }
  [[nodiscard]] assay::Sensor& sensor() override { return *sensor_; }

 private:
  assay::StepTimer timer_;
  std::unique_ptr<assay::Sensor> sensor_;
};

}  // namespace

int main(int argc, char** argv) {
  return assay::family_main(argc, argv, "host",
                            [](assay::Clock& clock) { return std::make_unique<Host>(clock); });
}
