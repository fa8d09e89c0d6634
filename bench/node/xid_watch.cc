// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/node/xid_watch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include "bench/node/environment.h"
#include "bench/node/nvml.h"

namespace assay {
namespace {

constexpr unsigned kWait_ms = 100;
constexpr std::chrono::milliseconds kPatience(900);
// A card that is lost makes the wait fail once or more; a wait that keeps failing watches nothing.
constexpr int kErrorsInARow = 20;
// A card in trouble repeats itself; so many say it.
constexpr std::size_t kMostEvents = 1000;

struct Watched {
  std::string uuid;
  nvml_abi::Device device = nullptr;
  std::string why_not;
  std::vector<XidEvent> events;
};

}  // namespace

// Held by the watch and by its thread, which may outlive it inside a driver that hangs.
class XidWatch::Watch {
 public:
  explicit Watch(std::vector<std::string> uuids) {
    for (std::string& uuid : uuids) gpus_.emplace_back().uuid = std::move(uuid);
    std::string why;
    nvml_ = Nvml::open(&why);
    if (nvml_ != nullptr) {
      why = nvml_->call(nvml_->nvmlEventSetCreate, "nvmlEventSetCreate", &set_);
    }
    if (why.empty() && nvml_->nvmlEventSetWait_v2 == nullptr) {
      why = "nvmlEventSetWait_v2: not in this NVML";
    }
    for (Watched& gpu : gpus_) {
      gpu.why_not = why.empty() ? register_gpu(gpu) : why;
      any_ = any_ || gpu.why_not.empty();
    }
  }

  ~Watch() {
    if (set_ != nullptr && nvml_->nvmlEventSetFree != nullptr) (void)nvml_->nvmlEventSetFree(set_);
  }
  // Owns the event set.
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  [[nodiscard]] bool any() const { return any_; }
  void request_stop() { stop_ = true; }

  // On its thread, until request_stop().
  void run() noexcept {
    try {
      watch();
    } catch (const std::exception& error) {
      end_all(error.what());
    }
  }

  void end_all(const std::string& why) {
    for (Watched& gpu : gpus_) {
      if (gpu.why_not.empty()) gpu.why_not = "the watch ended early: " + why;
    }
  }

  // Only when no thread is in run().
  [[nodiscard]] const std::vector<Watched>& gpus() const { return gpus_; }

 private:
  std::string register_gpu(Watched& gpu) const {
    const std::string error =
        nvml_->call(nvml_->nvmlDeviceGetHandleByUUID, "nvmlDeviceGetHandleByUUID", gpu.uuid.c_str(),
                    &gpu.device);
    if (!error.empty()) return error;
    return nvml_->call(nvml_->nvmlDeviceRegisterEvents, "nvmlDeviceRegisterEvents", gpu.device,
                       nvml_abi::kEventXid, set_);
  }

  void watch() {
    int errors = 0;
    while (!stop_) {
      const nvml_abi::Return code = wait(kWait_ms);
      errors = code == 0 || code == nvml_abi::kTimeout ? 0 : errors + 1;
      if (errors == kErrorsInARow) {
        end_all("nvmlEventSetWait_v2: " + nvml_->error_text(code));
        return;
      }
      // A wait that fails does so at once.
      if (errors > 0) std::this_thread::sleep_for(std::chrono::milliseconds(kWait_ms / 10));
    }
    // What came before the request to stop is in the set still.
    for (std::size_t i = 0; i < kMostEvents && wait(0) == 0; ++i) {
    }
  }

  nvml_abi::Return wait(unsigned timeout_ms) {
    nvml_abi::EventData event{};
    const nvml_abi::Return code = nvml_->nvmlEventSetWait_v2(set_, &event, timeout_ms);
    if (code != 0 || event.type != nvml_abi::kEventXid) return code;
    const auto gpu = std::ranges::find(gpus_, event.device, &Watched::device);
    if (gpu != gpus_.end() && gpu->events.size() < kMostEvents) {
      gpu->events.push_back({static_cast<int>(event.data), utc_now()});
    }
    return code;
  }

  std::shared_ptr<const Nvml> nvml_;
  nvml_abi::EventSet set_ = nullptr;
  std::vector<Watched> gpus_;
  bool any_ = false;
  std::atomic<bool> stop_ = false;
};

XidWatch::XidWatch(std::vector<std::string> uuids)
    : watch_(std::make_shared<Watch>(std::move(uuids))) {
  if (!watch_->any()) return;
  try {
    std::promise<void> ended;
    ended_ = ended.get_future();
    thread_ = std::thread([watch = watch_, ended = std::move(ended)]() mutable {
      watch->run();
      ended.set_value();
    });
  } catch (const std::system_error& error) {
    watch_->end_all(error.what());
  }
}

XidWatch::~XidWatch() { (void)stop(); }

bool XidWatch::stop() noexcept {
  if (!thread_.joinable()) return !hangs_;
  watch_->request_stop();
  hangs_ = ended_.wait_for(kPatience) != std::future_status::ready;
  if (hangs_) {
    thread_.detach();
  } else {
    thread_.join();
  }
  return !hangs_;
}

void XidWatch::stop_into(Inventory& inventory) {
  const bool ended = stop();
  static const std::vector<Watched> kNone;
  const std::vector<Watched>& all = ended ? watch_->gpus() : kNone;
  for (GpuInventory& gpu : inventory.gpus) {
    if (!ended) gpu.unreadable["xids"] = "nvmlEventSetWait_v2 did not return";
    const auto watched = std::ranges::find(all, gpu.uuid, &Watched::uuid);
    if (watched == all.end()) continue;
    // What came before a watch ended early was an error all the same.
    if (watched->why_not.empty() || !watched->events.empty()) gpu.xids = watched->events;
    if (watched->why_not.empty()) {
      gpu.unreadable.erase("xids");
    } else {
      gpu.unreadable["xids"] = watched->why_not;
    }
  }
}

}  // namespace assay
