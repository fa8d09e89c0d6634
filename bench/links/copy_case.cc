// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/links/copy_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/harness/clock.h"
#include "kernels/counter_random.h"
#include "kernels/hash.h"
#include "kernels/link.h"
#include "kernels/stream.h"

namespace assay {
namespace {

constexpr std::int64_t kAlignment = 4096;  // of a slot: a page

}  // namespace

Verification copy_verdict(std::int64_t wrong, const std::string& where, int slot,
                          std::uint64_t first) {
  return exact_verification(
      "exact: every byte against the generator, and none beyond the last; unit: wrong words",
      static_cast<double>(wrong),
      fmt::format("{}, buffer set {}: {} wrong, the first at word {}", where, slot, wrong, first));
}

LinkedMemory::LinkedMemory(std::int64_t bytes, std::optional<int> node, bool must_bind, bool locked)
    : memory_(bytes, node, must_bind), locked_(locked) {
  if (!locked) return;
  const SteadyClock clock;
  const double start = clock.now_s();
  const cudaError_t error =
      cudaHostRegister(memory_.data(), static_cast<std::size_t>(memory_.bytes()),
                       cudaHostRegisterPortable | cudaHostRegisterMapped);
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    throw Skip(fmt::format("{} MiB of host memory could not be page-locked", bytes >> 20));
  }
  check_cuda(error, "cudaHostRegister");
  lock_s_ = clock.now_s() - start;
}

LinkedMemory::~LinkedMemory() {
  if (locked_) (void)cudaHostUnregister(memory_.data());
}

Json LinkedMemory::facts() const {
  Json facts = {{"placement", memory_.placement()}, {"node", nullptr}};
  if (const std::optional<int> node = memory_.node()) facts["node"] = *node;
  if (locked_) facts["lock_s"] = lock_s_;
  return facts;
}

int link_slots(std::int64_t l2_bytes, std::int64_t bytes) {
  return std::min(rotation_slots(l2_bytes, bytes), kMostLinkSlots);
}

std::int64_t link_capacity(std::int64_t bytes) { return (bytes / kAlignment + 1) * kAlignment; }

std::uint64_t link_seed(int slot, bool to_device) {
  return kLinkSeed + 2 * static_cast<std::uint64_t>(slot) + (to_device ? 0 : 1);
}

CopyCase::CopyCase(const LinkSpec& spec, const CudaDevice& device, std::optional<int> node,
                   cudaStream_t stream)
    : spec_(spec),
      bytes_(spec.latency ? kLatencyCopyBytes : spec.bytes),
      capacity_(link_capacity(bytes_)),
      slots_(link_slots(device.l2_bytes, bytes_)),
      blocks_(kLinkBlocksPerSm * device.sm_count),
      stream_(stream),
      both_ways_(stream),
      mismatches_(sizeof(MismatchReport)) {
  if (spec.transfer != Transfer::kD2h) add_direction(true, node);
  if (spec.transfer != Transfer::kH2d) add_direction(false, node);
  check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

void CopyCase::add_direction(bool to_device, std::optional<int> node) {
  Direction direction;
  direction.to_device = to_device;
  const std::int64_t all = slots_ * capacity_;
  direction.host = std::make_unique<LinkedMemory>(all, node, spec_.far, !spec_.pageable);
  direction.device = DeviceBuffer(all);
  for (int slot = 0; slot < slots_; ++slot) {
    const std::uint64_t seed = link_seed(slot, to_device);
    if (to_device) {
      fill_pattern(direction.host->data() + offset(slot), capacity_, seed);
    } else {
      check_cuda(stream_fill(StreamOp::kCopy, {.elements = capacity_ / 4},
                             direction.device.as<char>() + offset(slot), seed, stream_),
                 "stream_fill");
    }
  }
  directions_.push_back(std::move(direction));
}

int CopyCase::kernels_per_launch() const { return spec_.transfer == Transfer::kBoth ? 4 : 1; }

void CopyCase::copy(const Direction& direction, int slot, cudaStream_t stream) const {
  unsigned char* const host = direction.host->data() + offset(slot);
  auto* const device = direction.device.as<unsigned char>() + offset(slot);
  void* const to = direction.to_device ? device : host;
  const void* const from = direction.to_device ? host : device;
  const std::int64_t bytes = bytes_ - left_out_;
  if (spec_.sm) {
    check_cuda(link_copy(from, to, bytes, blocks_, stream), "link_copy");
    return;
  }
  check_cuda(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes),
                             direction.to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost,
                             stream),
             "cudaMemcpyAsync");
}

