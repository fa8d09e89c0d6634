// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "reports/format_text.h"

namespace assay {
namespace {

using Parts = std::vector<std::string>;

// "8192x8192x8192" -> "8192^3"; anything else as it is.
std::string short_shape(const std::string& shape) {
  const Parts sides = split(shape, 'x');
  const bool digits = std::all_of(sides.front().begin(), sides.front().end(),
                                  [](unsigned char c) { return c >= '0' && c <= '9'; });
  if (!digits || sides.size() != 3 || sides[0] != sides[1] || sides[1] != sides[2]) return shape;
  return sides[0] + "^3";
}

Parts gemm_title(Parts parts) {
  if (parts.front() == "ceiling") return {precision_title(parts[1]), "ceiling", parts.back()};
  parts.front() = parts.front() == "linear_fp8" ? "FP8 linear" : precision_title(parts.front());
  Parts shape = split(parts[1], '+');
  shape.front() = short_shape(shape.front());
  parts[1] = join(shape, " ");
  return parts;
}

// Transfers do not depend on the power condition: burst is what everybody means.
void leave_out(Parts& parts, std::string_view word) {
  parts.erase(std::remove(parts.begin(), parts.end(), word), parts.end());
}

Parts memory_title(Parts parts) {
  leave_out(parts, "burst");
  parts[1] = join(split(parts[1], '+'), " ");
  if (parts[0] == "l2_read") {
    leave_out(parts, "warm");
    parts[0] = "L2 read";
    return parts;
  }
  const bool apart = parts[0] == "latency" || parts[0] == "integrity" ||
                     std::ranges::find(parts, "warm") != parts.end();
  parts.insert(parts.begin(), apart ? "memory" : "DRAM");
  return parts;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kTransfers = {
    {{"h2d", "host to device"},
     {"d2h", "device to host"},
     {"both", "host, both ways"},
     {"zerocopy", "zero-copy read"},
     {"p2p", "peer"},
     {"p2p_write", "peer write"},
     {"p2p_read", "peer read"},
     {"p2p_both", "peer, both ways"}}};

std::string transfer_title(const std::string& transfer) {
  for (const auto& [name, title] : kTransfers) {
    if (name == transfer) return std::string(title);
  }
  return transfer;
}

// "512MiB+sm+to=3" -> "512MiB", "sm", "GPU 3".
Parts options_of(const std::string& text) {
  Parts options = split(text, '+');
  for (std::string& option : options) {
    if (option == "to=each") option = "each GPU";
    if (option.starts_with("to=")) option = "GPU " + option.substr(3);
  }
  return options;
}

Parts links_title(Parts parts) {
  leave_out(parts, "burst");
  Parts options = options_of(parts[1]);
  if (parts[0] == "latency") {
    options.front() = transfer_title(options.front());
  } else {
    parts[0] = transfer_title(parts[0]);
  }
  parts[1] = join(options, " ");
  return parts;
}

}  // namespace

std::string case_title(std::string_view id) {
  Parts parts = split(id, '/');
  if (parts.size() < 3) return std::string(id);
  const std::string family = parts.front();
  parts.erase(parts.begin());
  if (family == "gemm") return join(gemm_title(std::move(parts)), " ");
  if (family == "memory") return join(memory_title(std::move(parts)), " ");
  if (family == "links") return join(links_title(std::move(parts)), " ");
  return std::string(id);
}

}  // namespace assay
