// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Short texts between the ranks of a group: what they need to agree on while they measure together,
// and a collective library's unique id. Not for data that is measured.
//
//   Exchange& exchange = ...;                                  // made once a process
//   std::vector<std::string> parts = exchange.all_gather(mine);   // parts[rank]
//
// Every rank makes the same calls in the same order. SoloExchange serves one rank, RelayExchange
// (relay_exchange.h) those that one process started.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace assay {

// The largest part of one rank.
inline constexpr std::size_t kLargestPart = std::size_t{1} << 20;

// Thrown where other ranks have gone or did not come in time; what() is one line that names them
// where they are known. Nothing can be exchanged any more.
class RanksLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Exchange {
 public:
  virtual ~Exchange() = default;
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  [[nodiscard]] virtual int rank() const = 0;  // 0 .. size() - 1
  [[nodiscard]] virtual int size() const = 0;  // >= 1
  // The parts of all, by rank, once each has given its own, of at most kLargestPart bytes. Throws
  // RanksLost.
  [[nodiscard]] virtual std::vector<std::string> all_gather(const std::string& mine) = 0;
};

class SoloExchange final : public Exchange {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    return {mine};
  }
};

}  // namespace assay
