// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "reports/faults.h"
#include "reports/format_text.h"
#include "reports/pcie_faults.h"
#include "reports/peers.h"
#include "reports/statistics.h"

namespace assay {
namespace {

// Below this share of the node's other pairs a pair is slow. Links of one kind differ by less than
// a hundredth.
constexpr double kSlowShare = 0.9;
// Fewer other pairs are no usual figure.
constexpr std::size_t kFewestPeers = 2;

using Pair = std::pair<const GpuInventory*, const GpuInventory*>;  // in the inventory's order
using Pairs = std::vector<Pair>;

std::string name_of(const Pair& pair) {
  return fmt::format("GPU {} <-> GPU {}", pair.first->index, pair.second->index);
}

bool touches(const Pair& pair, const GpuInventory* gpu) {
  return pair.first == gpu || pair.second == gpu;
}

bool holds(const Pairs& pairs, const Pair& pair) {
  return std::ranges::find(pairs, pair) != pairs.end();
}

// Whose fault bad pairs are, of those that were looked at: of all alike, of GPUs all of whose pairs
// are bad, or of the pairs themselves.
struct Diagnosis {
  bool all = false;
  std::vector<const GpuInventory*> gpus;
  Pairs pairs;
};

Diagnosis diagnose(const Pairs& seen, const Pairs& bad) {
  Diagnosis result;
  result.all = seen.size() > 1 && bad.size() == seen.size();
  if (result.all) return result;
  std::vector<const GpuInventory*> ends;
  for (const Pair& pair : bad) {
    for (const GpuInventory* gpu : {pair.first, pair.second}) {
      if (std::ranges::find(ends, gpu) == ends.end()) ends.push_back(gpu);
    }
  }
  for (const GpuInventory* gpu : ends) {
    const auto count = [&](const Pairs& pairs) {
      return std::ranges::count_if(pairs, [&](const Pair& pair) { return touches(pair, gpu); });
    };
    if (count(seen) > 1 && count(seen) == count(bad)) result.gpus.push_back(gpu);
  }
  for (const Pair& pair : bad) {
    const bool explained = std::ranges::any_of(
        result.gpus, [&](const GpuInventory* gpu) { return touches(pair, gpu); });
    if (!explained) result.pairs.push_back(pair);
  }
  return result;
}

Fault fault_of_pair(std::string_view code, const Pair& pair, std::string title) {
  Fault fault = make_fault(code, pair.first, std::move(title));
  fault.peer = scope_of(*pair.second);
  return fault;
}

// NVLinks as the inventory has them, of boards that wire them.
class LinkStates {
 public:
  explicit LinkStates(const Report& report) : report_(report) {
    for (const GpuInventory& gpu : report.inventory.gpus) {
      if (is_sxm(gpu) && gpu.mig != true && gpu.nvlinks) cards_.push_back(&gpu);
    }
    for (const GpuPeer& one : report.inventory.peers) {
      const Pair pair = {find_gpu(report, one.gpu), find_gpu(report, one.peer)};
      if (!is_card(pair.first) || !is_card(pair.second) || !on_nvlink(one)) continue;
      seen_.push_back(pair);
      if (on_nvlink(one) == false || lost(one, pair) > 0) bad_.push_back(pair);
    }
  }

  std::vector<Fault> check() && {
    const Diagnosis found = diagnose(seen_, bad_);
    if (is_dark() || (found.all && missing_everywhere())) {
      all_alike();
      return std::move(faults_);
    }
    for (const GpuInventory* gpu : found.gpus) one_gpu(*gpu);
    for (const Pair& pair : found.all&& faults_.empty() ? bad_ : found.pairs) {
      // The end that lacks links is the cause, if the other lacks none.
      const bool first = missing(*pair.first) > 0;
      if (first == (missing(*pair.second) > 0)) {
        one_pair(pair);
      } else {
        one_gpu(first ? *pair.first : *pair.second);
      }
    }
    for (const GpuInventory* gpu : cards_) {
      // A GPU alone may have been given without its fabric.
      const bool given = cards_.size() > 1 || gpu->nvlinks->active > 0;
      if (missing(*gpu) > told(*gpu) && given && !is_named(*gpu)) one_gpu(*gpu);
    }
    return std::move(faults_);
  }

