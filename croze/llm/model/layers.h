// layers.h -- what a transformer is made of, its weights as the file has them.  Mixtures of experts
// are in mixture.h.
#pragma once

#include <cstdint>
#include <optional>

#include "croze/io/gguf/gguf.h"
#include "croze/llm/model/family.h"
#include "croze/tensor/tensor.h"

namespace croze::llm {

// How inputs are multiplied with packed weights.
enum class ActivationType : std::uint8_t {
  Float32,
  Int8,  // in integers of 8 bits, by blocks, where that is faster (int8_product.h)
};

// A weight of the type that it has in the file.  It is decoded by the kernel that multiplies with
// it and never stored as numbers.
struct Matrix {
  GgufTensor weight;  // (out, in)
  Tensor bias;        // (out), or undefined
  ActivationType inputs = ActivationType::Float32;

  // (.., in) to (.., out).
  Tensor operator()(const Tensor& x) const;
  // Rows of the weight: (n) integers to (n, in).
  Tensor rows(const Tensor& numbers) const;
  // Outputs begin .. begin + count - 1 alone.
  Matrix part(std::int64_t begin, std::int64_t count) const;
};

struct Norm {
  NormKind kind = NormKind::None;
  double epsilon = 1e-5;
  Tensor weight, bias;  // of what is normed together; undefined: none

  // Over the last axis, or over the last two if the weight is as large as both.
  Tensor operator()(const Tensor& x) const;
};

// down(activation(gate(x)) * up(x)), or without a gate down(activation(up(x))).
struct FeedForward {
  Activation activation = Activation::Silu;
  std::optional<Matrix> gate;
  Matrix up, down;

  Tensor operator()(const Tensor& x) const;
};
Tensor activated(const Tensor& x, Activation activation);

}  // namespace croze::llm
