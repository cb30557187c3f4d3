// answering.h -- an answer while it grows, for whoever has the scores.
//
//     llm::Answering answering(model, prompt_length, options);
//     std::optional<TokenId> token = answering.next(scores, tokens, room);
//     while (token) .. read it, and ask again with the scores behind it
//     llm::Answer answer = answering.finish();
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "croze/llm/generate/language_model.h"
#include "croze/llm/generate/stop_strings.h"

namespace croze::llm {

class Answering {
 public:
  // The model must outlive it.  Throws Error as Sampler does.
  Answering(const LanguageModel& model, AnswerOptions options);
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;

  // The token that is to be read next, chosen behind these scores; none if the answer ends here.
  // `text` is what was read, prompt and all; `room` how many more tokens can be.
  std::optional<TokenId> next(std::span<const float> scores, std::span<const TokenId> text,
                              std::int64_t room);
  // Whether whoever asked wants more; otherwise it ends here.
  bool goes_on();
  // All of it, but for the counts and times.  Once.
  Answer finish();

 private:
  std::optional<TokenId> ended(AnswerEnd end);
  TokenId chosen(std::span<const float> scores, std::span<const TokenId> text);
  bool show(const std::string& piece);

  const LanguageModel& model_;
  const AnswerOptions options_;
  Sampler sampler_;
  TokenStream stream_;
  StopStrings stops_;
  AnswerEnd end_ = AnswerEnd::Caller;  // until something else ends it
  Answer answer_;
};

}  // namespace croze::llm
