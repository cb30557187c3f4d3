// What a model remembers in 8 bits: how much it takes, and what is lost by it.
#include "croze/llm/model/cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "croze/llm/generate/batch_generator.h"
#include "croze/llm/generate/generator.h"

namespace croze::llm {
namespace {

TEST(CacheTypes, HaveNames) {
  EXPECT_EQ(cache_type_of("q8_0"), CacheType::Q8_0);
  EXPECT_EQ(cache_type_of("f16"), CacheType::Float16);
  EXPECT_EQ(cache_type_of("q9"), std::nullopt);
}

TEST(CacheTypes, EightBitsTakeHalfTheMemoryOfSixteen) {
  const Shape shape{4096, 3, 64};
  EXPECT_EQ(CachedRows::bytes(shape, CacheType::Float16), 4096 * 3 * 64 * 2);
  EXPECT_EQ(CachedRows::bytes(shape, CacheType::Q8_0) * 32,
            CachedRows::bytes(shape, CacheType::Float16) * 17);
}

TEST(CacheTypes, BlocksAreOffByHalfAStepAtMost) {
  CachedRows rows({8, 2, 64}, CacheType::Q8_0);
  std::vector<float> numbers(2 * 2 * 64);
  for (std::size_t i = 0; i < numbers.size(); i++) {
    numbers[i] = std::sin(static_cast<float>(i * i)) * std::exp2(static_cast<float>(i / 32));
  }
  std::fill_n(numbers.begin() + 96, 32, 0.f);  // a block of nothing
  const Tensor places = Tensor::from_data(std::vector<std::int32_t>{5, 2}, {2});
  rows.put(places, Tensor::from_data(numbers, {2, 2, 64}));
  const std::vector<float> all = rows.first(8).to_vector<float>();
  for (std::size_t block = 0; block < numbers.size() / 32; block++) {
    const std::size_t begin = block * 32, row = begin / 128 == 0 ? 5 : 2;
    float largest = 0;
    for (std::size_t i = 0; i < 32; i++) largest = std::max(largest, std::abs(numbers[begin + i]));
    // Half a step, and what the rounding of the scale to Float16 adds to it.
    const float most = largest / 254 + largest * 0x1p-11f;
    for (std::size_t i = 0; i < 32; i++) {
      EXPECT_NEAR(all[row * 128 + begin % 128 + i], numbers[begin + i], most) << block << " " << i;
    }
  }
  rows.copy(places, Tensor::from_data(std::vector<std::int32_t>{0, 1}, {2}));
  const std::vector<float> copied = rows.first(2).to_vector<float>();
  EXPECT_TRUE(std::equal(copied.begin(), copied.begin() + 128, all.begin() + 5 * 128));
  const Tensor page = Tensor::from_data(std::vector<std::int32_t>{1}, {1});
  const std::vector<float> paged = rows.pages(page, 4).to_vector<float>();
  EXPECT_TRUE(std::equal(paged.begin() + 128, paged.begin() + 256, all.begin() + 5 * 128));
}

std::vector<TokenId> some_tokens(std::int64_t count) {
  std::vector<TokenId> tokens;
  for (std::int64_t i = 0; i < count; i++) tokens.push_back(static_cast<TokenId>(i * i * 7 % 41));
  return tokens;
}

// How far scores are off, as a part of the largest.
double error_of(std::span<const float> scores, std::span<const float> expected) {
  double largest = 0, off = 0;
  for (std::size_t i = 0; i < expected.size(); i++) {
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    off = std::max(off, std::abs(static_cast<double>(scores[i]) - expected[i]));
  }
  return off / largest;
}

// Random weights make models that differ in how they take it, so the error is held against that of
// BFloat16, whose elements are off by 1/512 at most: 8 bits, off by 1/254 of the largest
// of their block whatever their own size, cost at most eight times as much.
class EightBits : public testing::TestWithParam<std::string> {};

TEST_P(EightBits, ChangeScoresALittle) {
  const GgufFile file = load_gguf(LANGUAGE_MODELS "/" + GetParam() + ".gguf");
  const Transformer model(file);
  const auto generator_of = [&](CacheType type) {
    return std::make_unique<Generator>(model, GeneratorOptions{.context = 64, .cache_type = type});
  };
  const auto exact = generator_of(CacheType::Float32), half = generator_of(CacheType::BFloat16),
             rounded = generator_of(CacheType::Q8_0);
  EXPECT_LE(rounded->cache_bytes() * 2, exact->cache_bytes());
  BatchGenerator batch(model, {.context = 64, .texts = 2, .cache_type = CacheType::Q8_0});
  std::vector<TokenId> text = some_tokens(40);
  double of_half = 0, of_rounded = 0, of_batch = 0;
  for (int step = 0; step < 3; step++) {
    // A page that another text has in part is copied as it is.
    const std::size_t number = batch.join(text);
    EXPECT_EQ(batch.tokens(number).size(), step == 0 ? 0 : text.size() - 1);
    batch.read_chunk(number, std::span(text).subspan(batch.tokens(number).size()));
    const std::span<const float> expected = exact->read_from_start(text);
    of_half = std::max(of_half, error_of(half->read_from_start(text), expected));
    of_rounded = std::max(of_rounded, error_of(rounded->read_from_start(text), expected));
    of_batch = std::max(of_batch, error_of(batch.scores(number), expected));
    batch.leave(number);
    text.push_back(static_cast<TokenId>(step));
  }
  EXPECT_GT(of_rounded, 0);
  EXPECT_LE(of_rounded, 8 * of_half);
  EXPECT_LE(of_batch, 8 * of_half);
}

INSTANTIATE_TEST_SUITE_P(Families, EightBits,
                         testing::Values("llama", "gemma2", "gemma3", "gpt2", "mixtral",
                                         "deepseek3"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace croze::llm
