// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

#include "reports/strict_yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/parser.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>
#include <utility>

#include "reports/error.h"

namespace assay {
namespace {

// The largest file of ours is documents.yaml with about 20 KB; the bounds keep a wrong file (a core
// dump, a nest of brackets) from costing memory or stack.
constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
constexpr int kMaxDepth = 16;

// A value quoted in a message stays on its line and stays short.
std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string result = "'";
  for (const char c : text.substr(0, kLongest)) {
    result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  // Cut at a whole character: the bytes 10xxxxxx continue one.
  if (text.size() > kLongest) {
    while ((static_cast<unsigned char>(result.back()) & 0xc0) == 0x80) result.pop_back();
    if ((static_cast<unsigned char>(result.back()) & 0x80) != 0) result.pop_back();
    result += "...";
  }
  return result + "'";
}

[[noreturn]] void refuse_at(std::string_view source, int line, std::string_view what) {
  throw Error(ExitCode::kUsage, fmt::format("{}:{}: {}", source, line, what));
}

int line_of(const YAML::Mark& mark) { return mark.is_null() ? 1 : mark.line + 1; }
int line_of(const YAML::Node& node) { return line_of(node.Mark()); }

int line_of_offset(std::string_view text, std::size_t offset) {
  return static_cast<int>(
             std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n')) +
         1;
}

// Length of the UTF-8 character at `text[i]` (RFC 3629: no overlong forms, no surrogates), 0 if it
// is not one. A text that is not UTF-8 would make a report that no JSON reader takes.
std::size_t utf8_length(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) -> unsigned {
    return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U;
  };
  const auto continues = [&](std::size_t k) { return (byte(k) & 0xc0U) == 0x80U; };
  const unsigned first = byte(i);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(i + 1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (first == 0xe0 && byte(i + 1) < 0xa0) return 0;
    if (first == 0xed && byte(i + 1) > 0x9f) return 0;
    return continues(i + 1) && continues(i + 2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (first == 0xf0 && byte(i + 1) < 0x90) return 0;
    if (first == 0xf4 && byte(i + 1) > 0x8f) return 0;
    return continues(i + 1) && continues(i + 2) && continues(i + 3) ? 4 : 0;
  }
  return 0;
}

void check_bytes(std::string_view text, std::string_view source) {
  if (text.size() > kMaxBytes) {
    refuse_at(source, 1, fmt::format("larger than {} bytes; is this the right file?", kMaxBytes));
  }
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    refuse_at(source, 1, "this is UTF-16; save it as UTF-8");
  }
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    if (length == 0 || text[i] == '\0') {
      refuse_at(source, line_of_offset(text, i), "not UTF-8 text; save the file as UTF-8");
    }
    i += length;
  }
}

// YAML forbids tabs in indentation; yaml-cpp's own message for it names neither tab nor cause.
void check_tabs(std::string_view text, std::string_view source) {
  int line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view row = text.substr(begin, end - begin);
    const std::string_view indent = row.substr(0, row.find_first_not_of(" \t\r"));
    if (indent.size() < row.size() && indent.find('\t') != std::string_view::npos) {
      refuse_at(source, line, "a tab in the indentation; use blanks");
    }
    begin = end + 1;
  }
}

// Looks at the events before any tree is built, so that what is refused here costs nothing.
class ShapeCheck : public YAML::EventHandler {
 public:
  explicit ShapeCheck(std::string_view source) : source_(source) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      refuse_at(source_, line_of(mark), "a second document; keep one document a file");
    }
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { check(mark, "", anchor); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    refuse_at(source_, line_of(mark), "aliases (*name) are not read; write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& /*value*/) override {
    check(mark, tag, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    check(mark, tag, anchor);
    enter(mark);
  }
  void OnSequenceEnd() override { --depth_; }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    check(mark, tag, anchor);
    enter(mark);
  }
  void OnMapEnd() override { --depth_; }

 private:
  void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) const {
    if (anchor != 0) {
      refuse_at(source_, line_of(mark), "anchors (&name) are not read; write the value out");
    }
    // "?" and "!" are yaml-cpp's marks of a plain and of a quoted scalar without a tag.
    if (!tag.empty() && tag != "?" && tag != "!") {
      refuse_at(source_, line_of(mark), "tags (!!name) are not read; leave the tag out");
    }
  }
  void enter(const YAML::Mark& mark) {
    if (++depth_ > kMaxDepth) {
      refuse_at(source_, line_of(mark), fmt::format("nested deeper than {} levels", kMaxDepth));
    }
  }

  std::string_view source_;
  int documents_ = 0;
  int depth_ = 0;
};

