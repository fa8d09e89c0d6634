// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What people read. Each is a function of the report alone: the same report gives the same bytes,
// whatever the locale, the terminal or the machine.
#pragma once

#include <string>
#include <vector>

#include "reports/claims.h"
#include "reports/report.h"

namespace assay {

// The summary that `accept` and `judge` print (PASS / FAIL / INCONCLUSIVE / NOT JUDGED first).
// `report_path` is printed as given.
[[nodiscard]] std::string render_summary(const Report& report, const std::string& report_path);

[[nodiscard]] std::string render_markdown(const Report& report);

// {"verdict": one lower-case word ("info": nobody judged), "rows": [{"id", "device", "status",
// ...}], "counts": {...}, "not_judged": [{"device", "reason"}], "not_checked": [one line each]}
[[nodiscard]] Json render_rows_json(const Report& report);

// The claims, for people and in the rows form.
[[nodiscard]] std::string render_claims(const std::vector<ClaimResult>& results);
[[nodiscard]] Json render_claims_json(const std::vector<ClaimResult>& results);

// Serials, UUIDs, host and user names, boot and board ids become "redacted-" and 12 hexadecimal
// digits of a salted SHA-256: the same value gives the same token inside one report. Idempotent.
[[nodiscard]] Report redacted(Report report);

}  // namespace assay
