// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives/nccl.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <thread>
#include <vector>

#include "bench/harness/case.h"
#include "bench/harness/clock.h"

namespace assay {
namespace {

constexpr int kFp8Version = 22400;
constexpr int kWindowVersion = 22700;
// A wait this short is spun away, as nccl-tests does it; a longer one yields, so that the library's
// own threads run.
constexpr double kSpin_s = 1e-4;
constexpr double kErrorCheck_s = 1e-3;

std::string version_text(int code) {
  return fmt::format("{}.{}.{}", code / 10000, code % 10000 / 100, code % 100);
}

std::optional<std::string> why_older(int needed, const char* what) {
  if (NCCL_VERSION_CODE < needed) {
    return fmt::format("{} needs NCCL {}, this build's headers are of {}", what,
                       version_text(needed), version_text(NCCL_VERSION_CODE));
  }
  if (loaded_nccl() < needed) {
    return fmt::format("{} needs NCCL {}, {} is loaded", what, version_text(needed),
                       version_text(loaded_nccl()));
  }
  return std::nullopt;
}

// The first line: what the library says may be long.
std::string last_error(ncclComm_t communicator) {
  const char* text = ncclGetLastError(communicator);
  const std::string all = text == nullptr ? "" : text;
  return all.substr(0, all.find('\n'));
}

bool loses_communicator(ncclResult_t result) {
  return result != ncclInvalidArgument && result != ncclInvalidUsage;
}

std::string hex(const ncclUniqueId& id) {
  std::string text;
  for (const char byte : id.internal)
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

ncclUniqueId from_hex(const std::string& text) {
  ncclUniqueId id{};
  if (text.size() != 2 * sizeof(id.internal)) {
    throw ProcessLost(
        fmt::format("rank 0 gave no unique id of NCCL but {} characters; are all "
                    "ranks of the same build?",
                    text.size()));
  }
  for (std::size_t i = 0; i < sizeof(id.internal); ++i) {
    unsigned byte = 0;
    const char* const at = text.data() + 2 * i;
    if (std::from_chars(at, at + 2, byte, 16).ptr != at + 2) {
      throw ProcessLost("rank 0's unique id of NCCL is garbled; are all ranks of the same build?");
    }
    id.internal[i] = static_cast<char>(byte);
  }
  return id;
}

}  // namespace

void check_nccl(ncclResult_t result, const char* call, ncclComm_t communicator,
                const std::source_location& where) {
  if (result == ncclSuccess) return;
  const std::string text = fmt::format("{}: {} ({}): {} at {}:{}", call, ncclGetErrorString(result),
                                       static_cast<int>(result), last_error(communicator),
                                       where.file_name(), where.line());
  (void)cudaGetLastError();  // what NCCL left behind must not be found by the next call
  if (loses_communicator(result)) throw ProcessLost(text);
  throw std::runtime_error(text);
}

int loaded_nccl() {
  int version = 0;
  check_nccl(ncclGetVersion(&version), "ncclGetVersion");
  return version;
}

Json nccl_versions() {
  return {{"nccl", version_text(loaded_nccl())},
          {"nccl_compiled", version_text(NCCL_VERSION_CODE)}};
}

ncclDataType_t nccl_type(ElementType type) {
  switch (type) {
    case ElementType::kFp64:
      return ncclFloat64;
    case ElementType::kFp32:
      return ncclFloat32;
    case ElementType::kFp16:
      return ncclFloat16;
    case ElementType::kBf16:
      return ncclBfloat16;
#if NCCL_VERSION_CODE >= 22400
    case ElementType::kFp8E4M3:
      return ncclFloat8e4m3;
    case ElementType::kFp8E5M2:
      return ncclFloat8e5m2;
#endif
    case ElementType::kInt32:
      return ncclInt32;
    default:
      throw std::logic_error("an element type that NCCL lacks");
  }
}

std::optional<std::string> why_no_fp8() { return why_older(kFp8Version, "FP8"); }

std::optional<std::string> why_no_windows() {
  return why_older(kWindowVersion, "a symmetric window");
}

Communicator::Communicator(Exchange& exchange) : rank_(exchange.rank()), ranks_(exchange.size()) {
  std::string mine;
  if (rank_ == 0) {
    ncclUniqueId id{};
    check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
    mine = hex(id);
  }
  const ncclUniqueId id = from_hex(exchange.all_gather(mine).front());
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  check_nccl(ncclCommInitRankConfig(&communicator_, ranks_, id, rank_, &config),
             "ncclCommInitRankConfig");
}

Communicator::~Communicator() {
  if (communicator_ != nullptr) (void)ncclCommDestroy(communicator_);
}

void Communicator::give_up(const std::string& why) {
  (void)ncclCommAbort(communicator_);
  communicator_ = nullptr;
  throw ProcessLost(why);
}

void Communicator::wait(cudaStream_t stream, double limit_s) {
  if (communicator_ == nullptr) throw ProcessLost("the communicator was aborted before");
  const SteadyClock clock;
  const double start = clock.now_s();
  double checked = start;
  for (;;) {
    const cudaError_t state = cudaStreamQuery(stream);
    if (state == cudaSuccess) return;
    if (state != cudaErrorNotReady) check_cuda(state, "cudaStreamQuery");
    const double now = clock.now_s();
    if (now - start > kSpin_s) std::this_thread::yield();
    if (now - checked < kErrorCheck_s) continue;
    checked = now;
    ncclResult_t error = ncclSuccess;
    check_nccl(ncclCommGetAsyncError(communicator_, &error), "ncclCommGetAsyncError",
               communicator_);
    if (error != ncclSuccess && error != ncclInProgress) {
      give_up(fmt::format("rank {} of {}: {}: {}", rank_, ranks_, ncclGetErrorString(error),
                          last_error(communicator_)));
    }
    if (now - start > limit_s) {
      give_up(fmt::format("rank {} of {}: a collective did not end within {:g} s", rank_, ranks_,
                          limit_s));
    }
  }
}

CollectiveBuffer::CollectiveBuffer(Communicator& communicator, BufferKind kind, std::int64_t bytes)
    : communicator_(communicator) {
  if (kind == BufferKind::kPlain) {
    plain_ = DeviceBuffer(bytes);
    data_ = plain_.as<unsigned char>();
    return;
  }
  allocate(bytes);
  try {
    register_as(kind, bytes);
  } catch (...) {
    release();  // a constructor that throws has no destructor
    throw;
  }
}

void CollectiveBuffer::allocate(std::int64_t bytes) {
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  // The library says of memory that ran out only that CUDA failed.
  if (static_cast<std::size_t>(bytes) > free) {
    throw Skip(fmt::format("needs {} MiB more device memory, {} of {} MiB are free", bytes >> 20,
                           free >> 20, total >> 20));
  }
  check_nccl(ncclMemAlloc(&allocated_, static_cast<std::size_t>(bytes)), "ncclMemAlloc");
  data_ = static_cast<unsigned char*>(allocated_);
}

void CollectiveBuffer::register_as(BufferKind kind, std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  if (kind == BufferKind::kRegistered) {
    check_nccl(ncclCommRegister(communicator_.get(), allocated_, size, &handle_),
               "ncclCommRegister", communicator_.get());
    return;
  }
#if NCCL_VERSION_CODE >= 22700
  ncclWindow_t window = nullptr;
  check_nccl(ncclCommWindowRegister(communicator_.get(), allocated_, size, &window,
                                    NCCL_WIN_COLL_SYMMETRIC),
             "ncclCommWindowRegister", communicator_.get());
  window_ = window;
#endif
  if (window_ == nullptr) throw Skip("NCCL makes no symmetric window between these GPUs");
}

void CollectiveBuffer::release() {
  // After an abort nothing that the communicator knew is there any more.
  if (communicator_.get() != nullptr) {
    if (handle_ != nullptr) (void)ncclCommDeregister(communicator_.get(), handle_);
#if NCCL_VERSION_CODE >= 22700
    if (window_ != nullptr) {
      (void)ncclCommWindowDeregister(communicator_.get(), static_cast<ncclWindow_t>(window_));
    }
#endif
  }
  if (allocated_ != nullptr) (void)ncclMemFree(allocated_);
}

CollectiveBuffer::~CollectiveBuffer() { release(); }

}  // namespace assay
