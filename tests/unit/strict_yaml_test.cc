// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

#include "reports/strict_yaml.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <locale>
#include <random>
#include <string>

#include "reports/error.h"

namespace assay {
namespace {

// The message of the Error that `read` ends with; fails the test if there is none, if its exit code
// is not 4 or if it is more than one line.
std::string refusal(const std::string& text, const std::function<void(StrictYaml&)>& read) {
  try {
    StrictYaml file = StrictYaml::parse(text, "f.yaml");
    read(file);
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  ADD_FAILURE() << "not refused: " << text;
  return "";
}

std::string refusal_of_number(const std::string& text) {
  return refusal(text, [](StrictYaml& file) { static_cast<void>(file.number("n")); });
}

std::string refusal_of_file(const std::string& text) {
  return refusal(text, [](StrictYaml&) {});
}

TEST(StrictYaml, ReadsEveryKind) {
  StrictYaml file = StrictYaml::parse(R"(
title: a plain text   # comment
date: 2026-11-30
quoted: "9.0"
number: -1.5e-3
whole: 132
list: [a, "b", 3]
figures: {bf16: 989.4, tf32: 494.7}
reasons:
  fp8: no FP8
rows:
  - id: one
  - id: two
)",
                                      "f.yaml");
  EXPECT_EQ(file.text("title"), "a plain text");
  EXPECT_EQ(file.text("date"), "2026-11-30");
  EXPECT_EQ(file.text("quoted"), "9.0");
  EXPECT_DOUBLE_EQ(file.number("number"), -0.0015);
  EXPECT_EQ(file.integer("whole"), 132);
  EXPECT_EQ(file.texts("list"), (std::vector<std::string>{"a", "b", "3"}));
  EXPECT_EQ(file.numbers("figures"),
            (std::map<std::string, double>{{"bf16", 989.4}, {"tf32", 494.7}}));
  EXPECT_EQ(file.text_map("reasons"), (std::map<std::string, std::string>{{"fp8", "no FP8"}}));
  std::vector<std::string> ids;
  for (StrictYaml& row : file.list("rows")) {
    ids.push_back(row.text("id"));
    row.finish();
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"one", "two"}));
  file.finish();
}

TEST(StrictYaml, MissingKeysGiveDefaults) {
  StrictYaml file = StrictYaml::parse("a: 1", "f.yaml");
  EXPECT_TRUE(file.has("a"));
  EXPECT_FALSE(file.has("b"));
  EXPECT_EQ(file.text("b", "x"), "x");
  EXPECT_TRUE(file.texts("b").empty());
  EXPECT_TRUE(file.numbers("b").empty());
  EXPECT_TRUE(file.text_map("b").empty());
  EXPECT_TRUE(file.list("b").empty());
}

TEST(StrictYaml, NumbersAreDecimalAndPlain) {
  const auto number = [](const std::string& text) {
    return StrictYaml::parse("n: " + text, "f.yaml").number("n");
  };
  EXPECT_DOUBLE_EQ(number("1e3"), 1000);
  EXPECT_DOUBLE_EQ(number("0.8"), 0.8);
  EXPECT_DOUBLE_EQ(number("-4400"), -4400);
  for (const char* text : {"0x10", "0o17", ".nan", ".inf", "-.inf", "nan", "inf", "1e400", "1,5",
                           "1_000", "+1", "1 000", "12 GiB", "ten", "1.2.3", "e5", "true"}) {
    EXPECT_EQ(refusal_of_number(std::string("n: ") + text).substr(0, 41),
              "f.yaml:1: n: expected a decimal number su")
        << text;
  }
  EXPECT_EQ(refusal_of_number("n: '3'"),
            "f.yaml:1: n: expected a number, found quoted text '3'; remove the quotes");
  EXPECT_EQ(refusal_of_number("x: 1\nn: [1]"), "f.yaml:2: n: expected a number, found a list");
  EXPECT_EQ(refusal_of_number("n:"), "f.yaml:1: n: expected a number, found nothing");
}

