// batch_generator.cpp -- rows of several texts through captured steps.
//
// A step has a fixed number of texts, of tokens of each and of pages that it looks at, all powers
// of two, so there are few of them.  Rows and entries of tables that stand for nothing name a spare
// page: what they write is read by nobody.
#include "croze/llm/generate/batch_generator.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "croze/base/error.h"
#include "croze/llm/generate/chunks.h"
#include "croze/tensor/movement/indexing.h"

namespace croze::llm {
namespace {

constexpr std::int64_t page = 64;

std::int64_t power_of_two(std::int64_t count) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count)));
}

std::int64_t pages_for(std::int64_t tokens) { return (tokens + page - 1) / page; }

// One more than the texts need, for a copy whose source is held.
std::int64_t pages_of(const BatchOptions& options, std::int64_t context) {
  check(options.texts >= 1 && options.texts <= 256, "{} texts at once: 1..256 are possible",
        options.texts);
  return options.texts * pages_for(context) + 1;
}

}  // namespace

struct BatchGenerator::Rows {
  std::int64_t texts = 0, width = 1;      // tokens of each text, filled up
  std::vector<std::size_t> numbers = {};  // of the texts
  std::vector<TokenId> tokens = {};       // texts x width
  std::vector<std::int32_t> starts = {};  // by text
  std::vector<std::int32_t> stored = {};  // as tokens
  std::vector<std::int32_t> last = {};    // by text: the row whose scores are wanted
  std::int64_t end = 0;                   // the longest text, these tokens included
};

Tensor BatchGenerator::Step::operator()(const Tensor& tokens, const Tensor& starts,
                                        const Tensor& stored, const Tensor& pages,
                                        const Tensor& last) const {
  const Placement placement{.starts = starts, .stored = stored, .pages = pages, .page = page};
  return model->logits(index_select((*model)(tokens, placement, *cache), 0, last));
}

void BatchGenerator::PageCopy::operator()(const Tensor& from, const Tensor& to) const {
  for (KeyValueCache::Layer& layer : cache->layers) {
    layer.keys.copy(from, to);
    if (layer.values.defined()) layer.values.copy(from, to);
  }
}

BatchGenerator::BatchGenerator(const Transformer& model, const BatchOptions& options)
    : model_(model),
      context_(model.config().context_for(options.context)),
      texts_({.pages = pages_of(options, context_),
              .page = page,
              .growing = static_cast<std::size_t>(options.texts)}),
      spare_(texts_.pool().size()),
      cache_(model.config(), {.capacity = (spare_ + 1) * page, .type = options.cache_type}),
      scores_(static_cast<std::size_t>(options.texts),
              static_cast<std::size_t>(model.vocabulary())),
      copy_step_(PageCopy{&cache_}) {}

std::size_t BatchGenerator::join(std::span<const TokenId> beginning) {
  check(!beginning.empty(), "there are no tokens to read");
  const std::size_t number = texts_.begin(beginning);
  if (texts_.copy()) copy_page(*texts_.copy());
  scores_.forget(number);
  return number;
}

void BatchGenerator::copy_page(const PagedTexts::Copy& copy) {
  const auto tokens_of = [](std::int64_t number) {
    std::vector<std::int32_t> places(static_cast<std::size_t>(page));
    std::iota(places.begin(), places.end(), static_cast<std::int32_t>(number * page));
    return Tensor::from_data(places, {page});
  };
  copy_step_(tokens_of(copy.from), tokens_of(copy.to));
}

void BatchGenerator::leave(std::size_t number, bool stays) { texts_.end(number, stays); }

void BatchGenerator::check_tokens(std::size_t number, std::span<const TokenId> tokens) const {
  check(!tokens.empty(), "there are no tokens to read");
  for (const TokenId token : tokens) {
    check(token >= 0 && token < model_.vocabulary(), "token {}: the model has {}", token,
          model_.vocabulary());
  }
  check(std::ssize(tokens) <= room(number), "the context is full: {} tokens, and {} more, of {}",
        this->tokens(number).size(), tokens.size(), context_);
}

