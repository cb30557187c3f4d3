// family.cpp -- the table of families.
#include "croze/llm/model/family.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace croze::llm {
namespace {

using enum NormKind;
using enum NormPlace;
using enum Places;
using enum Perceptron;
using enum Activation;

// clang-format off
constexpr Family families[] = {
  // architecture, norm, where it stands, places, perceptron, activation, qk norm, scales embedding, global every, local base, norms shares
  // Llama 1 to 3, SmolLM 1 and 2, Mistral, Mixtral
  {"llama",      RootMeanSquare, Before, RotaryPairs,  Gated, Silu,     false, false, 0, 0,     true},
  {"qwen2",      RootMeanSquare, Before, RotaryHalves, Gated, Silu,     false, false, 1, 0,     false},
  {"qwen2moe",   RootMeanSquare, Before, RotaryHalves, Gated, Silu,     false, false, 1, 0,     false},
  {"qwen3",      RootMeanSquare, Before, RotaryHalves, Gated, Silu,     true,  false, 1, 0,     false},
  {"qwen3moe",   RootMeanSquare, Before, RotaryHalves, Gated, Silu,     true,  false, 1, 0,     true},
  {"gemma",      RootMeanSquare, Before, RotaryHalves, Gated, GeluTanh, false, true,  1, 0,     false},
  {"gemma2",     RootMeanSquare, Both,   RotaryHalves, Gated, GeluTanh, false, true,  2, 0,     false},
  {"gemma3",     RootMeanSquare, Both,   RotaryHalves, Gated, GeluTanh, true,  true,  6, 10000, false},
  {"phi3",       RootMeanSquare, Before, RotaryHalves, Gated, Silu,     false, false, 0, 0,     false},
  {"olmo",       PlainLayer,     Before, RotaryPairs,  Gated, Silu,     false, false, 1, 0,     false},
  {"olmo2",      RootMeanSquare, After,  RotaryHalves, Gated, Silu,     true,  false, 4, 0,     false},
  {"olmoe",      RootMeanSquare, Before, RotaryHalves, Gated, Silu,     true,  false, 1, 0,     false},
  // DeepSeek V2 and V3
  {"deepseek2",  RootMeanSquare, Before, RotaryPairs,  Gated, Silu,     false, false, 1, 0,     false},
  {"gpt2",       Layer,          Before, Learned,      Plain, GeluTanh, false, false, 1, 0,     false},
  {"starcoder2", Layer,          Before, RotaryHalves, Plain, GeluTanh, false, false, 0, 0,     false},
  // Encoders.  BERT, MiniLM, BGE, E5, XLM-RoBERTa
  {"bert",       Layer,          OfSum,  Learned,      Plain, Gelu,     false, false, 1, 0,     false},
  {"nomic-bert", Layer,          OfSum,  RotaryHalves, Gated, Silu,     false, false, 1, 0,     false},
};
// clang-format on

}  // namespace

const Family* find_family(std::string_view architecture) {
  const auto* family = std::ranges::find(families, architecture, &Family::architecture);
  return family == std::end(families) ? nullptr : family;
}

std::string known_families() {
  std::vector<std::string_view> names;
  for (const Family& f : families) names.push_back(f.architecture);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace croze::llm
