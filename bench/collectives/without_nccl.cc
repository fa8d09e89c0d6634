// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The program of a build that found no NCCL.
#include <memory>

#include "bench/harness/family_main.h"

int main(int argc, char** argv) {
  return assay::family_main(
      argc, argv, "collectives", [](assay::Clock&) -> std::unique_ptr<assay::Family> {
        throw assay::Skip("built without NCCL; install it, or run ./assay with ASSAY_WITH=nccl");
      });
}
