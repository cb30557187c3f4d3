// pages.h -- which pages of a cache belong to which texts.
//
// The keys and values of many texts lie in one cache, in pages of a fixed number of tokens.  A text
// names its pages in order, and texts that begin alike have pages in common: a page is free again
// when nobody has it.  Nothing here touches the cache itself.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "croze/llm/tokenizer/token_id.h"

namespace croze::llm {

// Pages, counted by who has them.
class PagePool {
 public:
  explicit PagePool(std::int64_t pages);

  // One that nobody had.  Throws Error if there is none.
  std::int64_t take();
  void share(std::int64_t page);
  void release(std::int64_t page);

  std::int64_t holders(std::int64_t page) const;
  std::int64_t size() const { return std::ssize(holders_); }
  std::int64_t free() const { return std::ssize(free_); }

 private:
  std::vector<std::int64_t> holders_;  // by page
  std::vector<std::int64_t> free_;
};

// What of a text is in the cache.
struct PagedText {
  std::vector<TokenId> tokens;
  std::vector<std::int64_t> pages;
};

// Texts that grow, and texts that have ended and stay for as long as nobody needs their pages: a
// new one takes over what it has in common with any of them.  Whole pages are shared.  That in
// which two texts part is copied, so no page is written by two.
class PagedTexts {
 public:
  struct Options {
    std::int64_t pages = 0, page = 64;  // tokens of a page
    std::size_t growing = 1;            // texts that can grow at once
  };
  // A page whose first tokens are to be copied.
  struct Copy {
    std::int64_t from = 0, to = 0;
  };

  explicit PagedTexts(const Options& options);

  // How many of the tokens of a text begin() would find.  The last one is never found: the scores
  // behind it are asked for.
  std::int64_t known(std::span<const TokenId> text) const;
  // A text that grows from here on, with what is known of `text`; its number, less than `growing`.
  // What copy() returns then is to be copied before anything else is read.  Throws Error if there
  // is no number or no page left.
  std::size_t begin(std::span<const TokenId> text);
  const std::optional<Copy>& copy() const { return copy_; }

  // Makes place for so many tokens more.  Throws Error if there are no pages for them.
  void reserve(std::size_t number, std::int64_t more);
  // These are in the cache from now on.  There must be place.
  void append(std::size_t number, std::span<const TokenId> tokens);
  // It grows no more.  Unless it stays, its pages are free.
  void end(std::size_t number, bool stays);

  const PagedText& text(std::size_t number) const;
  std::int64_t page() const { return options_.page; }
  std::size_t growing() const;
  std::size_t ended() const { return ended_.size(); }
  const PagePool& pool() const { return pool_; }
  // Where in the cache token `place` of a text lies.
  std::int64_t stored_at(std::size_t number, std::int64_t place) const;

 private:
  struct Found {
    const PagedText* text = nullptr;
    std::int64_t length = 0;
  };

  Found longest(std::span<const TokenId> text) const;
  void take_over(PagedText& text, const Found& found);
  std::int64_t take();
  void forget(const PagedText& text);
  PagedText& grown(std::size_t number);

  Options options_;
  PagePool pool_;
  std::vector<std::optional<PagedText>> growing_;
  std::deque<PagedText> ended_;  // the oldest first
  std::optional<Copy> copy_;
};

}  // namespace croze::llm
