// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/links/spec.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <vector>

#include "reports/error.h"
#include "reports/json_fields.h"
#include "reports/peer_id.h"
#include "reports/size_text.h"
#include "reports/text.h"

namespace assay {

constexpr std::array<EnumName<Transfer>, 8> enum_names(Transfer) {
  return {{{Transfer::kH2d, "h2d"},
           {Transfer::kD2h, "d2h"},
           {Transfer::kBoth, "both"},
           {Transfer::kZeroCopy, "zerocopy"},
           {Transfer::kP2pWrite, "p2p_write"},
           {Transfer::kP2pRead, "p2p_read"},
           {Transfer::kP2pBoth, "p2p_both"},
           {Transfer::kP2p, "p2p"}}};
}

namespace {

constexpr std::string_view kPrefix = "links/";
constexpr std::string_view kLatency = "latency";
constexpr std::string_view kPower = "burst";
constexpr std::string_view kTo = kPeerVariant.substr(1);
constexpr std::int64_t kLargest = std::int64_t{1} << 40;

bool is_peer(Transfer transfer) { return transfer >= Transfer::kP2pWrite; }

// Reads one id; its errors name it.
class Reader {
 public:
  explicit Reader(std::string_view id) : id_(id) {}

  LinkSpec read() const {
    const std::vector<std::string> parts = split(id_.substr(kPrefix.size()), '/');
    if (parts.size() != 3) refuse("expected links/<transfer>/<size>/burst");
    // A copy is no load that heats a card: there is nothing to sustain.
    if (parts[2] != kPower) refuse(fmt::format("'{}': expected burst", parts[2]));
    const std::vector<std::string> words = split(parts[1], '+');
    LinkSpec spec;
    spec.latency = parts[0] == kLatency;
    spec.transfer = transfer(spec.latency ? words[0] : parts[0]);
    if (!spec.latency) spec.bytes = size(words[0]);
    for (std::size_t i = 1; i < words.size(); ++i) add_variant(spec, words[i]);
    check(spec);
    return spec;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ExitCode::kUsage, fmt::format("case '{}': {}", id_, why));
  }

  Transfer transfer(const std::string& name) const {
    const std::optional<Transfer> found = parse_enum<Transfer>(name);
    if (!found) {
      refuse(fmt::format(
          "no transfer '{}'; there are: h2d d2h both zerocopy p2p_write p2p_read p2p_both, and "
          "latency",
          name));
    }
    return *found;
  }

  std::int64_t size(std::string_view text) const {
    const auto bytes = parse_size(text);
    if (!bytes || *bytes == 0 || *bytes > kLargest) {
      refuse(fmt::format("'{}': expected a size from 1B to 1024GiB", text));
    }
    return *bytes;
  }

  void add_variant(LinkSpec& spec, std::string_view variant) const {
    if (variant == "sm") {
      spec.sm = true;
    } else if (variant == "pageable") {
      spec.pageable = true;
    } else if (variant == "far") {
      spec.far = true;
    } else if (variant.starts_with(kTo)) {
      spec.to = peer(variant.substr(kTo.size()));
    } else {
      refuse(fmt::format("no variant '{}'; there are: sm pageable far to=<peer>", variant));
    }
  }

  int peer(std::string_view text) const {
    if (text == kEachPeerName) return kEachPeer;
    int index = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (error != std::errc() || end != text.data() + text.size() || index < 0) {
      refuse(fmt::format("'to={}': expected NVML's index of a GPU, or each", text));
    }
    return index;
  }

  void check(const LinkSpec& spec) const {
    if (is_peer(spec.transfer)) return check_peer(spec);
    if (spec.to) refuse("to= is of transfers between GPUs");
    if (id_of(spec) != id_) refuse(fmt::format("write it {}", id_of(spec)));
    if (spec.latency && spec.transfer == Transfer::kBoth) refuse("a latency has one direction");
    if ((spec.latency || spec.transfer == Transfer::kZeroCopy) && (spec.sm || spec.pageable)) {
      refuse("far is its only variant");
    }
    if (spec.pageable && spec.sm) refuse("the processors do not reach pageable memory");
    if (spec.pageable && spec.transfer == Transfer::kBoth) {
      refuse("copies of pageable memory wait for their end: two of them are never under way");
    }
  }

  void check_peer(const LinkSpec& spec) const {
    if (!spec.to) refuse("a transfer between GPUs says to which: to=<index> or to=each");
    if (spec.latency != (spec.transfer == Transfer::kP2p)) {
      refuse(
          "p2p is the latency between GPUs, links/latency/p2p+to=<peer>/burst, and the only one");
    }
    if (spec.pageable || spec.far) refuse("pageable and far are of host memory");
    if (spec.latency && spec.sm) refuse("to is its only variant");
    if (id_of(spec) != id_) refuse(fmt::format("write it {}", id_of(spec)));
  }

  std::string_view id_;
};

}  // namespace

bool LinkSpec::chases() const {
  return latency && (transfer == Transfer::kZeroCopy || transfer == Transfer::kP2p);
}

bool LinkSpec::both_ways() const {
  return transfer == Transfer::kBoth || transfer == Transfer::kP2pBoth;
}

double LinkSpec::bytes_moved() const {
  if (chases()) return 8.0 * kChaseLoads;
  if (latency) return static_cast<double>(kLatencyCopyBytes);
  return static_cast<double>(bytes) * (both_ways() ? 2 : 1);
}

std::string id_of(const LinkSpec& spec) {
  const std::string transfer = to_string(spec.transfer);
  std::string id = fmt::format("{}{}/{}", kPrefix, spec.latency ? std::string(kLatency) : transfer,
                               spec.latency ? transfer : size_text(spec.bytes));
  if (spec.sm) id += "+sm";
  if (spec.pageable) id += "+pageable";
  if (spec.far) id += "+far";
  if (spec.to == kEachPeer) {
    id += fmt::format("{}{}", kPeerVariant, kEachPeerName);
  } else if (spec.to) {
    id += fmt::format("{}{}", kPeerVariant, *spec.to);
  }
  return fmt::format("{}/{}", id, kPower);
}

Json parameters_of(const LinkSpec& spec) {
  const bool processors = spec.sm || spec.chases() || spec.transfer == Transfer::kZeroCopy;
  Json fields = {{"transfer", to_string(spec.transfer)},
                 {"engine", processors ? "processors" : "copy engine"}};
  if (!spec.to) {
    fields["host_memory"] = spec.pageable ? "pageable" : "page-locked";
    fields["host_node"] = spec.far ? "far" : "near";
  }
  if (!spec.latency) {
    fields["bytes"] = spec.bytes;
  } else if (spec.chases()) {
    fields["loads"] = kChaseLoads;
  } else {
    fields["bytes"] = kLatencyCopyBytes;
  }
  return fields;
}

std::optional<LinkSpec> parse_link_id(std::string_view id) {
  if (!id.starts_with(kPrefix)) return std::nullopt;
  return Reader(id).read();
}

}  // namespace assay
