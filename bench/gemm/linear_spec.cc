// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/linear_spec.h"

#include <fmt/format.h>

#include <vector>

#include "reports/error.h"
#include "reports/text.h"

namespace assay {
namespace {

constexpr std::string_view kPrefix = "gemm/linear_fp8/";
constexpr std::int64_t kAlignment = 16;

[[noreturn]] void refuse(std::string_view id, const std::string& why) {
  throw Error(ExitCode::kUsage, fmt::format("case '{}': {}", id, why));
}

std::int64_t size(std::string_view id, std::string_view text) {
  const std::optional<std::int64_t> value = parse_gemm_size(text);
  if (!value || *value % kAlignment != 0) {
    refuse(id, fmt::format("'{}': expected a multiple of {} up to 2^40", text, kAlignment));
  }
  return *value;
}

}  // namespace

std::array<GemmSpec, 3> LinearSpec::products() const {
  std::array<GemmSpec, 3> all;
  for (GemmSpec& one : all) {
    one.precision = Precision::kFp8E5M2;
    one.power = power;
  }
  all[0].precision = Precision::kFp8E4M3;
  all[0].m = tokens, all[0].n = out, all[0].k = in;
  all[1].m = tokens, all[1].n = in, all[1].k = out;
  all[2].m = out, all[2].n = in, all[2].k = tokens;
  return all;
}

double LinearSpec::operations() const {
  double sum = 0;
  for (const GemmSpec& one : products()) sum += one.operations();
  return sum;
}

double LinearSpec::bytes() const {
  double sum = 0;
  for (const GemmSpec& one : products()) sum += one.bytes();
  if (!cast) return sum;
  const auto t = static_cast<double>(tokens);
  const auto i = static_cast<double>(in);
  const auto o = static_cast<double>(out);
  return sum + 4 * (t * i + o * i + t * o);
}

std::string id_of(const LinearSpec& spec) {
  Conditions conditions;
  conditions.power = spec.power;
  return fmt::format("{}{}x{}x{}+{}/{}", kPrefix, spec.tokens, spec.in, spec.out,
                     spec.cast ? "cast" : "gemm", condition_suffix(conditions));
}

Json parameters_of(const LinearSpec& spec) {
  return {{"tokens", spec.tokens},
          {"in", spec.in},
          {"out", spec.out},
          {"timed", spec.cast ? "cast, transpose, scale update and products" : "products"},
          {"forward", "E4M3 x E4M3, fast accumulation"},
          {"backward", "E5M2 x E4M3"},
          {"outputs", "BF16"},
          {"scaling", "delayed"}};
}

std::optional<LinearSpec> parse_linear_id(std::string_view id) {
  if (!id.starts_with(kPrefix)) return std::nullopt;
  constexpr const char* kForm = "expected <tokens>x<in>x<out>+<gemm|cast>/<burst|sustained>";
  const std::vector<std::string> parts = split(id.substr(kPrefix.size()), '/');
  if (parts.size() != 2) refuse(id, kForm);
  const std::vector<std::string> layer = split(parts[0], '+');
  const std::vector<std::string> sizes = split(layer[0], 'x');
  const auto power = parse_enum<Power>(parts[1]);
  if (layer.size() != 2 || sizes.size() != 3 || !power ||
      (layer[1] != "gemm" && layer[1] != "cast")) {
    refuse(id, kForm);
  }
  LinearSpec spec;
  spec.tokens = size(id, sizes[0]);
  spec.in = size(id, sizes[1]);
  spec.out = size(id, sizes[2]);
  spec.cast = layer[1] == "cast";
  spec.power = *power;
  if (id_of(spec) != id) refuse(id, fmt::format("write it {}", id_of(spec)));
  return spec;
}

}  // namespace assay
