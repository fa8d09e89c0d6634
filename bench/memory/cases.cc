// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/memory/cases.h"

#include <fmt/format.h>

#include <array>

#include "kernels/fill.h"
#include "kernels/stream.h"

namespace assay {
namespace {

constexpr std::int64_t kTensorBytes = std::int64_t{4} << 30;
// Two sets of tensors, used in turn: nothing of a launch is left in the L2 when its set comes
// again.
constexpr int kSlots = 2;
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

std::int64_t block_sum_bytes() { return kTensorBytes / kReadBlockBytes * 4; }

class StreamCase : public Case {
 public:
  StreamCase(const OpInfo& info, cudaStream_t stream)
      : info_(info), stream_(stream), mismatches_(sizeof(MismatchReport)) {
    for (int slot = 0; slot < kSlots; ++slot) {
      Buffers& buffers = sets_[static_cast<std::size_t>(slot)];
      for (int i = 0; i < info.inputs; ++i) {
        buffers.in[static_cast<std::size_t>(i)] = DeviceBuffer(kTensorBytes);
        fill_input(slot, i);
      }
      buffers.out = DeviceBuffer(info.has_output ? kTensorBytes : block_sum_bytes());
    }
  }

  [[nodiscard]] int slots() const override { return kSlots; }

  void launch(int slot) override {
    const Buffers& set = sets_[static_cast<std::size_t>(slot)];
    switch (info_.op) {
      case Op::kRead:
        return check_cuda(
            stream_read(set.in[0].data(), set.out.as<std::uint32_t>(), kTensorBytes, stream_),
            "stream_read");
      case Op::kWrite:
        return check_cuda(stream_write(set.out.data(), kTensorBytes, seed(slot, 0), stream_),
                          "stream_write");
      case Op::kCopy:
        return check_cuda(stream_copy(set.in[0].data(), set.out.data(), kTensorBytes, stream_),
                          "stream_copy");
      case Op::kTriad:
        return check_cuda(stream_triad(set.in[0].as<float>(), set.in[1].as<float>(),
                                       set.out.as<float>(), kTensorBytes, stream_),
                          "stream_triad");
    }
  }

  void poison(int slot) override {
    const DeviceBuffer& out = sets_[static_cast<std::size_t>(slot)].out;
    check_cuda(cudaMemsetAsync(out.data(), 0xFF, static_cast<std::size_t>(out.bytes()), stream_),
               "cudaMemsetAsync");
  }

  [[nodiscard]] Verification verify(int slot, int) override {
    auto* const report = mismatches_.as<MismatchReport>();
    check_cuda(reset_mismatches(report, stream_), "reset_mismatches");
    check_cuda(launch_check(slot, report), "check");
    MismatchReport found{};
    check_cuda(cudaMemcpyAsync(&found, report, sizeof(found), cudaMemcpyDeviceToHost, stream_),
               "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
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
      check_cuda(fill_uniform(ElementType::kFp32, buffer.data(), kTensorBytes / 4,
                              seed(slot, input), stream_),
                 "fill_uniform");
    } else {
      check_cuda(stream_write(buffer.data(), kTensorBytes, seed(slot, input), stream_),
                 "stream_write");
    }
  }

  cudaError_t launch_check(int slot, MismatchReport* report) {
    const DeviceBuffer& out = sets_[static_cast<std::size_t>(slot)].out;
    switch (info_.op) {
      case Op::kRead:
        return check_block_sums(out.as<std::uint32_t>(), kTensorBytes, seed(slot, 0), report,
                                stream_);
      case Op::kWrite:
      case Op::kCopy:
        return check_pattern(out.data(), kTensorBytes, seed(slot, 0), report, stream_);
      case Op::kTriad:
        return check_triad(out.as<float>(), kTensorBytes, seed(slot, 0), seed(slot, 1), report,
                           stream_);
    }
    return cudaErrorInvalidValue;
  }

  OpInfo info_;
  cudaStream_t stream_;
  DeviceBuffer mismatches_;
  std::array<Buffers, kSlots> sets_;
};

CaseEntry entry_of(const OpInfo& info, const CudaDevice& device, cudaStream_t stream) {
  CaseEntry entry;
  const double tensors = info.inputs + (info.has_output ? 1 : 0);
  entry.info.id = fmt::format("memory/{}/{}GiB/{}", info.name, kTensorBytes >> 30,
                              condition_suffix(entry.info.conditions));
  entry.info.parameters = {{"operation", info.name},
                           {"tensor_bytes", kTensorBytes},
                           {"bytes_per_thread", info.op == Op::kRead ? 64 : 16}};
  entry.info.work.bytes = tensors * static_cast<double>(kTensorBytes);
  if (info.op == Op::kRead) entry.info.work.bytes += static_cast<double>(block_sum_bytes());
  entry.info.work.pipe = "dram";
  entry.info.data = {{"fill", info.op == Op::kTriad ? "uniform[-1,1)" : "32-bit counter pattern"},
                     {"seed", kSeed}};
  entry.make = [info, stream] { return std::make_unique<StreamCase>(info, stream); };
  const double needed = kSlots * tensors * static_cast<double>(kTensorBytes);
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
  for (const OpInfo& info : kOps) entries.push_back(entry_of(info, device, stream));
  return entries;
}

}  // namespace assay
