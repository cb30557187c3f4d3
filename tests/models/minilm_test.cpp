// all-MiniLM-L6-v2, against the vectors that transformers computes (record_minilm.py).  fetch.sh
// puts the model into the folder CROZE_MODELS_FOLDER.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "croze/io/npy.h"
#include "croze/llm/embed/embedder.h"
#include "croze/llm/generate/language_model.h"

namespace croze::llm {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(MiniLm, GivesTheVectorsOfTransformers) {
  const std::string path = CROZE_MODELS_FOLDER "/all-MiniLM-L6-v2.gguf";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there: run fetch.sh";
  const auto model = LanguageModel::load(path);
  Embedder embedder(model->transformer);
  std::vector<std::vector<TokenId>> texts;
  for (const std::string& line : lines_of(CROZE_RECORDED_FOLDER "/minilm.txt")) {
    texts.push_back(model->tokenizer.encode(line));
  }
  const Tensor recorded = load_npy(CROZE_RECORDED_FOLDER "/minilm.npy");
  ASSERT_EQ(recorded.shape(), (Shape{std::ssize(texts), embedder.width()}));
  const std::vector<float> expected = recorded.to_vector<float>();
  float most = 0;
  std::size_t at = 0;
  for (const std::vector<float>& vector : embedder.embed(texts)) {
    for (const float x : vector) most = std::max(most, std::abs(x - expected[at++]));
  }
  EXPECT_LT(most, 1e-4f);
  RecordProperty("distance", std::to_string(most));
}

}  // namespace
}  // namespace croze::llm
