// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// From the stdout of one run to its rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/ab.h"
#include "reports/text.h"

namespace assay {
namespace {

// Longer ids and more rows are no benchmark's. The library's regular expressions recurse over an
// id, and every row is compared with every other: without a bound, text could exhaust stack or
// time.
constexpr std::size_t kLongestId = 500;
constexpr std::size_t kMostRows = 5000;

std::string text_of(const Json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_string() ? found->get<std::string>() : "";
}

double number_of(const Json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number() ? found->get<double>() : 0;
}

// [256, 3, 224] -> "256x3x224"; a text as it is.
std::string shape_of(const Json& line) {
  const auto found = line.find("shape");
  if (found == line.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  std::vector<std::string> sides;
  if (found->is_array()) {
    for (const Json& side : *found) sides.push_back(side.dump());
  }
  return join(sides, "x");
}

std::string size_text(double gib) {
  return gib >= 1 ? fmt::format("{:g}GiB", gib) : fmt::format("{:g}MiB", gib * 1024);
}

// Ids in our style where we have the same case, else stable ones that name what was run.
std::string id_of_operation(const Json& line) {
  const std::string op = text_of(line, "op");
  const std::string dtype = text_of(line, "dtype");
  std::vector<std::string> parts;
  if (op == "gemm") {
    parts = {op, dtype == "fp8" ? "fp8_e4m3" : dtype, shape_of(line)};
  } else if (op == "copy_d2d") {
    parts = {"memory", "copy", size_text(number_of(line, "gib"))};
  } else if (op == "conv") {
    parts = {op, dtype, text_of(line, "dir"), shape_of(line)};
  } else if (op == "train_step") {
    const auto compiled = line.find("compiled");
    const bool graph = compiled != line.end() && compiled->is_boolean() && compiled->get<bool>();
    parts = {"training", text_of(line, "model"), text_of(line, "precision"),
             fmt::format("batch{:g}", number_of(line, "batch")), graph ? "compiled" : ""};
  } else {
    const std::string size = line.contains("gib") ? size_text(number_of(line, "gib")) : "";
    parts = {op, dtype, shape_of(line), size};
  }
  std::erase(parts, "");
  return one_line(join(parts, "/"));
}

void take_time(AbValue& value, double seconds) {
  if (std::isfinite(seconds) && seconds > 0) {
    value.time_s = seconds;
  } else {
    value.status = RecordStatus::kErrored;
    value.message = fmt::format("{} s is no time", seconds);
  }
}

AbValue value_of_record(const Json& line) {
  const auto record = from_json_value<RunRecord>(line.at("record"), "record");
  AbValue value;
  value.key = {one_line(record.id), record.device.uuid};
  value.status = record.status;
  value.message = record.message;
  value.conditions = record.conditions;
  value.work = to_json_value(record.work);
  value.parameters = record.parameters;
  if (record.status == RecordStatus::kOk) {
    take_time(value, record.timing.median_s);
    if (std::isfinite(record.timing.mean_s)) value.mean_s = record.timing.mean_s;
  }
  return value;
}

AbValue value_of_operation(const Json& line) {
  AbValue value;
  value.key.id = id_of_operation(line);
  if (line.contains("error")) {
    value.status = RecordStatus::kErrored;
    value.message = text_of(line, "error");
  } else {
    take_time(value, number_of(line, "ms") / 1000);
  }
  return value;
}

void add(AbValue value, AbOutput& output) {
  if (value.key.id.size() > kLongestId) throw Error(ExitCode::kUsage, "the id is too long");
  if (output.values.size() < kMostRows) {
    output.values.push_back(std::move(value));
  } else {
    output.too_many = true;
  }
}

// Where an object with a key begins: a console that shares the stream may have left a part of its
// line before ours. npos: nowhere.
std::size_t begin_of_object(std::string_view line) {
  for (std::size_t i = line.find('{'); i != std::string_view::npos; i = line.find('{', i + 1)) {
    const std::size_t next = line.find_first_not_of(" \t", i + 1);
    if (next != std::string_view::npos && line[next] == '"') return i;
  }
  return std::string_view::npos;
}

void take_line(std::string_view text, AbOutput& output) {
  const Json line = parse_json(text, "stdout");
  if (!line.is_object()) return;
  const std::string type = text_of(line, "type");
  if (type == "record") {
    add(value_of_record(line), output);
  } else if (type == "end") {
    output.end_code = from_json_value<int>(line.at("exit_code"), "exit_code");
    output.end_message = text_of(line, "message");
  } else if (type.empty() && !text_of(line, "op").empty() &&
             (line.contains("ms") || line.contains("error"))) {
    add(value_of_operation(line), output);
  }
}

}  // namespace

bool AbOutput::explains(int exit_code) const {
  return end_code == exit_code && end_message.empty() &&
         std::ranges::any_of(values,
                             [](const AbValue& v) { return v.status != RecordStatus::kOk; });
}

AbOutput read_ab_output(std::string_view text) {
  AbOutput output;
  while (!text.empty() && !output.too_many) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t begin = begin_of_object(line);
    if (begin == std::string_view::npos) continue;
    try {
      take_line(line.substr(begin), output);
    } catch (const std::exception&) {
      ++output.unreadable;  // its row will be missing, which is then said
    }
  }
  return output;
}

}  // namespace assay
