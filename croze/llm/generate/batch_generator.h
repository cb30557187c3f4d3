// batch_generator.h -- a model that reads many texts at once, which join and leave at any step.
//
//     llm::BatchGenerator batch(model, {.context = 2048, .texts = 8});
//     const std::size_t a = batch.join(prompt), b = batch.join(other_prompt);
//     batch.read_chunk(a, ..);  // until all of the prompt is read
//     batch.read_each(std::vector{Next{a, next_of_a}, Next{b, next_of_b}});
//     std::span<const float> scores = batch.scores(a);
//     batch.leave(a);
//
// A step reads the weights once for all of its texts.  Keys and values lie in pages (pages.h); a
// text that begins as another does not read that again.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "croze/jit/capture.h"
#include "croze/llm/generate/pages.h"
#include "croze/llm/generate/text_scores.h"
#include "croze/llm/model/transformer.h"
#include "croze/llm/tokenizer/token_id.h"

namespace croze::llm {

struct BatchOptions {
  std::int64_t context = 0;  // tokens of each text, as Config::context_for() has it
  std::int64_t texts = 4;    // at once
  CacheType cache_type = CacheType::Float16;
};

class BatchGenerator {
 public:
  struct Next {
    std::size_t number;  // of a text
    TokenId token;
  };

  // The model must outlive it.  The cache has pages for all texts at their longest.  Throws Error
  // for a context that is longer than the model's, and for a number of texts that is not in 1..256.
  explicit BatchGenerator(const Transformer& model, const BatchOptions& options = {});
  BatchGenerator(const BatchGenerator&) = delete;
  BatchGenerator& operator=(const BatchGenerator&) = delete;

  // A new text; its number.  Of what it is to begin with, that which the cache knows is read
  // already: tokens() says it, never all of it.  Throws Error if there is no place for one more.
  std::size_t join(std::span<const TokenId> beginning);
  // Reads tokens behind those of one text, at most `long_chunk` of chunks.h.  Throws Error, and
  // reads nothing, if there are none, if one is none of the model's, or if they do not fit the
  // context.
  void read_chunk(std::size_t number, std::span<const TokenId> tokens);
  // Reads one token of each of several texts by one step.  A text stands there once.  Throws Error
  // as read_chunk().
  void read_each(std::span<const Next> tokens);
  // The scores of the token behind what was read last of a text; valid until any text reads again.
  std::span<const float> scores(std::size_t number) const { return scores_.of(number); }
  // The text is done.  Unless it stays, what was read of it is of no use for others.
  void leave(std::size_t number, bool stays = true);

  const std::vector<TokenId>& tokens(std::size_t number) const {
    return texts_.text(number).tokens;
  }
  std::int64_t context() const { return context_; }
  std::int64_t room(std::size_t number) const { return context_ - std::ssize(tokens(number)); }
  std::int64_t cache_bytes() const { return cache_.bytes; }
  const PagedTexts& texts() const { return texts_; }

 private:
  struct Step {
    const Transformer* model;
    KeyValueCache* cache;

    // The scores behind rows `last` of the tokens (b, n).
    Tensor operator()(const Tensor& tokens, const Tensor& starts, const Tensor& stored,
                      const Tensor& pages, const Tensor& last) const;
  };
  struct PageCopy {
    KeyValueCache* cache;

    void operator()(const Tensor& from, const Tensor& to) const;
  };
  // What a step is called with: b texts of n tokens each.
  struct Rows;

  void check_tokens(std::size_t number, std::span<const TokenId> tokens) const;
  void copy_page(const PagedTexts::Copy& copy);
  void add_text(Rows& rows, std::size_t number, std::span<const TokenId> tokens) const;
  void run(Rows rows);
  Captured<Step>& step_for(std::int64_t texts, std::int64_t tokens, std::int64_t pages);

  const Transformer& model_;
  std::int64_t context_;
  PagedTexts texts_;
  std::int64_t spare_;  // the page of rows that stand for nothing
  KeyValueCache cache_;
  TextScores scores_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, Captured<Step>> steps_;
  Captured<PageCopy> copy_step_;
};

}  // namespace croze::llm
