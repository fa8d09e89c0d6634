// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/ranks/relay_exchange.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "bench/ranks/rank_relay.h"

namespace assay {
namespace {

constexpr const char* kRelayGone = "the process that started the ranks has gone";

}  // namespace

RelayExchange::RelayExchange(int descriptor, int rank, int size)
    : descriptor_(descriptor), rank_(rank), size_(size) {
  (void)fcntl(descriptor_, F_SETFD, FD_CLOEXEC);
}

RelayExchange::~RelayExchange() { close(descriptor_); }

std::vector<std::string> RelayExchange::all_gather(const std::string& mine) {
  if (mine.size() > kLargestPart) {
    throw std::length_error(
        fmt::format("a part of {} bytes; at most {} are exchanged", mine.size(), kLargestPart));
  }
  if (!lost_.empty()) throw RanksLost(lost_);  // the relay answers no more
  const auto length = static_cast<std::uint32_t>(mine.size());
  write_all(&length, sizeof(length));
  write_all(mine.data(), mine.size());
  std::vector<std::string> parts;
  for (int rank = 0; rank < size_; ++rank) parts.push_back(read_part());
  return parts;
}

std::string RelayExchange::read_part() {
  std::uint32_t length = 0;
  read_all(&length, sizeof(length));
  const bool lost = length == kLostMark;
  if (lost) read_all(&length, sizeof(length));
  if (length > kLargestPart) throw RanksLost("the relay between the ranks speaks another language");
  std::string part(length, '\0');
  read_all(part.data(), part.size());
  if (lost) throw RanksLost(lost_ = part);
  return part;
}

void RelayExchange::read_all(void* to, std::size_t bytes) const {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = recv(descriptor_, at, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw RanksLost(kRelayGone);
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

void RelayExchange::write_all(const void* from, std::size_t bytes) const {
  const auto* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t sent = send(descriptor_, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) throw RanksLost(kRelayGone);
    at += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
}

}  // namespace assay
