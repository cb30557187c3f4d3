// A trained network as a GGUF file: what the transformer of files makes of it.
#include "croze/llm/train/model_file.h"

#include <cmath>

#include "croze/llm/generate/language_model.h"
#include "llm/train/texts.h"
#include "support/files.h"

namespace croze::llm {
namespace {

using namespace croze::test;

class ModelFile : public FilesTest {
 protected:
  // The scores behind some text, by the network and by a model of its file.
  void expect_equal_scores(const LanguageModel& model) const {
    const std::vector<TokenId> tokens = small.tokenizer.encode("Ruth said unto Job");
    ASSERT_LE(tokens.size(), 16u);
    const auto count = std::ssize(tokens);
    const Tensor scores = training.network()(Tensor::from_data(tokens, {1, count}));
    const auto expected = scores.select(0, 0).select(0, count - 1).to_vector<float>();
    Generator generator(model.transformer, {.cache_type = CacheType::Float32});
    const std::span<const float> found = generator.read(tokens);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); i++) EXPECT_NEAR(found[i], expected[i], 2e-4);
  }

  SmallCorpus small;
  GptTraining training{small.corpus, small_shape(), small_settings()};
};

TEST_F(ModelFile, GivesTheScoresOfTheNetwork) {
  for (int i = 0; i < 20; i++) training.step();
  save_model(path("model.gguf"), model_file(training.network(), small.pairs, "small"));
  const auto model = LanguageModel::load(path("model.gguf"));
  EXPECT_EQ(model->name, "small");
  EXPECT_EQ(model->transformer.config().context, 16);
  expect_equal_scores(*model);
}

// The tokenizer of the file is the one that the text was encoded with.
TEST_F(ModelFile, HasTheTokenizer) {
  save_model(path("model.gguf"), model_file(training.network(), small.pairs, "small"));
  const Tokenizer tokenizer = Tokenizer::load(path("model.gguf"));
  EXPECT_EQ(tokenizer.encode(small.text), small.tokenizer.encode(small.text));
  EXPECT_EQ(tokenizer.special().eos, 279);
}

// What is made before the training learns with it.
TEST_F(ModelFile, SharesTheTensorsOfTheNetwork) {
  const auto model = LanguageModel::from_gguf(model_file(training.network(), small.pairs, "small"));
  for (int i = 0; i < 5; i++) training.step();
  expect_equal_scores(*model);
  for (int i = 0; i < 5; i++) training.step();
  expect_equal_scores(*model);
}

}  // namespace
}  // namespace croze::llm
