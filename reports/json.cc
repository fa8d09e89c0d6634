// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/json.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "reports/error.h"

namespace assay {
namespace {

constexpr int kMaxDepth = 100;
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30;

std::string position(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? before.size() : byte - newline - 1;
  return std::to_string(line) + ":" + std::to_string(std::max<std::size_t>(column, 1));
}

// "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error ..." -> what
// comes after the library's own position, which `position` gives in our form.
std::string reason_of(const std::exception& error) {
  std::string reason = error.what();
  if (const std::size_t close = reason.find("] "); close != std::string::npos) {
    reason.erase(0, close + 2);
  }
  if (const std::size_t colon = reason.find(": ");
      reason.starts_with("parse error at") && colon != std::string::npos) {
    reason.erase(0, colon + 2);
  }
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  return reason;
}

// Refuses duplicate keys and absurd nesting while nlohmann/json parses.
class Guard {
 public:
  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kMaxDepth) throw Error(ExitCode::kUsage, "nested deeper than 100 levels");
    if (event == Json::parse_event_t::object_start) {
      keys_.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      keys_.pop_back();
    } else if (event == Json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) {
        throw Error(ExitCode::kUsage, "duplicate key '" + key + "'");
      }
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;
};

// Empty if every number is finite, else the path of the first that is not.
std::string non_finite_path(const Json& json, const std::string& path) {
  if (json.is_number_float() && !std::isfinite(json.get<double>())) return path;
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      if (std::string found = non_finite_path(value, path + "." + key); !found.empty())
        return found;
    }
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) {
      std::string found = non_finite_path(json[i], path + "[" + std::to_string(i) + "]");
      if (!found.empty()) return found;
    }
  }
  return {};
}

std::string dump(const Json& json, int indent) {
  if (const std::string path = non_finite_path(json, ""); !path.empty()) {
    throw Error(ExitCode::kMeasurement, "report" + path + ": not a finite number; not written");
  }
  // Bytes that are no UTF-8 (a host name, an error text) are replaced, not fatal.
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

class TemporaryFile {
 public:
  TemporaryFile(const std::filesystem::path& target, mode_t mode)
      : path_(target.string() + ".tmp-" + std::to_string(getpid())),
        descriptor_(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)) {
    if (descriptor_ < 0) fail("cannot create");
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!renamed_) unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write_all(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("cannot write");
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (fsync(descriptor_) != 0) fail("cannot flush");
  }

  void rename_to(const std::filesystem::path& target) {
    if (rename(path_.c_str(), target.c_str()) != 0) fail("cannot rename to " + target.string());
    renamed_ = true;
  }

 private:
  [[noreturn]] void fail(const std::string& what) {
    const int error = errno;
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
    unlink(path_.c_str());
    throw Error(ExitCode::kMeasurement, path_ + ": " + what + ": " + std::strerror(error) +
                                            "; free space or choose another folder with --out");
  }

  std::string path_;
  int descriptor_;
  bool renamed_ = false;
};

void write_to_device(const std::filesystem::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (!file) throw Error(ExitCode::kMeasurement, path.string() + ": cannot write");
}

}  // namespace

Json parse_json(std::string_view text, std::string_view source) {
  const std::string name(source);
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    throw Error(ExitCode::kUsage, name + ": the file is UTF-16; save it as UTF-8");
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  try {
    return Json::parse(text.begin(), text.end(), Guard());
  } catch (const Json::parse_error& error) {
    throw Error(ExitCode::kUsage,
                name + ":" + position(text, error.byte) + ": not JSON: " + reason_of(error));
  } catch (const Json::exception& error) {  // a number out of range
    throw Error(ExitCode::kUsage, name + ": not usable JSON: " + reason_of(error));
  } catch (const Error& error) {
    throw Error(error.code(), name + ": " + error.what());
  }
}

Json read_json_file(const std::filesystem::path& path) {
  return parse_json(read_file(path), path.string());
}

std::string dump_json(const Json& json) { return dump(json, 2) + "\n"; }

std::string dump_json_line(const Json& json) { return dump(json, -1); }

Json member_of(const Json& json, std::string_view key) {
  if (!json.is_object()) return {};
  const auto found = json.find(key);
  return found == json.end() ? Json() : *found;
}

std::string text_of(const Json& json, std::string_view key) {
  const Json found = member_of(json, key);
  return found.is_string() ? found.get<std::string>() : std::string();
}

std::string read_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw Error(ExitCode::kUsage, path.string() + ": is a folder, not a file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw Error(ExitCode::kUsage, path.string() + ": cannot read: " + std::strerror(errno));
  }
  // Read in pieces: a pipe or a device has no size, and may have no end.
  std::string text;
  std::vector<char> piece(std::size_t{1} << 20);
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMaxFileBytes) {
      throw Error(ExitCode::kUsage, path.string() + ": larger than 1 GiB: no report of ours");
    }
  }
  if (file.bad()) throw Error(ExitCode::kUsage, path.string() + ": reading failed");
  return text;
}

void write_file_atomically(const std::filesystem::path& path, std::string_view text,
                           unsigned mode) {
  std::error_code error;
  // What a symbolic link points to is replaced, not the link.
  const std::filesystem::path resolved = std::filesystem::canonical(path, error);
  const std::filesystem::path target = error ? path : resolved;
  const std::filesystem::file_status status = std::filesystem::status(target, error);
  if (std::filesystem::is_directory(status)) {
    throw Error(ExitCode::kUsage, target.string() + ": is a folder, not a file");
  }
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    write_to_device(target, text);  // a terminal, a pipe: nothing to replace
    return;
  }
  if (target.has_parent_path()) {
    std::filesystem::create_directories(target.parent_path(), error);
    if (error) {
      throw Error(ExitCode::kMeasurement,
                  target.parent_path().string() + ": cannot create the folder: " + error.message());
    }
  }
  TemporaryFile file(target, static_cast<mode_t>(mode));
  file.write_all(text);
  file.rename_to(target);
}

}  // namespace assay