 private:
  bool is_card(const GpuInventory* gpu) const {
    return gpu != nullptr && std::ranges::find(cards_, gpu) != cards_.end();
  }
  // The data sheet's: a driver may list links that the card has never had.
  int full(const GpuInventory& gpu) const {
    const GpuSpec* spec = find_spec(report_, gpu.sku);
    return spec != nullptr ? spec->nvlink_links : gpu.nvlinks->present;
  }
  int missing(const GpuInventory& gpu) const {
    return std::max(0, full(gpu) - gpu.nvlinks->active);
  }
  bool missing_everywhere() const {
    return std::ranges::all_of(cards_, [&](const GpuInventory* gpu) { return missing(*gpu) > 0; });
  }
  // Links between two GPUs of a board without a switch that are down at both ends.
  int lost(const GpuPeer& one, const Pair& pair) const {
    const GpuSpec* spec = find_spec(report_, pair.first->sku);
    if (spec == nullptr || !one.nvlinks || pair.first->nvlinks->to_switch > 0) return 0;
    const int usual = cards_.size() == 2 ? full(*pair.first) : full_nvlinks(report_, one, *spec);
    return std::min({usual - *one.nvlinks, missing(*pair.first), missing(*pair.second)});
  }
  // Of a GPU's missing links, those that its bad pairs lack.
  int told(const GpuInventory& gpu) const {
    int links = 0;
    for (const Pair& pair : bad_) {
      if (!touches(pair, &gpu)) continue;
      links += std::max(
          0, lost(*find_peer(report_.inventory, pair.first->uuid, pair.second->uuid), pair));
    }
    return links;
  }
  // Nothing joins any two of them, or every GPU behind a switch lacks links: one cause.
  bool is_dark() const {
    if (cards_.size() < 2) return false;
    const bool direct = std::ranges::any_of(
        cards_, [](const GpuInventory* gpu) { return !gpu->nvlinks->to_gpus.empty(); });
    return (missing_everywhere() && !direct) || nothing_joined();
  }
  bool nothing_joined() const {
    const bool whole =
        std::ranges::all_of(cards_, [&](const GpuInventory* gpu) { return missing(*gpu) == 0; });
    return whole && !seen_.empty() && std::ranges::all_of(seen_, [&](const Pair& pair) {
             return on_nvlink(*find_peer(report_.inventory, pair.first->uuid, pair.second->uuid)) ==
                    false;
           });
  }
  bool is_named(const GpuInventory& gpu) const {
    return std::ranges::any_of(faults_, [&](const Fault& fault) {
      return fault.scope.uuid == gpu.uuid || (fault.peer && fault.peer->uuid == gpu.uuid);
    });
  }
  std::string evidence_of(const GpuInventory& gpu) const {
    return fmt::format("inventory.gpus[{}].nvlinks", &gpu - report_.inventory.gpus.data());
  }
  static std::string down_text(const GpuInventory& gpu) {
    const std::vector<int>& down = gpu.nvlinks->down;
    if (down.empty()) return {};
    return fmt::format("GPU {} link{} {}", gpu.index, down.size() == 1 ? "" : "s",
                       fmt::join(down, " "));
  }

  void all_alike();
  void one_gpu(const GpuInventory& gpu);
  void one_pair(const Pair& pair);

