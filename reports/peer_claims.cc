// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/peer_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/peers.h"
#include "reports/text.h"

namespace assay {
namespace {

std::string name_of(const Inventory& inventory, const std::string& uuid) {
  const auto found = std::ranges::find(inventory.gpus, uuid, &GpuInventory::uuid);
  return found == inventory.gpus.end() ? uuid : fmt::format("GPU {}", found->index);
}

std::string reason_of(const std::map<std::string, std::string>& unreadable, const char* field) {
  const auto found = unreadable.find(field);
  return found == unreadable.end() ? "" : ": " + found->second;
}

// One value for all cards, or each card's; null where a card's was not read.
template <class Text>
std::optional<std::string> fact_of(const Inventory& inventory, const Text& text_of) {
  std::vector<std::string> texts;
  for (const GpuInventory& gpu : inventory.gpus) {
    const std::string text = text_of(gpu);
    if (text.empty()) return std::nullopt;
    texts.push_back(text);
  }
  if (std::ranges::count(texts, texts.front()) == std::ssize(texts)) return texts.front();
  return join(texts, " / ");
}

}  // namespace

ClaimOutcome judge_nvlink_pairs(const Inventory& inventory) {
  if (inventory.gpus.empty()) return {ClaimVerdict::kNotMeasured, "", "no GPU in this report"};
  if (inventory.gpus.size() == 1) {
    return {ClaimVerdict::kNotMeasured, "", "one GPU: no pair to look at"};
  }
  std::vector<std::string> others;
  std::vector<std::string> unread;
  for (const GpuPeer& pair : inventory.peers) {
    const std::string name = name_of(inventory, pair.gpu) + " <-> " + name_of(inventory, pair.peer);
    const std::optional<bool> joined = on_nvlink(pair);
    if (joined == false) others.push_back(name + " over " + pair.path.value_or("PCIe"));
    if (!joined) unread.push_back(name + reason_of(pair.unreadable, "nvlinks"));
  }
  const std::size_t pairs = inventory.peers.size();
  if (!others.empty()) {
    return {ClaimVerdict::kRefuted,
            fmt::format("{} of {} not on NVLink: {}", others.size(), counted(pairs, "pair"),
                        join(others, ", ")),
            ""};
  }
  if (pairs == 0 || !unread.empty()) {
    return {ClaimVerdict::kNotMeasured, "",
            "not read: " + (unread.empty() ? "the pairs" : join(unread, ", "))};
  }
  return {ClaimVerdict::kConfirmed, fmt::format("{}, all on NVLink", counted(pairs, "pair")), ""};
}

ClaimOutcome judge_nvlink_rate(const ClaimCheck& check, const Report& report,
                               const GpuInventory& gpu) {
  if (!gpu.nvlinks) {
    return {ClaimVerdict::kNotMeasured, "",
            "NVLinks could not be read" + reason_of(gpu.unreadable, "nvlinks")};
  }
  const GpuSpec* spec = find_spec(report, gpu.sku);
  if (spec == nullptr || spec->nvlink_links == 0) {
    return {ClaimVerdict::kNotMeasured, "", "no rate of a link is known for this card"};
  }
  const GpuNvlinks& links = *gpu.nvlinks;
  const double each = 2 * nvlink_gb_per_s(*spec);
  const double all = each * links.active;
  ClaimOutcome outcome;
  outcome.measured = fmt::format("{} of {} links up x {:g} GB/s = {:g} GB/s, claimed {:g}",
                                 links.active, links.present, each, all, *check.of);
  if (all >= *check.of) {
    outcome.verdict = ClaimVerdict::kConfirmed;
  } else if (links.active == links.present) {
    outcome.verdict = ClaimVerdict::kRefuted;
  } else {
    // A bridge that is missing or a link that is broken does not show what the card provides.
    outcome.verdict = ClaimVerdict::kInconclusive;
    outcome.reason = "not all links are up";
  }
  return outcome;
}

ClaimOutcome show_host_facts(const Inventory& inventory) {
  if (inventory.gpus.empty()) return {ClaimVerdict::kNotMeasured, "", "no GPU in this report"};
  std::vector<std::string> facts;
  std::vector<std::string> unread;
  const auto add = [&](const std::string& name, const auto& text_of) {
    if (const auto fact = fact_of(inventory, text_of)) {
      facts.push_back(name + " " + *fact);
    } else {
      unread.push_back(name);
    }
  };
  add("IOMMU", [](const GpuInventory& gpu) { return gpu.iommu.value_or(""); });
  add("ACS", [](const GpuInventory& gpu) -> std::string {
    return !gpu.acs_redirect ? "" : *gpu.acs_redirect ? "redirects" : "does not redirect";
  });
  add("SR-IOV", [](const GpuInventory& gpu) -> std::string {
    if (!gpu.sriov_vfs) return "";
    return *gpu.sriov_vfs == 0 ? "off" : counted(*gpu.sriov_vfs, "function") + " on";
  });
  const std::string told = "BIOS settings themselves cannot be read";
  if (facts.empty()) return {ClaimVerdict::kNotMeasured, "", "no host setting was read; " + told};
  return {ClaimVerdict::kInconclusive, join(facts, ", "),
          (unread.empty() ? "" : "not read: " + join(unread, ", ") + "; ") + told};
}

}  // namespace assay
