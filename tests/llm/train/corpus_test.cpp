// The windows of a text: what they hold, and that they follow from the step alone.
#include "croze/llm/train/corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "llm/train/texts.h"
#include "support/errors.h"

namespace croze::llm {
namespace {

using test::error_of;
using test::SmallCorpus;

std::vector<TokenId> row(const Tensor& batch, std::int64_t i) {
  return batch.select(0, i).to_vector<TokenId>();
}

TEST(Corpus, GivesWindowsOfTheText) {
  const SmallCorpus small;
  const Tensor batch = small.corpus.batch(1, 0, 5);
  EXPECT_EQ(batch.shape(), Shape({5, 17}));
  EXPECT_EQ(batch.dtype(), DType::Int32);
  for (std::int64_t i = 0; i < 5; i++) {
    const std::string part = small.tokenizer.decode(row(batch, i));
    EXPECT_NE(small.text.find(part), std::string::npos) << part;
  }
}

TEST(Corpus, DrawsWindowsByTheStep) {
  const SmallCorpus small;
  const auto batch = [&](std::uint64_t seed, std::int64_t step) {
    return small.corpus.batch(seed, step, 4).to_vector<TokenId>();
  };
  const auto first = batch(1, 7);
  EXPECT_NE(batch(1, 8), first);
  EXPECT_NE(batch(2, 7), first);
  EXPECT_EQ(batch(1, 7), first);
}

TEST(Corpus, DrawsFromAllPartsOfTheText) {
  const SmallCorpus small;
  std::set<std::vector<TokenId>> seen;
  for (std::int64_t step = 0; step < 100; step++) {
    const Tensor batch = small.corpus.batch(3, step, 8);
    for (std::int64_t i = 0; i < 8; i++) seen.insert(row(batch, i));
  }
  // 800 draws of about 1500 places, so 620 different ones are expected; and many are alike.
  EXPECT_GT(seen.size(), 300u);
}

TEST(Corpus, KeepsTheEndForValidation) {
  const SmallCorpus small;
  const std::int64_t windows = small.corpus.validation_windows();
  ASSERT_GE(windows, 2);
  std::string text;
  for (std::int64_t i = 0; i < windows; i++) {
    std::vector<TokenId> tokens = row(small.corpus.validation_batch(i, 1), 0);
    if (i > 0) tokens.erase(tokens.begin());  // the last one of the window before
    text += small.tokenizer.decode(tokens);
  }
  const std::size_t at = small.text.find(text, small.text.size() * 9 / 10);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(small.text[at - 1], '\n');
  // All but the first token are predicted.
  const TokenId first = row(small.corpus.validation_batch(0, 1), 0)[0];
  EXPECT_EQ(small.corpus.validation_bytes(),
            std::ssize(text) - std::ssize(small.tokenizer.token_bytes(first)));
  // The first comes again behind the last.
  EXPECT_EQ(row(small.corpus.validation_batch(windows - 1, 2), 1),
            row(small.corpus.validation_batch(0, 1), 0));
}

TEST(Corpus, RefusesTextsThatAreTooShort) {
  const SmallCorpus small;
  EXPECT_EQ(error_of([&] { Corpus("", "a.txt", small.tokenizer, 16); }).find("a.txt is empty"), 0u);
  for (const std::size_t size : {1u, 15u, 100u}) {
    const std::string message =
        error_of([&] { Corpus(small.text.substr(0, size), "a.txt", small.tokenizer, 16); });
    EXPECT_NE(message.find("a.txt is too short"), std::string::npos) << message;
  }
  EXPECT_NE(error_of([&] { Corpus(small.text, "a.txt", small.tokenizer, 4000); }), "");
}

TEST(Corpus, TakesBytesThatAreNoText) {
  const SmallCorpus small;
  const std::string noise(10'000, '\xff');
  const Corpus corpus(noise, "noise", small.tokenizer, 16);
  EXPECT_GT(corpus.training_tokens(), 0);
}

}  // namespace
}  // namespace croze::llm
