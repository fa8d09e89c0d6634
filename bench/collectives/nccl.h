// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// NCCL's errors as exceptions, and owners of what it hands out. What a version lacks is said by
// why_no_*(), both of the headers of this build and of the library that is loaded.
//
//   Communicator group(exchange);                       // every rank, on its current device
//   check_nccl(ncclAllReduce(in, out, n, ncclFloat, ncclSum, group.get(), stream),
//              "ncclAllReduce", group.get());
//   group.wait(stream);                                 // throws ProcessLost after kWaitLimit_s
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstdint>
#include <optional>
#include <source_location>
#include <string>

#include "bench/harness/cuda/handles.h"
#include "bench/ranks/exchange.h"
#include "kernels/element.h"
#include "reports/json.h"

namespace assay {

// Of a launch's end, since it was waited for. Under every suite's id_timeout_s, so that a rank
// whose peers hang says so itself.
inline constexpr double kWaitLimit_s = 20;

// Throws std::runtime_error "call: text: the library's last error at file:line" for a wrong use,
// and ProcessLost for an error after which the communicator is of no use.
void check_nccl(ncclResult_t result, const char* call, ncclComm_t communicator = nullptr,
                const std::source_location& where = std::source_location::current());

[[nodiscard]] int loaded_nccl();  // 22809
// {"nccl": "2.28.9", "nccl_compiled": "2.28.9"}
[[nodiscard]] Json nccl_versions();
[[nodiscard]] ncclDataType_t nccl_type(ElementType type);

// Why the version cannot do it; null: it can.
[[nodiscard]] std::optional<std::string> why_no_fp8();
[[nodiscard]] std::optional<std::string> why_no_windows();

// The ranks of an exchange, as NCCL knows them. Its environment is honoured, nothing overrides it.
class Communicator {
 public:
  explicit Communicator(Exchange& exchange);
  ~Communicator();
  // Buffers and graphs refer to it.
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] ncclComm_t get() const { return communicator_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  // Until the stream is empty. Throws ProcessLost after an error of any rank that the library
  // noticed, or once `limit_s` have passed; the operations under way are aborted before.
  void wait(cudaStream_t stream, double limit_s = kWaitLimit_s);

 private:
  [[noreturn]] void give_up(const std::string& why);

  ncclComm_t communicator_ = nullptr;
  int rank_;
  int ranks_;
};

enum class BufferKind { kPlain, kRegistered, kSymmetric };

// Device memory as the kind asks for it; the other two are the library's own and known to it. Every
// rank makes the same ones in the same order. Given back before the communicator.
class CollectiveBuffer {
 public:
  // Throws Skip if it does not fit, or the library makes no symmetric window here.
  CollectiveBuffer(Communicator& communicator, BufferKind kind, std::int64_t bytes);
  ~CollectiveBuffer();
  // Owns memory and its registration.
  CollectiveBuffer(const CollectiveBuffer&) = delete;
  CollectiveBuffer& operator=(const CollectiveBuffer&) = delete;

  [[nodiscard]] unsigned char* data() const { return data_; }

 private:
  void allocate(std::int64_t bytes);
  void register_as(BufferKind kind, std::int64_t bytes);
  void release();

  Communicator& communicator_;
  DeviceBuffer plain_;
  unsigned char* data_ = nullptr;
  void* allocated_ = nullptr;  // by the library
  void* handle_ = nullptr;     // of the registration
  void* window_ = nullptr;     // an ncclWindow_t, which older headers lack
};

}  // namespace assay
