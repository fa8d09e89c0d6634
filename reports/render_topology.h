// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// What joins GPUs and network, a line each, for the summary and the Markdown page.
#pragma once

#include <string>
#include <vector>

#include "reports/report.h"

namespace assay {

// "NVLink 4: 18 of 18 links to a switch on each of 8 GPUs; 28 pairs NV18" or "NVLink: one GPU, no
// peer", and "NICs: 8 InfiniBand ports, 8 active at 400 Gb/s" where there are any.
[[nodiscard]] std::vector<std::string> topology_lines(const Report& report);

}  // namespace assay