// Keys are plain text, once each, at every level. yaml-cpp keeps duplicates and finds the first.
void check_keys(const YAML::Node& node, std::string_view source) {
  if (node.IsSequence()) {
    for (const auto& item : node) check_keys(item, source);
  }
  if (!node.IsMap()) return;
  std::map<std::string, int> seen;
  for (const auto& entry : node) {
    const int line = line_of(entry.first);
    if (!entry.first.IsScalar()) refuse_at(source, line, "a key that is not text");
    const std::string& key = entry.first.Scalar();
    if (key == "<<") refuse_at(source, line, "merge keys (<<) are not read; write the keys out");
    const auto [earlier, is_new] = seen.emplace(key, line);
    if (!is_new) {
      refuse_at(source, line,
                fmt::format("duplicate key {}, first on line {}; remove one", shown(key),
                            earlier->second));
    }
    check_keys(entry.second, source);
  }
}

std::string_view kind_of(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return "a single value";
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a mapping";
    default:
      return "nothing";
  }
}

// Null if the key is missing. Node::operator[] is not used: on a node that is not const it inserts.
std::optional<YAML::Node> find_value(const YAML::Node& map, std::string_view key) {
  for (const auto& entry : map) {
    if (entry.first.Scalar() == key) return entry.second;
  }
  return std::nullopt;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, change}));
    }
  }
  return row[b.size()];
}

// A slip of the pen, not another word: two edits at most, and less than half of the word.
bool looks_like(std::string_view written, std::string_view known) {
  if (written.size() > known.size() + 2) return false;  // bounds the cost, too
  const std::size_t distance = edit_distance(written, known);
  return distance <= 2 && 2 * distance < known.size();
}

bool is_plain(const YAML::Node& node) { return node.Tag() == "?"; }

// The reading below is that of YAML 1.2's decimal numbers. The character check keeps out what
// std::from_chars takes beyond it (inf, nan), and what other readers take and we do not (0x10,
// 1_000, +1): whoever reads the file next must not get another figure.
std::optional<double> decimal(std::string_view text) {
  if (text.find_first_not_of("0123456789+-.eE") != std::string_view::npos) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

const YAML::Node& expect_scalar(std::string_view source, std::string_view key,
                                const YAML::Node& node, std::string_view expected) {
  if (!node.IsScalar()) {
    refuse_at(source, line_of(node),
              fmt::format("{}: expected {}, found {}", key, expected, kind_of(node)));
  }
  return node;
}

double to_number(std::string_view source, std::string_view key, const YAML::Node& node) {
  const std::string& text = expect_scalar(source, key, node, "a number").Scalar();
  if (!is_plain(node)) {
    refuse_at(source, line_of(node),
              fmt::format("{}: expected a number, found quoted text {}; remove the quotes", key,
                          shown(text)));
  }
  const std::optional<double> value = decimal(text);
  if (!value) {
    refuse_at(source, line_of(node),
              fmt::format("{}: expected a decimal number such as 4400 or 0.8, found {}", key,
                          shown(text)));
  }
  return *value;
}

int to_integer(std::string_view source, std::string_view key, const YAML::Node& node) {
  const std::string& text = expect_scalar(source, key, node, "a whole number").Scalar();
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!is_plain(node) || error != std::errc() || end != text.data() + text.size()) {
    refuse_at(source, line_of(node),
              fmt::format("{}: expected a whole number such as 132, found {}{}", key,
                          is_plain(node) ? "" : "quoted text ", shown(text)));
  }
  return value;
}

std::string read_bounded(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    const bool there = std::filesystem::exists(path, error);
    throw Error(ExitCode::kUsage, fmt::format("{}: {}; check the path", path.string(),
                                              there ? "not a file" : "no such file"));
  }
  std::ifstream in(path, std::ios::binary);
  std::string text(kMaxBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || (in.fail() && !in.eof())) {
    throw Error(ExitCode::kUsage,
                fmt::format("{}: cannot be read; check its permissions", path.string()));
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

}  // namespace

StrictYaml::StrictYaml(std::string source, const YAML::Node& node)
    : source_(std::move(source)), node_(std::make_unique<YAML::Node>(node)) {}
StrictYaml::~StrictYaml() = default;
StrictYaml::StrictYaml(StrictYaml&&) noexcept = default;
StrictYaml& StrictYaml::operator=(StrictYaml&&) noexcept = default;

StrictYaml StrictYaml::load(const std::filesystem::path& path) {
  return parse(read_bounded(path), path.string());
}

StrictYaml StrictYaml::parse(std::string_view text, std::string_view source) {
  check_bytes(text, source);
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  check_tabs(text, source);
  YAML::Node root;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    ShapeCheck shape(source);
    while (parser.HandleNextDocument(shape)) {
    }
    root = YAML::Load(std::string(text));
    check_keys(root, source);
  } catch (const YAML::Exception& error) {
    refuse_at(source, line_of(error.mark), fmt::format("not YAML: {}", error.msg));
  }
  if (!root.IsMap()) {
    refuse_at(source, root.IsDefined() && !root.IsNull() ? line_of(root) : 1,
              fmt::format("expected a mapping (key: value), found {}", kind_of(root)));
  }
  return {std::string(source), root};
}

