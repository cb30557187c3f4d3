// Models whose metadata or weights are not what they should be.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "croze/llm/generate/generator.h"
#include "support/errors.h"

namespace croze::llm {
namespace {

using test::error_if_any;
using test::error_of;

struct RefusedModel : testing::Test {
  void set(const std::string& name, GgufValue value) {
    GgufMetadata::Map values = file.metadata.values();
    values[name] = std::move(value);
    file.metadata = GgufMetadata("bad.gguf", values);
  }
  void remove(const std::string& name) {
    GgufMetadata::Map values = file.metadata.values();
    values.erase(name);
    file.metadata = GgufMetadata("bad.gguf", values);
  }
  GgufTensor& tensor(std::string_view name) {
    return *std::ranges::find(file.tensors, name, &GgufTensor::name);
  }
  std::string error() const {
    return error_of([&] { Transformer model(file); });
  }
  void expect_error(const std::string& text) const {
    EXPECT_NE(error().find(text), std::string::npos) << error() << "\nshould say " << text;
  }

  GgufFile file = load_gguf(LANGUAGE_MODELS "/llama.gguf");
};

TEST_F(RefusedModel, EachKeyThatHasToBeThereIsNamed) {
  const GgufFile whole = file;
  for (const char* key : {"general.architecture", "llama.context_length", "llama.embedding_length",
                          "llama.block_count", "llama.feed_forward_length",
                          "llama.attention.head_count", "llama.attention.layer_norm_rms_epsilon"}) {
    file = whole;
    remove(key);
    expect_error(key);
  }
}

TEST_F(RefusedModel, AbsurdValuesNameTheirKey) {
  const GgufFile whole = file;
  const auto expect_refused = [&](const std::string& key, GgufValue value) {
    file = whole;
    set(key, std::move(value));
    expect_error(key);
  };
  expect_refused("llama.context_length", std::uint32_t{0});
  expect_refused("llama.context_length", std::string("long"));
  expect_refused("llama.block_count", std::int32_t{-1});
  expect_refused("llama.block_count", std::uint64_t{1} << 40);
  expect_refused("llama.embedding_length", std::uint64_t{1} << 63);
  expect_refused("llama.feed_forward_length", 1.5f);
  expect_refused("llama.attention.head_count", std::uint32_t{5});     // 32 / 5
  expect_refused("llama.attention.head_count_kv", std::uint32_t{3});  // 4 / 3
  expect_refused("llama.attention.layer_norm_rms_epsilon", 0.f);
  expect_refused("llama.attention.layer_norm_rms_epsilon", std::numeric_limits<float>::quiet_NaN());
  expect_refused("llama.rope.dimension_count", std::uint32_t{7});
  expect_refused("llama.rope.dimension_count", std::uint32_t{16});
  expect_refused("llama.rope.freq_base", -1.f);
  expect_refused("llama.rope.scaling.type", std::string("spiral"));
  expect_refused("llama.rope.scaling.factor", std::numeric_limits<float>::infinity());
  expect_refused("general.architecture", std::string("rwkv7"));
}

TEST_F(RefusedModel, MixturesAndLatentsThatCannotBeNameTheirKey) {
  const GgufFile whole = load_gguf(LANGUAGE_MODELS "/deepseek3.gguf");
  const auto expect_refused = [&](const std::string& key, std::uint32_t value) {
    file = whole;
    set("deepseek2." + key, value);
    expect_error("deepseek2." + key);
  };
  expect_refused("expert_used_count", 9);  // of 8
  expect_refused("expert_used_count", 0);
  expect_refused("expert_count", 5000);
  expect_refused("expert_group_count", 3);       // 8 / 3
  expect_refused("expert_group_used_count", 1);  // of two experts, and three are chosen
  expect_refused("expert_gating_func", 4);
  expect_refused("attention.kv_lora_rank", 0);
  expect_refused("attention.key_length_mla", 8);  // all of which would turn
  expect_refused("attention.head_count_kv", 4);
  file = whole;
  set("deepseek2.expert_feed_forward_length", std::uint32_t{17});
  expect_error("ffn_gate_exps");
  file = whole;
  set("deepseek2.expert_count", std::uint32_t{0});
  expect_error("there is no tensor \"blk.1.ffn_down.weight\"");
}

TEST_F(RefusedModel, APatternOfWindowsHasAFlagForEachLayer) {
  set("llama.attention.sliding_window", std::uint32_t{8});
  set("llama.attention.sliding_window_pattern", GgufArray{std::vector<bool>{true}});
  expect_error("llama.attention.sliding_window_pattern has 1 flags for 2 layers");
}

TEST_F(RefusedModel, SizesThatTheWeightsDoNotHaveNameATensor) {
  const GgufFile whole = file;
  set("llama.feed_forward_length", std::uint32_t{41});
  expect_error("blk.0.ffn_down.weight");
  file = whole;
  set("llama.block_count", std::uint32_t{3});
  expect_error("blk.2.attn_norm.weight");
  file = whole;
  set("llama.attention.key_length", std::uint32_t{1} << 20u);
  expect_error("blk.0.attn_q.weight");
}

TEST_F(RefusedModel, WeightsThatAreMissingOrOfAnotherKindAreNamed) {
  const GgufFile whole = file;
  std::erase_if(file.tensors, [](const GgufTensor& t) { return t.name == "output_norm.weight"; });
  expect_error("there is no tensor \"output_norm.weight\"");
  file = whole;
  tensor("blk.1.attn_k.weight").type = GgmlType::I32;
  expect_error("\"blk.1.attn_k.weight\" is of type I32");
}

TEST_F(RefusedModel, AWeightWithoutUseWouldMakeAnotherModel) {
  GgufTensor sinks = tensor("blk.0.attn_norm.weight");
  sinks.name = "blk.0.attn_sinks.weight";
  file.tensors.push_back(sinks);
  expect_error("\"blk.0.attn_sinks.weight\" has no place in a model of the family llama");
}

TEST_F(RefusedModel, AnyValueOfAnyKeyIsReadOrRefused) {
  const GgufValue values[] = {std::uint8_t{0},
                              std::int64_t{-1},
                              std::uint64_t{1} << 63,
                              std::int64_t{1} << 20,
                              std::numeric_limits<double>::quiet_NaN(),
                              1e308,
                              std::string(),
                              GgufArray{std::vector<float>{1}}};
  for (const char* name : {"llama", "qwen2moe", "deepseek3"}) {
    const GgufFile whole = load_gguf(std::string(LANGUAGE_MODELS "/") + name + ".gguf");
    for (const auto& [key, value] : whole.metadata.values()) {
      for (const GgufValue& changed : values) {
        file = whole;
        set(key, changed);
        error_if_any([&] { Transformer model(file); });
      }
    }
  }
}

TEST(Generating, TheEndOfTheContextIsAnErrorThatReadsNothing) {
  const GgufFile file = load_gguf(LANGUAGE_MODELS "/llama.gguf");
  const Transformer model(file);
  Generator generator(model, {.context = 4});
  generator.read(std::vector<TokenId>{1, 2, 3});
  const std::string text = error_of([&] { generator.read(std::vector<TokenId>{4, 5}); });
  EXPECT_NE(text.find("the context is full: 3 tokens, and 2 more, of 4"), std::string::npos);
  EXPECT_EQ(generator.tokens().size(), 3u);
  generator.read(std::vector<TokenId>{4});
  EXPECT_EQ(generator.room(), 0);
  error_of([&] { generator.read(std::vector<TokenId>{48}); });
  error_of([&] { Generator(model, {.context = 129}); });
}

TEST(Generating, AnyWayToReadATextGivesTheSameScores) {
  const GgufFile file = load_gguf(LANGUAGE_MODELS "/gemma2.gguf");
  const Transformer model(file);
  std::vector<TokenId> text;
  for (int i = 0; i < 100; i++) text.push_back(i * 7 % 48);
  const auto expect_near = [](std::span<const float> a, std::span<const float> b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); i++) EXPECT_NEAR(a[i], b[i], 1e-4f);
  };

  Generator whole(model, {.cache_type = CacheType::Float32});
  const std::span<const float> expected = whole.read(text);  // in chunks, the last one not full
  Generator single(model, {.cache_type = CacheType::Float32});
  std::span<const float> scores;
  for (const TokenId& token : text) scores = single.read(std::span(&token, 1));
  expect_near(scores, expected);

  std::vector<TokenId> other(text.begin(), text.begin() + 70);
  other.push_back(3);
  single.read_from_start(other);  // which shares 70 tokens
  EXPECT_EQ(single.tokens(), other);
  expect_near(single.read_from_start(text), expected);
  expect_near(single.read_from_start(text), expected);
}

}  // namespace
}  // namespace croze::llm
