// Grammars: what they accept, by hand and against regular expressions; and those that are hostile.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <regex>

#include "croze/llm/grammar/utf8_ranges.h"
#include "croze/llm/tokenizer/unicode.h"
#include "llm/grammar/reading.h"
#include "support/errors.h"

namespace croze::llm {
namespace {

using test::accepts;
using test::error_of;

unsigned below(std::mt19937& random, unsigned end) { return static_cast<unsigned>(random() % end); }

TEST(Gbnf, TextsClassesGroupsAndRepetitions) {
  EXPECT_TRUE(accepts(R"g(root ::= "yes" | "no")g", "no"));
  EXPECT_FALSE(accepts(R"g(root ::= "yes" | "no")g", "n"));
  EXPECT_TRUE(accepts("root ::= [a-c]+ [^a-c]?", "abcab!"));
  EXPECT_FALSE(accepts("root ::= [a-c]+ [^a-c]?", "!"));
  EXPECT_TRUE(accepts(R"g(root ::= ("a" | "b" "c")* "d")g", "abcad"));
  EXPECT_TRUE(accepts(R"g(root ::= "ab"{2,3})g", "ababab"));
  EXPECT_FALSE(accepts(R"g(root ::= "ab"{2,3})g", "abababab"));
  EXPECT_FALSE(accepts(R"g(root ::= "ab"{2,3})g", "ab"));
  EXPECT_TRUE(accepts(R"g(root ::= "a"{2,} "b"{1})g", "aaaab"));
  EXPECT_TRUE(accepts(R"g(root ::= "")g", ""));
}

TEST(Gbnf, RulesCommentsAndLines) {
  const char* text = R"g(# a sum
root ::=
  term ("+" term)*   # terms
term ::= number
  | "(" root ")"
number ::= [0-9]+
)g";
  EXPECT_TRUE(accepts(text, "1+(22+(3))+4"));
  EXPECT_FALSE(accepts(text, "1+(22+(3)+4"));
}

TEST(Gbnf, NestsAsDeepAsTheTextDoes) {
  const Grammar grammar = Grammar::parse(R"g(root ::= "(" root ")" | "x")g");
  const std::string open(5000, '('), close(5000, ')');
  EXPECT_TRUE(accepts(grammar, open + "x" + close));
  EXPECT_FALSE(accepts(grammar, open + "x" + close.substr(1)));
}

TEST(Gbnf, CharactersBeyondAscii) {
  EXPECT_TRUE(accepts("root ::= [α-ω]+", "λογος"));
  EXPECT_FALSE(accepts("root ::= [α-ω]+", "λογoς"));  // a Latin o
  EXPECT_TRUE(accepts("root ::= [^a]", "\U0001F600"));
  EXPECT_TRUE(accepts(R"g(root ::= "\u00e9\x41\U0001F600\n")g", "éA\U0001F600\n"));
  EXPECT_FALSE(accepts("root ::= .", "\xff"));
}

TEST(Gbnf, EmptyRepetitionsEnd) {
  EXPECT_TRUE(accepts(R"g(root ::= ("a"?)* "b")g", "aab"));
  EXPECT_TRUE(accepts(R"g(root ::= (("a"*)*)* "b")g", "aab"));
  EXPECT_TRUE(accepts(R"g(root ::= ("a"* "b"*)+)g", "abba"));
}

// All characters are in exactly one sequence, as UTF-8 writes them.
TEST(Gbnf, RangesOfCharactersAreRangesOfBytes) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; round++) {
    char32_t first = below(random, 0x110000), last = below(random, 0x110000);
    if (first > last) std::swap(first, last);
    const auto sequences = utf8_sequences(first, last);
    for (int i = 0; i < 200; i++) {
      char32_t c =
          i % 4 == 0 ? first - 2 + below(random, 4) : below(random, 1u << (7 + below(random, 15)));
      if (i % 4 == 1) c = last - 2 + below(random, 4);
      if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) continue;
      std::string bytes;
      append_char(bytes, c);
      const auto count = std::ranges::count_if(sequences, [&](const ByteSequence& s) {
        if (s.length != std::ssize(bytes)) return false;
        for (std::size_t k = 0; k < bytes.size(); k++) {
          const auto b = static_cast<unsigned char>(bytes[k]);
          if (b < s.bytes[k].first || b > s.bytes[k].last) return false;
        }
        return true;
      });
      EXPECT_EQ(count, c >= first && c <= last ? 1 : 0) << fmt::format("{:x}", unsigned(c));
    }
  }
}

// Random expressions, which both notations have in common but for quotes.
struct Pair {
  std::string grammar, regex;
};

