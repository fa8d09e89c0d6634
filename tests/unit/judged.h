// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of judge() have in common.
#pragma once

#include <gtest/gtest.h>

#include "tests/unit/sample_report.h"

namespace assay::samples {

inline const std::vector<double> kGrosslySlow = {500, 501, 502, 503, 504};
// Four below 620, then seven at the usual figure: undecided after 5, inconclusive after 12.
inline const std::vector<double> kWavering = {669, 600, 601, 602, 603, 669,
                                              668, 667, 666, 665, 664, 663};

inline std::vector<std::string> codes(const Report& report) {
  std::vector<std::string> result;
  for (const Fault& fault : report.faults) result.push_back(fault.code);
  return result;
}

inline void expect_verdict(const Report& report, JudgedStatus status, int exit_code) {
  ASSERT_TRUE(report.verdict);
  EXPECT_EQ(to_string(report.verdict->status), to_string(status)) << report.verdict->summary;
  EXPECT_EQ(report.verdict->exit_code, exit_code) << report.verdict->summary;
}

}  // namespace assay::samples
