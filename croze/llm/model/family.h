// family.h -- what the families of language models differ in and their files do not say.
//
// All of them are one network (transformer.h).  A file names its family by "general.architecture"
// and its sizes by keys (config.h); which norms there are, how places are told and which function
// lies between the layers of a perceptron is known by the family: a row of the table in family.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace croze::llm {

enum class NormKind : std::uint8_t {
  None,
  RootMeanSquare,
  Layer,       // mean and variance, with a bias
  PlainLayer,  // the same without weights
};

// Where norms stand around attention and around the perceptron.
enum class NormPlace : std::uint8_t {
  Before,
  After,
  Both,
  OfSum,  // behind the sum with what went in
};

enum class Activation : std::uint8_t { Silu, Gelu, GeluTanh };

enum class Perceptron : std::uint8_t {
  Gated,  // down(activation(gate(x)) * up(x))
  Plain,  // down(activation(up(x)))
};

// How a model is told where a token stands.
enum class Places : std::uint8_t {
  RotaryPairs,   // elements 2i and 2i + 1 of a head turn together ("norm" in ggml)
  RotaryHalves,  // elements i and i + n/2 do ("neox")
  Learned,       // a table of vectors that are added to the embedding
};

struct Family {
  std::string_view architecture;
  NormKind norm = NormKind::RootMeanSquare;
  NormPlace norm_place = NormPlace::Before;
  Places places = Places::RotaryHalves;
  Perceptron perceptron = Perceptron::Gated;
  Activation activation = Activation::Silu;
  bool has_qk_norm = false;       // queries and keys are normed
  bool scales_embedding = false;  // by the root of the width
  std::int64_t global_every = 0;  // if there is a window: each n-th layer has none; 0: all have it
  double local_rotary_base = 0;   // of layers with a window, if they turn otherwise than the rest
  bool norms_shares = false;      // of the chosen experts of a mixture, to a sum of 1
};

// The row of an architecture; null if there is none.
const Family* find_family(std::string_view architecture);

// All architectures, for messages.
std::string known_families();

}  // namespace croze::llm
