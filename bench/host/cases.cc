// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/host/cases.h"

#include <fmt/format.h>

#include "bench/host/triad.h"

namespace assay {
namespace {

// Three arrays of this size exceed the last-level caches of today's two-socket servers.
constexpr std::int64_t kArrayBytes = std::int64_t{512} << 20;
constexpr std::uint64_t kSeed = 20261130;

}  // namespace

std::vector<CaseEntry> host_cases() {
  CaseEntry triad;
  triad.info.id = fmt::format("host/triad/{}MiB/{}", kArrayBytes >> 20,
                              condition_suffix(triad.info.conditions));
  triad.info.parameters = {{"operation", "triad"}, {"array_bytes", kArrayBytes}};
  triad.info.work.bytes = 3.0 * static_cast<double>(kArrayBytes);
  triad.info.work.pipe = "host_memory";
  triad.info.data = {{"fill", "uniform[-1,1)"}, {"seed", kSeed}};
  triad.make = [] {
    return std::make_unique<HostTriad>(kArrayBytes / static_cast<std::int64_t>(sizeof(float)),
                                       kSeed);
  };
  std::vector<CaseEntry> entries;
  entries.push_back(std::move(triad));
  return entries;
}

}  // namespace assay
