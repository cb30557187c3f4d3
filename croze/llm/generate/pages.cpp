// pages.cpp -- counting, and the search for what texts have in common.
#include "croze/llm/generate/pages.h"

#include <algorithm>
#include <utility>

#include "croze/base/error.h"

namespace croze::llm {
namespace {

// Texts that have ended and stay.  Their pages bound them, too, but those that are equal share all.
constexpr std::size_t most_ended = 64;

std::int64_t pages_for(std::int64_t tokens, std::int64_t page) {
  return (tokens + page - 1) / page;
}

}  // namespace

// ---- the pool ---------------------------------------------------------------------------------

PagePool::PagePool(std::int64_t pages) {
  check(pages > 0, "a cache of {} pages", pages);
  holders_.resize(static_cast<std::size_t>(pages), 0);
  for (std::int64_t page = pages - 1; page >= 0; page--) free_.push_back(page);
}

std::int64_t PagePool::take() {
  check(!free_.empty(), "the cache is full: all of its {} pages are in use", size());
  const std::int64_t page = free_.back();
  free_.pop_back();
  holders_[static_cast<std::size_t>(page)] = 1;
  return page;
}

std::int64_t PagePool::holders(std::int64_t page) const {
  ensure(page >= 0 && page < size(), "page {} of {}", page, size());
  return holders_[static_cast<std::size_t>(page)];
}

void PagePool::share(std::int64_t page) {
  ensure(holders(page) > 0, "page {} is shared and nobody has it", page);
  holders_[static_cast<std::size_t>(page)]++;
}

void PagePool::release(std::int64_t page) {
  ensure(holders(page) > 0, "page {} is released and nobody has it", page);
  if (--holders_[static_cast<std::size_t>(page)] == 0) free_.push_back(page);
}

// ---- texts ------------------------------------------------------------------------------------

PagedTexts::PagedTexts(const Options& options)
    : options_(options), pool_(options.pages), growing_(options.growing) {
  check(options.page > 0, "pages of {} tokens", options.page);
}

PagedTexts::Found PagedTexts::longest(std::span<const TokenId> text) const {
  Found best;
  const auto consider = [&](const PagedText& other) {
    const auto in_text = std::ranges::mismatch(text, other.tokens).in1;
    const auto length = std::min(in_text - text.begin(), std::ssize(text) - 1);
    if (length > best.length) best = {&other, length};
  };
  for (const std::optional<PagedText>& other : growing_) {
    if (other) consider(*other);
  }
  for (const PagedText& other : ended_) consider(other);
  return best;
}

std::int64_t PagedTexts::known(std::span<const TokenId> text) const { return longest(text).length; }

std::size_t PagedTexts::begin(std::span<const TokenId> text) {
  copy_.reset();
  const auto place = std::ranges::find_if(growing_, [](const auto& t) { return !t.has_value(); });
  check(place != growing_.end(), "{} texts grow already", growing_.size());
  PagedText begun;
  const Found found = longest(text);
  if (found.length > 0) take_over(begun, found);
  *place = std::move(begun);
  return static_cast<std::size_t>(place - growing_.begin());
}

// Taking a page may end the text that it is copied from, so that page is held meanwhile.  It keeps
// what it has until somebody writes it, and nobody does before the copy is made.
void PagedTexts::take_over(PagedText& text, const Found& found) {
  const std::int64_t whole = found.length / options_.page, part = found.length % options_.page;
  const auto& from = found.text->pages;
  text.tokens.assign(found.text->tokens.begin(), found.text->tokens.begin() + found.length);
  text.pages.assign(from.begin(), from.begin() + whole);
  std::ranges::for_each(text.pages, [&](std::int64_t page) { pool_.share(page); });
  if (part == 0) return;
  const std::int64_t source = from[static_cast<std::size_t>(whole)];
  pool_.share(source);
  try {
    text.pages.push_back(take());
    copy_ = Copy{source, text.pages.back()};
  } catch (const Error&) {
    // The whole pages are enough.
    text.tokens.resize(static_cast<std::size_t>(whole * options_.page));
  }
  pool_.release(source);
}

std::int64_t PagedTexts::take() {
  while (pool_.free() == 0 && !ended_.empty()) {
    const PagedText oldest = std::move(ended_.front());
    ended_.pop_front();
    forget(oldest);
  }
  return pool_.take();
}

void PagedTexts::forget(const PagedText& text) {
  for (const std::int64_t page : text.pages) pool_.release(page);
}

void PagedTexts::reserve(std::size_t number, std::int64_t more) {
  PagedText& text = grown(number);
  const std::int64_t wanted = pages_for(std::ssize(text.tokens) + more, options_.page);
  while (std::ssize(text.pages) < wanted) text.pages.push_back(take());
}

void PagedTexts::append(std::size_t number, std::span<const TokenId> tokens) {
  PagedText& text = grown(number);
  const std::int64_t length = std::ssize(text.tokens) + std::ssize(tokens);
  ensure(length <= std::ssize(text.pages) * options_.page, "no pages are there for {} tokens",
         length);
  text.tokens.insert(text.tokens.end(), tokens.begin(), tokens.end());
}

void PagedTexts::end(std::size_t number, bool stays) {
  PagedText text = std::move(grown(number));
  growing_[number].reset();
  if (!stays || text.tokens.empty()) return forget(text);
  ended_.push_back(std::move(text));
  if (ended_.size() <= most_ended) return;
  forget(ended_.front());
  ended_.pop_front();
}

PagedText& PagedTexts::grown(std::size_t number) {
  ensure(number < growing_.size() && growing_[number].has_value(), "no text {} grows", number);
  return *growing_[number];
}

const PagedText& PagedTexts::text(std::size_t number) const {
  ensure(number < growing_.size() && growing_[number].has_value(), "no text {} grows", number);
  return *growing_[number];
}

std::size_t PagedTexts::growing() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(growing_, [](const auto& text) { return text.has_value(); }));
}

std::int64_t PagedTexts::stored_at(std::size_t number, std::int64_t place) const {
  const PagedText& of = text(number);
  return of.pages[static_cast<std::size_t>(place / options_.page)] * options_.page +
         place % options_.page;
}

}  // namespace croze::llm
