// A model with packed weights gives the scores of the same weights decoded, within rounding.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "croze/io/gguf/encode.h"
#include "croze/io/gguf/quantize.h"
#include "croze/llm/generate/generator.h"

namespace croze::llm {
namespace {

// Rows of whole blocks of all types.
constexpr std::int64_t width = 256, hidden = 512, layers = 2, vocabulary = 64;

void save_random_model(const std::string& path) {
  StateDict tensors;
  const auto add = [&](const std::string& name, const Shape& shape) {
    tensors.push_back({name + ".weight", Tensor::uniform(shape, -0.2, 0.2)});
  };
  add("token_embd", {vocabulary, width});
  add("output", {vocabulary, width});
  add("output_norm", {width});
  for (std::int64_t i = 0; i < layers; i++) {
    const std::string layer = "blk." + std::to_string(i) + ".";
    for (const char* norm : {"attn_norm", "ffn_norm"}) add(layer + norm, {width});
    for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output"}) {
      add(layer + name, {width, width});
    }
    for (const char* name : {"ffn_gate", "ffn_up"}) add(layer + name, {hidden, width});
    add(layer + "ffn_down", {width, hidden});
  }
  const auto size = [](std::int64_t n) { return GgufValue(static_cast<std::uint32_t>(n)); };
  save_gguf(path, tensors,
            {{"general.architecture", std::string("llama")},
             {"llama.context_length", size(64)},
             {"llama.embedding_length", size(width)},
             {"llama.block_count", size(layers)},
             {"llama.feed_forward_length", size(hidden)},
             {"llama.attention.head_count", size(4)},
             {"llama.attention.layer_norm_rms_epsilon", 1e-5f}});
}

// Every weight as Float32 in memory.
GgufFile decoded(GgufFile file) {
  for (GgufTensor& t : file.tensors) {
    t.stored = t.decoded().realize();
    t.type = GgmlType::F32;
  }
  return file;
}

// The scores behind a prompt, which is read at once, and behind one token more.
std::vector<float> scores_of(const GgufFile& file) {
  const Transformer model(file);
  Generator generator(model, {.context = 64, .cache_type = CacheType::Float32});
  std::vector<TokenId> prompt;
  for (TokenId i = 0; i < 20; i++) prompt.push_back(i * 7 % vocabulary);
  const auto first = generator.read(prompt);
  std::vector<float> all(first.begin(), first.end());
  const auto second = generator.read(std::vector<TokenId>{5});
  all.insert(all.end(), second.begin(), second.end());
  return all;
}

class Quantized : public testing::TestWithParam<GgmlType> {
 protected:
  Quantized() {
    std::filesystem::create_directories(folder);
    save_random_model(folder + "/whole.gguf");
  }
  ~Quantized() override { std::filesystem::remove_all(folder); }

  const std::string folder =
      testing::TempDir() + "croze_quantized_" + std::string(name_of(GetParam()));
};

TEST_P(Quantized, GivesTheScoresOfItsWeightsDecoded) {
  GgufQuantizer(folder + "/whole.gguf", {.type = GetParam(), .pure = true})
      .save(folder + "/packed.gguf");
  const GgufFile file = load_gguf(folder + "/packed.gguf");
  EXPECT_EQ(file.tensor("blk.1.ffn_down.weight").type, GetParam());
  const std::vector<float> packed = scores_of(file), wanted = scores_of(decoded(file));
  float largest = 0, difference = 0;
  for (std::size_t i = 0; i < wanted.size(); i++) {
    largest = std::max(largest, std::abs(wanted[i]));
    difference = std::max(difference, std::abs(packed[i] - wanted[i]));
  }
  EXPECT_GT(largest, 0.1f);
  EXPECT_LE(difference, 2e-6f * largest);
}

INSTANTIATE_TEST_SUITE_P(Types, Quantized, testing::ValuesIn(encodable_types()),
                         [](const auto& param) { return std::string(name_of(param.param)); });

}  // namespace
}  // namespace croze::llm