std::optional<YAML::Node> StrictYaml::ask(std::string_view key) {
  asked_.emplace(key);
  return find_value(*node_, key);
}

YAML::Node StrictYaml::require(std::string_view key) {
  if (std::optional<YAML::Node> value = ask(key)) return *value;
  for (const auto& entry : *node_) {
    const std::string& written = entry.first.Scalar();
    if (!asked_.contains(written) && looks_like(written, key)) {
      refuse_at(source_, line_of(entry.first),
                fmt::format("unknown key {}; did you mean '{}'?", shown(written), key));
    }
  }
  refuse(fmt::format("missing key '{}'; add it", key));
}

std::string StrictYaml::text(std::string_view key) {
  const YAML::Node value = require(key);
  std::string result = expect_scalar(source_, key, value, "text").Scalar();
  if (result.empty()) refuse_at(source_, line_of(value), fmt::format("{}: empty text", key));
  return result;
}

std::string StrictYaml::text(std::string_view key, std::string_view otherwise) {
  const std::optional<YAML::Node> value = ask(key);
  if (!value) return std::string(otherwise);
  return expect_scalar(source_, key, *value, "text").Scalar();
}

double StrictYaml::number(std::string_view key) { return to_number(source_, key, require(key)); }

int StrictYaml::integer(std::string_view key) { return to_integer(source_, key, require(key)); }

std::vector<std::string> StrictYaml::texts(std::string_view key) {
  const std::optional<YAML::Node> value = ask(key);
  if (!value) return {};
  if (!value->IsSequence()) {
    refuse(key, fmt::format("{}: expected a list, found {}", key, kind_of(*value)));
  }
  std::vector<std::string> result;
  for (const auto& item : *value) {
    result.push_back(expect_scalar(source_, key, item, "a list of texts").Scalar());
  }
  return result;
}

std::map<std::string, double> StrictYaml::numbers(std::string_view key) {
  const std::optional<YAML::Node> value = ask(key);
  if (!value) return {};
  if (!value->IsMap()) {
    refuse(key, fmt::format("{}: expected a mapping of numbers, found {}", key, kind_of(*value)));
  }
  std::map<std::string, double> result;
  for (const auto& entry : *value) {
    const std::string& name = entry.first.Scalar();
    result[name] = to_number(source_, fmt::format("{}.{}", key, name), entry.second);
  }
  return result;
}

std::map<std::string, std::string> StrictYaml::text_map(std::string_view key) {
  const std::optional<YAML::Node> value = ask(key);
  if (!value) return {};
  if (!value->IsMap()) {
    refuse(key, fmt::format("{}: expected a mapping of texts, found {}", key, kind_of(*value)));
  }
  std::map<std::string, std::string> result;
  for (const auto& entry : *value) {
    const std::string& name = entry.first.Scalar();
    result[name] =
        expect_scalar(source_, fmt::format("{}.{}", key, name), entry.second, "text").Scalar();
  }
  return result;
}

std::vector<StrictYaml> StrictYaml::list(std::string_view key) {
  const std::optional<YAML::Node> value = ask(key);
  std::vector<StrictYaml> result;
  if (!value) return result;
  if (!value->IsSequence()) {
    refuse(key, fmt::format("{}: expected a list, found {}", key, kind_of(*value)));
  }
  for (const auto& item : *value) {
    if (!item.IsMap()) {
      refuse_at(source_, line_of(item),
                fmt::format("{}: expected a list of mappings, found {}", key, kind_of(item)));
    }
    result.push_back(StrictYaml(source_, item));
  }
  return result;
}

bool StrictYaml::has(std::string_view key) const { return find_value(*node_, key).has_value(); }

void StrictYaml::finish() const {
  for (const auto& entry : *node_) {
    const std::string& written = entry.first.Scalar();
    if (asked_.contains(written)) continue;
    std::string advice = fmt::format("known: {}", fmt::join(asked_, ", "));
    for (const std::string& known : asked_) {
      if (looks_like(written, known)) advice = fmt::format("did you mean '{}'?", known);
    }
    refuse_at(source_, line_of(entry.first),
              fmt::format("unknown key {}; {}", shown(written), advice));
  }
}

void StrictYaml::refuse(std::string_view key, std::string_view what) const {
  const std::optional<YAML::Node> value = find_value(*node_, key);
  refuse_at(source_, line_of(value ? *value : *node_), what);
}

void StrictYaml::refuse(std::string_view what) const { refuse_at(source_, line_of(*node_), what); }

}  // namespace assay
