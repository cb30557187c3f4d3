// drafter.h -- guesses of how a text goes on, which a model reads all at once.
//
// A model reads several tokens in little more time than one, so tokens that somebody guesses
// cheaply are read together, and those stay that the model would have chosen.  Each is chosen as
// ever, by its scores behind what was read: an answer has the tokens that it has without guesses,
// whatever the options of sampling, and guesses cost time alone.
//
// Drawn tokens keep their distribution.  A guess x is certain, so the rule of speculative sampling
// (take x with the probability min(1, p(x) / q(x)), else draw from what p has more than q) takes x
// with the probability p(x), and else draws from p without x: which is to draw from p, and to see
// whether that is x.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "croze/llm/generate/generator.h"
#include "croze/llm/tokenizer/token_id.h"

namespace croze::llm {

struct LanguageModel;

class Drafter {
 public:
  virtual ~Drafter() = default;
  // At most `most` tokens that may follow a text; none if nothing comes to mind.
  virtual std::vector<TokenId> draft(std::span<const TokenId> text, std::int64_t most) = 0;
};

// What followed the last time that the text was as it is at its end: good where an answer quotes.
class PromptLookup : public Drafter {
 public:
  struct Options {
    std::int64_t longest = 4, shortest = 2;  // tokens that are looked for
  };

  PromptLookup() = default;
  // Throws Error unless 1 <= shortest <= longest.
  explicit PromptLookup(const Options& options);
  std::vector<TokenId> draft(std::span<const TokenId> text, std::int64_t most) override;

 private:
  Options options_;
};

// What a smaller model thinks likeliest.
class DraftModel : public Drafter {
 public:
  struct Options {
    GeneratorOptions generator;
    double least_probability = 0.5;  // of a token, by the smaller model; else the guess ends
  };

  // Both models must outlive it; `options.generator.context` has to be that of the larger one.
  // Throws Error naming a token if they do not have the same ones, and as Generator does.
  DraftModel(const LanguageModel& draft, const LanguageModel& of, const Options& options);
  std::vector<TokenId> draft(std::span<const TokenId> text, std::int64_t most) override;

 private:
  const Options options_;
  const std::int64_t vocabulary_;
  const std::vector<TokenId>& end_tokens_;  // of the larger model: nothing is read behind them
  Generator generator_;
};

}  // namespace croze::llm
