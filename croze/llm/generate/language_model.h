// language_model.h -- all that a GGUF file of a language model holds: network, tokenizer and chat
// template; and answers to texts.
//
//     const auto model = llm::LanguageModel::load("model.gguf");
//     llm::Generator generator(model->transformer);
//     llm::Answer answer = llm::answer(*model, generator, model->tokenizer.encode("Once upon"),
//     {});
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "croze/llm/generate/drafter.h"
#include "croze/llm/generate/generator.h"
#include "croze/llm/model/transformer.h"
#include "croze/llm/sampling/likelihood.h"
#include "croze/llm/sampling/sampler.h"
#include "croze/llm/sampling/token_filter.h"
#include "croze/llm/template/chat_template.h"
#include "croze/llm/tokenizer/tokenizer.h"

namespace croze::llm {

struct LanguageModel {
  std::string name;  // as the file calls it
  Transformer transformer;
  Tokenizer tokenizer;
  std::optional<ChatTemplate> chat;
  std::vector<TokenId> end_tokens;  // those that end an answer

  // Throws Error as load_gguf, Transformer, Tokenizer and ChatTemplate do, and if there are tokens
  // without weights.  For the options see Transformer.
  static std::unique_ptr<const LanguageModel> load(const std::string& path,
                                                   const ModelOptions& options = {});
  static std::unique_ptr<const LanguageModel> from_gguf(const GgufFile& file,
                                                        const ModelOptions& options = {});
};

// A token of an answer, and how likely the model thought it, before any option of sampling.
struct ChosenToken {
  TokenId token = no_token;
  double log_probability = 0;
  std::vector<TokenLikelihood> likeliest = {};  // as many as were asked for
};

struct AnswerOptions {
  SamplingOptions sampling = {};
  std::int64_t max_tokens = -1;        // negative: until it ends or the context is full
  std::vector<std::string> stop = {};  // texts at which it ends; they are not part of it
  // Called with each piece of the text, whole characters, as soon as it is known; false ends it.
  std::function<bool(std::string_view piece)> on_text = {};
  // Asked before each token, and between the chunks of a prompt; false ends it.
  std::function<bool()> goes_on = {};
  TokenFilter* filter = nullptr;
  // Told of each token before its text is; `likeliest` is how many others it names.
  std::function<void(ChosenToken token)> on_token = {};
  std::int64_t likeliest = 0;
  // Guesses at most so many tokens, which are read at once (drafter.h); no more than
  // Generator::most_of_each - 1.
  Drafter* drafter = nullptr;
  std::int64_t drafted = 7;
};

enum class AnswerEnd : std::uint8_t {
  Token,    // the model ended it
  Stop,     // one of the texts
  Length,   // max_tokens
  Context,  // there is no room for more
  Caller,   // on_text or goes_on said so
};

struct Answer {
  std::string text;
  std::vector<TokenId> tokens;  // without the one that ended it
  AnswerEnd end = AnswerEnd::Token;
  std::int64_t prompt_tokens = 0;          // of the whole prompt
  std::int64_t prompt_read = 0;            // of those that the generator did not know yet
  std::int64_t drafted = 0, accepted = 0;  // tokens that were guessed, and those that were right
  double prompt_seconds = 0;               // until the scores of the first token were there
  double answer_seconds = 0;               // from there
};

// What follows a prompt.  The generator keeps what it has in common with what was read before.
// Throws Error as Generator and Sampler do.
Answer answer(const LanguageModel& model, Generator& generator, std::span<const TokenId> prompt,
              const AnswerOptions& options);

}  // namespace croze::llm
