// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "reports/error.h"
#include "reports/text.h"

namespace assay {
namespace {

constexpr std::string_view kPrefix = "gemm/";
constexpr std::int64_t kLargest = std::int64_t{1} << 40;

// As BLAS names it, W first.
std::string layout_of(const GemmSpec& spec) {
  return fmt::format("{}{}", spec.w_k_contiguous ? 'T' : 'N', spec.x_k_contiguous ? 'N' : 'T');
}

// Reads one id; its errors name it.
class Reader {
 public:
  explicit Reader(std::string_view id) : id_(id) {}

  GemmSpec read() const {
    const std::vector<std::string> parts = split(id_.substr(kPrefix.size()), '/');
    if (parts.size() != 3) refuse("expected gemm/<precision>/<m>x<n>x<k>/<burst|sustained>");
    GemmSpec spec;
    spec.precision = precision(parts[0]);
    const std::vector<std::string> product = split(parts[1], '+');
    const std::vector<std::string> sizes = split(product[0], 'x');
    if (sizes.size() != 3) refuse(fmt::format("'{}': expected <m>x<n>x<k>", product[0]));
    spec.m = number(sizes[0]);
    spec.n = number(sizes[1]);
    spec.k = number(sizes[2]);
    for (std::size_t i = 1; i < product.size(); ++i) add_variant(spec, product[i]);
    const auto power = parse_enum<Power>(parts[2]);
    if (!power) refuse(fmt::format("'{}': expected burst or sustained", parts[2]));
    spec.power = *power;
    check(spec);
    // Offsets are counted in signed 64 bits.
    if (!(spec.bytes() < 0x1p62)) refuse("its operands are more than 2^62 bytes");
    return spec;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ExitCode::kUsage, fmt::format("case '{}': {}", id_, why));
  }

  Precision precision(std::string_view name) const {
    if (const PrecisionInfo* info = find_precision(name)) return info->precision;
    std::string known;
    for (const PrecisionInfo& info : precisions()) known += fmt::format(" {}", info.name);
    refuse(fmt::format("no precision '{}'; there are:{}", name, known));
  }

  std::int64_t number(std::string_view text) const {
    const std::optional<std::int64_t> value = parse_gemm_size(text);
    if (!value) refuse(fmt::format("'{}': expected a whole number from 1 to 2^40", text));
    return *value;
  }

  void add_variant(GemmSpec& spec, std::string_view variant) const {
    const std::size_t equals = variant.find('=');
    const std::string_view name = variant.substr(0, equals);
    if (name == "batch" || name == "pointers") {
      if (equals == std::string_view::npos) refuse(fmt::format("'{}': expected {}=B", name, name));
      spec.batch = number(variant.substr(equals + 1));
      if (spec.batch > INT32_MAX) refuse(fmt::format("'{}': at most 2^31 - 1 products", variant));
      spec.pointers = name == "pointers";
    } else if (variant == "nn" || variant == "nt" || variant == "tt") {
      spec.w_k_contiguous = variant[0] == 't';
      spec.x_k_contiguous = variant[1] == 'n';
    } else if (variant == "bias") {
      spec.bias = true;
    } else if (variant == "rowwise") {
      spec.rowwise = true;
    } else if (variant == "sparse") {
      spec.sparse = true;
    } else if (variant == "float_data") {
      spec.float_data = true;
    } else {
      refuse(
          fmt::format("no variant '{}'; there are: nn nt tt batch=B pointers=B bias rowwise sparse "
                      "float_data",
                      variant));
    }
  }

