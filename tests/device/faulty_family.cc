// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// A benchmark program whose launches go wrong in every way that a real one can.
#include <map>
#include <stdexcept>

#include "bench/harness/cuda/cuda_case.h"
#include "bench/harness/cuda/device.h"
#include "bench/harness/family_main.h"
#include "kernels/gate.h"

namespace {

using namespace assay;

enum class Fault { kNone, kSynchronises, kThrows, kEndless, kIllegalAddress, kOutOfMemory };

class FaultyCase : public CudaCase {
 public:
  FaultyCase(Fault fault, cudaStream_t stream)
      : CudaCase(stream), fault_(fault), out_(sizeof(std::uint64_t)) {
    if (fault == Fault::kOutOfMemory) out_ = DeviceBuffer(std::int64_t{1} << 50);
  }
  [[nodiscard]] int slots() const override { return 1; }
  void launch(int) override {
    ++launches_;
    auto* out = out_.as<std::uint64_t>();
    // The first launches are sound, as the check before the timing sees them.
    const bool now = launches_ > 3;
    if (now && fault_ == Fault::kIllegalAddress) out += std::int64_t{1} << 45;
    const std::uint64_t ns = now && fault_ == Fault::kEndless ? 1'000'000'000'000ULL : 20'000;
    check_cuda(spin(ns, out, stream()), "spin");
    if (now && fault_ == Fault::kSynchronises) {
      check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    }
    if (now && fault_ == Fault::kThrows) throw std::runtime_error("planted");
  }
  [[nodiscard]] Verification verify(int, int) override {
    check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    Verification result;
    result.status = VerificationStatus::kVerified;
    return result;
  }
  // How long it spun differs by a tick.
  [[nodiscard]] std::vector<std::uint64_t> hash_outputs(const std::vector<int>&) override {
    return {};
  }

 protected:
  [[nodiscard]] const DeviceBuffer& output(int) const override { return out_; }

 private:
  Fault fault_;
  int launches_ = 0;
  DeviceBuffer out_;
};

class Faulty : public CudaFamily {
 public:
  [[nodiscard]] std::vector<CaseEntry> cases() override {
    const std::map<std::string, Fault> faults = {
        {"faulty/none/burst", Fault::kNone},
        {"faulty/synchronises/burst", Fault::kSynchronises},
        {"faulty/throws/burst", Fault::kThrows},
        {"faulty/endless/burst", Fault::kEndless},
        {"faulty/illegal_address/burst", Fault::kIllegalAddress},
        {"faulty/out_of_memory/burst", Fault::kOutOfMemory}};
    std::vector<CaseEntry> entries;
    for (const auto& [id, fault] : faults) {
      CaseEntry entry;
      entry.info.id = id;
      entry.info.work.bytes = 1e6;
      entry.info.work.pipe = "dram";
      entry.make = [this, kind = fault] { return std::make_unique<FaultyCase>(kind, stream()); };
      entries.push_back(std::move(entry));
    }
    return entries;
  }
};

}  // namespace

int main(int argc, char** argv) {
  return assay::family_main(argc, argv, "faulty",
                            [](assay::Clock&) { return std::make_unique<Faulty>(); });
}
