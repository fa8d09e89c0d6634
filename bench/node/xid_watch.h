// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Xid errors of some GPUs while a load runs, through NVML's events: the kernel log, which holds
// them too, often may not be read.
//
//   XidWatch watch({"GPU-..."});
//   ... load ...
//   watch.stop_into(inventory);   // GpuInventory::xids, or unreadable["xids"]
#pragma once

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "reports/inventory.h"

namespace assay {

class XidWatch {
 public:
  // Watches when it returns. Never throws: what cannot be watched is said by stop_into().
  explicit XidWatch(std::vector<std::string> uuids);
  // Ends within a second and never throws.
  ~XidWatch();
  // Owns a thread.
  XidWatch(const XidWatch&) = delete;
  XidWatch& operator=(const XidWatch&) = delete;

  // Ends the watch; fills `xids` of each GPU, or says in unreadable["xids"] why it was not watched.
  void stop_into(Inventory& inventory);

 private:
  class Watch;
  // False: the thread hangs in the driver and was left behind.
  bool stop() noexcept;

  std::shared_ptr<Watch> watch_;
  std::future<void> ended_;
  std::thread thread_;
  bool hangs_ = false;
};

}  // namespace assay
