// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The only way in which a YAML file is read: every key must be asked for, once; a key that nobody
// asked for, a duplicate key, or a value of the wrong type is an Error(kUsage) that names the file,
// the line and what was expected.
//
//   StrictYaml file = StrictYaml::load("suites/quick.yaml");
//   std::string name = file.text("suite");
//   double budget = file.number("budget_s");
//   for (StrictYaml& row : file.list("processes")) {
//     std::string family = row.text("family");
//     row.finish();
//   }
//   file.finish();   // refuses keys that were not asked for, suggesting the nearest known one
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace YAML {
class Node;
}

namespace assay {

class StrictYaml {
 public:
  [[nodiscard]] static StrictYaml load(const std::filesystem::path& path);
  [[nodiscard]] static StrictYaml parse(std::string_view text, std::string_view source);

  ~StrictYaml();
  StrictYaml(StrictYaml&&) noexcept;
  StrictYaml& operator=(StrictYaml&&) noexcept;

  // Required scalars; with `otherwise`, the text that a missing key stands for.
  [[nodiscard]] std::string text(std::string_view key);
  [[nodiscard]] std::string text(std::string_view key, std::string_view otherwise);
  [[nodiscard]] double number(std::string_view key);
  [[nodiscard]] int integer(std::string_view key);

  // Sequences of scalars and mappings of scalars; missing is empty.
  [[nodiscard]] std::vector<std::string> texts(std::string_view key);
  [[nodiscard]] std::map<std::string, double> numbers(std::string_view key);
  [[nodiscard]] std::map<std::string, std::string> text_map(std::string_view key);

  // A sequence of mappings; missing is empty.
  [[nodiscard]] std::vector<StrictYaml> list(std::string_view key);

  [[nodiscard]] bool has(std::string_view key) const;
  void finish() const;

  // "quick.yaml:12: " and `what`, as Error(kUsage); for a key's value, or for this mapping.
  [[noreturn]] void refuse(std::string_view key, std::string_view what) const;
  [[noreturn]] void refuse(std::string_view what) const;

 private:
  StrictYaml(std::string source, const YAML::Node& node);

  // The value of a key, which counts as asked for from now on.
  [[nodiscard]] std::optional<YAML::Node> ask(std::string_view key);
  [[nodiscard]] YAML::Node require(std::string_view key);

  std::string source_;
  std::unique_ptr<YAML::Node> node_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace assay
