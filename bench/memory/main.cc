// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/cuda/device.h"
#include "bench/harness/family_main.h"
#include "bench/memory/cases.h"

namespace {

class Memory : public assay::CudaFamily {
 public:
  [[nodiscard]] std::vector<assay::CaseEntry> cases() override {
    return assay::memory_cases(cuda_device(), stream());
  }
  [[nodiscard]] std::optional<assay::CaseEntry> parse(const std::string& id) override {
    return assay::memory_case(id, cuda_device(), stream());
  }
};

}  // namespace

int main(int argc, char** argv) {
  return assay::family_main(argc, argv, "memory",
                            [](assay::Clock&) { return std::make_unique<Memory>(); });
}
