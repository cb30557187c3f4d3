// mixture.cpp -- the choice of experts, and their products.
#include "croze/llm/model/mixture.h"

#include <algorithm>
#include <limits>

#include "croze/tensor/elementwise/activation.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/reduce/reduce.h"
#include "croze/tensor/reduce/scan.h"

namespace croze::llm {
namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

// How many stand before each along the last axis, by falling order.  They are few, so all pairs are
// compared: one kernel.
Tensor ranks(const Tensor& x) {
  const std::int64_t count = x.size(-1);
  const Tensor numbers = Tensor::arange(count, DType::Int32);
  const Tensor self = x.unsqueeze(-1), other = x.unsqueeze(-2);
  const Tensor is_before =
      logical_or(other > self, logical_and(other == self, numbers < numbers.unsqueeze(-1)));
  return is_before.cast(DType::Int32).sum(-1);
}

// The scores of experts in the best groups; the others get none.  A group is worth what its best
// expert is, or, where each has a share of its own, its best two.
Tensor within_groups(const Tensor& scores, const MixtureConfig& config) {
  if (config.chosen_groups == config.groups) return scores;
  const std::int64_t size = config.experts / config.groups;
  const Tensor grouped = scores.reshape({scores.size(0), config.groups, size});
  const std::int64_t best = config.is_sigmoid ? 2 : 1;
  const Tensor worth = where(ranks(grouped) < best, grouped, 0.).sum(-1);
  const Tensor is_chosen = ranks(worth) < config.chosen_groups;
  return where(is_chosen.unsqueeze(-1), grouped, never).reshape(scores.shape());
}

}  // namespace

Choice choose_experts(const Tensor& scores, const Tensor& preference, const MixtureConfig& config) {
  const Tensor all = config.is_sigmoid ? sigmoid(scores) : scores.softmax();
  const Tensor wanted = within_groups(preference.defined() ? all + preference : all, config);
  // (n, chosen, experts): whether an expert is the i-th.
  const Tensor places = Tensor::arange(config.chosen, DType::Int32).unsqueeze(-1);
  const Tensor is_it = ranks(wanted).unsqueeze(1) == places;
  const Tensor numbers = Tensor::arange(config.experts, DType::Int32);
  Tensor shares = where(is_it, all.unsqueeze(1), 0.).sum(-1);
  if (config.norms_shares) shares = shares / shares.sum(-1, true);
  return {.experts = where(is_it, numbers, 0).sum(-1).cast(DType::Int32),
          .shares = shares * config.scale};
}

Tensor ExpertMatrices::operator()(const Tensor& x, const Tensor& experts) const {
  GgufTensor chosen = weight;
  chosen.shape[0] = experts.numel();
  chosen.stored = index_select(weight.stored, 0, experts);
  return matmul(x, chosen.decoded().transpose(-2, -1));
}

Tensor Mixture::operator()(const Tensor& x) const {
  const std::int64_t n = x.size(0), width = x.size(1), chosen = config.chosen;
  const Choice choice = choose_experts(router(x), preference, config);
  const Tensor experts = choice.experts.flatten();
  const Tensor rows = x.unsqueeze(1).expand({n, chosen, width}).reshape({n * chosen, 1, width});
  const Tensor inner = activated(gate(rows, experts), activation) * up(rows, experts);
  const Tensor each = down(inner, experts).reshape({n, chosen, width});
  const Tensor mixed = (each * choice.shares.unsqueeze(-1)).sum(1);
  if (!shared) return mixed;
  const Tensor common = (*shared)(x);
  return mixed + (shared_gate ? common * sigmoid((*shared_gate)(x)) : common);
}

}  // namespace croze::llm
