// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/linear_case.h"

#include <fmt/format.h>

#include "bench/gemm/gemm_case.h"
#include "bench/gemm/tolerance.h"

namespace assay {
namespace {

constexpr std::size_t kX = 0;
constexpr std::size_t kW = 1;
constexpr std::size_t kDy = 2;
constexpr std::array kOperandNames = {"X", "W", "dY"};
constexpr std::array kProductNames = {"Y", "dX", "dW"};
constexpr std::array kTypes = {ElementType::kFp8E4M3, ElementType::kFp8E4M3, ElementType::kFp8E5M2};

// Gives out a buffer piece by piece; without one it counts what they need.
class Arena {
 public:
  explicit Arena(const DeviceBuffer* buffer) : buffer_(buffer) {}
  void* take(std::int64_t bytes) {
    constexpr std::int64_t kAlign = 256;
    const std::int64_t at = used_;
    used_ += (bytes + kAlign - 1) / kAlign * kAlign;
    return buffer_ == nullptr ? nullptr : buffer_->as<std::byte>() + at;
  }
  [[nodiscard]] std::int64_t used() const { return used_; }

 private:
  const DeviceBuffer* buffer_;
  std::int64_t used_ = 0;
};

void take_products(Arena& arena, const std::array<GemmSpec, 3>& specs,
                   std::array<GemmOperands, 3>& products) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    products[i].d = arena.take(specs[i].m * specs[i].n * element_bytes(ElementType::kBf16));
  }
}

void take_casts(Arena& arena, std::array<QuantiseProblem, 3>& casts) {
  for (QuantiseProblem& cast : casts) {
    cast.out = arena.take(cast.rows * cast.columns);
    cast.transposed = arena.take(cast.rows * cast.columns);
  }
}

}  // namespace

LinearFp8Case::LinearFp8Case(const LinearSpec& spec, const CudaDevice& device, cudaStream_t stream)
    : CudaCase(stream),
      spec_(spec),
      specs_(spec.products()),
      gemms_{LtGemm(specs_[0]), LtGemm(specs_[1]), LtGemm(specs_[2])},
      check_(stream),
      cast_result_(sizeof(QuantiseCheckResult)) {
  const int sets = rotation_slots(device.l2_bytes, static_cast<std::int64_t>(spec.bytes()));
  for (int i = 0; i < sets; ++i) sets_.push_back(make_set(static_cast<std::uint64_t>(i)));
}

LinearFp8Case::Set LinearFp8Case::make_set(std::uint64_t index) const {
  Set set;
  set.casts[kX].rows = set.casts[kDy].rows = spec_.tokens;
  set.casts[kX].columns = set.casts[kW].columns = spec_.in;
  set.casts[kW].rows = set.casts[kDy].columns = spec_.out;
  set.scaling = DeviceBuffer(3 * sizeof(Fp8Scaling));
  check_cuda(cudaMemsetAsync(set.scaling.data(), 0, 3 * sizeof(Fp8Scaling), stream()),
             "cudaMemsetAsync");
  for (std::size_t i = 0; i < 3; ++i) {
    QuantiseProblem& cast = set.casts[i];
    set.bf16[i] = gemm_input(ElementType::kBf16, cast.rows * cast.columns,
                             kGemmSeed + kGemmSeedsPerSet * index + i, stream());
    cast.type = kTypes[i];
    cast.in = set.bf16[i].data();
    cast.scaling = set.scaling.as<Fp8Scaling>() + i;
  }
  place(set);
  // The first pass finds each amax, the second is quantised by the scales that follow from it.
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t i = 0; i < 3; ++i) quantise(set, i);
    update_scales(set);
  }
  return set;
}

void LinearFp8Case::place(Set& set) const {
  Arena need_products(nullptr);
  Arena need_casts(nullptr);
  take_products(need_products, specs_, set.products);
  take_casts(need_casts, set.casts);
  set.out = DeviceBuffer(need_products.used() + (spec_.cast ? need_casts.used() : 0));
  if (!spec_.cast) set.quantised = DeviceBuffer(need_casts.used());
  Arena products(&set.out);
  take_products(products, specs_, set.products);
  Arena apart(&set.quantised);
  take_casts(spec_.cast ? products : apart, set.casts);

  const auto connect = [&](GemmOperands& product, std::size_t x, std::size_t w) {
    product.x_scale = &set.casts[x].scaling->inverse_scale;
    product.w_scale = &set.casts[w].scaling->inverse_scale;
  };
  connect(set.products[0], kX, kW);
  connect(set.products[1], kDy, kW);
  connect(set.products[2], kDy, kX);
  set.products[0].x = set.casts[kX].out;          // [tokens, in]
  set.products[0].w = set.casts[kW].out;          // [out, in]
  set.products[1].x = set.casts[kDy].out;         // [tokens, out]
  set.products[1].w = set.casts[kW].transposed;   // [in, out]
  set.products[2].x = set.casts[kDy].transposed;  // [out, tokens]
  set.products[2].w = set.casts[kX].transposed;   // [in, tokens]
}

