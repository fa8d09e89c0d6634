// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A rank's side of rank_relay.h.
//
//   RelayExchange exchange(place.relay, place.rank, place.size);
#pragma once

#include "bench/ranks/exchange.h"

namespace assay {

class RelayExchange final : public Exchange {
 public:
  // Owns the descriptor from now on, and keeps it from programs that this one starts.
  RelayExchange(int descriptor, int rank, int size);
  ~RelayExchange() override;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override;

 private:
  [[nodiscard]] std::string read_part();
  void read_all(void* to, std::size_t bytes) const;
  void write_all(const void* from, std::size_t bytes) const;

  int descriptor_;
  int rank_;
  int size_;
  std::string lost_;  // why nothing can be exchanged any more; empty: it can
};

}  // namespace assay
