// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The gates on the inventory, and the catalogue of fault codes: meaning, owner and the ladder of
// actions of each. UNK never becomes a FAIL.
//
//   GateResults gates = check_gates(report.inventory);
//   fmt::print("{} of {} gates\n", gates.passed, gates.total);
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/report.h"

namespace assay {

// Codes that nothing raises yet are listed too: the catalogue says what a code means wherever it is
// met, in documents and in reports of newer programs.
struct FaultKind {
  std::string_view code;
  Severity severity = Severity::kFail;
  std::string_view owner;
  bool slows_load = false;  // it explains slow rows of its GPU
  bool reachable = false;   // something here raises it
  std::string_view meaning;
  std::array<std::string_view, 3> actions;  // a ladder; empty texts at its end are none
};
// The kind of "XID-62" and its like.
inline constexpr std::string_view kAnyXid = "XID-nn";
[[nodiscard]] std::span<const FaultKind> fault_catalogue();
[[nodiscard]] const FaultKind* find_kind(std::string_view code);  // null: not in the catalogue

// A fault of this code with the catalogue's owner, severity and actions filled in, and the GPU's
// part numbers as its scope. Throws Error(kMeasurement) for a code that the catalogue lacks.
[[nodiscard]] Fault make_fault(std::string_view code, const GpuInventory* gpu, std::string title);

// The part numbers of a GPU.
[[nodiscard]] FaultScope scope_of(const GpuInventory& gpu);

struct GateResults {
  int passed = 0;
  int total = 0;                    // gates that could be read
  std::vector<std::string> unread;  // "GPU 0 MIG mode: nvmlDeviceGetMigMode: Not Supported"
  std::vector<Fault> faults;
};
// Counts on the bus and in NVML, MIG, ECC mode, ECC and remap counters before and after, power
// limit against default and peers, PCIe width and replays, busy processes, and cards that are gone
// after the load.
[[nodiscard]] GateResults check_gates(const Inventory& inventory);

// Lines for people: the gates that could not be read, and what no gate and no row looks at.
[[nodiscard]] std::vector<std::string> not_checked(const Report& report);

// After the rows were judged: a link that stayed below its own generation or width under load
// (PCI-01), and transfers below their floor over one that did not (PCI-03), with what of the host
// may be the cause.
[[nodiscard]] std::vector<Fault> check_pcie(const Report& report);

// After the rows were judged: NVLinks that are down or lead nowhere on boards that wire them, and
// pairs of GPUs that are slow by their floor or beside the node's other pairs: of one GPU (NVL-01),
// of one pair (NVL-02), of all alike (FAB-01, PRF-03), or, of pairs without NVLink, PCI-03.
[[nodiscard]] std::vector<Fault> check_peers(const Report& report);

// What the run showed, one fault a code and GPU: Xid errors, power brake, thermal slowdown, NVLink
// errors, a clock that is held for no reason. The software power cap is normal under load and is
// none.
[[nodiscard]] std::vector<Fault> check_load(const Report& report);

}  // namespace assay
