// mixture.h -- mixtures of experts: of many perceptrons each token has a few chosen.
//
// A router scores the experts; those with the highest scores compute, and their results are added
// up by shares.  Only the weights of the chosen are read, which is what makes a mixture faster than
// a perceptron of its size: an expert is a row of a tensor, and rows are gathered as the file has
// them, blocks and all, and decoded where they multiply.  Of many tokens those of one expert go
// together.
#pragma once

#include <cstdint>
#include <optional>

#include "croze/llm/model/config.h"
#include "croze/llm/model/layers.h"

namespace croze::llm {

// One matrix of each expert: (experts, out, in).
struct ExpertMatrices {
  GgufTensor weight;

  // (groups, rows, in) to (groups, rows, out), a group by the expert that it names, (groups).
  Tensor operator()(const Tensor& x, const Tensor& experts) const;
};

struct Mixture {
  MixtureConfig config;
  Activation activation = Activation::Silu;
  Matrix router;      // (experts, width)
  Tensor preference;  // (experts), added to scores when experts are chosen; undefined: none
  ExpertMatrices gate, up, down;
  std::optional<FeedForward> shared;  // which all tokens have
  std::optional<Matrix> shared_gate;  // (1, width): how much of it

  // (n, width) to (n, width).
  Tensor operator()(const Tensor& x) const;

 private:
  Tensor compute(const Tensor& x, const Tensor& experts) const;
  Tensor each_of(const Tensor& x, const Tensor& experts) const;
};

// What stands behind attention: a perceptron, or a mixture of them.
struct PerceptronLayer {
  Norm before, after, of_sum;
  std::optional<FeedForward> dense;
  std::optional<Mixture> mixture;

  Tensor operator()(const Tensor& x) const { return dense ? (*dense)(x) : (*mixture)(x); }
};

// Which experts each token has, and by which shares: both (n, chosen), by falling score, of scores
// (n, experts).  Of two that are equal the first counts more.
struct Choice {
  Tensor experts, shares;
};
Choice choose_experts(const Tensor& scores, const Tensor& preference, const MixtureConfig& config);

}  // namespace croze::llm
