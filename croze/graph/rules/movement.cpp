// movement.cpp -- views on tensors: chains of one kind become one, views that change nothing go
// away.
#include <algorithm>

#include "croze/base/small_vector.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/captures.h"
#include "croze/graph/rules/rules.h"

namespace croze {
namespace {

using namespace captures;

using Ints = SmallVector<std::int64_t, 8>;

UOp view(const Match& m, UOp source, const Ints& arg) {
  return m.graph.movement(m.root.op(), source, arg);
}

bool is_identity_permutation(std::span<const std::int64_t> order) {
  for (std::size_t i = 0; i < order.size(); i++) {
    if (order[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

// A view that gives its source back.
UOp drop_identity(const Match& m) {
  const UOp source = m[x];
  if (!std::ranges::equal(source.shape(), m.root.shape())) return {};
  const std::span<const std::int64_t> arg = m.root.arg().as_ints();
  const bool all_zero = std::ranges::all_of(arg, [](std::int64_t v) { return v == 0; });
  switch (m.root.op()) {
    case Op::Reshape:
    case Op::Expand:
    case Op::Shrink: return source;
    case Op::Permute: return is_identity_permutation(arg) ? source : UOp();
    default: return all_zero ? source : UOp();  // Flip, Pad
  }
}

// Axis i of the outer permutation is axis inner[outer[i]] of the source.
UOp merge_permutes(const Match& m) {
  const auto inner = m[n].arg().as_ints();
  Ints order;
  for (std::int64_t axis : m.root.arg().as_ints()) {
    order.push_back(inner[static_cast<std::size_t>(axis)]);
  }
  return view(m, m[x], order);
}

UOp merge_flips(const Match& m) {
  const auto outer = m.root.arg().as_ints(), inner = m[n].arg().as_ints();
  Ints flips;
  for (std::size_t i = 0; i < outer.size(); i++) flips.push_back(outer[i] ^ inner[i]);
  return view(m, m[x], flips);
}

UOp merge_pads(const Match& m) {
  const auto outer = m.root.arg().as_ints(), inner = m[n].arg().as_ints();
  Ints amounts;
  for (std::size_t i = 0; i < outer.size(); i++) amounts.push_back(outer[i] + inner[i]);
  return view(m, m[x], amounts);
}

// {begin, end} of the outer are counted from the begin of the inner.
UOp merge_shrinks(const Match& m) {
  const auto outer = m.root.arg().as_ints(), inner = m[n].arg().as_ints();
  Ints bounds;
  for (std::size_t i = 0; i < outer.size(); i++) {
    bounds.push_back(outer[i] + inner[i / 2 * 2]);
  }
  return view(m, m[x], bounds);
}

// A permutation that only moves axes of size 1 is a reshape.
UOp permute_of_ones(const Match& m) {
  const UOp source = m[x];
  std::int64_t last = -1;
  for (std::int64_t axis : m.root.arg().as_ints()) {
    if (source.shape()[static_cast<std::size_t>(axis)] == 1) continue;
    if (axis < last) return {};
    last = axis;
  }
  return m.graph.movement(Op::Reshape, source, m.root.shape());
}

constexpr Ops views{'o', {Op::Reshape, Op::Expand, Op::Permute, Op::Flip, Op::Pad, Op::Shrink}};
constexpr Ops copies{'p', {Op::Contiguous, Op::ContiguousBackward, Op::Detach}};

constexpr Pattern reshape(const Pattern& p) { return {Op::Reshape, {p}}; }
constexpr Pattern expand(const Pattern& p) { return {Op::Expand, {p}}; }
constexpr Pattern permute(const Pattern& p) { return {Op::Permute, {p}}; }
constexpr Pattern flip(const Pattern& p) { return {Op::Flip, {p}}; }
constexpr Pattern pad(const Pattern& p) { return {Op::Pad, {p}}; }
constexpr Pattern shrink(const Pattern& p) { return {Op::Shrink, {p}}; }

// clang-format off
constexpr Rule movement[] = {
    rule(views(x),                   drop_identity),
    rule(reshape(reshape(x)),        reshape(x)),
    rule(expand(expand(x)),          expand(x)),
    rule(permute(n(permute(x))),     merge_permutes),
    rule(flip(n(flip(x))),           merge_flips),
    rule(pad(n(pad(x))),             merge_pads),
    rule(shrink(n(shrink(x))),       merge_shrinks),
    rule(permute(x),                 permute_of_ones),
    rule(copies(copies(x)),          copies(x)),
};
// clang-format on

}  // namespace

const RuleList& movement_list() {
  static constexpr RuleList list{"movement", Numbers::All, movement};
  return list;
}

const RuleSet& tensor_rules() {
  static const RuleSet& set = *new RuleSet("tensor", {movement_list()});
  return set;
}

}  // namespace croze