void BatchGenerator::read_chunk(std::size_t number, std::span<const TokenId> tokens) {
  check(std::ssize(tokens) <= long_chunk, "{} tokens at once: at most {}", tokens.size(),
        long_chunk);
  check_tokens(number, tokens);
  texts_.reserve(number, std::ssize(tokens));
  while (!tokens.empty()) {
    const std::int64_t width = rows_for(std::ssize(tokens));
    const auto count = static_cast<std::size_t>(std::min(std::ssize(tokens), width));
    Rows rows{.texts = 1, .width = width};
    add_text(rows, number, tokens.first(count));
    run(std::move(rows));
    texts_.append(number, tokens.first(count));
    tokens = tokens.subspan(count);
  }
}

void BatchGenerator::read_each(std::span<const Next> tokens) {
  check(!tokens.empty(), "there are no tokens to read");
  for (const Next& next : tokens) check_tokens(next.number, std::span(&next.token, 1));
  for (const Next& next : tokens) texts_.reserve(next.number, 1);
  Rows rows{.texts = power_of_two(std::ssize(tokens))};
  for (const Next& next : tokens) add_text(rows, next.number, std::span(&next.token, 1));
  run(std::move(rows));
  for (const Next& next : tokens) texts_.append(next.number, std::span(&next.token, 1));
}

// Rows behind the tokens of a text go to the spare page.
void BatchGenerator::add_text(Rows& rows, std::size_t number,
                              std::span<const TokenId> tokens) const {
  const std::int64_t start = std::ssize(this->tokens(number)), count = std::ssize(tokens);
  rows.numbers.push_back(number);
  rows.starts.push_back(static_cast<std::int32_t>(start));
  rows.last.push_back(static_cast<std::int32_t>(std::ssize(rows.tokens) + count - 1));
  rows.end = std::max(rows.end, start + count);
  for (std::int64_t i = 0; i < rows.width; i++) {
    const bool is_there = i < count;
    rows.tokens.push_back(is_there ? tokens[static_cast<std::size_t>(i)] : 0);
    rows.stored.push_back(static_cast<std::int32_t>(is_there ? texts_.stored_at(number, start + i)
                                                             : spare_ * page + i));
  }
}

void BatchGenerator::run(Rows rows) {
  while (std::ssize(rows.starts) < rows.texts) {
    rows.stored.push_back(
        static_cast<std::int32_t>(spare_ * page + std::ssize(rows.starts) % page));
    rows.last.push_back(static_cast<std::int32_t>(std::ssize(rows.starts)));
    rows.starts.push_back(0);
    rows.tokens.push_back(0);
  }
  const std::int64_t wanted = power_of_two(pages_for(rows.end));
  const std::int64_t pages = std::min(wanted, pages_for(context_));
  std::vector<std::int32_t> table(static_cast<std::size_t>(rows.texts * pages),
                                  static_cast<std::int32_t>(spare_));
  for (std::size_t i = 0; i < rows.numbers.size(); i++) {
    const std::vector<std::int64_t>& own = texts_.text(rows.numbers[i]).pages;
    const auto count = std::min(own.size(), static_cast<std::size_t>(pages));
    std::ranges::transform(std::span(own).first(count),
                           table.begin() + std::ssize(table) / rows.texts * static_cast<int>(i),
                           [](std::int64_t p) { return static_cast<std::int32_t>(p); });
  }
  const std::int64_t b = rows.texts, n = rows.width;
  scores_.expect(std::move(rows.numbers));
  const Tensor scores = step_for(b, n, pages)(
      Tensor::from_data(rows.tokens, {b, n}), Tensor::from_data(rows.starts, {b}),
      Tensor::from_data(rows.stored, {b * n}), Tensor::from_data(table, {b, pages}),
      Tensor::from_data(rows.last, {b}));
  scores_.take(scores.elements<float>());
}

Captured<BatchGenerator::Step>& BatchGenerator::step_for(std::int64_t texts, std::int64_t tokens,
                                                         std::int64_t pages) {
  const std::tuple key(texts, tokens, pages);
  const auto found = steps_.find(key);
  if (found != steps_.end()) return found->second;
  return steps_.emplace(key, capture(Step{&model_, &cache_})).first->second;
}

}  // namespace croze::llm