// A locale that writes 1,5 and 1.000, built here because a test machine may have none installed.
struct CommaPunctuation : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(StrictYaml, NumbersDoNotDependOnTheLocale) {
  const std::locale before =
      std::locale::global(std::locale(std::locale::classic(), new CommaPunctuation));
  const double value = StrictYaml::parse("n: 1.5", "f.yaml").number("n");
  const std::string message = refusal_of_number("n: 1,5");
  const std::string far = refusal_of_number(std::string(2000, '\n') + "n: x");
  std::locale::global(before);
  EXPECT_DOUBLE_EQ(value, 1.5);
  EXPECT_NE(message.find("'1,5'"), std::string::npos) << message;
  EXPECT_EQ(far.substr(0, 12), "f.yaml:2001:");
}

TEST(StrictYaml, WholeNumbers) {
  const auto integer = [](StrictYaml& file) { static_cast<void>(file.integer("n")); };
  for (const char* text : {"1.0", "1e3", "99999999999", "'7'", "0x10", "", "[1]"}) {
    const std::string message = refusal(std::string("n: ") + text, integer);
    EXPECT_NE(message.find("f.yaml:1: n: expected a whole number"), std::string::npos) << message;
  }
  EXPECT_EQ(StrictYaml::parse("n: -3", "f.yaml").integer("n"), -3);
}

TEST(StrictYaml, KeysMustBeKnown) {
  const auto read = [](StrictYaml& file) {
    static_cast<void>(file.number("floor"));
    static_cast<void>(file.text("note", ""));
    file.finish();
  };
  EXPECT_EQ(refusal("a: 1\nflor: 2", read), "f.yaml:2: unknown key 'flor'; did you mean 'floor'?");
  EXPECT_EQ(refusal("floor: 2\nnotes: x", read),
            "f.yaml:2: unknown key 'notes'; did you mean 'note'?");
  EXPECT_EQ(refusal("floor: 2\nsource: x", read),
            "f.yaml:2: unknown key 'source'; known: floor, note");
  EXPECT_EQ(refusal("note: x", read), "f.yaml:1: missing key 'floor'; add it");
  EXPECT_EQ(refusal("floor: 1\nfloor: 2", read),
            "f.yaml:2: duplicate key 'floor', first on line 1; remove one");
  EXPECT_EQ(refusal("floor: 1\nx:\n  - {a: 1, a: 2}", read),
            "f.yaml:3: duplicate key 'a', first on line 3; remove one");
}

TEST(StrictYaml, RefusesWhatIsNoMapping) {
  EXPECT_EQ(refusal_of_file(""), "f.yaml:1: expected a mapping (key: value), found nothing");
  EXPECT_EQ(refusal_of_file("# only a comment\n"),
            "f.yaml:1: expected a mapping (key: value), found nothing");
  EXPECT_EQ(refusal_of_file("\n- a\n- b"),
            "f.yaml:2: expected a mapping (key: value), found a list");
  EXPECT_EQ(refusal_of_file("text"),
            "f.yaml:1: expected a mapping (key: value), found a single value");
}

TEST(StrictYaml, RefusesWhatYamlAddsToData) {
  EXPECT_EQ(refusal_of_file("a: &x 1"),
            "f.yaml:1: anchors (&name) are not read; write the value out");
  EXPECT_NE(refusal_of_file("a: 1\nb: *x").find("f.yaml:2: "), std::string::npos);
  EXPECT_EQ(refusal_of_file("a: 1\n<<: {b: 2}"),
            "f.yaml:2: merge keys (<<) are not read; write the keys out");
  EXPECT_EQ(refusal_of_file("a: !!float 1"),
            "f.yaml:1: tags (!!name) are not read; leave the tag out");
  EXPECT_EQ(refusal_of_file("a: 1\n---\nb: 2"),
            "f.yaml:2: a second document; keep one document a file");
  EXPECT_EQ(refusal_of_file("{a: 1} b"), "f.yaml:1: a second document; keep one document a file");
  EXPECT_EQ(refusal_of_file("[a]: 1"), "f.yaml:1: a key that is not text");
  EXPECT_EQ(refusal_of_file("a:\n\tb: 1"), "f.yaml:2: a tab in the indentation; use blanks");
}

