// token_filter.h -- what may follow in a text.
#pragma once

#include <span>

#include "croze/llm/tokenizer/token_id.h"

namespace croze::llm {

// What may follow the tokens of an answer, a grammar say: scores are restricted before a token is
// chosen, and the filter is told which it was.
class TokenFilter {
 public:
  virtual ~TokenFilter() = default;
  // Sets the scores of tokens that may not come next to minus infinity.
  virtual void restrict(std::span<float> scores) = 0;
  virtual void accept(TokenId token) = 0;
  // Whether nothing may follow: the answer ends as if the model had ended it.
  virtual bool is_finished() const = 0;
};

}  // namespace croze::llm
