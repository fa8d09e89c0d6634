// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace assay {

// The source tree's revision when the program was last built, as git describes it
// ("1a2b3c4-dirty"); empty outside a checkout. Written by cmake/Revision.cmake.
[[nodiscard]] const char* revision();

}  // namespace assay
