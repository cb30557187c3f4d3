// What a tokenizer is asked for beside texts, and what is said of files that are not right.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "croze/io/gguf/value.h"
#include "croze/llm/tokenizer/pre_tokenizer.h"
#include "croze/llm/tokenizer/tokenizer.h"
#include "support/files.h"

namespace croze::llm {
namespace {

using test::error_of;
using Ids = std::vector<TokenId>;

// A byte-level vocabulary of a few tokens; `more` are members of the object.
std::string json_with(const std::string& more) {
  return R"({"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"<s>":3},"merges":["a b"]})" + more +
         "}";
}

bool says(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    if (text.find(word) == text.npos) return false;
  }
  return true;
}

TEST(Tokenizer, TellsOfItsTokens) {
  const Tokenizer t = Tokenizer::load(TOKENIZERS "/llama2.json");
  const TokenId space_a = t.find("\u2581a");
  ASSERT_NE(space_a, no_token);
  EXPECT_EQ(t.token_text(space_a), "\u2581a");
  EXPECT_EQ(t.token_bytes(space_a), " a");
  EXPECT_EQ(t.token_bytes(t.find("<0x0A>")), "\n");
  EXPECT_EQ(t.token_type(t.find("<0x0A>")), TokenType::Byte);
  EXPECT_EQ(t.token_type(t.find("<unk>")), TokenType::Control);
  EXPECT_EQ(t.token_type(t.find("<extra>")), TokenType::UserDefined);
  EXPECT_EQ(t.token_type(space_a), TokenType::Normal);
  EXPECT_EQ(t.find("no such token"), no_token);
  EXPECT_FALSE(t.has_token(t.vocabulary_size()));
  EXPECT_TRUE(says(error_of([&] { t.token_text(99999); }), {"99999"}));
  EXPECT_EQ(t.special().bos, t.find("<s>"));
  EXPECT_EQ(t.special().eos, t.find("</s>"));
  EXPECT_EQ(t.special().eot, t.find("<|end|>"));
  EXPECT_EQ(t.special().unknown, t.find("<unk>"));
  EXPECT_EQ(t.special().pad, no_token);
}

TEST(Tokenizer, TakesSpecialTokensOfUsersForText) {
  const Tokenizer t = Tokenizer::load(TOKENIZERS "/llama3.json");
  const TokenId end = t.find("<|end|>");
  EXPECT_EQ(std::ranges::count(t.encode("a<|end|>"), end), 0);
  EXPECT_EQ(std::ranges::count(t.encode("a<|end|>", {.parse_special = true}), end), 1);
  EXPECT_EQ(t.decode(t.encode("a<|end|>")), "a<|end|>");
  EXPECT_EQ(t.decode(t.encode("a<|end|>", {.parse_special = true})), "a");
}

TEST(Tokenizer, TokensOfGgufHaveTheirTypes) {
  const Tokenizer t = Tokenizer::load(TOKENIZERS "/spm_bpe.gguf");
  EXPECT_EQ(t.token_type(0), TokenType::Control);
  EXPECT_EQ(t.token_type(t.find("<0x0A>")), TokenType::Byte);
  EXPECT_EQ(t.special().bos, 1);
  EXPECT_EQ(t.special().eos, 2);
  EXPECT_EQ(t.encode(""), Ids{1});
}

using Files = test::FilesTest;

TEST_F(Files, TheConfigBesideSaysWhichTokensAreSpecial) {
  const std::string model = file("tokenizer.json", test::content_of(TOKENIZERS "/bert.json"));
  file("tokenizer_config.json",
       R"({"eos_token":{"content":"[MASK]"},"pad_token":"[UNK]","bos_token":null})");
  const Tokenizer t = Tokenizer::load(model);
  EXPECT_EQ(t.special().eos, t.find("[MASK]"));
  EXPECT_EQ(t.special().pad, t.find("[UNK]"));
  EXPECT_EQ(t.special().bos, t.find("[CLS]"));
  file("tokenizer_config.json", "[]");
  EXPECT_TRUE(says(error_of([&] { Tokenizer::load(model); }), {"tokenizer_config.json"}));
}

TEST_F(Files, WhatIsNotSupportedIsNamed) {
  const char* cases[][2] = {
      {R"(,"normalizer":{"type":"Nmt"})", "\"Nmt\" is not supported"},
      {R"(,"normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"X"}]})",
       "\"X\" is not supported"},
      {R"(,"pre_tokenizer":{"type":"UnicodeScripts"})", "\"UnicodeScripts\" is not supported"},
      {R"(,"decoder":{"type":"CTC"})", "\"CTC\" is not supported"},
      {R"(,"post_processor":{"type":"Y"})", "\"Y\" is not supported"},
      {R"(,"pre_tokenizer":{"type":"Split","behavior":"Isolated","pattern":{"Regex":"[a[b]]"}})",
       "a class of characters in another one"},
      {R"(,"pre_tokenizer":{"type":"Split","behavior":"Isolated","pattern":{"Regex":"(a"}})",
       "not valid"},
      {R"(,"pre_tokenizer":{"type":"Split","behavior":"Now","pattern":{"String":"a"}})", "Now"},
      {R"(,"normalizer":{"type":"Precompiled","precompiled_charsmap":"AAAA"})", "normalizer"},
      {R"(,"added_tokens":[{"id":-1,"content":"x"}])", "-1 is no number of a token"},
      {R"(,"added_tokens":[{"id":1}])", "has no \"content\""},
  };
  for (const auto& [more, problem] : cases) {
    const std::string path = file("t.json", json_with(more));
    EXPECT_TRUE(says(error_of([&] { Tokenizer::load(path); }), {"t.json", problem})) << more;
  }
  EXPECT_TRUE(says(error_of([] { Tokenizer::from_json(R"({"model":{"type":"WordLevel"}})"); }),
                   {"tokenizer.json: model", "\"WordLevel\" is not supported"}));
  EXPECT_TRUE(says(error_of([] { Tokenizer::from_json("{}"); }), {"\"model\""}));
  EXPECT_TRUE(says(error_of([] { Tokenizer::from_json("{"); }), {"not valid JSON"}));
  EXPECT_TRUE(says(error_of([] { Tokenizer::from_json(std::string(100000, '[')); }), {"deep"}));
  EXPECT_TRUE(says(error_of([&] { Tokenizer::load(path("none")); }), {"none"}));
}