Pair random_pair(std::mt19937& random, int depth) {
  const unsigned kind = depth > 3 ? below(random, 2) : below(random, 7);
  if (kind == 0) {
    const std::string letter(1, static_cast<char>('a' + below(random, 3)));
    return {"\"" + letter + "\"", letter};
  }
  if (kind == 1) return {"[ab]", "[ab]"};
  const Pair x = random_pair(random, depth + 1);
  if (kind == 2) return {"(" + x.grammar + ")*", "(?:" + x.regex + ")*"};
  if (kind == 3) return {"(" + x.grammar + ")?", "(?:" + x.regex + ")?"};
  if (kind == 4) return {"(" + x.grammar + "){1,2}", "(?:" + x.regex + "){1,2}"};
  const Pair y = random_pair(random, depth + 1);
  if (kind == 5) return {"(" + x.grammar + " " + y.grammar + ")", "(?:" + x.regex + y.regex + ")"};
  return {"(" + x.grammar + " | " + y.grammar + ")", "(?:" + x.regex + "|" + y.regex + ")"};
}

TEST(Gbnf, AgreesWithRegularExpressions) {
  std::mt19937 random(17);
  for (int round = 0; round < 150; round++) {
    const Pair pair = random_pair(random, 0);
    const Grammar grammar = Grammar::parse("root ::= " + pair.grammar);
    const std::regex regex(pair.regex);
    for (int i = 0; i < 40; i++) {
      std::string text;
      for (unsigned k = below(random, 7); k > 0; k--)
        text += static_cast<char>('a' + below(random, 3));
      EXPECT_EQ(accepts(grammar, text), std::regex_match(text, regex))
          << pair.grammar << " of " << text;
    }
  }
}

TEST(Gbnf, WhatIsNoGrammarIsNamedWithItsLine) {
  const auto refused = [](std::string_view text) {
    return error_of([&] { Grammar::parse(text); });
  };
  EXPECT_NE(refused("root ::= \"a\"\nroot ::= \"b\"").find("two rules"), std::string::npos);
  EXPECT_NE(refused("root ::= other").find("other"), std::string::npos);
  EXPECT_NE(refused("a ::= \"x\"").find("root"), std::string::npos);
  EXPECT_NE(refused("root ::= \"a\"\n  [b").find("line 2"), std::string::npos);
  for (const char* text :
       {"", "root", "root ::= (\"a\"", "root ::= \"a\")", "root ::= *", "root ::= [z-a]",
        "root ::= \"\\q\"", "root ::= \"\\ud800\"", "root ::= \"a\"{3,2}", "root ::= \"a\"{9999}",
        "root ::= \"a\"{x}", "root ::= \"a", "root ::= \xff", "= \"a\"", "root ::= []"}) {
    refused(text);
  }
}

TEST(Gbnf, LeftRecursionIsRefusedAndRightRecursionIsNot) {
  error_of([] { Grammar::parse(R"g(root ::= root "x" | "y")g"); });
  error_of(
      [] { Grammar::parse("root ::= a \"x\"\na ::= b \"y\"\nb ::= \"\" root \"z\" | \"q\""); });
  error_of([] { Grammar::parse("root ::= e root \"x\" | \"y\"\ne ::= \"\""); });
  error_of([] { Grammar::parse("root ::= root"); });
  EXPECT_TRUE(accepts(R"g(root ::= "x" root | "y")g", "xxxy"));
}

TEST(Gbnf, HostileGrammarsAreBounded) {
  std::string nested = "root ::= " + std::string(100000, '(');
  error_of([&] { Grammar::parse(nested); });
  // Repetitions of repetitions: what they come to is the sum and not the product.  Too many ways
  // are an error.
  const Grammar many = Grammar::parse("root ::= ((\"a\"{0,20}){0,20}) \"b\"");
  EXPECT_TRUE(accepts(many, std::string(400, 'a') + "b"));
  EXPECT_FALSE(accepts(many, std::string(401, 'a') + "b"));
  error_of([] { accepts("root ::= (((\"a\"{0,1000}){0,1000}){0,1000}) \"b\"", "b"); });
  std::string large;
  for (int i = 0; i < 30000; i++) large += fmt::format("r{} ::= \"abcdefghij\"\n", i);
  error_of([&] { Grammar::parse(large + "root ::= r1"); });
  // A chain of rules that can be empty, in the order that is worst for whoever goes round and
  // round.
  std::string chain = "root ::= r0 \"x\"\n";
  for (int i = 0; i < 10000; i++) chain += fmt::format("r{} ::= r{}\n", i, i + 1);
  EXPECT_TRUE(accepts(chain + "r10000 ::= \"\"", "x"));
}

TEST(Gbnf, StatesAreForgottenAndTheTextGoesOn) {
  const Grammar grammar = Grammar::parse(R"g(root ::= "(" root ")" | "[" root "]" | "x")g");
  GrammarMatcher matcher(grammar);
  auto state = matcher.start();
  std::mt19937 random(3);
  std::string closing;
  for (int i = 0; i < 20000; i++) {
    const bool round = below(random, 2);
    state = matcher.kept(matcher.next(state, static_cast<unsigned char>(round ? '(' : '[')));
    closing += round ? ')' : ']';
  }
  EXPECT_GT(matcher.generation(), 0);
  state = matcher.next(state, 'x');
  for (auto i = closing.rbegin(); i != closing.rend(); i++) {
    state = matcher.kept(matcher.next(state, static_cast<unsigned char>(*i)));
    ASSERT_NE(state, GrammarMatcher::dead);
  }
  EXPECT_TRUE(matcher.must_end(state));
}

}  // namespace
}  // namespace croze::llm
