// Learning a vocabulary: an example worked out by hand, and what the tokenizer makes of the result.
#include "croze/llm/train/byte_pairs.h"

#include <gtest/gtest.h>

#include <set>

#include "croze/llm/tokenizer/tokenizer.h"
#include "support/errors.h"

namespace croze::llm {
namespace {

using test::error_of;

Tokenizer tokenizer_of(const BytePairs& pairs) {
  return Tokenizer::from_gguf(GgufMetadata("pairs", pairs.metadata()));
}

std::vector<std::string> texts_of(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string> texts;
  for (const TokenId id : tokenizer.encode(text)) texts.push_back(tokenizer.token_bytes(id));
  return texts;
}

// Words: "low" once, " low" twice, " lower" once, " newest" three times.  Pairs that are there four
// times: l o, o w, w e; of these l o has the oldest tokens, and then w e, since that of "lo" is
// young.  Three times are, among others, " n" and " lo", in this order.
TEST(BytePairs, MergeTheMostFrequentNeighboursFirst) {
  const BytePairs pairs = learn_byte_pairs("low low low lower newest newest newest", 261);
  ASSERT_EQ(pairs.merges.size(), 4u);
  EXPECT_EQ(pairs.merges[0], "l o");
  EXPECT_EQ(pairs.merges[1], "w e");
  EXPECT_EQ(pairs.merges[2], "\u0120 n");  // U+0120 is how a space is written
  EXPECT_EQ(pairs.merges[3], "\u0120 lo");
  EXPECT_EQ(pairs.tokens.size(), 261u);
  EXPECT_EQ(pairs.tokens[256], "lo");
  EXPECT_EQ(pairs.tokens.back(), "<|endoftext|>");
}

TEST(BytePairs, AreBytesWithoutMerges) {
  const BytePairs pairs = learn_byte_pairs("anything", BytePairs::fewest);
  EXPECT_TRUE(pairs.merges.empty());
  const Tokenizer tokenizer = tokenizer_of(pairs);
  const std::string text = "a\xC3\xA9 \n";
  const std::vector<TokenId> ids = tokenizer.encode(text);
  EXPECT_EQ(ids, (std::vector<TokenId>{'a', 0xC3, 0xA9, ' ', '\n'}));
  EXPECT_EQ(tokenizer.decode(ids), text);
}

TEST(BytePairs, StopWhereNoPairIsThereTwice) {
  const BytePairs pairs = learn_byte_pairs("abc abc", 5000);
  EXPECT_LT(pairs.tokens.size(), 262u);
  EXPECT_EQ(learn_byte_pairs("", 300).tokens.size(), 257u);
}

// "aaaa" counts a a three times and has room for two of them.
TEST(BytePairs, CountWhatOverlapsAndMergeWhatDoesNot) {
  const Tokenizer tokenizer = tokenizer_of(learn_byte_pairs("aaaa aaaa aaaa", 258));
  EXPECT_EQ(texts_of(tokenizer, "aaaaa"), (std::vector<std::string>{"aa", "aa", "a"}));
}

TEST(BytePairs, MakeFewTokensOfTheirText) {
  std::string text;
  for (int i = 0; i < 200; i++) text += "In the beginning was the word, and the word was good.\n";
  const Tokenizer tokenizer = tokenizer_of(learn_byte_pairs(text, 400));
  const std::vector<TokenId> ids = tokenizer.encode(text);
  EXPECT_EQ(tokenizer.decode(ids), text);
  // Words with the spaces before them, and marks: every word is frequent here.
  EXPECT_EQ(ids.size(), 200u * 14);
}

TEST(BytePairs, HaveEachTokenOnce) {
  std::string text;
  for (int i = 0; i < 2000; i++) {
    for (int k = 0, n = i; k < 5; k++, n /= 3) text += "abc"[n % 3];
    text += i % 7 == 0 ? '\n' : ' ';
  }
  const BytePairs pairs = learn_byte_pairs(text, 500);
  EXPECT_EQ(std::set<std::string>(pairs.tokens.begin(), pairs.tokens.end()).size(),
            pairs.tokens.size());
  const Tokenizer tokenizer = tokenizer_of(pairs);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
}

TEST(BytePairs, TakeTextsThatAreHardToMerge) {
  EXPECT_EQ(learn_byte_pairs(std::string(1 << 20, 'x'), 300).tokens.size(), 263u);
  std::string noise;
  std::uint32_t state = 1;
  for (int i = 0; i < 1 << 16; i++) {
    state = state * 1664525 + 1013904223;
    noise += static_cast<char>(state >> 24);
  }
  EXPECT_EQ(learn_byte_pairs(noise, 512).tokens.size(), 512u);
}

TEST(BytePairs, RefuseSizesThatCannotBe) {
  EXPECT_NE(error_of([] { learn_byte_pairs("text", 256); }).find("256 tokens"), std::string::npos);
  EXPECT_NE(error_of([] { learn_byte_pairs("text", 65537); }), "");
}

}  // namespace
}  // namespace croze::llm
