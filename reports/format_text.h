// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// How figures, units and cases are written for people; shared by faults, verdicts and renderers.
// None of it asks the locale.
//
//   figure(668.97)                                        // "669"
//   case_title("gemm/bf16/8192x8192x8192/sustained")      // "BF16 8192^3 sustained"
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "reports/report.h"
#include "reports/text.h"

namespace assay {

// "GPU 3", by NVML's order.
[[nodiscard]] inline std::string name_of(const GpuInventory& gpu) {
  return fmt::format("GPU {}", gpu.index);
}

// Three or four digits that count: "4610", "669", "55.4", "1.25", "0.0123".
[[nodiscard]] inline std::string figure(double value) {
  const double size = std::fabs(value);
  if (!(size < 99.95)) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  if (size >= 1) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3g}", value);
}

// `value` with as many decimals as figure(like) shows, so that a range lines up with its median.
[[nodiscard]] inline std::string figure_like(double value, double like) {
  const std::string shape = figure(like);
  const auto point = shape.find('.');
  if (shape.find('e') != std::string::npos) return figure(value);
  const int decimals = point == std::string::npos ? 0 : static_cast<int>(shape.size() - point - 1);
  return fmt::format("{:.{}f}", value, decimals);
}

[[nodiscard]] inline std::string unit_text(std::string_view unit) {
  return unit == "TFLOPS" ? "TF/s" : std::string(unit);
}

// "fp8_e4m3" -> "FP8 E4M3".
[[nodiscard]] inline std::string precision_title(std::string precision) {
  for (char& c : precision) {
    c = c == '_' ? ' ' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return precision;
}

// A case for the eye; different ids never share a title. As it is where nothing is known of it.
[[nodiscard]] std::string case_title(std::string_view id);

// "669 TF/s, floor 620".
[[nodiscard]] inline std::string against_floor(const Metric& metric, double floor) {
  return fmt::format("{} {}, floor {}", figure(metric.value), unit_text(metric.unit),
                     figure_like(floor, metric.value));
}

// "errored: cublasLtMatmul: ...".
[[nodiscard]] inline std::string failure_text(const Record& record) {
  return to_string(record.status) + ": " + record.message;
}

// The row's word in tables and in the rows form.
[[nodiscard]] inline JudgedStatus shown_status(const Report& report, const Record& record) {
  if (report.verdict) return record.judged.status;
  return record.status == RecordStatus::kOk ? JudgedStatus::kInfo : JudgedStatus::kNotMeasured;
}

// Of the runs, then of the verdict.
[[nodiscard]] inline std::vector<std::string> shown_warnings(const Record& record) {
  std::vector<std::string> all = record.warnings;
  all.insert(all.end(), record.judged.warnings.begin(), record.judged.warnings.end());
  return all;
}

[[nodiscard]] inline std::string shown_reason(const Record& record) {
  if (!record.judged.reason.empty() || record.status == RecordStatus::kOk) {
    return record.judged.reason;
  }
  return failure_text(record);
}

}  // namespace assay
