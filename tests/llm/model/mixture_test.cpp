// Mixtures of experts: which are chosen, and that only those are read.
#include "croze/llm/model/mixture.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "croze/io/gguf/quantize.h"
#include "croze/llm/generate/generator.h"

namespace croze::llm {
namespace {

using Numbers = std::vector<std::int32_t>;

Choice choice_of(const std::vector<float>& scores, const MixtureConfig& config,
                 const std::vector<float>& preference = {}) {
  const Tensor wanted =
      preference.empty() ? Tensor() : Tensor::from_data(preference, {config.experts});
  return choose_experts(Tensor::from_data(scores, {1, config.experts}), wanted, config);
}

TEST(Choosing, TheHighestScoresByFallingOrder) {
  const Choice choice = choice_of({1, 3, 2, 0}, {.experts = 4, .chosen = 3});
  EXPECT_EQ(choice.experts.to_vector<std::int32_t>(), (Numbers{1, 2, 0}));
  const std::vector<float> shares = choice.shares.to_vector<float>();
  EXPECT_NEAR(shares[0], 0.643914f, 1e-5f);  // e^3 / (e^0 + e^1 + e^2 + e^3)
  EXPECT_NEAR(shares[2], 0.087144f, 1e-5f);
}

TEST(Choosing, EqualScoresAreDifferentExperts) {
  const Choice choice = choice_of({2, 2, 2, 2}, {.experts = 4, .chosen = 2});
  EXPECT_EQ(choice.experts.to_vector<std::int32_t>(), (Numbers{0, 1}));
}

TEST(Choosing, SharesAreNormedAndScaled) {
  const MixtureConfig config{.experts = 3, .chosen = 2, .norms_shares = true, .scale = 2.5};
  const std::vector<float> shares = choice_of({0, 0, 0}, config).shares.to_vector<float>();
  EXPECT_NEAR(shares[0], 1.25f, 1e-6f);
  EXPECT_NEAR(shares[1], 1.25f, 1e-6f);
}

TEST(Choosing, APreferenceDecidesWhoAndNotHowMuch) {
  const MixtureConfig config{.experts = 3, .chosen = 1, .is_sigmoid = true};
  const Choice choice = choice_of({0, 1, 2}, config, {5, 0, 0});
  EXPECT_EQ(choice.experts.to_vector<std::int32_t>(), Numbers{0});
  EXPECT_NEAR(choice.shares.item<float>(), 0.5f, 1e-6f);  // sigmoid(0)
}

// Of softmax a group is worth its best, of sigmoids its best two.
TEST(Choosing, GroupsAreChosenFirst) {
  MixtureConfig config{.experts = 6, .chosen = 2, .groups = 2, .chosen_groups = 1};
  const std::vector<float> scores{3, 0, 0, 2, 2, 2};
  EXPECT_EQ(choice_of(scores, config).experts.to_vector<std::int32_t>(), (Numbers{0, 1}));
  config.is_sigmoid = true;
  EXPECT_EQ(choice_of(scores, config).experts.to_vector<std::int32_t>(), (Numbers{3, 4}));
}

// ---- what is read -----------------------------------------------------------------------------

constexpr std::int64_t width = 256, hidden = 512, experts = 32, vocabulary = 32;

// A model of one layer, nearly all of which is experts.
struct LargeMixture : testing::Test {
  LargeMixture() {
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);  // pages of 4 KiB: what is read is told by page
    std::filesystem::create_directories(folder);
    StateDict tensors;
    const auto add = [&](const std::string& name, const Shape& shape) {
      tensors.push_back({name + ".weight", Tensor::uniform(shape, -0.1, 0.1)});
    };
    add("token_embd", {vocabulary, width});
    add("output_norm", {width});
    for (const char* norm : {"attn_norm", "ffn_norm"}) add(std::string("blk.0.") + norm, {width});
    for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output"}) {
      add(std::string("blk.0.") + name, {width, width});
    }
    add("blk.0.ffn_gate_inp", {experts, width});
    add("blk.0.ffn_gate_exps", {experts, hidden, width});
    add("blk.0.ffn_up_exps", {experts, hidden, width});
    add("blk.0.ffn_down_exps", {experts, width, hidden});
    const auto size = [](std::int64_t n) { return GgufValue(static_cast<std::uint32_t>(n)); };
    save_gguf(path, tensors,
              {{"general.architecture", std::string("llama")},
               {"llama.context_length", size(64)},
               {"llama.embedding_length", size(width)},
               {"llama.block_count", size(1)},
               {"llama.feed_forward_length", size(hidden)},
               {"llama.attention.head_count", size(4)},
               {"llama.attention.layer_norm_rms_epsilon", 1e-5f},
               {"llama.expert_count", size(experts)},
               {"llama.expert_used_count", size(2)}});
  }
  ~LargeMixture() override {
    std::filesystem::remove_all(folder);
    prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
  }

