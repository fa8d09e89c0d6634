// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Which rank of which group this process is, from the environment that its launcher gave it.
//
//   RankPlace place = find_rank_place();
//   std::unique_ptr<Exchange> exchange = make_exchange(place);
//
// launcher    rank                   ranks                  rank on its node
// assay       ASSAY_RANK             ASSAY_RANKS            the same; ASSAY_RANK_FD is the exchange
// torchrun    RANK                   WORLD_SIZE             LOCAL_RANK
// mpirun      OMPI_COMM_WORLD_RANK   OMPI_COMM_WORLD_SIZE   OMPI_COMM_WORLD_LOCAL_RANK
// srun        SLURM_PROCID           SLURM_NTASKS           SLURM_LOCALID
//
// The first launcher that named a rank counts, in this order: torchrun under srun is torchrun.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "bench/ranks/exchange.h"

namespace assay {

struct RankPlace {
  std::string launcher;  // "assay", "torchrun", "mpirun", "srun"; empty: none, one rank
  int rank = 0;
  int size = 1;
  int local_rank = 0;        // which GPU of the node is its own
  std::optional<int> relay;  // of launcher "assay": the exchange's descriptor
};

using ReadVariable = std::function<const char*(const char* name)>;

// Throws Error(kUsage) for a variable that is missing beside the others or holds no such number.
[[nodiscard]] RankPlace find_rank_place();
[[nodiscard]] RankPlace find_rank_place(const ReadVariable& variable);

// What makes a child rank `rank` of `size` of launcher "assay".
[[nodiscard]] std::map<std::string, std::string> rank_environment(int rank, int size,
                                                                  int descriptor);

// Throws Error(kNotJudged) for several ranks of another launcher: they have no way to meet yet.
[[nodiscard]] std::unique_ptr<Exchange> make_exchange(const RankPlace& place);

}  // namespace assay