  const Report& report_;
  std::vector<const GpuInventory*> cards_;
  Pairs seen_;
  Pairs bad_;
  std::vector<Fault> faults_;
};

void LinkStates::all_alike() {
  const bool dark = nothing_joined() || std::ranges::all_of(cards_, [](const GpuInventory* gpu) {
                      return gpu->nvlinks->active == 0;
                    });
  const GpuInventory& first = *cards_.front();
  Fault fault = make_fault(
      "FAB-01", nullptr,
      dark ? fmt::format("no two of {} GPUs are joined by NVLink", cards_.size())
           : fmt::format("each of {} GPUs lacks NVLinks: GPU {} has {} of {} up", cards_.size(),
                         first.index, first.nvlinks->active, full(first)));
  fault.confidence = "suspected";
  for (const GpuInventory* gpu : cards_) fault.evidence.push_back(evidence_of(*gpu));
  if (dark && report_.inventory.host.virtualisation != "bare metal") {
    fault.severity = Severity::kNotJudged;
    fault.title += ": kept from this container or virtual machine, or down";
  }
  faults_.push_back(std::move(fault));
}

void LinkStates::one_gpu(const GpuInventory& gpu) {
  std::string title =
      fmt::format("{}: {} of {} NVLinks up", assay::name_of(gpu), gpu.nvlinks->active, full(gpu));
  if (const std::string down = down_text(gpu); !down.empty()) title += "; down: " + down;
  if (missing(gpu) == 0) title += ", and no other GPU is reached over them";
  Fault fault = make_fault("NVL-01", &gpu, std::move(title));
  fault.evidence = {evidence_of(gpu)};
  faults_.push_back(std::move(fault));
}

void LinkStates::one_pair(const Pair& pair) {
  const GpuPeer& one = *find_peer(report_.inventory, pair.first->uuid, pair.second->uuid);
  const int links = one.nvlinks.value_or(0);
  std::string title = name_of(pair);
  if (on_nvlink(one) == false) {
    title += ": not on NVLink but over " + one.path.value_or("PCIe");
    if (links > 0) title += fmt::format(" (P2P: {})", one.p2p_nvlink.value_or("unread"));
  } else {
    title += fmt::format(": {} of {} NVLinks up", links, links + lost(one, pair));
  }
  std::vector<std::string> down;
  for (const GpuInventory* gpu : {pair.first, pair.second}) {
    if (const std::string text = down_text(*gpu); !text.empty()) down.push_back(text);
  }
  if (!down.empty()) title += "; down: " + join(down, ", ");
  Fault fault = fault_of_pair("NVL-02", pair, std::move(title));
  const auto sound = seen_.size() - bad_.size();
  if (sound > 0)
    fault.effect = fmt::format("the other {} sound",
                               sound == 1 ? "pair is" : fmt::format("{} pairs are", sound));
  fault.evidence = {fmt::format("inventory.peers[{}]", &one - report_.inventory.peers.data()),
                    evidence_of(*pair.first), evidence_of(*pair.second)};
  faults_.push_back(std::move(fault));
}

// "links/p2p_write/512MiB+to=3/burst" -> "links/p2p_write/512MiB/burst".
std::string without_peer(const std::string& id) {
  std::vector<std::string> parts = split(id, '/');
  for (std::string& part : parts) {
    std::vector<std::string> options = split(part, '+');
    std::erase_if(options, [](const std::string& option) { return option.starts_with("to="); });
    part = join(options, "+");
  }
  return join(parts, "/");
}

struct Row {
  const Record* record = nullptr;
  Pair pair;
  std::string group;  // rows that are each other's measure
  std::string why;    // it is slow; empty if not
  bool failed = false;
};

// What rows between GPUs say, of those that NVLink joins or of the others.
class SlowPairs {
 public:
  SlowPairs(const Report& report, bool nvlink) : report_(report), nvlink_(nvlink) {
    for (const Record& record : report.records) add(record);
    for (Row& row : rows_) judge(row);
  }

  std::vector<Fault> check() && {
    Pairs seen;
    Pairs bad;
    for (const Row& row : rows_) {
      if (!holds(seen, row.pair)) seen.push_back(row.pair);
      if (!row.why.empty() && !holds(bad, row.pair)) bad.push_back(row.pair);
    }
    const Diagnosis found = diagnose(seen, bad);
    if (found.all) all_alike(seen.size());
    for (const GpuInventory* gpu : found.gpus) {
      raise(make_fault(nvlink_ ? "NVL-01" : "PCI-03", gpu, assay::name_of(*gpu)), *gpu,
            [&](const Row& row) { return touches(row.pair, gpu); });
    }
    for (const Pair& pair : found.pairs) {
      raise(fault_of_pair(nvlink_ ? "NVL-02" : "PCI-03", pair, name_of(pair)), *pair.first,
            [&](const Row& row) { return row.pair == pair; });
    }
    return std::move(faults_);
  }

 private:
  void add(const Record& record);
  void judge(Row& row) const;
  void all_alike(std::size_t pairs);
  template <class Wanted>
  void raise(Fault fault, const GpuInventory& gpu, const Wanted& wanted);
  bool loaded_otherwise(const GpuInventory& gpu) const;
  std::vector<double> values_beside(const Row& row, std::size_t* pairs) const;

