// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/memory/cases.h"

#include <fmt/format.h>

#include <array>

#include "bench/harness/cuda/cuda_case.h"
#include "kernels/fill.h"
#include "kernels/stream.h"

namespace assay {
namespace {

constexpr std::int64_t kLargeBytes = std::int64_t{4} << 30;
// Fits into the L2 of every card here, about half of that of H100 and H200.
constexpr std::int64_t kSmallBytes = std::int64_t{24} << 20;
constexpr std::uint64_t kSeed = 20261130;

enum class Op { kRead, kWrite, kCopy, kTriad };

// What of each operation's tensors is read and written, for the byte count and the allocation.
struct OpInfo {
  Op op;
  const char* name;
  int inputs;
  bool has_output;
};
constexpr std::array<OpInfo, 4> kOps = {{{Op::kRead, "read", 1, false},
                                         {Op::kWrite, "write", 0, true},
                                         {Op::kCopy, "copy", 1, true},
                                         {Op::kTriad, "triad", 2, true}}};

std::int64_t block_sum_bytes(std::int64_t tensor_bytes) {
  return tensor_bytes / kReadBlockBytes * 4;
}

class StreamCase : public CudaCase {
 public:
  StreamCase(const OpInfo& info, std::int64_t tensor_bytes, int slots, cudaStream_t stream)
      : CudaCase(stream),
        info_(info),
        bytes_(tensor_bytes),
        mismatches_(sizeof(MismatchReport)),
        sets_(static_cast<std::size_t>(slots)) {
    for (int slot = 0; slot < slots; ++slot) {
      Buffers& buffers = sets_[static_cast<std::size_t>(slot)];
      for (int i = 0; i < info.inputs; ++i) {
        buffers.in[static_cast<std::size_t>(i)] = DeviceBuffer(bytes_);
        fill_input(slot, i);
      }
      buffers.out = DeviceBuffer(info.has_output ? bytes_ : block_sum_bytes(bytes_));
    }
  }

  [[nodiscard]] int slots() const override { return static_cast<int>(sets_.size()); }

  void launch(int slot) override {
    const Buffers& set = sets_[static_cast<std::size_t>(slot)];
    switch (info_.op) {
      case Op::kRead:
        return check_cuda(
            stream_read(set.in[0].data(), set.out.as<std::uint32_t>(), bytes_, stream()),
            "stream_read");
      case Op::kWrite:
        return check_cuda(stream_write(set.out.data(), bytes_, seed(slot, 0), stream()),
                          "stream_write");
      case Op::kCopy:
        return check_cuda(stream_copy(set.in[0].data(), set.out.data(), bytes_, stream()),
                          "stream_copy");
      case Op::kTriad:
        return check_cuda(stream_triad(set.in[0].as<float>(), set.in[1].as<float>(),
                                       set.out.as<float>(), bytes_, stream()),
                          "stream_triad");
    }
  }

