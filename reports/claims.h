// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The statements of the two documents about PyTorch on A100 and H100 (configs/targets/
// documents.yaml, D01-D42), each with a verdict of its own. Claims never touch an exit code.
//
//   const std::vector<Claim> claims = load_claims(config_dir() / "targets" / "documents.yaml");
//   for (const ClaimResult& r : judge_claims(claims, report)) ...
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/json_fields.h"
#include "reports/report.h"

namespace assay {

enum class ClaimKind { kMetric, kContext, kNotMeasurable };
constexpr std::array<EnumName<ClaimKind>, 3> enum_names(ClaimKind) {
  return {{{ClaimKind::kMetric, "metric"},
           {ClaimKind::kContext, "context"},
           {ClaimKind::kNotMeasurable, "not_measurable"}}};
}

enum class ClaimVerdict { kConfirmed, kRefuted, kInconclusive, kNotMeasured };
constexpr std::array<EnumName<ClaimVerdict>, 4> enum_names(ClaimVerdict) {
  return {{{ClaimVerdict::kConfirmed, "confirmed"},
           {ClaimVerdict::kRefuted, "refuted"},
           {ClaimVerdict::kInconclusive, "inconclusive"},
           {ClaimVerdict::kNotMeasured, "not_measured"}}};
}

// How a claim is judged, in data: documents.yaml lists the checks, each with the SKUs it speaks of.
//   ratio: primary metric of `id` over that of `base_id`, within [at_least, at_most]; both of one
//     card and report. Run by run where both have as many: what a card's drift does to both
//     cancels. Else the bounds are the worst of both intervals
//   share: primary metric of `id` over `of` (a figure of the claim), within [at_least, at_most]; of
//     `id` and `or_ids` the highest that was measured counts
//   inventory: the field `field` of the GPU's inventory equals `equals`; the fields are
//     compute_capability, sm_count, and mig_offered ("true" where NVML reports a MIG mode)
//   mig_slices: the number of slices of a card in MIG mode is within [at_least, at_most]
//   ran: `id` ended ok (equals "ok") or was skipped (equals "skipped") as the claim says; where
//     `metric` is given, ok needs a figure of it, too
//   fastest: the fastest precision that was measured as correct (reports/fastest.h) is one of
//     `any_of`
//   nvlink_rate: active NVLinks of the inventory times the data sheet's rate of one, both ways,
//   reach
//     `of` GB/s
//   driver: major version of the host's driver is at_least
//   nvlink_pairs: every pair of GPUs is on NVLink
//   host_facts: shows IOMMU, ACS and SR-IOV as far as they were read, and decides nothing
// The last three are of the node, not of a card.
// Intervals (ci_low, ci_high) decide: one that reaches over a bound is inconclusive.
struct ClaimCheck {
  std::string type;
  std::vector<std::string> skus;  // prefixes of slugs: "a100", "h100-sxm"; empty: every card
  std::string id;
  std::vector<std::string> or_ids;
  std::string base_id;
  std::string field;
  std::string equals;
  std::string metric;               // of the record, "gflop_per_joule"; empty: none is asked for
  std::vector<std::string> any_of;  // precisions, "fp8_e4m3"
  std::optional<double> of;
  std::optional<double> at_least;
  std::optional<double> at_most;
  std::string label;  // of the figure, for people: "TF32 / FP32"; empty: the ids
};

struct Claim {
  std::string id;        // "D05"
  std::string document;  // "P27", "P28", "P27 P28"
  std::string quote;
  std::string plain;  // in English
  ClaimKind kind = ClaimKind::kMetric;
  std::string judged_by;           // in words
  std::vector<ClaimCheck> checks;  // empty: nothing that runs today judges it
  std::string reason;              // why it is not measurable, or what would judge it
};

// Whether a check of this type speaks of the node.
[[nodiscard]] bool is_of_node(std::string_view type);

struct ClaimResult {
  const Claim* claim = nullptr;
  ClaimVerdict verdict = ClaimVerdict::kNotMeasured;
  std::string device;    // uuid, empty if about no device
  std::string measured;  // "TF32 / FP32 = 6.6x, claimed up to 6x"
  std::string reason;
};

// Whether a claim that has checks speaks of the node, not of a card.
[[nodiscard]] bool about_node(const Claim& claim);

// Throws Error(kUsage) with file and line: unknown keys and check types, a check that lacks what
// its type needs, a claim that has neither a check nor a reason, an id that appears twice.
[[nodiscard]] std::vector<Claim> load_claims(const std::filesystem::path& file);

// One result a claim and card of the inventory. A claim without a check that fits any card, or of a
// report without a card, gives one kNotMeasured result; so does, a card, one that fits others only.
// The results point into `claims`, which must outlive them.
[[nodiscard]] std::vector<ClaimResult> judge_claims(const std::vector<Claim>& claims,
                                                    const Report& report);
std::vector<ClaimResult> judge_claims(std::vector<Claim>&& claims, const Report& report) = delete;

}  // namespace assay
