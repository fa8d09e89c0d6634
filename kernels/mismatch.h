// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What an exact check on the device found; lives in device memory. A check resets it first.
#pragma once

namespace assay {

struct MismatchReport {
  unsigned long long count;
  unsigned long long first;  // the least index that was wrong; all bits set if none was
  unsigned long long total;  // of a check that adds up, as a signed number
};

}  // namespace assay