void CopyCase::launch(int slot) {
  if (spec_.transfer == Transfer::kBoth) {
    both_ways_.run([&](cudaStream_t stream) { copy(directions_[0], slot, stream); },
                   [&](cudaStream_t stream) { copy(directions_[1], slot, stream); });
    return;
  }
  copy(directions_[0], slot, stream_);
  if (spec_.pageable) check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

void CopyCase::poison(int slot) {
  for (const Direction& direction : directions_) {
    if (direction.to_device) {
      check_cuda(cudaMemsetAsync(direction.device.as<char>() + offset(slot), 0xFF,
                                 static_cast<std::size_t>(capacity_), stream_),
                 "cudaMemsetAsync");
    } else {
      fill_bytes(direction.host->data() + offset(slot), capacity_, 0xFF);
    }
  }
}

const CopyCase::Direction* CopyCase::find(bool to_device) const {
  const auto found = std::ranges::find(directions_, to_device, &Direction::to_device);
  return found == directions_.end() ? nullptr : &*found;
}

unsigned char* CopyCase::arrived_on_host(int slot) const {
  const Direction* back = find(false);
  return back == nullptr ? nullptr : back->host->data() + offset(slot);
}

unsigned char* CopyCase::arrived_on_device(int slot) const {
  const Direction* there = find(true);
  return there == nullptr ? nullptr : there->device.as<unsigned char>() + offset(slot);
}

Verification CopyCase::verify_on_device(const Direction& direction, int slot) {
  auto* const report = mismatches_.as<MismatchReport>();
  check_cuda(check_link_copy(direction.device.as<char>() + offset(slot), bytes_, capacity_,
                             link_seed(slot, true), report, stream_),
             "check_link_copy");
  const auto found = read_back<MismatchReport>(report, stream_);
  return copy_verdict(static_cast<std::int64_t>(found.count), "to the device", slot, found.first);
}

Verification CopyCase::verify_on_host(const Direction& direction, int slot) const {
  const HostMismatch found = check_copied(direction.host->data() + offset(slot), bytes_, capacity_,
                                          link_seed(slot, false));
  return copy_verdict(found.count, "to the host", slot, static_cast<std::uint64_t>(found.first));
}

Verification CopyCase::verify(int slot, int) {
  Verification worst;
  for (const Direction& direction : directions_) {
    Verification one =
        direction.to_device ? verify_on_device(direction, slot) : verify_on_host(direction, slot);
    if (worst.status == VerificationStatus::kNotRun ||
        one.status != VerificationStatus::kVerified) {
      worst = std::move(one);
    }
  }
  return worst;
}

std::vector<std::uint64_t> CopyCase::hash_outputs(const std::vector<int>& slots) {
  std::vector<std::uint64_t> hashes(slots.size());
  if (const Direction* there = find(true)) {
    const auto bytes = static_cast<std::int64_t>(hashes.size() * sizeof(std::uint64_t));
    if (hashes_.bytes() < bytes) hashes_ = DeviceBuffer(bytes);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      check_cuda(hash_bytes(there->device.as<char>() + offset(slots[i]), bytes_,
                            hashes_.as<std::uint64_t>() + i, stream_),
                 "hash_bytes");
    }
    check_cuda(cudaMemcpyAsync(hashes.data(), hashes_.data(), static_cast<std::size_t>(bytes),
                               cudaMemcpyDeviceToHost, stream_),
               "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }
  if (const Direction* back = find(false)) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const std::uint64_t host = hash_in_parallel(back->host->data() + offset(slots[i]), bytes_);
      hashes[i] = random_bits(hashes[i], 0) + host;
    }
  }
  return hashes;
}

Json CopyCase::preparation() const { return directions_.front().host->facts(); }

}  // namespace assay
