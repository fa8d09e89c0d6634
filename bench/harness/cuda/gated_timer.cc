// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/cuda/gated_timer.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <nvtx3/nvtx3.hpp>
#include <span>

#include "reports/statistics.h"

namespace assay {
namespace {

struct NvtxDomain {
  static constexpr const char* name = "assay";
};
using Range = nvtx3::scoped_range_in<NvtxDomain>;

constexpr std::uint64_t kLeastWindow_ns = 1'000'000;

std::int64_t stamp_bytes(int sm_count) {
  return 2 * sm_count * static_cast<std::int64_t>(sizeof(ClockStamp));
}

// The median over the processors that have both stamps.
std::optional<double> clock_between(std::span<const ClockStamp> start,
                                    std::span<const ClockStamp> end) {
  std::vector<double> mhz;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const std::uint64_t time_ns = end[i].time_ns - start[i].time_ns;
    const bool both = start[i].time_ns != 0 && end[i].time_ns > start[i].time_ns &&
                      end[i].cycles > start[i].cycles;
    if (!both || time_ns < kLeastWindow_ns) continue;
    mhz.push_back(1e3 * static_cast<double>(end[i].cycles - start[i].cycles) /
                  static_cast<double>(time_ns));
  }
  if (mhz.empty()) return std::nullopt;
  return median(mhz);
}

}  // namespace

GatedTimer::GatedTimer(cudaStream_t stream, int sm_count)
    : stream_(stream),
      gate_(sizeof(GateState)),
      sm_count_(sm_count),
      stamps_(stamp_bytes(sm_count)) {
  *gate_.as<GateState>() = {};
}

void GatedTimer::begin_case(const std::string& id) {
  id_ = id;
  check_cuda(cudaCtxResetPersistingL2Cache(), "cudaCtxResetPersistingL2Cache");
}

void GatedTimer::shut_gate() {
  if (!gated_) return;
  ++ticket_;
  check_cuda(launch_gate(gate_.as<GateState>(), ticket_,
                         static_cast<std::uint64_t>(kGateTimeout_s * 1e9), stream_),
             "launch_gate");
}

void GatedTimer::open_gate() {
  std::atomic_ref(gate_.as<GateState>()->opened).store(ticket_, std::memory_order_release);
}

void GatedTimer::refuse_if_timed_out() const {
  const std::uint32_t late =
      std::atomic_ref(gate_.as<GateState>()->timed_out).load(std::memory_order_acquire);
  if (!gated_ || late != ticket_ || ticket_ == 0) return;
  throw std::runtime_error(fmt::format(
      "the stream gate gave up after {:g} s: the launch waits for its stream or queues too much; "
      "such work needs the step timer, and a profiler --profile",
      kGateTimeout_s));
}

void GatedTimer::queue(int samples, int per_sample, const LaunchFunction& launch) {
  check_cuda(cudaEventRecord(events_[0].get(), stream_), "cudaEventRecord");
  int next = 0;
  for (int s = 0; s < samples; ++s) {
    const Range range(id_);
    for (int i = 0; i < per_sample; ++i) launch(next++);
    check_cuda(cudaEventRecord(events_[static_cast<std::size_t>(s) + 1].get(), stream_),
               "cudaEventRecord");
  }
}

std::vector<double> GatedTimer::sample(int samples, int per_sample, const LaunchFunction& launch) {
  const auto count = static_cast<std::size_t>(samples);
  while (events_.size() < count + 1) events_.push_back(make_event());
  shut_gate();
  try {
    queue(samples, per_sample, launch);
  } catch (...) {
    // A shut gate would hold back the clean-up. What failed is told, not what follows from it.
    open_gate();
    (void)cudaStreamSynchronize(stream_);
    throw;
  }
  open_gate();
  check_cuda(cudaEventSynchronize(events_[count].get()), "cudaEventSynchronize");
  refuse_if_timed_out();
  std::vector<double> seconds(count);
  for (std::size_t s = 0; s < count; ++s) {
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, events_[s].get(), events_[s + 1].get()),
               "cudaEventElapsedTime");
    seconds[s] = static_cast<double>(ms) * 1e-3 / per_sample;
  }
  return seconds;
}

void GatedTimer::run(int launches, const LaunchFunction& launch) {
  const Range range("warm-up");
  for (int i = 0; i < launches; ++i) launch(i);
  wait();
}

void GatedTimer::wait() { check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

void GatedTimer::start_clock() {
  check_cuda(cudaMemsetAsync(stamps_.data(), 0, static_cast<std::size_t>(stamps_.bytes()), stream_),
             "cudaMemsetAsync");
  check_cuda(stamp_clocks(stamps_.as<ClockStamp>(), sm_count_, stream_), "stamp_clocks");
}

std::optional<double> GatedTimer::clock_mhz() {
  check_cuda(stamp_clocks(stamps_.as<ClockStamp>() + sm_count_, sm_count_, stream_),
             "stamp_clocks");
  std::vector<ClockStamp> stamps(2 * static_cast<std::size_t>(sm_count_));
  check_cuda(
      cudaMemcpyAsync(stamps.data(), stamps_.data(), static_cast<std::size_t>(stamps_.bytes()),
                      cudaMemcpyDeviceToHost, stream_),
      "cudaMemcpyAsync");
  wait();
  const std::span<const ClockStamp> all(stamps);
  const auto half = static_cast<std::size_t>(sm_count_);
  return clock_between(all.first(half), all.last(half));
}

}  // namespace assay
