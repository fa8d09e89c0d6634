// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The ceiling kernels compute what they claim to: as many operations, and the right sums.
#include "kernels/ceiling.h"

#include "bench/gemm/ceiling_case.h"
#include "kernels/fill.h"
#include "tests/device/gpu_test.h"

namespace assay {
namespace {

class Ceiling : public GpuTest {};

TEST_F(Ceiling, EachIsVerifiedAndAForeignResultIsNot) {
  for (const CaseEntry& entry : ceiling_cases(device_, stream())) {
    if (entry.info.conditions.power != Power::kBurst || entry.skip) continue;
    SCOPED_TRACE(entry.info.id);
    const std::unique_ptr<Case> ceiling = entry.make();
    ceiling->poison(0);
    EXPECT_EQ(ceiling->verify(0, 0).status, VerificationStatus::kWrong);
    ceiling->launch(0);
    const Verification found = ceiling->verify(0, 1);
    EXPECT_EQ(found.status, VerificationStatus::kVerified) << found.detail;
    if (*found.tolerance > 0) {
      GTEST_LOG_(INFO) << entry.info.id << ": " << *found.error / *found.tolerance
                       << " of the tolerance";
    }
  }
}

// A kernel whose loop the compiler had dropped would take no longer for more rounds.
TEST_F(Ceiling, TwiceTheRoundsTakeTwiceTheTime) {
  const CudaEvent start = make_event();
  const CudaEvent end = make_event();
  const auto milliseconds = [&](auto launch) {
    launch();  // once before: loading the kernel
    check_cuda(cudaEventRecord(start.get(), stream()), "cudaEventRecord");
    launch();
    check_cuda(cudaEventRecord(end.get(), stream()), "cudaEventRecord");
    check_cuda(cudaEventSynchronize(end.get()), "cudaEventSynchronize");
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, start.get(), end.get()), "cudaEventElapsedTime");
    return static_cast<double>(ms);
  };
  const DeviceBuffer a(std::int64_t{256} << 20);
  check_cuda(fill_uniform(ElementType::kInt8, a.data(), a.bytes() / 2, 1, stream()), "fill");
  void* const d = a.as<char>() + a.bytes() / 2;
  for (const ElementType type : {ElementType::kFp64, ElementType::kFp32, ElementType::kFp16,
                                 ElementType::kBf16, ElementType::kFp8E4M3, ElementType::kInt8}) {
    for (const TensorPath path : {TensorPath::kWgmma, TensorPath::kMma}) {
      if (tensor_ceiling_shape(path, type).rows == 0) continue;
      if (path == TensorPath::kWgmma && device_.compute_capability != 90) continue;
      const auto rounds = [&](int count) {
        return milliseconds([&] {
          check_cuda(tensor_ceiling(path, type, a.data(), a.data(), d, 16, count, stream()),
                     "tensor_ceiling");
        });
      };
      const double once = rounds(2000);
      EXPECT_NEAR(rounds(4000) / once, 2, 0.1) << static_cast<int>(type);
    }
  }
}

TEST_F(Ceiling, RefusesWhatItDoesNotTake) {
  const DeviceBuffer out(1 << 20);
  EXPECT_EQ(fma_ceiling(ElementType::kBf16, out.data(), 1, 16, stream()), cudaErrorInvalidValue);
  EXPECT_EQ(fma_ceiling(ElementType::kFp32, out.data(), 1, 17, stream()), cudaErrorInvalidValue);
  EXPECT_EQ(tensor_ceiling(TensorPath::kWgmma, ElementType::kFp64, out.data(), out.data(),
                           out.data(), 1, 1, stream()),
            cudaErrorInvalidValue);
  EXPECT_EQ(tensor_ceiling(TensorPath::kMma, ElementType::kFp8E4M3, out.data(), out.data(),
                           out.data(), 1, 1, stream()),
            cudaErrorInvalidValue);
}

}  // namespace
}  // namespace assay
