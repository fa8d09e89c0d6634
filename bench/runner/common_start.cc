// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner/common_start.h"

#include <algorithm>

namespace assay {

CommonStart::CommonStart(int members, double wait_s)
    : members_(static_cast<std::size_t>(members)), wait_s_(wait_s) {}

void CommonStart::ready(int member) {
  const std::lock_guard lock(mutex_);
  Member& self = members_.at(static_cast<std::size_t>(member));
  // Its process died while it waited, and the next one is ready: still the same start.
  if (self.waiting) return;
  ++self.ready;
  self.awaited = true;
  // The others started this one without it: it goes at once, and is with them at the next.
  if (self.ready <= started_) return;
  if (std::ranges::none_of(members_, &Member::waiting)) {
    first_ready_ = std::chrono::steady_clock::now();
  }
  self.waiting = true;
  start_if_all_wait();
}

void CommonStart::leave(int member) {
  const std::lock_guard lock(mutex_);
  Member& self = members_.at(static_cast<std::size_t>(member));
  self.waiting = self.awaited = false;
  start_if_all_wait();
}

bool CommonStart::may_go(int member) {
  const std::lock_guard lock(mutex_);
  const Member& self = members_.at(static_cast<std::size_t>(member));
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - first_ready_;
  if (self.waiting && waited.count() >= wait_s_) {
    for (Member& other : members_) other.awaited = other.awaited && other.waiting;
    start();
  }
  return !self.waiting;
}

void CommonStart::start_if_all_wait() {
  const auto held_up = [](const Member& member) { return member.awaited && !member.waiting; };
  if (std::ranges::none_of(members_, held_up) && std::ranges::any_of(members_, &Member::waiting)) {
    start();
  }
}

void CommonStart::start() {
  ++started_;
  for (Member& member : members_) member.waiting = false;
}

}  // namespace assay
