// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Host memory triad a = b + s c in FP32 on all processors that this process may use, each thread on
// memory that it touched first. Bytes as STREAM counts them: two reads and one write an element
// (what a write-allocate cache reads besides is not counted).
#pragma once

#include <barrier>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "bench/harness/case.h"

namespace assay {

class HostTriad : public Case {
 public:
  // Throws Skip when the machine has too little free memory.
  HostTriad(std::int64_t elements, std::uint64_t seed);
  ~HostTriad() override;

  [[nodiscard]] int slots() const override { return 1; }
  void launch(int slot) override;  // returns when all threads are done
  void poison(int slot) override;
  [[nodiscard]] Verification verify(int slot, int attempt) override;

  [[nodiscard]] int threads() const { return static_cast<int>(workers_.size()); }
  // For tests: the output, to plant an error in.
  [[nodiscard]] float* output() { return a_.get(); }

 private:
  enum class Task { kFill, kTriad, kPoison, kCheck, kStop };
  void run(Task task);
  void work(int thread);
  void do_task(std::int64_t begin, std::int64_t end, int thread);

  std::int64_t elements_;
  std::uint64_t seed_;
  // Not initialised here: each thread touches its part first, so that it lies on its NUMA node.
  std::unique_ptr<float[]> a_;
  std::unique_ptr<float[]> b_;
  std::unique_ptr<float[]> c_;
  Task task_ = Task::kFill;
  std::vector<std::int64_t> wrong_;        // one a thread
  std::vector<std::int64_t> first_wrong_;  // one a thread
  std::unique_ptr<std::barrier<>> gate_;   // opened for a task, and again when all have done it
  std::vector<std::jthread> workers_;
};

}  // namespace assay