TEST(StrictYaml, RefusesBytesThatAreNoText) {
  EXPECT_EQ(refusal_of_file("\xff\xfe\x61\x00"), "f.yaml:1: this is UTF-16; save it as UTF-8");
  for (const char* bytes :
       {"\xc3", "\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe4\xb8"}) {
    EXPECT_EQ(refusal_of_file(std::string("a: 1\nb: ") + bytes),
              "f.yaml:2: not UTF-8 text; save the file as UTF-8");
  }
  EXPECT_EQ(refusal_of_file(std::string("a: \0", 4)),
            "f.yaml:1: not UTF-8 text; save the file as UTF-8");
  // A byte-order mark is read as if absent, Chinese as it is.
  EXPECT_EQ(StrictYaml::parse("\xef\xbb\xbf"
                              "a: 达到约",
                              "f.yaml")
                .text("a"),
            "达到约");
}

TEST(StrictYaml, BoundsDepthAndSize) {
  EXPECT_EQ(refusal_of_file(std::string(100'000, '[')), "f.yaml:1: nested deeper than 16 levels");
  EXPECT_EQ(refusal_of_file(std::string(100'000, '{')), "f.yaml:1: nested deeper than 16 levels");
  std::string dashes;
  for (int i = 0; i < 1000; ++i) dashes += "- ";
  EXPECT_EQ(refusal_of_file(dashes), "f.yaml:1: nested deeper than 16 levels");
  EXPECT_EQ(refusal_of_file(std::string((1 << 20) + 1, ' ')),
            "f.yaml:1: larger than 1048576 bytes; is this the right file?");
}

TEST(StrictYaml, WrongKindOfCollection) {
  const auto list = [](StrictYaml& file) { static_cast<void>(file.list("x")); };
  EXPECT_EQ(refusal("x: 3", list), "f.yaml:1: x: expected a list, found a single value");
  EXPECT_EQ(refusal("x:\n  - a: 1\n  - b", list),
            "f.yaml:3: x: expected a list of mappings, found a single value");
  EXPECT_EQ(refusal("x:", list), "f.yaml:1: x: expected a list, found nothing");
  EXPECT_EQ(refusal("x: {a: b}", [](StrictYaml& file) { static_cast<void>(file.numbers("x")); }),
            "f.yaml:1: x.a: expected a decimal number such as 4400 or 0.8, found 'b'");
  EXPECT_EQ(refusal("x: [[a]]", [](StrictYaml& file) { static_cast<void>(file.texts("x")); }),
            "f.yaml:1: x: expected a list of texts, found a list");
  EXPECT_EQ(refusal("x: ''", [](StrictYaml& file) { static_cast<void>(file.text("x")); }),
            "f.yaml:1: x: empty text");
}

TEST(StrictYaml, LongAndControlTextStaysOnOneShortLine) {
  std::string message = refusal_of_number("n: \"" + std::string(5000, 'x') + "\\n\"");
  EXPECT_LT(message.size(), 200U);
  message = refusal_of_number("n: |\n  two\n  lines\n");
  EXPECT_NE(message.find("'two?lines?'"), std::string::npos) << message;
}

TEST(StrictYaml, NamesTheFileThatIsMissing) {
  try {
    static_cast<void>(StrictYaml::load("/nonexistent/quick.yaml"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "/nonexistent/quick.yaml: no such file; check the path");
  }
}

// Whatever the bytes: a value or an Error, never another exception or a crash.
TEST(StrictYaml, SurvivesMutations) {
  const std::string seed =
      "a: 1\nlist:\n  - {id: x, n: 2.5}\n  - id: \"y\"\n    t: >-\n      folded\n      text\n# c\n";
  std::mt19937 random(20261130);
  const std::string alphabet = "\t\n -:,[]{}&*!|>'\"%@`#?x1.\\~<";
  for (int i = 0; i < 20'000; ++i) {
    std::string text = seed;
    for (int k = 0; k < 4; ++k) {
      const std::size_t at = random() % text.size();
      const char c = alphabet[random() % alphabet.size()];
      switch (random() % 3) {
        case 0:
          text[at] = c;
          break;
        case 1:
          text.insert(at, 1, c);
          break;
        default:
          text.erase(at, 1 + random() % 3);
      }
    }
    try {
      StrictYaml file = StrictYaml::parse(text, "f.yaml");
      static_cast<void>(file.number("a"));
      for (StrictYaml& row : file.list("list")) static_cast<void>(row.text("id", ""));
      file.finish();
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
      EXPECT_EQ(message.substr(0, 7), "f.yaml:") << message;
    }
  }
}

}  // namespace
}  // namespace assay
