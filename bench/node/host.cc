// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/node/host.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>

#include "bench/node/pci.h"

namespace assay {
namespace {

// The value of the first line "key<separator>value" of a file.
std::string value_in(const char* path, const std::string& key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t at = line.find(separator);
    if (at == std::string::npos) continue;
    const std::size_t first = line.find_first_not_of(" \t\"", at + 1);
    if (first == std::string::npos) return {};
    return line.substr(first, line.find_last_not_of(" \t\"") - first + 1);
  }
  return {};
}

template <class T>
std::optional<T> parsed(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

void read_optional(HostInventory& host, const char* field, std::optional<std::string>& out,
                   const std::string& text, const std::string& source) {
  if (text.empty()) {
    host.unreadable[field] = source + ": not readable";
  } else {
    out = text;
  }
}

int numa_nodes() {
  int count = 0;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(sysfs_root() / "devices" / "system" / "node", error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("node") && name.find_first_not_of("0123456789", 4) == std::string::npos) {
      ++count;
    }
  }
  return count;
}

std::string virtualisation() {
  std::error_code error;
  if (std::filesystem::exists("/.dockerenv", error) ||
      std::filesystem::exists("/run/.containerenv", error) ||
      value_in("/proc/1/environ", "container", '=') != "") {
    return "container";
  }
  const std::string flags = " " + value_in("/proc/cpuinfo", "flags", ':') + " ";
  return flags.find(" hypervisor ") != std::string::npos ? "vm" : "bare metal";
}

int usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

}  // namespace

std::optional<std::string> loaded_driver() {
  const std::string version = read_trimmed(sysfs_root() / "module" / "nvidia" / "version");
  if (version.empty()) return std::nullopt;
  return version;
}

HostInventory read_host() {
  HostInventory host;
  utsname names{};
  if (uname(&names) == 0) {
    host.host_name = names.nodename;
    host.kernel = names.release;
  }
  host.os = value_in("/etc/os-release", "PRETTY_NAME", '=');
  host.cpu_model = value_in("/proc/cpuinfo", "model name", ':');
  host.cpus = usable_cpus();
  host.numa_nodes = numa_nodes();
  if (const auto kib = parsed<std::int64_t>(value_in("/proc/meminfo", "MemTotal", ':'))) {
    host.memory_bytes = *kib * 1024;
  }
  const std::filesystem::path dmi = sysfs_root() / "class" / "dmi" / "id";
  const std::string vendor = read_trimmed(dmi / "board_vendor");
  const std::string name = read_trimmed(dmi / "board_name");
  read_optional(host, "board", host.board, name.empty() ? vendor : vendor + " " + name,
                "DMI board_name");
  read_optional(host, "bios", host.bios, read_trimmed(dmi / "bios_version"), "DMI bios_version");
  read_optional(host, "boot_id", host.boot_id, read_trimmed("/proc/sys/kernel/random/boot_id"),
                "boot_id");
  host.uptime_s = parsed<double>(read_trimmed("/proc/uptime"));
  host.virtualisation = virtualisation();
  host.root = geteuid() == 0;
  return host;
}

}  // namespace assay
