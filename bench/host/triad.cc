// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/host/triad.h"

#include <fmt/format.h>
#include <sched.h>

#include <bit>
#include <limits>
#include <numeric>

#include "bench/node/numa.h"
#include "kernels/counter_random.h"

namespace assay {
namespace {

// A power of two: s c is exact, so that b + s c has one rounding with or without a fused
// multiply-add, and the check can demand equality.
constexpr float kScalar = 0.5F;

std::vector<int> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
    }
  }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  (void)sched_setaffinity(0, sizeof(set), &set);  // a hint: unpinned threads only measure less well
}

}  // namespace

HostTriad::HostTriad(std::int64_t elements, std::uint64_t seed) : elements_(elements), seed_(seed) {
  const std::int64_t needed = 3 * elements * static_cast<std::int64_t>(sizeof(float));
  if (const std::int64_t available = available_host_bytes(); needed > available) {
    throw Skip(fmt::format("needs {} MiB of host memory, {} MiB are available", needed >> 20,
                           available >> 20));
  }
  const auto count = static_cast<std::size_t>(elements);
  a_ = std::make_unique_for_overwrite<float[]>(count);
  b_ = std::make_unique_for_overwrite<float[]>(count);
  c_ = std::make_unique_for_overwrite<float[]>(count);
  const std::vector<int> cpus = usable_cpus();
  wrong_.resize(cpus.size());
  first_wrong_.resize(cpus.size());
  gate_ = std::make_unique<std::barrier<>>(static_cast<std::ptrdiff_t>(cpus.size()) + 1);
  workers_.reserve(cpus.size());
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    workers_.emplace_back([this, i, cpu = cpus[i]] {
      pin_to(cpu);
      work(static_cast<int>(i));
    });
  }
  run(Task::kFill);
}

HostTriad::~HostTriad() {
  task_ = Task::kStop;
  gate_->arrive_and_wait();
}

void HostTriad::run(Task task) {
  task_ = task;
  gate_->arrive_and_wait();
  gate_->arrive_and_wait();
}

void HostTriad::work(int thread) {
  const auto threads = static_cast<std::int64_t>(wrong_.size());
  const std::int64_t begin = elements_ * thread / threads;
  const std::int64_t end = elements_ * (thread + 1) / threads;
  while (true) {
    gate_->arrive_and_wait();
    if (task_ == Task::kStop) return;
    do_task(begin, end, thread);
    gate_->arrive_and_wait();
  }
}

void HostTriad::do_task(std::int64_t begin, std::int64_t end, int thread) {
  float* const a = a_.get();
  float* const b = b_.get();
  float* const c = c_.get();
  const auto slot = static_cast<std::size_t>(thread);
  const auto b_at = [this](std::int64_t i) {
    return random_uniform(seed_, static_cast<std::uint64_t>(i));
  };
  const auto c_at = [this](std::int64_t i) {
    return random_uniform(seed_ + 1, static_cast<std::uint64_t>(i));
  };
  switch (task_) {
    case Task::kFill:
      for (std::int64_t i = begin; i < end; ++i) {
        a[i] = 0;
        b[i] = b_at(i);
        c[i] = c_at(i);
      }
      return;
    case Task::kTriad:
      for (std::int64_t i = begin; i < end; ++i) a[i] = b[i] + kScalar * c[i];
      return;
    case Task::kPoison:
      for (std::int64_t i = begin; i < end; ++i) a[i] = std::numeric_limits<float>::quiet_NaN();
      return;
    case Task::kCheck:
      wrong_[slot] = 0;
      for (std::int64_t i = begin; i < end; ++i) {
        const float expected = b_at(i) + kScalar * c_at(i);
        if (std::bit_cast<std::uint32_t>(a[i]) == std::bit_cast<std::uint32_t>(expected)) continue;
        if (wrong_[slot]++ == 0) first_wrong_[slot] = i;
      }
      return;
    case Task::kStop:
      return;
  }
}

void HostTriad::launch(int) { run(Task::kTriad); }

void HostTriad::poison(int) { run(Task::kPoison); }

Verification HostTriad::verify(int, int) {
  run(Task::kCheck);
  const std::int64_t wrong = std::accumulate(wrong_.begin(), wrong_.end(), std::int64_t{0});
  std::string detail;
  for (std::size_t i = 0; i < wrong_.size() && detail.empty(); ++i) {
    if (wrong_[i] == 0) continue;
    detail = fmt::format("triad: {} words wrong, the first at {}", wrong, first_wrong_[i]);
  }
  return exact_verification("exact: every word against the generator; unit: wrong words",
                            static_cast<double>(wrong), detail);
}

}  // namespace assay