  // Bytes of a mapped file in pages that this process reads while it generates.
  template <typename F>
  static std::int64_t read_by(const std::string& name, F generate) {
    // Pages count as referenced from here on.  A processor marks a page only when it looks it up,
    // so what it remembers of earlier lookups goes as well, which is the effect of the second
    // command.
    for (const char* command : {"1", "4"}) std::ofstream("/proc/self/clear_refs") << command;
    generate();
    std::ifstream maps("/proc/self/smaps");
    std::int64_t bytes = 0;
    bool is_it = false;
    for (std::string line; std::getline(maps, line);) {
      if (line.find('-') < line.find(' ')) is_it = line.ends_with(name);
      std::int64_t kilobytes = 0;
      if (is_it && std::sscanf(line.c_str(), "Referenced: %ld kB", &kilobytes) == 1) {
        bytes += kilobytes * 1024;
      }
    }
    return bytes;
  }

  // One token reads two experts, and little else.
  static void expect_few_are_read(const std::string& name) {
    const GgufFile file = load_gguf(name);
    const Transformer model(file);
    const std::int64_t expert = 3 * file.tensor("blk.0.ffn_up_exps.weight").stored.numel() *
                                size_of(file.tensor("blk.0.ffn_up_exps.weight").stored.dtype()) /
                                experts;
    Generator generator(model, {.context = 64});
    generator.read(std::vector<TokenId>{5});  // maps pages by the dozen
    const std::int64_t one = read_by(name, [&] { generator.read(std::vector<TokenId>{5}); });
    const std::int64_t others = file.tensor("blk.0.ffn_gate_exps.weight").offset;
    EXPECT_GE(one, 2 * expert);
    EXPECT_LE(one, 2 * expert + others + (1 << 17));
    EXPECT_LT(one, experts * expert / 4);
    std::vector<TokenId> many;
    for (TokenId token = 0; token < vocabulary; token++) many.push_back(token);
    EXPECT_GT(read_by(name, [&] { generator.read(many); }), experts * expert / 2);
  }

  const std::string folder = testing::TempDir() + "croze_large_mixture";
  const std::string path = folder + "/mixture.gguf";
};

TEST_F(LargeMixture, ATokenReadsItsExpertsAlone) { expect_few_are_read(path); }

TEST_F(LargeMixture, ATokenReadsTheBlocksOfItsExpertsAlone) {
  const std::string small = folder + "/small.gguf";
  GgufQuantizer(path, {.type = GgmlType::Q4_0}).save(small);
  expect_few_are_read(small);
}

TEST_F(LargeMixture, BytesOfATokenAreThoseOfItsExperts) {
  const Transformer model(load_gguf(path));
  constexpr std::int64_t of_experts = 2 * 3 * width * hidden;
  constexpr std::int64_t of_others =
      vocabulary * width + 3 * width + 4 * width * width + experts * width;
  EXPECT_EQ(model.bytes_per_token(), 4 * (of_experts + of_others));
}

}  // namespace
}  // namespace croze::llm
