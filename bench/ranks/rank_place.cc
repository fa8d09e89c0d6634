// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/ranks/rank_place.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "bench/ranks/relay_exchange.h"
#include "reports/error.h"
#include "reports/text.h"

namespace assay {
namespace {

constexpr const char* kRank = "ASSAY_RANK";
constexpr const char* kRanks = "ASSAY_RANKS";
constexpr const char* kRelay = "ASSAY_RANK_FD";

struct Launcher {
  const char* name;
  const char* rank;
  const char* size;
  const char* local_rank;
};
constexpr std::array<Launcher, 4> kLaunchers = {
    {{"assay", kRank, kRanks, kRank},
     {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK"},
     {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
     {"srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"}}};

constexpr int kMostRanks = 1 << 16;

// A number from `least` to below `end`.
int number_of(const ReadVariable& variable, const Launcher& launcher, const char* name, int least,
              int end) {
  const char* text = variable(name);
  if (text == nullptr) {
    throw Error(ExitCode::kUsage, fmt::format("{} is set and {} is not: not a rank that {} started",
                                              launcher.rank, name, launcher.name));
  }
  const std::string_view value = text;
  int number = -1;
  const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc() && stop == value.data() + value.size() && number >= least &&
      number < end) {
    return number;
  }
  throw Error(ExitCode::kUsage, fmt::format("{}='{}': expected a number from {} to {}", name,
                                            one_line(std::string(value)), least, end - 1));
}

}  // namespace

RankPlace find_rank_place() {
  return find_rank_place([](const char* name) { return std::getenv(name); });
}

RankPlace find_rank_place(const ReadVariable& variable) {
  for (const Launcher& launcher : kLaunchers) {
    if (variable(launcher.rank) == nullptr) continue;
    RankPlace place;
    place.launcher = launcher.name;
    place.size = number_of(variable, launcher, launcher.size, 1, kMostRanks + 1);
    place.rank = number_of(variable, launcher, launcher.rank, 0, place.size);
    place.local_rank = number_of(variable, launcher, launcher.local_rank, 0, place.size);
    if (launcher.rank == kRank) {
      place.relay = number_of(variable, launcher, kRelay, 3, std::numeric_limits<int>::max());
    }
    return place;
  }
  return {};
}

std::map<std::string, std::string> rank_environment(int rank, int size, int descriptor) {
  return {{kRank, std::to_string(rank)},
          {kRanks, std::to_string(size)},
          {kRelay, std::to_string(descriptor)}};
}

std::unique_ptr<Exchange> make_exchange(const RankPlace& place) {
  if (place.relay) return std::make_unique<RelayExchange>(*place.relay, place.rank, place.size);
  if (place.size == 1) return std::make_unique<SoloExchange>();
  throw Error(ExitCode::kNotJudged,
              fmt::format("{} started {} ranks, which have no way to meet yet: start one",
                          place.launcher, place.size));
}

}  // namespace assay