  const Report& report_;
  bool nvlink_;
  std::vector<Row> rows_;
  std::vector<Fault> faults_;
};

// Whether a fault is known that slows any load of this GPU.
bool SlowPairs::loaded_otherwise(const GpuInventory& gpu) const {
  return std::ranges::any_of(report_.faults, [&](const Fault& fault) {
    const FaultKind* kind = find_kind(fault.code);
    return kind != nullptr && kind->slows_load && fault.severity != Severity::kWarn &&
           fault.scope.uuid == gpu.uuid;
  });
}

void SlowPairs::add(const Record& record) {
  const Metric* metric = primary_metric(record);
  const GpuInventory* from = find_gpu(report_, record.device.uuid);
  const GpuInventory* to = find_gpu(report_, peer_uuid(record));
  if (record.status != RecordStatus::kOk || record.wrong_runs > 0 || metric == nullptr ||
      metric->values.empty() || from == nullptr || to == nullptr || from == to ||
      record.verification.status != VerificationStatus::kVerified || loaded_otherwise(*from) ||
      loaded_otherwise(*to)) {
    return;
  }
  const GpuPeer* joined = find_peer(report_.inventory, from->uuid, to->uuid);
  const std::optional<bool> known = joined != nullptr ? on_nvlink(*joined) : std::nullopt;
  if (known.value_or(is_sxm(*from)) != nvlink_) return;
  const std::string path = nvlink_ || joined == nullptr ? "" : joined->path.value_or("");
  rows_.push_back({&record,
                   std::minmax(from, to),
                   without_peer(record.id) + " " + path,
                   {},
                   record.judged.status == JudgedStatus::kFail});
}

// Medians of the rows of other pairs, and how many pairs they are of.
std::vector<double> SlowPairs::values_beside(const Row& row, std::size_t* pairs) const {
  std::vector<double> values;
  Pairs others;
  for (const Row& other : rows_) {
    if (other.group != row.group || other.pair == row.pair) continue;
    values.push_back(primary_metric(*other.record)->value);
    if (!holds(others, other.pair)) others.push_back(other.pair);
  }
  *pairs = others.size();
  return values;
}

void SlowPairs::judge(Row& row) const {
  const Metric& metric = *primary_metric(*row.record);
  std::size_t pairs = 0;
  const std::vector<double> beside = values_beside(row, &pairs);
  bool slow = false;
  if (pairs >= kFewestPeers) {
    const double usual = median(beside);
    const auto [low, high] = std::ranges::minmax(metric.values);
    slow = metric.better == Better::kHigher ? high < kSlowShare * usual : low > usual / kSlowShare;
  }
  if (!row.failed && !slow) return;
  row.why = fmt::format("{} {}", figure(metric.value), unit_text(metric.unit));
  if (row.failed) row.why = row.record->judged.reason;
  if (pairs == 0) return;
  const auto [low, high] = std::ranges::minmax(beside);
  row.why += fmt::format("; the other {} {}..{}", counted(pairs, "pair"),
                         figure_like(low, metric.value), figure_like(high, metric.value));
}

template <class Wanted>
void SlowPairs::raise(Fault fault, const GpuInventory& gpu, const Wanted& wanted) {
  std::vector<const Record*> slow;
  const Row* first = nullptr;
  bool failed = false;
  for (const Row& row : rows_) {
    if (row.why.empty() || !wanted(row)) continue;
    if (first == nullptr || (row.failed && !first->failed)) first = &row;
    failed = failed || row.failed;
    slow.push_back(row.record);
  }
  for (const Record* record : slow) {
    if (std::ranges::find(fault.evidence, record->id) == fault.evidence.end()) {
      fault.evidence.push_back(record->id);
    }
  }
  fault.title += fmt::format(": GPU {} {} {}", find_gpu(report_, first->record->device.uuid)->index,
                             first->record->id, first->why);
  fault.confirmed_runs = static_cast<int>(primary_metric(*first->record)->values.size());
  fault.confidence = failed ? "confirmed" : "suspected";
  if (!nvlink_) {
    // What lies between two sockets differs from node to node: no floor, no verdict.
    if (!failed) fault.severity = Severity::kWarn;
    fault.effect = host_causes(gpu, slow);
  } else if (const GpuPeer* joined =
                 find_peer(report_.inventory, first->pair.first->uuid, first->pair.second->uuid)) {
    fault.effect = "joined by " + joined_text(*joined);
  }
  faults_.push_back(std::move(fault));
}

void SlowPairs::all_alike(std::size_t pairs) {
  raise(make_fault("PRF-03", nullptr, fmt::format("all {} pairs of GPUs are slow alike", pairs)),
        report_.inventory.gpus.front(), [](const Row&) { return true; });
}

}  // namespace

std::vector<Fault> check_peers(const Report& report) {
  std::vector<Fault> faults = LinkStates(report).check();
  for (const bool nvlink : {true, false}) {
    std::vector<Fault> slow = SlowPairs(report, nvlink).check();
    std::ranges::move(slow, std::back_inserter(faults));
  }
  return faults;
}

}  // namespace assay
