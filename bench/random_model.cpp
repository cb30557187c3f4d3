// random_model.cpp -- some random rows, written again and again.
#include "random_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "croze/io/gguf/encode.h"
#include "croze/io/gguf/writer.h"

namespace croze::bench {
namespace {

// Of Llama 3.2 1B.
constexpr std::int64_t width = 2048, hidden = 8192, layers = 16, heads = 32, kv_heads = 8;
constexpr std::int64_t vocabulary = 128256, context = 131072;
// The standard deviation of weights with which no layer makes numbers grow.
constexpr float spread = 0.02f;
// Numbers that are encoded once and written for all: rows of any matrix are parts of them.
constexpr std::int64_t distinct = std::int64_t{64} * hidden;

std::vector<GgufTensorInfo> tensors_of(GgmlType type) {
  std::vector<GgufTensorInfo> tensors;
  const auto norm = [&](const std::string& name) {
    tensors.push_back({name + ".weight", {width}, GgmlType::F32});
  };
  const auto matrix = [&](const std::string& name, std::int64_t out, std::int64_t in) {
    tensors.push_back({name + ".weight", {out, in}, type});
  };
  matrix("token_embd", vocabulary, width);
  norm("output_norm");
  for (std::int64_t i = 0; i < layers; i++) {
    const std::string layer = fmt::format("blk.{}.", i);
    norm(layer + "attn_norm");
    matrix(layer + "attn_q", width, width);
    matrix(layer + "attn_k", width / heads * kv_heads, width);
    matrix(layer + "attn_v", width / heads * kv_heads, width);
    matrix(layer + "attn_output", width, width);
    norm(layer + "ffn_norm");
    matrix(layer + "ffn_gate", hidden, width);
    matrix(layer + "ffn_up", hidden, width);
    matrix(layer + "ffn_down", width, hidden);
  }
  return tensors;
}

// SentencePiece's: bytes, as each of its vocabularies has them, and numbers.
void add_tokens(std::vector<GgufNamedValue>& metadata) {
  constexpr std::int32_t normal = 1, unknown = 2, control = 3, byte = 6;
  std::vector<std::string> tokens{"<unk>", "<s>", "</s>"};
  std::vector<std::int32_t> types{unknown, control, control};
  for (int i = 0; i < 256; i++) tokens.push_back(fmt::format("<0x{:02X}>", i));
  types.resize(tokens.size(), byte);
  while (std::ssize(tokens) < vocabulary) tokens.push_back(fmt::format("t{}", tokens.size()));
  types.resize(tokens.size(), normal);
  std::vector<float> scores(tokens.size(), 0);
  metadata.emplace_back("tokenizer.ggml.model", std::string("llama"));
  metadata.emplace_back("tokenizer.ggml.tokens", GgufArray{std::move(tokens)});
  metadata.emplace_back("tokenizer.ggml.scores", GgufArray{std::move(scores)});
  metadata.emplace_back("tokenizer.ggml.token_type", GgufArray{std::move(types)});
  metadata.emplace_back("tokenizer.ggml.bos_token_id", std::uint32_t{1});
  metadata.emplace_back("tokenizer.ggml.eos_token_id", std::uint32_t{2});
}

std::vector<GgufNamedValue> metadata_of(GgmlType type) {
  const auto size = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
  std::vector<GgufNamedValue> metadata{
      {"general.architecture", std::string("llama")},
      {"general.name", fmt::format("random 1B {}", name_of(type))},
      {"llama.context_length", size(context)},
      {"llama.embedding_length", size(width)},
      {"llama.block_count", size(layers)},
      {"llama.feed_forward_length", size(hidden)},
      {"llama.attention.head_count", size(heads)},
      {"llama.attention.head_count_kv", size(kv_heads)},
      {"llama.attention.layer_norm_rms_epsilon", 1e-5f},
      {"llama.rope.dimension_count", size(width / heads)},
      {"llama.rope.freq_base", 500000.0f},
  };
  add_tokens(metadata);
  return metadata;
}

std::vector<std::byte> random_blocks(GgmlType type) {
  std::mt19937 generator(1);
  std::normal_distribution<float> draw(0, spread);
  std::vector<float> numbers(distinct);
  std::ranges::generate(numbers, [&] { return draw(generator); });
  const GgmlTypeInfo& info = ggml_type_info(type);
  std::vector<std::byte> blocks(
      static_cast<std::size_t>(distinct / info.block_elements * info.block_bytes));
  encode_blocks(numbers, type, blocks);
  return blocks;
}

}  // namespace

void save_random_llama(const std::string& path, GgmlType type) {
  const std::vector<GgufTensorInfo> tensors = tensors_of(type);
  const std::vector<std::byte> blocks = random_blocks(type);
  const std::vector<float> ones(width, 1);
  GgufWriter writer(path, metadata_of(type), tensors);
  for (const GgufTensorInfo& tensor : tensors) {
    const std::span<const std::byte> source =
        tensor.type == type ? std::span(blocks) : std::as_bytes(std::span(ones));
    auto missing = static_cast<std::size_t>(tensor.bytes());
    while (missing > 0) {
      const std::size_t count = std::min(missing, source.size());
      writer.write(source.first(count));
      missing -= count;
    }
  }
  writer.commit();
}

}  // namespace croze::bench
