// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Lets the processes of one family and round, one a GPU, start each of their cases together, so
// that the GPUs of a node are loaded at once although their set-ups take different times. Cases are
// matched by order: whoever is ready for its k-th waits for the others' k-th. One that is dead,
// slow or hung holds the others up for a bounded time, once.
//
//   CommonStart start(8);
//   start.ready(3);                       // member 3 has set up a case
//   while (!start.may_go(3)) ...;         // polled by the thread of member 3
//   start.leave(3);                       // it has no further case
#pragma once

#include <chrono>
#include <mutex>
#include <vector>

namespace assay {

// After the first member became ready. Longer than set-ups of one case differ on sound GPUs,
// shorter than any id_timeout_s that a suite would declare for them.
inline constexpr double kStartWait_s = 10;

class CommonStart {
 public:
  explicit CommonStart(int members, double wait_s = kStartWait_s);

  // Any thread may call any of these.
  void ready(int member);
  void leave(int member);
  // True as long as the member does not wait.
  [[nodiscard]] bool may_go(int member);

  [[nodiscard]] int members() const { return static_cast<int>(members_.size()); }

 private:
  struct Member {
    int ready = 0;         // cases that it was ready for
    bool waiting = false;  // for the others
    bool awaited = true;   // false once it left, or was late and has not been ready since
  };
  void start_if_all_wait();
  void start();

  std::mutex mutex_;
  std::vector<Member> members_;
  double wait_s_;
  int started_ = 0;  // common starts so far
  std::chrono::steady_clock::time_point first_ready_;
};

}  // namespace assay
