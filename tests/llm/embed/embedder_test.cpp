// Small encoders with random weights: the vectors that transformers computes.
// golden/make_embedding_models.py recorded them.
#include "croze/llm/embed/embedder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "croze/llm/generate/generator.h"
#include "support/errors.h"

namespace croze::llm {
namespace {

using test::error_of;
using Text = std::vector<TokenId>;
using Vector = std::vector<float>;

std::vector<std::string> models() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(EMBEDDING_MODELS)) {
    names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

void expect_near(const Vector& vector, std::span<const double> expected) {
  ASSERT_EQ(vector.size(), expected.size());
  for (std::size_t i = 0; i < vector.size(); i++) {
    EXPECT_NEAR(static_cast<double>(vector[i]), expected[i], 1e-4) << i;
  }
}

class GoldenEmbedding : public testing::TestWithParam<std::string> {
 protected:
  std::vector<Text> texts() const {
    const std::vector<std::int64_t> all = file.metadata.integers("test.tokens");
    std::vector<Text> texts;
    auto at = all.begin();
    for (const std::int64_t length : file.metadata.integers("test.lengths")) {
      texts.emplace_back(at, at + length);
      at += length;
    }
    return texts;
  }
  std::span<const double> expected(std::size_t text) const {
    const auto width = static_cast<std::size_t>(embedder.width());
    return std::span(vectors).subspan(text * width, width);
  }

  GgufFile file = load_gguf(EMBEDDING_MODELS "/" + GetParam() + ".gguf");
  Transformer model{file};
  Embedder embedder{model, 64};
  std::vector<double> vectors = file.metadata.numbers("test.vectors");
};

TEST_P(GoldenEmbedding, GivesTheVectorsOfTransformers) {
  const std::vector<Text> all = texts();
  const std::vector<Vector> found = embedder.embed(all);
  ASSERT_EQ(found.size(), all.size());
  for (std::size_t i = 0; i < all.size(); i++) expect_near(found[i], expected(i));
}

TEST_P(GoldenEmbedding, IsTheSameForATextAlone) {
  const std::vector<Text> all = texts();
  for (std::size_t i = 0; i < all.size(); i++) {
    expect_near(embedder.embed(std::span(&all[i], 1))[0], expected(i));
  }
}

INSTANTIATE_TEST_SUITE_P(Families, GoldenEmbedding, testing::ValuesIn(models()),
                         [](const auto& instance) { return instance.param; });

struct Embedding : testing::Test {
  GgufFile file = load_gguf(EMBEDDING_MODELS "/bert.gguf");
  Transformer model{file};
};

TEST_F(Embedding, ManyTextsAreReadInSeveralSteps) {
  Embedder embedder(model);
  std::vector<Text> many(70, Text{5, 6, 7});
  many[40] = {9};
  const std::vector<Vector> vectors = embedder.embed(many);
  const Vector odd = embedder.embed(std::vector<Text>{{9}})[0];
  for (std::size_t i = 0; i < many.size(); i++) {
    double length = 0;
    for (const float x : vectors[i]) length += static_cast<double>(x * x);
    EXPECT_NEAR(length, 1, 1e-5);
    const Vector& like = i == 40 ? odd : vectors[0];
    for (std::size_t j = 0; j < like.size(); j++) EXPECT_NEAR(vectors[i][j], like[j], 1e-5f);
  }
  EXPECT_TRUE(embedder.embed({}).empty());
}

TEST_F(Embedding, TextsThatCannotBeReadAreErrors) {
  Embedder embedder(model, 16);
  const auto error = [&](Text text) {
    return error_of([&] { embedder.embed(std::vector<Text>{{5}, std::move(text)}); });
  };
  EXPECT_NE(error({}).find("without tokens"), std::string::npos);
  EXPECT_NE(error(Text(17, 5)).find("17 tokens: the model has a context of 16"), std::string::npos);
  EXPECT_NE(error({56}).find("token 56: the model has 56"), std::string::npos);
  EXPECT_NE(error({-1}).find("token -1"), std::string::npos);
  error_of([&] { Embedder(model, 65); });
}

TEST_F(Embedding, AnEncoderDoesNotWrite) {
  const std::string text = error_of([&] { Generator generator(model); });
  EXPECT_NE(text.find("bert.gguf: an encoder"), std::string::npos) << text;
}

TEST_F(Embedding, AModelThatWritesDoesNotEmbed) {
  const Transformer writer(load_gguf(LANGUAGE_MODELS "/llama.gguf"));
  const std::string text = error_of([&] { Embedder embedder(writer); });
  EXPECT_NE(text.find("llama.gguf: it writes texts"), std::string::npos) << text;
}

TEST_F(Embedding, AFormOfPoolingThatIsNotKnownIsNamed) {
  GgufMetadata::Map values = file.metadata.values();
  values["bert.pooling_type"] = std::uint32_t{4};
  file.metadata = GgufMetadata("rank.gguf", values);
  const std::string text = error_of([&] { Transformer ranking(file); });
  EXPECT_NE(text.find("bert.pooling_type is 4"), std::string::npos) << text;
}

}  // namespace
}  // namespace croze::llm
