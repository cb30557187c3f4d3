// Which tokens a grammar allows, held against trying each for itself; and answers of a model.
#include "croze/llm/grammar/token_mask.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "croze/llm/generate/language_model.h"
#include "croze/llm/grammar/json_schema.h"
#include "llm/grammar/reading.h"
#include "support/errors.h"

namespace croze::llm {
namespace {

// Whether the text can be the beginning of one of the grammar.
bool may_begin(const Grammar& grammar, const std::string& text) {
  GrammarMatcher matcher(grammar);
  auto state = matcher.start();
  for (const char c : text) state = matcher.next(state, static_cast<unsigned char>(c));
  return state != GrammarMatcher::dead;
}

TEST(TokenMask, IsThatOfEachTokenTriedForItself) {
  const Tokenizer tokenizer = Tokenizer::load(TOKENIZERS "/gpt2.json");
  const TokenTexts texts(tokenizer, {0});
  const Grammar grammar = Grammar::parse(json_object_grammar());
  const std::vector<TokenId> ids = tokenizer.encode(R"({"the": ["an", 12, true]})");
  GrammarFilter filter(grammar, texts);
  std::string before;
  for (const TokenId chosen : ids) {
    std::vector<float> scores(static_cast<std::size_t>(tokenizer.vocabulary_size()), 1);
    filter.restrict(scores);
    for (const auto& entry : texts.entries()) {
      EXPECT_EQ(scores[static_cast<std::size_t>(entry.token)] == 1,
                may_begin(grammar, before + entry.bytes))
          << before << " + " << entry.bytes;
    }
    before += tokenizer.token_bytes(chosen);
    filter.accept(chosen);
  }
}

TEST(TokenMask, AnswersOfAModelAreWhatTheGrammarSays) {
  const auto model = LanguageModel::load(LANGUAGE_MODELS "/talking.gguf");
  const TokenTexts texts(model->tokenizer, model->end_tokens);
  const Grammar grammar = Grammar::parse(json_schema_grammar(jinja::Value::parse(
      R"({"type": "object", "properties": {"n": {"type": "integer"}, "ok": {"type": "boolean"}},
          "required": ["n", "ok"]})")));
  Generator generator(model->transformer);
  const std::vector<TokenId> prompt = model->tokenizer.encode("abba");
  int whole = 0;
  for (std::uint64_t seed = 0; seed < 10; seed++) {
    GrammarFilter filter(grammar, texts);
    const Answer a =
        answer(*model, generator, prompt,
               {.sampling = {.top_k = 0, .temperature = 1, .seed = seed}, .filter = &filter});
    if (a.end != AnswerEnd::Token) continue;
    whole++;
    const auto json = nlohmann::json::parse(a.text, nullptr, false);
    ASSERT_TRUE(json.is_object()) << a.text;
    EXPECT_TRUE(json.at("n").is_number_integer() && json.at("ok").is_boolean());
  }
  EXPECT_GT(whole, 5);
}

TEST(TokenMask, AGrammarThatNoTokenWritesIsAnError) {
  const auto model = LanguageModel::load(LANGUAGE_MODELS "/talking.gguf");
  const TokenTexts texts(model->tokenizer, model->end_tokens);
  const Grammar grammar = Grammar::parse(R"(root ::= "a")");
  GrammarFilter filter(grammar, texts);
  std::vector<float> none(3, 0.f);  // scores of too few tokens to have an "a"
  test::error_of([&] { filter.restrict(none); });
  filter.accept(model->tokenizer.find("a"));
  EXPECT_TRUE(filter.is_finished());
}

}  // namespace
}  // namespace croze::llm
