// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Strict JSON in, strict JSON out, and the one way in which a file is replaced.
//
//   Json report = read_json_file("out/report.json");
//   write_file_atomically("out/report.json", dump_json(report));
//
// Reading refuses (ExitCode::kUsage; file, line and column in the message): anything after the
// document, a duplicate key, a number that does not fit a double, UTF-16. A UTF-8 byte-order mark
// is read as if absent. Writing refuses non-finite numbers: no report of ours holds NaN.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace assay {

// Keys keep the order in which they were written, so that the same report is the same bytes.
using Json = nlohmann::ordered_json;

// `source` names the text in errors, usually the path.
[[nodiscard]] Json parse_json(std::string_view text, std::string_view source);
[[nodiscard]] Json read_json_file(const std::filesystem::path& path);

// Two-space indent and a closing newline; `dump_json_line` gives one line without it.
// Throws Error(kMeasurement) that names the first non-finite number by its path.
[[nodiscard]] std::string dump_json(const Json& json);
[[nodiscard]] std::string dump_json_line(const Json& json);

// What a file of another program holds there: null where `json` is no object or has no such key.
[[nodiscard]] Json member_of(const Json& json, std::string_view key);
// Likewise; empty where it is no text.
[[nodiscard]] std::string text_of(const Json& json, std::string_view key);

[[nodiscard]] std::string read_file(const std::filesystem::path& path);

inline constexpr unsigned kPrivateFile = 0600;
inline constexpr unsigned kSharedFile = 0644;  // what every user of this machine reads

// Writes `text` to a temporary file beside `path`, flushes it to the disk and renames it: a reader
// sees the old file or the new one, never a part. Reports name serials and hosts: they are private.
// A symbolic link is followed; a device or a pipe is written to, not replaced. Throws
// Error(kMeasurement) and leaves the old file when the disk is full or the folder is not writable,
// Error(kUsage) for a folder.
void write_file_atomically(const std::filesystem::path& path, std::string_view text,
                           unsigned mode = kPrivateFile);

}  // namespace assay
