// mixture.cpp -- the choice of experts, and their products.
#include "croze/llm/model/mixture.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "croze/tensor/elementwise/activation.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/reduce/reduce.h"

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

// Rows of a block: as many as experts have on average, and so few that a product still decodes
// weights where it uses them.  Short blocks are not worth what experts leave of their last ones.
std::int64_t block_size(std::int64_t assignments, std::int64_t experts) {
  const auto average = std::bit_floor(static_cast<std::uint64_t>(assignments / experts));
  return average < 4 ? 1 : static_cast<std::int64_t>(std::min<std::uint64_t>(average, 8));
}

// Assignments of tokens to experts in blocks of one expert each, which read its weights once.
struct Blocks {
  Tensor experts;  // (blocks); those that are left over repeat the last
  Tensor members;  // (blocks * size): numbers of assignments, 0 in free places
  Tensor places;   // (assignments): where each is among the members
};

Tensor numbers_to(std::int64_t count) { return Tensor::arange(count, DType::Int32); }

// Everything is found by comparing: these are small numbers of small numbers.
Blocks blocks_of(const Tensor& chosen, std::int64_t experts, std::int64_t size) {
  const std::int64_t assignments = chosen.numel(), blocks = assignments / size + experts;
  const Tensor number = numbers_to(assignments), expert = numbers_to(experts);
  const Tensor is_earlier =
      logical_and(chosen == chosen.unsqueeze(1), number < number.unsqueeze(1));
  const Tensor row = is_earlier.cast(DType::Int32).sum(1);  // among those of its expert
  const Tensor rows = (chosen == expert.unsqueeze(1)).cast(DType::Int32).sum(1);
  const Tensor own = floor_divide(rows + (size - 1), size);  // (experts): blocks
  const Tensor begin = where(expert < expert.unsqueeze(1), own, 0).sum(1);
  const Tensor block = minimum(numbers_to(blocks), own.sum() - 1).unsqueeze(1);
  const Tensor is_in = logical_and(block >= begin, block < begin + own);  // (blocks, experts)
  const Tensor places = index_select(begin, 0, chosen) * size + row;
  const Tensor place = numbers_to(blocks * size).unsqueeze(1);
  return {.experts = where(is_in, expert, 0).sum(1).cast(DType::Int32),
          .members = where(places == place, number, 0).sum(1).cast(DType::Int32),
          .places = places.cast(DType::Int32)};
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

Tensor Mixture::compute(const Tensor& x, const Tensor& experts) const {
  return down(activated(gate(x, experts), activation) * up(x, experts), experts);
}

// (n, width) to (n * chosen, width).
Tensor Mixture::each_of(const Tensor& x, const Tensor& experts) const {
  const std::int64_t n = x.size(0), width = x.size(1);
  const std::int64_t size = block_size(n * config.chosen, config.experts);
  if (size == 1) {
    const Tensor rows = x.unsqueeze(1).expand({n, config.chosen, width}).reshape({-1, 1, width});
    return compute(rows, experts).flatten(0, 1);
  }
  const Blocks blocks = blocks_of(experts, config.experts, size);
  const Tensor tokens = floor_divide(blocks.members, config.chosen).contiguous();
  const Tensor rows = index_select(x, 0, tokens).reshape({-1, size, width}).contiguous();
  const Tensor computed = compute(rows, blocks.experts.contiguous());
  return index_select(computed.flatten(0, 1), 0, blocks.places);
}

Tensor Mixture::operator()(const Tensor& x) const {
  const Choice choice = choose_experts(router(x), preference, config);
  // Whose turn it is is not to be found anew for each element of a product.
  const Tensor each = each_of(x, choice.experts.flatten().contiguous());
  const Tensor mixed =
      (each.reshape({x.size(0), config.chosen, -1}) * choice.shares.unsqueeze(-1)).sum(1);
  if (!shared) return mixed;
  const Tensor common = (*shared)(x);
  return mixed + (shared_gate ? common * sigmoid((*shared_gate)(x)) : common);
}

}  // namespace croze::llm