  [[nodiscard]] Verification verify(int slot, int) override {
    auto* const report = mismatches_.as<MismatchReport>();
    check_cuda(reset_mismatches(report, stream()), "reset_mismatches");
    check_cuda(launch_check(slot, report), "check");
    MismatchReport found{};
    check_cuda(cudaMemcpyAsync(&found, report, sizeof(found), cudaMemcpyDeviceToHost, stream()),
               "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    Verification result;
    result.method = info_.op == Op::kRead
                        ? "exact: sum of each 32 KiB against the generator; unit: wrong sums"
                        : "exact: every word against the generator; unit: wrong words";
    result.error = static_cast<double>(found.count);
    result.tolerance = 0;
    result.status = found.count == 0 ? VerificationStatus::kVerified : VerificationStatus::kWrong;
    if (found.count != 0) {
      result.detail =
          fmt::format("{} of buffer set {}: {} wrong, the first at {} {}", info_.name, slot,
                      found.count, info_.op == Op::kRead ? "block" : "word", found.first);
    }
    return result;
  }

 protected:
  [[nodiscard]] const DeviceBuffer& output(int slot) const override {
    return sets_[static_cast<std::size_t>(slot)].out;
  }

 private:
  struct Buffers {
    std::array<DeviceBuffer, 2> in;
    DeviceBuffer out;  // read: one sum a block
  };

  static std::uint64_t seed(int slot, int input) {
    return kSeed + static_cast<std::uint64_t>(2 * slot + input);
  }

  void fill_input(int slot, int input) {
    const DeviceBuffer& buffer =
        sets_[static_cast<std::size_t>(slot)].in[static_cast<std::size_t>(input)];
    if (info_.op == Op::kTriad) {
      check_cuda(
          fill_uniform(ElementType::kFp32, buffer.data(), bytes_ / 4, seed(slot, input), stream()),
          "fill_uniform");
    } else {
      check_cuda(stream_write(buffer.data(), bytes_, seed(slot, input), stream()), "stream_write");
    }
  }

  cudaError_t launch_check(int slot, MismatchReport* report) {
    const DeviceBuffer& out = sets_[static_cast<std::size_t>(slot)].out;
    switch (info_.op) {
      case Op::kRead:
        return check_block_sums(out.as<std::uint32_t>(), bytes_, seed(slot, 0), report, stream());
      case Op::kWrite:
      case Op::kCopy:
        return check_pattern(out.data(), bytes_, seed(slot, 0), report, stream());
      case Op::kTriad:
        return check_triad(out.as<float>(), bytes_, seed(slot, 0), seed(slot, 1), report, stream());
    }
    return cudaErrorInvalidValue;
  }

  OpInfo info_;
  std::int64_t bytes_;
  DeviceBuffer mismatches_;
  std::vector<Buffers> sets_;
};

std::string size_text(std::int64_t bytes) {
  const bool whole_gib = bytes % (std::int64_t{1} << 30) == 0;
  return whole_gib ? fmt::format("{}GiB", bytes >> 30) : fmt::format("{}MiB", bytes >> 20);
}

CaseEntry entry_of(const OpInfo& info, std::int64_t tensor_bytes, Cache cache,
                   const CudaDevice& device, cudaStream_t stream) {
  CaseEntry entry;
  const double tensors = info.inputs + (info.has_output ? 1 : 0);
  entry.info.conditions.cache = cache;
  entry.info.id = fmt::format("memory/{}/{}/{}", info.name, size_text(tensor_bytes),
                              condition_suffix(entry.info.conditions));
  entry.info.parameters = {{"operation", info.name},
                           {"tensor_bytes", tensor_bytes},
                           {"bytes_per_thread", info.op == Op::kRead ? 64 : 16}};
  const double set_bytes = tensors * static_cast<double>(tensor_bytes);
  entry.info.work.bytes = set_bytes;
  if (info.op == Op::kRead) {
    entry.info.work.bytes += static_cast<double>(block_sum_bytes(tensor_bytes));
  }
  entry.info.work.pipe = cache == Cache::kCold ? "dram" : "l2";
  entry.info.data = {{"fill", info.op == Op::kTriad ? "uniform[-1,1)" : "32-bit counter pattern"},
                     {"seed", kSeed}};
  const int slots = cache == Cache::kWarm
                        ? 1
                        : rotation_slots(device.l2_bytes, static_cast<std::int64_t>(set_bytes));
  entry.make = [info, tensor_bytes, slots, stream] {
    return std::make_unique<StreamCase>(info, tensor_bytes, slots, stream);
  };
  const double needed = slots * set_bytes;
  if (needed > 0.9 * static_cast<double>(device.memory_bytes)) {
    entry.skip =
        fmt::format("needs {:.0f} GiB of device memory, the device has {:.0f}", needed / (1 << 30),
                    static_cast<double>(device.memory_bytes) / (1 << 30));
  }
  return entry;
}

}  // namespace

std::vector<CaseEntry> memory_cases(const CudaDevice& device, cudaStream_t stream) {
  std::vector<CaseEntry> entries;
  for (const OpInfo& info : kOps) {
    entries.push_back(entry_of(info, kLargeBytes, Cache::kCold, device, stream));
  }
  for (const Cache cache : {Cache::kCold, Cache::kWarm}) {
    entries.push_back(entry_of(kOps[0], kSmallBytes, cache, device, stream));
  }
  return entries;
}

}  // namespace assay
