// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A case that launches nothing and does what a test's script says.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/harness/case.h"

namespace assay {

// Counts launches; `on_launch` and `on_verify` plant what goes wrong.
struct Script {
  std::vector<int> launched;
  int poisoned = 0;
  int slots = 2;
  int algorithm = 66;
  int kernels = 1;
  std::function<void(int slot)> on_poison = [](int) {};
  std::function<void(int slot)> on_slot = [](int) {};
  std::function<void(int launch)> on_launch = [](int) {};
  std::function<bool(int attempt)> sound = [](int) { return true; };
  std::function<std::uint64_t(int slot)> hash = [](int slot) { return 7U + slot; };
};

class FakeCase : public Case {
 public:
  explicit FakeCase(Script& script) : script_(script) {}
  [[nodiscard]] int slots() const override { return script_.slots; }
  void launch(int slot) override {
    script_.on_launch(static_cast<int>(script_.launched.size()));
    script_.launched.push_back(slot);
    script_.on_slot(slot);
  }
  void poison(int slot) override {
    ++script_.poisoned;
    script_.on_poison(slot);
  }
  [[nodiscard]] Verification verify(int slot, int attempt) override {
    return exact_verification("fake", script_.sound(attempt) ? 0 : 1,
                              "slot " + std::to_string(slot));
  }
  [[nodiscard]] std::vector<std::uint64_t> hash_outputs(const std::vector<int>& slots) override {
    std::vector<std::uint64_t> hashes;
    for (const int slot : slots) hashes.push_back(script_.hash(slot));
    return hashes;
  }
  [[nodiscard]] Json algorithm() const override {
    return {{"library", "fake 1.0"}, {"id", script_.algorithm}};
  }
  [[nodiscard]] std::vector<Json> candidates() const override {
    return {{{"library", "fake 1.0"}, {"id", 66}}, {{"library", "fake 1.0"}, {"id", 67}}};
  }
  void choose(const Json& algorithm) override {
    if (algorithm.at("id") == 99) throw std::runtime_error("fake: no algorithm 99");
    script_.algorithm = algorithm.at("id");
  }
  [[nodiscard]] Json preparation() const override { return {{"prune_s", 0.5}}; }
  [[nodiscard]] int kernels_per_launch() const override { return script_.kernels; }

 private:
  Script& script_;
};

}  // namespace assay
