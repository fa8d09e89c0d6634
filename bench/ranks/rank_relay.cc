// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/ranks/rank_relay.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "bench/ranks/agreement.h"

namespace assay {
namespace {

constexpr std::size_t kBite = std::size_t{1} << 16;

std::string framed(std::uint32_t mark, std::string_view bytes) {
  std::string frame(sizeof(mark), '\0');
  std::memcpy(frame.data(), &mark, sizeof(mark));
  return frame.append(bytes);
}

std::string framed(std::string_view part) {
  return framed(static_cast<std::uint32_t>(part.size()), part);
}

void close_and_forget(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

template <class Ranks, class Predicate>
std::vector<int> ranks_where(const Ranks& ranks, const Predicate& holds) {
  std::vector<int> found;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (holds(ranks[i])) found.push_back(static_cast<int>(i));
  }
  return found;
}

}  // namespace

std::string ranks_text(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + text;
}

RankRelay::RankRelay(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {
  wake_ = eventfd(0, EFD_CLOEXEC);
  bool opened = wake_ >= 0;
  for (Rank& rank : ranks_) {
    std::array<int, 2> pair{-1, -1};
    opened = opened && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) == 0;
    rank.ours = pair[0];
    rank.theirs = pair[1];
    if (opened) opened = fcntl(rank.ours, F_SETFL, O_NONBLOCK) == 0;
  }
  if (!opened) {
    const int error = errno;
    for (Rank& rank : ranks_) {
      close_and_forget(rank.ours);
      close_and_forget(rank.theirs);
    }
    close_and_forget(wake_);
    throw std::system_error(error, std::generic_category(), "a relay between ranks");
  }
  thread_ = std::thread([this] { serve(); });
}

RankRelay::~RankRelay() {
  const std::uint64_t one = 1;
  (void)!write(wake_, &one, sizeof(one));
  thread_.join();
  for (Rank& rank : ranks_) {
    close_and_forget(rank.ours);
    close_and_forget(rank.theirs);
  }
  close_and_forget(wake_);
}

int RankRelay::end_of(int rank) const { return ranks_.at(static_cast<std::size_t>(rank)).theirs; }

void RankRelay::hand_over(int rank) {
  close_and_forget(ranks_.at(static_cast<std::size_t>(rank)).theirs);
}

void RankRelay::serve() {
  for (;;) {
    std::vector<pollfd> watched = {{wake_, POLLIN, 0}};
    {
      const std::lock_guard lock(mutex_);
      for (const Rank& rank : ranks_) {
        const auto events = static_cast<short>(rank.outgoing.empty() ? POLLIN : POLLIN | POLLOUT);
        // poll() passes over a negative descriptor.
        watched.push_back({rank.gone ? -1 : rank.ours, events, 0});
      }
    }
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
    if (watched[0].revents != 0) return;
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const short events = watched[i + 1].revents;
      if ((events & POLLOUT) != 0) flush(ranks_[i]);
      if ((events & ~POLLOUT) != 0) receive(ranks_[i]);
    }
    answer();
  }
}

void RankRelay::receive(Rank& rank) {
  std::array<char, kBite> bite;
  const ssize_t got = recv(rank.ours, bite.data(), bite.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    rank.gone = true;
    return;
  }
  if (rank.told) return;
  rank.incoming.append(bite.data(), static_cast<std::size_t>(got));
  std::uint32_t length = 0;
  if (rank.incoming.size() < sizeof(length)) return;
  std::memcpy(&length, rank.incoming.data(), sizeof(length));
  // One that gives a second part before it was answered, or too large a one, is none of ours.
  if (rank.given || length > kLargestPart) {
    rank.gone = true;
    return;
  }
  if (rank.incoming.size() < sizeof(length) + length) return;
  if (std::ranges::none_of(ranks_, &Rank::given)) {
    first_given_ = std::chrono::steady_clock::now();
  }
  rank.part = rank.incoming.substr(sizeof(length), length);
  rank.incoming.erase(0, sizeof(length) + length);
  rank.given = true;
}

// Once all have given, or one of them never will.
void RankRelay::answer() {
  const bool lost = std::ranges::any_of(ranks_, &Rank::gone);
  if (!lost && !std::ranges::all_of(ranks_, &Rank::given)) return;
  std::string everything;
  if (lost) {
    everything = framed(kLostMark, framed(lost_line()));
  } else {
    for (const Rank& rank : ranks_) everything += framed(rank.part);
  }
  for (Rank& rank : ranks_) {
    if (rank.gone || rank.told || !rank.given) continue;
    // Whoever is told so goes as well, and then would be named beside the first.
    if (lost && lost_.empty()) lost_ = with_reason(lost_line());
    rank.outgoing += everything;
    rank.told = lost;
    rank.given = lost;
    flush(rank);
  }
}

void RankRelay::flush(Rank& rank) {
  while (!rank.outgoing.empty()) {
    const ssize_t sent =
        send(rank.ours, rank.outgoing.data(), rank.outgoing.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      rank.gone = rank.gone || errno != EAGAIN;
      return;
    }
    rank.outgoing.erase(0, static_cast<std::size_t>(sent));
  }
}

std::string RankRelay::lost_line() const {
  const std::vector<int> gone = ranks_where(ranks_, [](const Rank& rank) { return rank.gone; });
  return fmt::format("{} {} gone", ranks_text(gone), gone.size() == 1 ? "has" : "have");
}

std::string RankRelay::with_reason(std::string text) const {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const std::string_view why = gave_up(ranks_[i].part);
    if (ranks_[i].given && !why.empty()) return fmt::format("{} (rank {}: {})", text, i, why);
  }
  return text;
}

std::string RankRelay::complaint(double longest_wait_s) const {
  const std::lock_guard lock(mutex_);
  if (!lost_.empty()) return lost_;
  if (std::ranges::none_of(ranks_, &Rank::given)) return {};
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - first_given_;
  if (waited.count() <= longest_wait_s) return {};
  const std::vector<int> missing =
      ranks_where(ranks_, [](const Rank& rank) { return !rank.given; });
  return with_reason(
      fmt::format("{} did not come within {:g} s", ranks_text(missing), longest_wait_s));
}

}  // namespace assay