TEST(Gguf, WhatIsNotSupportedIsNamed) {
  GgufMetadata::Map values;
  const auto error = [&] {
    return error_of([&] { Tokenizer::from_gguf(GgufMetadata("m.gguf", values)); });
  };
  EXPECT_TRUE(says(error(), {"m.gguf", "tokenizer.ggml.tokens"}));
  values["tokenizer.ggml.tokens"] = GgufArray{std::vector<std::string>{"a", "b"}};
  values["tokenizer.ggml.model"] = std::string("rwkv");
  EXPECT_TRUE(says(error(), {"m.gguf", "\"rwkv\""}));
  values["tokenizer.ggml.model"] = std::string("gpt2");
  values["tokenizer.ggml.pre"] = std::string("unheard-of");
  EXPECT_TRUE(says(error(), {"m.gguf", "\"unheard-of\""}));
  values["tokenizer.ggml.pre"] = std::string("gpt-2");
  values["tokenizer.ggml.merges"] = GgufArray{std::vector<std::string>{"a c"}};
  EXPECT_TRUE(says(error(), {"m.gguf", "\"a c\""}));
  values["tokenizer.ggml.merges"] = GgufArray{std::vector<std::string>{}};
  values["tokenizer.ggml.bos_token_id"] = std::uint32_t{2};
  EXPECT_TRUE(says(error(), {"m.gguf", "bos_token_id is 2"}));
  values["tokenizer.ggml.bos_token_id"] = std::uint32_t{1};
  EXPECT_EQ(Tokenizer::from_gguf(GgufMetadata("m.gguf", values)).encode("aba"), (Ids{0, 1, 0}));
}

// Hugging Face's examples, with "-" as the pattern.
TEST(Pieces, AreCutAsTheBehaviorSays) {
  const auto cut = [](SplitBehavior behavior) {
    Pieces pieces("the-final--countdown", true);
    pieces.split(behavior, [](std::string_view text) {
      return parts_by_char(text, [](char32_t c) { return c == '-'; });
    });
    std::vector<std::string> result;
    for (std::size_t i = 0; i < pieces.size(); i++) result.emplace_back(pieces[i]);
    return result;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(cut(SplitBehavior::Removed), (Texts{"the", "final", "countdown"}));
  EXPECT_EQ(cut(SplitBehavior::Isolated), (Texts{"the", "-", "final", "-", "-", "countdown"}));
  EXPECT_EQ(cut(SplitBehavior::MergedWithPrevious), (Texts{"the-", "final-", "-", "countdown"}));
  EXPECT_EQ(cut(SplitBehavior::MergedWithNext), (Texts{"the", "-final", "-", "-countdown"}));
  EXPECT_EQ(cut(SplitBehavior::Contiguous), (Texts{"the", "-", "final", "--", "countdown"}));
}

// More than go through the steps at a time, with what nothing matches at both ends.
TEST(PreTokenizers, GiveTheWordsOfLongTextsOneByOne) {
  std::string text = "--";
  for (int i = 0; i < 5000; i++) text += i % 7 == 0 ? "é1 " : "w!";
  text += "--";
  const auto expect_same_words = [&](PreTokenizerStep first, PreTokenizerStep next) {
    std::vector<PreTokenizerStep> list;
    list.push_back(std::move(first));
    list.push_back(std::move(next));
    const PreTokenizer steps(std::move(list));
    Pieces whole(text, true);
    steps.split(whole);
    std::vector<std::string> words, wanted;
    for (std::size_t i = 0; i < whole.size(); i++) wanted.emplace_back(whole[i]);
    steps.each_word(text, true, [&](std::string_view word) { words.emplace_back(word); });
    EXPECT_GT(words.size(), 700u);
    EXPECT_EQ(words, wanted);
  };
  expect_same_words(SplitPattern{.pattern = Regex("[a-zé]+|[0-9]")}, ToBytes{});
  const Metaspace mark{.prefix = Prefix::First, .splits = false};
  for (const auto behavior :
       {SplitBehavior::Removed, SplitBehavior::Isolated, SplitBehavior::Contiguous}) {
    expect_same_words(SplitChars{is_whitespace, behavior}, mark);
    expect_same_words(SplitChars{is_punctuation, behavior}, mark);
  }
}

}  // namespace
}  // namespace croze::llm
