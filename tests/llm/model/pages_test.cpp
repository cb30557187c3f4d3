// Pages of texts: taken, shared, freed, and refused when there are none.
#include "croze/llm/generate/pages.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <random>

#include "support/errors.h"

namespace croze::llm {
namespace {

using test::error_of;

std::vector<TokenId> counted(std::size_t count, TokenId first = 0) {
  std::vector<TokenId> tokens(count);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

// A text with all of its tokens read.
std::size_t added(PagedTexts& texts, const std::vector<TokenId>& tokens) {
  const std::size_t number = texts.begin(tokens);
  const auto rest = std::span(tokens).subspan(texts.text(number).tokens.size());
  texts.reserve(number, std::ssize(rest));
  texts.append(number, rest);
  return number;
}

TEST(PagePool, GivesWhatNobodyHas) {
  PagePool pool(2);
  const std::int64_t a = pool.take(), b = pool.take();
  EXPECT_NE(a, b);
  EXPECT_NE(error_of([&] { pool.take(); }).find("all of its 2 pages are in use"),
            std::string::npos);
  pool.share(a);
  pool.release(a);
  EXPECT_EQ(pool.holders(a), 1);
  EXPECT_EQ(pool.free(), 0);
  pool.release(a);
  EXPECT_EQ(pool.take(), a);
  EXPECT_THROW(PagePool(0), Error);
}

TEST(PagedTexts, ShareWholePagesAndCopyThatInWhichTheyPart) {
  PagedTexts texts({.pages = 10, .page = 4, .growing = 3});
  const std::size_t a = added(texts, counted(11));
  EXPECT_EQ(texts.pool().free(), 7);
  EXPECT_FALSE(texts.copy());
  std::vector<TokenId> other = counted(11);
  other[10] = 99;
  const std::size_t b = texts.begin(other);
  ASSERT_TRUE(texts.copy());
  EXPECT_EQ(texts.text(b).tokens, counted(10));
  EXPECT_EQ(texts.copy()->from, texts.text(a).pages[2]);
  EXPECT_EQ(texts.copy()->to, texts.text(b).pages[2]);
  EXPECT_EQ(texts.text(a).pages[1], texts.text(b).pages[1]);
  EXPECT_EQ(texts.pool().holders(texts.text(a).pages[0]), 2);
  EXPECT_EQ(texts.pool().holders(texts.text(a).pages[2]), 1);
  EXPECT_EQ(texts.pool().free(), 6);
  texts.end(a, false);
  EXPECT_EQ(texts.pool().free(), 7);
  texts.end(b, false);
  EXPECT_EQ(texts.pool().free(), 10);
}

TEST(PagedTexts, TheLastTokenIsAlwaysReadAgain) {
  PagedTexts texts({.pages = 10, .page = 4, .growing = 3});
  added(texts, counted(8));
  EXPECT_EQ(texts.known(counted(8)), 7);
  EXPECT_EQ(texts.known(counted(9)), 8);
  EXPECT_EQ(texts.known(counted(1)), 0);
  EXPECT_EQ(texts.known(counted(8, 1)), 0);
}

TEST(PagedTexts, ThoseThatHaveEndedStayUntilPagesAreNeeded) {
  PagedTexts texts({.pages = 4, .page = 4, .growing = 2});
  texts.end(added(texts, counted(8)), true);
  texts.end(added(texts, counted(4, 100)), true);
  EXPECT_EQ(texts.ended(), 2u);
  EXPECT_EQ(texts.known(counted(9)), 8);
  added(texts, counted(12, 200));  // the oldest goes
  EXPECT_EQ(texts.known(counted(9)), 0);
  EXPECT_EQ(texts.known(counted(5, 100)), 4);
  EXPECT_NE(error_of([&] { added(texts, counted(16, 300)); }).find("the cache is full"),
            std::string::npos);
}

// Whoever comes and goes: each page has as many holders as there are texts that name it, and a
// page that is written has one.
TEST(PagedTexts, CountsHoldForAnyOrder) {
  std::mt19937 random(1);
  PagedTexts texts({.pages = 33, .page = 4, .growing = 4});
  std::vector<std::size_t> growing;
  for (int step = 0; step < 20000; step++) {
    if (growing.size() < 4 && random() % 2 == 0) {
      std::vector<TokenId> tokens(1 + random() % 20);
      for (TokenId& token : tokens) token = random() % 8 == 0 ? 1 : 0;
      growing.push_back(added(texts, tokens));
    } else if (!growing.empty()) {
      const std::size_t i = random() % growing.size();
      if (random() % 4 == 0 || texts.text(growing[i]).tokens.size() == 32) {
        texts.end(growing[i], random() % 4 != 0);
        growing.erase(growing.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        const std::vector<TokenId> token{static_cast<TokenId>(random() % 2)};
        texts.reserve(growing[i], 1);
        texts.append(growing[i], token);
        const auto length = std::ssize(texts.text(growing[i]).tokens);
        const std::int64_t written = texts.stored_at(growing[i], length - 1) / texts.page();
        ASSERT_EQ(texts.pool().holders(written), 1);
      }
    }
    ASSERT_LE(texts.ended(), 64u);
  }
  for (const std::size_t number : growing) texts.end(number, false);
  EXPECT_GT(texts.ended(), 0u);
}

}  // namespace
}  // namespace croze::llm
