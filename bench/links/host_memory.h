// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Host memory of a transfer: where it lies, and its content, made and checked by the host's own
// processors, so that what a link carried is not judged by way of that link.
//
//   HostMemory memory(bytes, /*node=*/1);          // pages of node 1, touched
//   fill_pattern(memory.data(), capacity, seed);   // as stream_fill() on a device
//   HostMismatch found = check_copied(memory.data(), bytes, capacity, seed);
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace assay {

class HostMemory {
 public:
  // Pages of `node`, or where the kernel puts them if null. Throws Skip if there is not that much
  // memory, or if `must_bind` and the kernel refuses to bind.
  HostMemory(std::int64_t bytes, std::optional<int> node, bool must_bind);
  ~HostMemory();
  // Owns a mapping.
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  [[nodiscard]] unsigned char* data() const { return data_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  // The node on which first, middle and last page lie; null if they differ or nobody says.
  [[nodiscard]] std::optional<int> node() const;
  [[nodiscard]] const std::string& placement() const { return placement_; }  // how it got there

 private:
  unsigned char* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::string placement_;
};

// All sizes but `bytes` are multiples of 8; several threads share the work.
void fill_bytes(void* data, std::int64_t capacity, unsigned char value);
void fill_pattern(void* data, std::int64_t capacity, std::uint64_t seed);

struct HostMismatch {
  std::int64_t count = 0;  // words
  std::int64_t first = 0;
};
// As check_link_copy(): `bytes` of the pattern, then kLinkPoison up to `capacity`.
[[nodiscard]] HostMismatch check_copied(const void* data, std::int64_t bytes, std::int64_t capacity,
                                        std::uint64_t seed);
// As hash_bytes().
[[nodiscard]] std::uint64_t hash_in_parallel(const void* data, std::int64_t bytes);

}  // namespace assay
