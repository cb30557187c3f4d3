// re2_pattern_test.cpp -- patterns of RE2 in the words of PCRE2.  What they match is what RE2's
// page on syntax says.
#include "croze/io/onnx/ops/re2_pattern.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/errors.h"

namespace croze::onnx {
namespace {

using test::error_of;

bool matches(std::string_view pattern, std::string_view text) {
  const TextPattern compiled = re2_pattern(pattern);
  return TextMatcher(compiled, text).is_all();
}

std::string refusal(std::string_view pattern) {
  return error_of([&] { re2_pattern(pattern); });
}

struct Row {
  std::string_view pattern;
  std::vector<std::string> matched, others;
};

void expect(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    for (const std::string& text : row.matched) {
      EXPECT_TRUE(matches(row.pattern, text)) << row.pattern << " on " << text;
    }
    for (const std::string& text : row.others) {
      EXPECT_FALSE(matches(row.pattern, text)) << row.pattern << " on " << text;
    }
  }
}

TEST(Re2Pattern, MatchesWholeTexts) {
  expect({
      {"abc", {"abc"}, {"ab", "abcd", "xabc", ""}},
      {"a|ab|abc", {"a", "ab", "abc"}, {"b"}},
      {"(a|ab)(c|bcd)", {"ac", "abc", "abcd", "abbcd"}, {"a"}},
      {".", {"x", "\xC3\xA9", "\xE2\x82\xAC", "\r"}, {"\n", "", "xy"}},
      {"(?s).", {"\n"}, {}},
      {"^a$", {"a"}, {"a\n", "\na"}},
      {"(?m)a$\n^b", {"a\nb"}, {"ab"}},
      {"\\Aa\\z", {"a"}, {"a\n"}},
      {"(?i)straSSe", {"STRASSE", "strasse"}, {}},
      {"(?i:a)b", {"Ab"}, {"AB"}},
      {"(?i)a(?-i)b", {"Ab"}, {"aB"}},
      {"(?U)a+", {"aaa"}, {}},
      {"(?P<year>\\d{4})-(?<month>\\d\\d)", {"2024-05"}, {"24-05"}},
      {"a{2}b{1,}c{0,1}", {"aab", "aabbc"}, {"ab", "aac"}},
      {"a+?b*?c??", {"aabbc", "a"}, {"b"}},
      {"a{,2}", {"a{,2}"}, {"aa", ""}},
      {"a{x}", {"a{x}"}, {"a"}},
      {"{", {"{"}, {}},
  });
}

TEST(Re2Pattern, ClassesAreOfAsciiThoughTextsAreOfUnicode) {
  expect({
      {"\\d", {"7"}, {"\xD9\xA3"}},
      {"\\w+", {"aZ_9"}, {"\xC3\xA9"}},
      {"\\s+", {" \t\n\f\r"}, {"\v", "\xC2\xA0"}},
      {"\\S", {"\v", "\xC2\xA0", "x"}, {" "}},
      {"[\\S]", {"\v"}, {" "}},
      {"[\\D]", {"x"}, {"1"}},
      {"[^\\w]", {"-", "\xC3\xA9"}, {"a"}},
      {"[[:alpha:][:^alnum:]]", {"a", "-"}, {"1"}},
      {"[[:word:]]", {"_"}, {"-"}},
      {"[]a]", {"]", "a"}, {"b"}},
      {"[^]a]", {"b"}, {"]", "a"}},
      {"[a[.b]", {"[", "."}, {"c"}},
      {"[a-c.-]", {"b", "-", "."}, {"d"}},
      {"[\\-\\]\\\\]", {"-", "]", "\\"}, {"a"}},
      {"\\bcat\\b", {"cat"}, {}},
      {"a\\B.", {"ab"}, {"a-"}},
  });
}

TEST(Re2Pattern, CharactersHaveNumbersAndProperties) {
  expect({
      // Characters by number; \v is one, not a set.
      {"\\x41\\x{20AC}\\101\\060",
       {"A\xE2\x82\xAC"
        "A0"},
       {}},
      {"\\v", {"\v"}, {"\n"}},
      {"[\\v]", {"\v"}, {"\n"}},
      {"\\a\\f\\t\\n\\r", {"\a\f\t\n\r"}, {}},
      {"\\Qa.b*\\E+", {"a.b*", "a.b**"}, {"axb"}},
      {"\\Q.", {"."}, {"x"}},
      {"\\.\\*\\/\\@", {".*/@"}, {}},
      // Properties.
      {"\\pL+", {"a\xC3\xA9"}, {"1"}},
      {"\\p{Lu}\\P{Lu}", {"Aa"}, {"AA"}},
      {"\\p{^Lu}", {"a"}, {"A"}},
      {"\\P{^Lu}", {"A"}, {"a"}},
      {"\\p{Greek}+", {"\xCE\xB1\xCE\xB2"}, {"a"}},
      {"[\\p{Han}\\d]+",
       {"\xE6\xBC\xA2"
        "1"},
       {"a"}},
      {"\\p{Any}", {"x", "\n"}, {}},
  });
}

TEST(Re2Pattern, RefusesWhatRe2DoesNotHave) {
  for (const char* pattern : {"(a)\\1",      "\\8",           "(?P<n>a)(?P=n)",
                              "\\k<n>",      "\\g1",          "(?=a)",
                              "(?!a)",       "(?<=a)b",       "(?<!a)b",
                              "(?>a)",       "(?|a|b)",       "(?R)",
                              "(?1)",        "(?#note)",      "(*ANY)a",
                              "(*UTF)a",     "a++",           "a*+",
                              "a??+",        "a**",           "a{2}{3}",
                              "a{2}+",       "\\C",           "\\K",
                              "\\G",         "\\Z",           "\\R",
                              "\\X",         "\\h",           "\\N",
                              "\\e",         "\\cA",          "\\E",
                              "\\_",         "\\u0041",       "[\\b]",
                              "[\\z]",       "[[:letters:]]", "(?x)a",
                              "(?-)",        "(?)",           "(?P<>a)",
                              "(?P<a-b>a)",  "\\x",           "\\xZZ",
                              "\\x{110000}", "\\p{",          "\\p{Greek/}",
                              "a\\"}) {
    const std::string error = refusal(pattern);
    EXPECT_NE(error.find("not of RE2's syntax"), std::string::npos) << pattern << ": " << error;
  }
  EXPECT_NE(refusal("a{1001}").find("repeats 1001 times, more than 1000"), std::string::npos);
  EXPECT_NE(refusal("a{99999999999}").find("more than 1000"), std::string::npos);
  for (const char* pattern : {"(a", "a)", "[b-a]", "\\p{Elvish}", "*", "+a", "\xFF"}) {
    EXPECT_NE(refusal(pattern).find("is not valid"), std::string::npos) << pattern;
  }
  EXPECT_NE(refusal("[a").find("a class without an end"), std::string::npos);
  EXPECT_NE(refusal(std::string(1 << 15, 'a')).find("longer than"), std::string::npos);
}

TEST(Re2Pattern, WhatTakesTooLongIsGivenUp) {
  const TextPattern pattern = re2_pattern("(a*)*b");
  std::string text(64, 'a');
  text.append("bc");
  const std::string error = error_of([&] { TextMatcher(pattern, text).is_all(); });
  EXPECT_NE(error.find("matching the pattern (a*)*b failed: match limit"), std::string::npos)
      << error;
}

TEST(Re2Pattern, TextsAreUtf8) {
  const TextPattern pattern = re2_pattern("a.*");
  const std::string text = "a\xFF";
  const std::string error = error_of([&] { TextMatcher(pattern, text).is_all(); });
  EXPECT_NE(error.find("matching the pattern a.* failed: UTF-8 error"), std::string::npos) << error;
}

}  // namespace
}  // namespace croze::onnx