void LinearFp8Case::quantise(const Set& set, std::size_t which) const {
  check_cuda(quantise_transpose(set.casts[which], stream()), "quantise_transpose");
}

void LinearFp8Case::update_scales(const Set& set) const {
  check_cuda(update_scaling(set.scaling.as<Fp8Scaling>(), kTypes.data(), 3, stream()),
             "update_scaling");
}

void LinearFp8Case::multiply(const Set& set, std::size_t which) {
  gemms_[which].run(set.products[which], stream());
}

void LinearFp8Case::launch(int slot) {
  const Set& one = set(slot);
  if (!spec_.cast) {
    for (std::size_t i = 0; i < 3; ++i) multiply(one, i);
    return;
  }
  quantise(one, kX);
  quantise(one, kW);
  multiply(one, 0);
  quantise(one, kDy);
  multiply(one, 1);
  multiply(one, 2);
  update_scales(one);
}

std::string LinearFp8Case::cast_fault(const Set& set, std::size_t which) const {
  const QuantiseProblem& cast = set.casts[which];
  auto* const device_result = cast_result_.as<QuantiseCheckResult>();
  check_cuda(check_quantised(cast, device_result, stream()), "check_quantised");
  const auto found = read_back<QuantiseCheckResult>(device_result, stream());
  const auto scaling = read_back<Fp8Scaling>(cast.scaling, stream());
  const char* const name = kOperandNames[which];
  const float noted = scaling.history[kAmaxHistory - 1];
  if (noted != found.amax) {
    return fmt::format("amax of {}: {:.9g} was noted, it is {:.9g}", name, noted, found.amax);
  }
  const float scale = fp8_max(cast.type) / found.amax;
  if (scaling.scale != scale || scaling.inverse_scale != 1.0F / scale) {
    return fmt::format("scale of {}: {:.9g} (inverse {:.9g}), expected {:.9g}", name, scaling.scale,
                       scaling.inverse_scale, scale);
  }
  if (found.wrong == 0) return {};
  return fmt::format("quantised {}: {} elements differ, the first at row {}, column {}", name,
                     found.wrong, found.first_wrong / static_cast<std::uint64_t>(cast.columns),
                     found.first_wrong % static_cast<std::uint64_t>(cast.columns));
}

Verification LinearFp8Case::verify(int slot, int attempt) {
  const Set& one = set(slot);
  Verification worst;
  const auto share = [](const Verification& v) { return v.error.value_or(0) / *v.tolerance; };
  for (std::size_t i = 0; i < 3; ++i) {
    const double tolerance = gemm_tolerance(specs_[i].precision, specs_[i].k, kGemmCheckColumns,
                                            gemm_element_sd(specs_[i].k));
    const Verification found =
        check_(problem_of(specs_[i], one.products[i]), tolerance,
               kGemmSeed + 1000 + 3 * static_cast<std::uint64_t>(attempt) + i,
               fmt::format("{}, buffer set {}", kProductNames[i], slot));
    const bool wrong = found.status != VerificationStatus::kVerified;
    if (i == 0 || wrong || share(found) > share(worst)) worst = found;
    if (wrong) break;
  }
  worst.method += ", of three products; amax, scales and quantised operands exactly";
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string fault = cast_fault(one, i);
    if (fault.empty()) continue;
    worst.status = VerificationStatus::kWrong;
    worst.detail = fmt::format("{}, buffer set {}", fault, slot);
    break;
  }
  return worst;
}

Json LinearFp8Case::algorithm() const {
  Json algorithm = Json::object();
  for (std::size_t i = 0; i < 3; ++i) algorithm[kProductNames[i]] = gemms_[i].algorithm();
  return algorithm;
}

}  // namespace assay
