// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "reports/render.h"
#include "reports/sha256.h"
#include "reports/text.h"

namespace assay {
namespace {

constexpr std::string_view kMark = "redacted-";
constexpr std::size_t kDigits = 12;
// Shorter strings appear in words and figures by chance.
constexpr std::size_t kShortest = 3;

// Names that say nothing about whose machine it is; replacing them would only spoil sentences.
constexpr std::array<std::string_view, 8> kCommonNames = {
    "root", "user", "admin", "localhost", "ubuntu", "nobody", "unknown", "(none)"};

// Fields whose values come from the suite's own vocabulary. A host may be called "node" or a user
// "cold": these words must not turn into tokens where programs read them.
constexpr std::array<std::string_view, 27> kVocabulary = {
    "status",         "power",         "cache",     "clocks",         "peers",
    "better",         "severity",      "pipe",      "family",         "id",
    "metric",         "unit",          "sku",       "command",        "suite",
    "code",           "owner",         "timer",     "confidence",     "run_type",
    "gate_ids",       "event_reasons", "time_unit", "virtualisation", "sha256",
    "samples_sha256", "schema"};

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool is_token(std::string_view text) {
  return text.size() == kMark.size() + kDigits && text.starts_with(kMark);
}

// One line; bytes that are not UTF-8 are replaced: this text is looked into, never written.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

class Secrets {
 public:
  void add(const std::string& text) {
    if (text.size() < kShortest || is_token(text) || is_one_of(lower(text), kCommonNames)) return;
    all_.insert(text);
  }
  void add(const std::optional<std::string>& text) {
    if (text) add(*text);
  }
  // The part after the kind stands alone in some libraries' messages.
  void add_uuid(const std::string& uuid) {
    if (uuid == kHostUuid) return;
    add(uuid);
    const auto dash = uuid.find('-');
    if (dash != std::string::npos && uuid.size() > 30 && !is_token(uuid)) {
      add(uuid.substr(dash + 1));
    }
  }
  // Longest first: a name inside a longer one must not break it up.
  [[nodiscard]] std::vector<std::string> longest_first() const {
    std::vector<std::string> list(all_.begin(), all_.end());
    std::stable_sort(list.begin(), list.end(), [](const std::string& a, const std::string& b) {
      return a.size() > b.size();
    });
    return list;
  }

 private:
  std::set<std::string> all_;
};

// Home folders name their users wherever a path was recorded.
void collect_from_paths(const std::string& text, Secrets& secrets) {
  for (const std::string_view root : {"/home/", "/Users/"}) {
    for (auto at = text.find(root); at != std::string::npos; at = text.find(root, at + 1)) {
      const auto begin = at + root.size();
      const auto end = text.find_first_of("/:;,'\" ", begin);
      secrets.add(text.substr(begin, end == std::string::npos ? end : end - begin));
    }
  }
}

// UUIDs that the inventory does not name, and shortened ones, as CUDA_VISIBLE_DEVICES takes them.
// Fault codes ("GPU-01") are shorter.
void collect_uuids(const std::string& text, Secrets& secrets) {
  constexpr std::size_t kShortestUuid = 4;
  for (const std::string_view prefix : {"GPU-", "MIG-"}) {
    for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 1)) {
      const auto begin = at + prefix.size();
      const auto end =
          std::min(text.find_first_not_of("0123456789abcdefABCDEF-", begin), text.size());
      if (end - begin >= kShortestUuid) secrets.add(text.substr(at, end - at));
    }
  }
}

// User and host names in the context, which the writer is free to extend; paths anywhere.
void collect_from_json(const Json& json, Secrets& secrets) {
  static constexpr std::array<std::string_view, 7> kPersonal = {
      "user", "user_name", "username", "logname", "host_name", "hostname", "host"};
  if (json.is_string()) collect_from_paths(json.get<std::string>(), secrets);
  if (!json.is_structured()) return;
  for (const auto& [key, value] : json.items()) {
    if (json.is_object() && value.is_string() && is_one_of(lower(key), kPersonal)) {
      secrets.add(value.get<std::string>());
    }
    collect_from_json(value, secrets);
  }
}

