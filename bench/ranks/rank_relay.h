// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Carries what the ranks of one node exchange. The process that starts them owns the relay and
// knows of each rank whether it came, so that the one for which the others wait has a name.
//
//   RankRelay relay(8);
//   ... start rank r, to which relay.end_of(r) is open, and then: relay.hand_over(r) ...
//   if (std::string why = relay.complaint(20); !why.empty()) ... end them all ...
//
// A rank's end is a stream socket. A part goes there as its length, 4 bytes in the machine's order,
// and its bytes; once all ranks have given theirs, each gets the parts of all, by rank, in the same
// form. Where a rank has gone, each gets kLostMark and one line that says which, in that form.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/ranks/exchange.h"

namespace assay {

inline constexpr std::uint32_t kLostMark = 0xFFFFFFFF;  // no part is so long

class RankRelay {
 public:
  // Throws std::system_error where the machine has no sockets left.
  explicit RankRelay(int ranks);
  ~RankRelay();
  // Its thread works on it.
  RankRelay(const RankRelay&) = delete;
  RankRelay& operator=(const RankRelay&) = delete;

  [[nodiscard]] int end_of(int rank) const;  // to be inherited; closed on exec of anything else
  // That rank's process has it: from now on its end is seen.
  void hand_over(int rank);

  // Names the ranks that have gone while others wait, or for which others have waited so long, and
  // says why one of these gave up; empty where nothing is wrong. Any thread.
  [[nodiscard]] std::string complaint(double longest_wait_s) const;

 private:
  struct Rank {
    int ours = -1;
    int theirs = -1;
    std::string incoming;
    std::string outgoing;
    bool given = false;  // `part` is of the exchange under way
    std::string part;
    bool gone = false;
    bool told = false;  // that another has gone: the last thing that it hears
  };

  void serve();
  void receive(Rank& rank);
  void answer();
  void flush(Rank& rank);
  [[nodiscard]] std::string lost_line() const;
  [[nodiscard]] std::string with_reason(std::string text) const;

  mutable std::mutex mutex_;  // of what follows, down to wake_
  std::vector<Rank> ranks_;
  std::chrono::steady_clock::time_point first_given_;
  std::string lost_;  // the complaint, once the others were told that a rank has gone
  int wake_ = -1;     // an eventfd: written to when the thread is to end
  std::thread thread_;
};

// The ranks "2", "0 and 3", "0, 1 and 3".
[[nodiscard]] std::string ranks_text(const std::vector<int>& ranks);

}  // namespace assay
