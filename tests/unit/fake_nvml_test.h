// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Base of the tests that read the fake NVML (tests/fakes), which variables make.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "bench/node/inventory.h"

namespace assay {

class FakeNvmlTest : public ::testing::Test {
 protected:
  void set(const char* name, const char* value) {
    setenv(name, value, 1);
    names_.push_back(name);
  }
  void TearDown() override {
    for (const char* name : names_) unsetenv(name);
  }
  static Inventory inventory() {
    return read_inventory(load_gpu_table(std::filesystem::path(ASSAY_SOURCE_DIR) / "configs/gpus"));
  }

 private:
  std::vector<const char*> names_;
};

}  // namespace assay