Secrets collect(const Report& report, const Json& json) {
  Secrets secrets;
  for (const GpuInventory& gpu : report.inventory.gpus) {
    secrets.add_uuid(gpu.uuid);
    secrets.add(gpu.serial);
    for (const MigSlice& slice : gpu.mig_slices) secrets.add_uuid(slice.uuid);
  }
  for (const Record& record : report.records) secrets.add_uuid(record.device.uuid);
  for (const Fault& fault : report.faults) {
    secrets.add(fault.scope.serial);
    if (fault.scope.uuid) secrets.add_uuid(*fault.scope.uuid);
    if (!fault.peer) continue;
    secrets.add(fault.peer->serial);
    if (fault.peer->uuid) secrets.add_uuid(*fault.peer->uuid);
  }
  const HostInventory& host = report.inventory.host;
  secrets.add(host.host_name);
  const auto dot = host.host_name.find('.');
  if (dot != std::string::npos) secrets.add(host.host_name.substr(0, dot));
  secrets.add(host.boot_id);
  secrets.add(host.board);
  collect_from_json(json["context"], secrets);
  collect_from_json(json["benchmarks"], secrets);
  collect_uuids(text_of(json), secrets);
  // Paths alone: elsewhere a key called "host" holds a structure.
  for (const Json* part : {&json["assay"], &json["inventory"]}) {
    collect_from_paths(text_of(*part), secrets);
  }
  return secrets;
}

// A key may be a word's in one place and a list's in another: "peers" is a condition and the list
// of pairs.
bool holds_parts(const Json& json) {
  return json.is_array() && !json.empty() && json.front().is_object();
}

class Redactor {
 public:
  // The salt is the report before redaction: without its secrets nobody can try serials one by one.
  Redactor(const Secrets& secrets, std::string_view salt) {
    for (const std::string& secret : secrets.longest_first()) {
      const std::string digest = sha256_hex(std::string(salt) + '\n' + secret);
      tokens_.emplace_back(secret, std::string(kMark) + digest.substr(0, kDigits));
    }
  }

  [[nodiscard]] Json apply(const Json& json) const {
    if (json.is_string()) return replaced(json.get<std::string>());
    if (json.is_array()) {
      Json out = Json::array();
      for (const Json& item : json) out.push_back(apply(item));
      return out;
    }
    if (!json.is_object()) return json;
    Json out = Json::object();
    for (const auto& [key, value] : json.items()) {
      const bool words = is_one_of(key, kVocabulary) && !holds_parts(value);
      out[replaced(key, kKeySecret)] = words ? value : apply(value);
    }
    return out;
  }

 private:
  // Keys are names of fields, except in maps that somebody keyed by a part: those are long.
  static constexpr std::size_t kKeySecret = 20;

  [[nodiscard]] std::string replaced(std::string text, std::size_t shortest = 0) const {
    for (const auto& [secret, token] : tokens_) {
      if (secret.size() < shortest) continue;
      std::size_t at = text.find(secret);
      while (at != std::string::npos) {
        // A short secret such as "red" is not looked for in a token that was put there before.
        if (const std::size_t end = end_of_token_at(text, at); end != at) {
          at = text.find(secret, end);
          continue;
        }
        text.replace(at, secret.size(), token);
        at = text.find(secret, at + token.size());
      }
    }
    return text;
  }

  // Where the token ends that `at` lies in; `at` if it lies in none.
  static std::size_t end_of_token_at(const std::string& text, std::size_t at) {
    constexpr std::size_t kLength = kMark.size() + kDigits;
    const std::size_t from = at >= kLength - 1 ? at - (kLength - 1) : 0;
    const std::size_t token = text.find(kMark, from);
    return token != std::string::npos && token <= at && at < token + kLength ? token + kLength : at;
  }

  std::vector<std::pair<std::string, std::string>> tokens_;
};

}  // namespace

Report redacted(Report report) {
  if (report.redacted) return report;
  const Json json = to_json_value(report);
  const Redactor redactor(collect(report, json), sha256_hex(text_of(json)));
  Report result = report_from_json(redactor.apply(json), "redacted report");
  result.redacted = true;
  return result;
}

}  // namespace assay
