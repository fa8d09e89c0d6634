// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/links/host_memory.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <system_error>
#include <thread>
#include <vector>

#include "bench/harness/case.h"
#include "bench/node/numa.h"
#include "kernels/hash.h"
#include "kernels/pattern.h"

namespace assay {
namespace {

constexpr std::int64_t kPage = 4096;
constexpr int kMostThreads = 8;
constexpr std::int64_t kLeastOfThread = std::int64_t{1} << 20;
constexpr std::uint32_t kPoison = 0xFFFFFFFFU;
// Of what is available, for one case: other processes of the suite hold buffers of their own.
constexpr double kShareOfMemory = 0.5;

int usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

// Calls work(part, begin, end) for parts of [0, bytes), each a multiple of a page but the last.
// What gets no thread (a container's limit of processes) is done here.
template <class Work>
void in_parallel(std::int64_t bytes, int parts, const Work& work) {
  const std::int64_t step = (bytes / parts / kPage + 1) * kPage;
  const auto run = [&work, step, bytes](int part) {
    const std::int64_t begin = std::min(part * step, bytes);
    work(static_cast<std::size_t>(part), begin, std::min(begin + step, bytes));
  };
  std::vector<std::jthread> threads;
  int part = 1;
  try {
    for (; part < parts; ++part) threads.emplace_back(run, part);
  } catch (const std::system_error&) {
    for (; part < parts; ++part) run(part);
  }
  run(0);
}

int parts_of(std::int64_t bytes) {
  const int most = std::min(kMostThreads, usable_cpus());
  return static_cast<int>(std::clamp<std::int64_t>(bytes / kLeastOfThread, 1, most));
}

std::uint32_t expected_word(std::uint32_t folded, std::int64_t word, std::int64_t bytes) {
  const std::int64_t inside = bytes - 4 * word;
  if (inside >= 4) return pattern_word(folded, word);
  if (inside <= 0) return kPoison;
  const std::uint32_t mask = (1U << (8 * inside)) - 1U;
  return (pattern_word(folded, word) & mask) | (kPoison & ~mask);
}

}  // namespace

HostMemory::HostMemory(std::int64_t bytes, std::optional<int> node, bool must_bind)
    : bytes_((bytes + kPage - 1) / kPage * kPage) {
  const auto available = static_cast<double>(available_host_bytes());
  if (static_cast<double>(bytes_) > kShareOfMemory * available) {
    throw Skip(
        fmt::format("needs {} MiB of host memory, half of the available {:.0f} MiB may be used",
                    bytes_ >> 20, available / (1 << 20)));
  }
  void* const found = mmap(nullptr, static_cast<std::size_t>(bytes_), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) throw Skip(fmt::format("mmap: {}", std::strerror(errno)));
  data_ = static_cast<unsigned char*>(found);
  placement_ = "first touch";
  if (node) {
    const std::string error = bind_pages(data_, bytes_, *node);
    if (error.empty()) {
      placement_ = fmt::format("bound to node {}", *node);
    } else if (must_bind) {
      munmap(data_, static_cast<std::size_t>(bytes_));
      throw Skip(fmt::format("host memory cannot be bound to node {}: {}", *node, error));
    } else {
      placement_ += fmt::format(" ({})", error);
    }
  }
  (void)madvise(data_, static_cast<std::size_t>(bytes_), MADV_HUGEPAGE);  // fewer pages to lock
  fill_bytes(data_, bytes_, 0);
}

HostMemory::~HostMemory() { munmap(data_, static_cast<std::size_t>(bytes_)); }

std::optional<int> HostMemory::node() const {
  const std::optional<int> first = node_of_page(data_);
  const bool same =
      node_of_page(data_ + bytes_ / 2) == first && node_of_page(data_ + bytes_ - 1) == first;
  return same ? first : std::nullopt;
}

void fill_bytes(void* data, std::int64_t capacity, unsigned char value) {
  auto* const bytes = static_cast<unsigned char*>(data);
  in_parallel(capacity, parts_of(capacity), [&](std::size_t, std::int64_t begin, std::int64_t end) {
    std::memset(bytes + begin, value, static_cast<std::size_t>(end - begin));
  });
}

void fill_pattern(void* data, std::int64_t capacity, std::uint64_t seed) {
  auto* const words = static_cast<std::uint32_t*>(data);
  const std::uint32_t folded = pattern_seed(seed);
  in_parallel(capacity, parts_of(capacity), [&](std::size_t, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin / 4; i < end / 4; ++i) words[i] = pattern_word(folded, i);
  });
}

HostMismatch check_copied(const void* data, std::int64_t bytes, std::int64_t capacity,
                          std::uint64_t seed) {
  const auto* const words = static_cast<const std::uint32_t*>(data);
  const std::uint32_t folded = pattern_seed(seed);
  const int parts = parts_of(capacity);
  std::vector<HostMismatch> found(static_cast<std::size_t>(parts));
  in_parallel(capacity, parts, [&](std::size_t part, std::int64_t begin, std::int64_t end) {
    HostMismatch mine;
    for (std::int64_t i = begin / 4; i < end / 4; ++i) {
      if (words[i] == expected_word(folded, i, bytes)) continue;
      if (mine.count++ == 0) mine.first = i;
    }
    found[part] = mine;
  });
  HostMismatch all;
  for (const HostMismatch& part : found) {
    if (all.count == 0) all.first = part.first;
    all.count += part.count;
  }
  return all;
}

std::uint64_t hash_in_parallel(const void* data, std::int64_t bytes) {
  const auto* const begin_of_all = static_cast<const unsigned char*>(data);
  const int parts = parts_of(bytes);
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(parts));
  in_parallel(bytes, parts, [&](std::size_t part, std::int64_t begin, std::int64_t end) {
    sums[part] = hash_bytes_on_host(begin_of_all + begin, end - begin, begin / 8);
  });
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

}  // namespace assay
