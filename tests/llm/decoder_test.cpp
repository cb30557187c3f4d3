// Tokens to text: byte tokens, streams, what steps may follow each other.
#include "croze/llm/tokenizer/decoder.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "croze/llm/tokenizer/tokenizer.h"
#include "support/errors.h"

namespace croze::llm {
namespace {

const Tokenizer& llama() {
  static const Tokenizer tokenizer = Tokenizer::load(TOKENIZERS "/llama2.json");
  return tokenizer;
}

std::vector<TokenId> tokens(std::initializer_list<const char*> texts) {
  std::vector<TokenId> ids;
  for (const char* text : texts) ids.push_back(llama().find(text));
  return ids;
}

std::string streamed(const std::vector<TokenId>& ids) {
  TokenStream stream(llama());
  std::string text;
  for (const TokenId id : ids) text += stream.push(id);
  return text + stream.finish();
}

const std::string mark = "\xef\xbf\xbd";

TEST(ByteTokens, AreACharacterTogether) {
  EXPECT_EQ(llama().decode(tokens({"<0xF0>", "<0x9F>", "<0x98>", "<0x80>"})), "\U0001F600");
  TokenStream stream(llama());
  EXPECT_EQ(stream.push(llama().find("<0xC3>")), "");
  EXPECT_EQ(stream.push(llama().find("<0xA9>")), "\u00e9");
}

TEST(ByteTokens, ThatAreNoTextAreReplacedTogetherAndInAStreamAsOtherBytes) {
  const auto ids = tokens({"a", "<0x41>", "<0xE3>", "<0x81>", "b"});
  EXPECT_EQ(llama().decode(ids), "a" + mark + mark + mark + "b");
  EXPECT_EQ(streamed(ids), "aA" + mark + "b");
}

TEST(Streams, StripTheFirstSpaceOnly) {
  const auto ids = tokens({"\u2581", "\u2581", "a"});
  EXPECT_EQ(llama().decode(ids), " a");
  EXPECT_EQ(streamed(ids), " a");
}

TEST(Streams, BeginAnewAfterTheEnd) {
  TokenStream stream(llama());
  EXPECT_EQ(stream.push(llama().find("\u2581a")), "a");
  EXPECT_EQ(stream.finish(), "");
  EXPECT_EQ(stream.push(llama().find("\u2581a")), "a");
  stream.push(llama().find("<0xE3>"));
  EXPECT_EQ(stream.finish(), mark);
}

TEST(Streams, OutliveTheirTokenizer) {
  auto tokenizer = std::make_unique<Tokenizer>(Tokenizer::load(TOKENIZERS "/llama2.json"));
  TokenStream stream(*tokenizer);
  const TokenId id = tokenizer->find("a");
  tokenizer.reset();
  EXPECT_EQ(stream.push(id), "a");
}

TEST(Tokens, ThatAreNoneHaveNoText) {
  EXPECT_EQ(llama().decode(std::vector<TokenId>{-1, 1'000'000, llama().find("a")}), "a");
  EXPECT_EQ(streamed({-7, llama().find("a")}), "a");
}

TEST(Decoders, RefuseAnOrderThatNoStreamCouldFollow) {
  EXPECT_NE(test::error_of([] {
              Decoder({DecodeFuse{}, DecodeReplace{"a", "b"}});
            }).find("Fuse"),
            std::string::npos);
  EXPECT_NE(test::error_of([] {
              Decoder({DecodeFuse{}, DecodeStrip{" ", 0, 1}});
            }).find("Fuse"),
            std::string::npos);
}

}  // namespace
}  // namespace croze::llm
