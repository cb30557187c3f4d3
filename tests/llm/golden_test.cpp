// What Hugging Face's tokenizers and SentencePiece make of texts, with small vocabularies of each
// kind.  golden/make_tokenizers.py recorded it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "croze/base/bytes.h"
#include "croze/io/gzip.h"
#include "croze/llm/tokenizer/tokenizer.h"
#include "croze/llm/tokenizer/unicode.h"
#include "llm/vocabularies.h"

namespace croze::llm {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<TokenId>;

struct Text {
  std::string name, bytes;
};

struct Recorded {
  std::vector<Text> texts;
  Json expected;
};

const Recorded& recorded() {
  static const Recorded result = [] {
    const std::vector<std::byte> bytes =
        GzipReader(TOKENIZERS "/expected.json.gz").read(std::int64_t{1} << 30);
    Json json = Json::parse(as_text(bytes));
    Recorded made;
    for (const Json& entry : json["texts"]) {
      Text t{entry["name"], ""};
      for (const int byte : entry["bytes"]) t.bytes += static_cast<char>(byte);
      made.texts.push_back(std::move(t));
    }
    made.expected = std::move(json["expected"]);
    return made;
  }();
  return result;
}

class Golden : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { ASSERT_TRUE(recorded().expected.contains(GetParam())); }

  const Tokenizer tokenizer_ = Tokenizer::load(std::string(TOKENIZERS "/") + GetParam());
  // Calls check(text, expected) for each text.
  template <typename Check>
  void for_each(Check check) const {
    const Json& expected = recorded().expected[GetParam()];
    for (std::size_t i = 0; i < recorded().texts.size(); i++) {
      SCOPED_TRACE(recorded().texts[i].name);
      check(recorded().texts[i].bytes, expected[i]);
    }
  }
};

TEST_P(Golden, EncodesAsTheReference) {
  for_each([&](const std::string& text, const Json& expected) {
    EXPECT_EQ(tokenizer_.encode(text, {.add_special = false}), expected["plain"].get<Ids>());
    if (!expected.contains("ids")) return;
    EXPECT_EQ(tokenizer_.encode(text, {.parse_special = true}), expected["ids"].get<Ids>());
  });
}

TEST_P(Golden, DecodesAsTheReference) {
  for_each([&](const std::string&, const Json& expected) {
    if (!expected.contains("ids")) return;
    const Ids ids = expected["ids"].get<Ids>();
    EXPECT_EQ(tokenizer_.decode(ids), expected["decoded"].get<std::string>());
    EXPECT_EQ(tokenizer_.decode(ids, {.skip_special = false}),
              expected["decoded_all"].get<std::string>());
  });
}

TEST_P(Golden, AStreamGivesWholeCharactersAndTheSameText) {
  for_each([&](const std::string&, const Json& expected) {
    const Ids ids = expected["plain"].get<Ids>();
    TokenStream stream(tokenizer_);
    std::string text;
    for (const TokenId id : ids) {
      const std::string part = stream.push(id);
      EXPECT_TRUE(is_valid_utf8(part));
      text += part;
    }
    text += stream.finish();
    EXPECT_EQ(text, tokenizer_.decode(ids));
  });
}

// Whoever cuts a text at any token gets all of its bytes: what tokens add in the middle of a text
// is what they add to any.
TEST_P(Golden, BytesOfTokensAreThoseOfTheText) {
  const std::string kind = GetParam();
  if (kind.starts_with("bert") || kind.starts_with("steps")) return;  // which cleans up
  for_each([&](const std::string&, const Json& expected) {
    std::string bytes;
    for (const TokenId id : expected["plain"].get<Ids>()) {
      if (tokenizer_.token_type(id) != TokenType::Control) bytes += tokenizer_.token_bytes(id);
    }
    const std::string text = tokenizer_.decode(expected["plain"].get<Ids>());
    if (text.find("\xef\xbf\xbd") != text.npos) return;  // which stands for other bytes
    EXPECT_TRUE(bytes.ends_with(text)) << bytes << "\n" << text;
  });
}

INSTANTIATE_TEST_SUITE_P(Files, Golden,
                         testing::Values("gpt2.json", "roberta.json", "llama3.json", "qwen2.json",
                                         "llama2.json", "gemma.json", "t5.json", "unigram.json",
                                         "bert.json", "bert_cased.json", "steps.json",
                                         "llama3.gguf", "bert.gguf", "spm_bpe.gguf",
                                         "spm_unigram.gguf"),
                         name_of_test);

}  // namespace
}  // namespace croze::llm