  void check(const GemmSpec& spec) const {
    const PrecisionInfo& info = info_of(spec.precision);
    if (id_of(spec) != id_) refuse(fmt::format("write it {}", id_of(spec)));
    if (info.k_contiguous_only && !(spec.w_k_contiguous && spec.x_k_contiguous)) {
      refuse(fmt::format("{} takes layout tn only", info.name));
    }
    if (spec.n % info.alignment != 0 || spec.k % info.alignment != 0) {
      refuse(fmt::format("{} needs n and k that are multiples of {}", info.name, info.alignment));
    }
    if (spec.rowwise && !info.is_fp8()) refuse("rowwise scales belong to FP8");
    if (spec.float_data && spec.precision != Precision::kFp64) refuse("float_data belongs to fp64");
    if (spec.bias && spec.precision == Precision::kInt8) refuse("no bias for INT32 outputs");
    if (!spec.sparse) return;
    if (!has_sparse(spec.precision)) refuse("sparse products: fp16, bf16, fp8_e4m3 and int8");
    if (spec.batch > 1 || spec.pointers || spec.bias || spec.rowwise || !spec.w_k_contiguous ||
        !spec.x_k_contiguous) {
      refuse("sparse excludes every other variant");
    }
    if (spec.m % 16 != 0 || spec.n % 32 != 0 || spec.k % 64 != 0) {
      refuse("sparse needs m, n and k that are multiples of 16, 32 and 64");
    }
  }

  std::string_view id_;
};

}  // namespace

double GemmSpec::operations() const {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
         static_cast<double>(batch);
}

double GemmSpec::bytes() const {
  const PrecisionInfo& info = info_of(precision);
  const double x = static_cast<double>(m) * static_cast<double>(k);
  const double w = static_cast<double>(n) * static_cast<double>(k);
  const double d = static_cast<double>(m) * static_cast<double>(n);
  const auto w_bytes = static_cast<double>(element_bytes(info.w));
  return static_cast<double>(batch) * (x * static_cast<double>(element_bytes(info.x)) +
                                       w * (sparse ? w_bytes / 2 + 1.0 / 8 : w_bytes) +
                                       d * static_cast<double>(element_bytes(info.d)));
}

std::string id_of(const GemmSpec& spec) {
  std::string id =
      fmt::format("{}{}/{}x{}x{}", kPrefix, info_of(spec.precision).name, spec.m, spec.n, spec.k);
  if (const std::string layout = layout_of(spec); layout != "TN") id += "+" + lower(layout);
  if (spec.pointers) {
    id += fmt::format("+pointers={}", spec.batch);
  } else if (spec.batch != 1) {
    id += fmt::format("+batch={}", spec.batch);
  }
  if (spec.bias) id += "+bias";
  if (spec.rowwise) id += "+rowwise";
  if (spec.sparse) id += "+sparse";
  if (spec.float_data) id += "+float_data";
  Conditions conditions;
  conditions.power = spec.power;
  return id + "/" + condition_suffix(conditions);
}

Json parameters_of(const GemmSpec& spec) {
  Json fields = {{"precision", info_of(spec.precision).name},
                 {"m", spec.m},
                 {"n", spec.n},
                 {"k", spec.k},
                 {"layout", layout_of(spec)}};
  if (info_of(spec.precision).is_fp8()) {
    fields["fast_accumulation"] = spec.precision == Precision::kFp8E4M3;
  }
  if (spec.batch != 1 || spec.pointers) {
    fields["batch"] = spec.batch;
    fields["batch_by"] = spec.pointers ? "pointers" : "stride";
  }
  if (spec.bias) fields["bias"] = true;
  if (spec.rowwise) fields["scales"] = "rowwise";
  if (spec.sparse) fields["sparse"] = "2:4";
  if (spec.float_data) fields["float_data"] = true;
  return fields;
}

std::optional<std::int64_t> parse_gemm_size(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value < 1 || value > kLargest) return std::nullopt;
  return value;
}

std::optional<GemmSpec> parse_gemm_id(std::string_view id) {
  if (!id.starts_with(kPrefix)) return std::nullopt;
  const std::string_view rest = id.substr(kPrefix.size());
  for (const std::string_view other : {"ceiling/", "linear_fp8/"}) {
    if (rest.starts_with(other)) return std::nullopt;
  }
  return Reader(id).read();
}

std::string why_not(const GemmSpec& spec, int compute_capability) {
  const PrecisionInfo& info = info_of(spec.precision);
  const int least = spec.sparse    ? std::max(info.least_capability, 80)
                    : spec.rowwise ? std::max(info.least_capability, 90)
                                   : info.least_capability;
  if (compute_capability >= least) return {};
  return fmt::format("{}{} needs compute capability {}.{}, the device has {}.{}", info.name,
                     spec.rowwise ? " with rowwise scales" : "", least / 10, least % 10,
                     compute_capability / 10, compute_capability % 10);
}

}  // namespace assay
