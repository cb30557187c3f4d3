// measure.cpp -- the size of nodes.
#include "graph/measure.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "base/flat_map.h"
#include "base/small_vector.h"
#include "graph/index_form.h"
#include "graph/rewrite.h"

namespace croze {
namespace {

// Exact up to 2^64; what is larger is compared to its leading digits.
using Number = long double;

struct Size {
  Number padding = 0, weight = 0;
};

// Of -1 nothing: a sum may change its sign.
int weight_of_coefficient(std::int64_t c) {
  const auto magnitude = c < 0 ? -static_cast<std::uint64_t>(c) : static_cast<std::uint64_t>(c);
  return c == -1 ? 0 : std::max(1, static_cast<int>(std::bit_width(magnitude)) - 1);
}

bool is_scaled(UOp u) { return u.is(Op::Mul) && u.src(1).is_const(); }

class Sizes {
 public:
  // Counts these nodes as leaves.
  explicit Sizes(const FlatSet<const Node*>& leaves) : leaves_(leaves) {}

  Size of(UOp root) {
    std::vector<UOp> pending{root};
    while (!pending.empty()) {
      const UOp u = pending.back();
      if (known_.find(u.node())) {
        pending.pop_back();
        continue;
      }
      const std::size_t before = pending.size();
      if (!is_leaf(u)) {
        for (UOp s : u.sources()) {
          if (!known_.find(s.node())) pending.push_back(s);
        }
      }
      if (pending.size() != before) continue;
      pending.pop_back();
      known_[u.node()] = derive(u);
    }
    return *known_.find(root.node());
  }

 private:
  bool is_leaf(UOp u) const { return leaves_.contains(u.node()) || u.num_src() == 0; }

  Size derive(UOp u) {
    if (u.is_const()) return {0, 1};
    if (u.is(Op::Invalid)) return {1, 1};
    if (is_leaf(u)) return {0, least_leaf_weight};
    SmallVector<Number, 4> padding, weight;
    for (UOp s : u.sources()) {
      const Size size = *known_.find(s.node());
      padding.push_back(size.padding);
      weight.push_back(size.weight);
    }
    const bool pads = u.is(Op::Where) && u.src(2).is(Op::Invalid);
    return {padding_of<Number>(u.op(), pads, padding), weigh(u, weight)};
  }

  static Number weigh(UOp u, std::span<const Number> weight) {
    const bool on_index = u.src(0).dtype() == DType::Index;
    if (on_index && is_scaled(u)) {
      // The weights of two factors may add up to that of their product, or to one less.
      const int nested = is_scaled(u.src(0)) ? 2 : 0;
      return weight[0] + static_cast<Number>(weight_of_coefficient(u.src(1).const_int()) + nested);
    }
    Number result = weight_of<Number>(u.op(), on_index, weight);
    if (on_index && (u.is(Op::Eq) || u.is(Op::Ne))) {  // the first coefficient becomes positive
      const LinearForm sum = LinearForm::of(u.src(0));
      if (!sum.terms.empty() && sum.terms[0].coefficient < 0) result += 1;
    }
    return result;
  }

  const FlatSet<const Node*>& leaves_;
  FlatMap<const Node*, Size> known_;
};

// The topmost nodes of `after` that `before` has too.
FlatSet<const Node*> common_parts(UOp after, UOp before) {
  FlatSet<const Node*> all, common, seen;
  for (UOp u : toposort(before)) all.insert(u.node());
  std::vector<UOp> pending{after};
  while (!pending.empty()) {
    const UOp u = pending.back();
    pending.pop_back();
    if (!seen.insert(u.node())) continue;
    if (all.contains(u.node()) && u != before) {
      common.insert(u.node());
    } else {
      for (UOp s : u.sources()) pending.push_back(s);
    }
  }
  return common;
}

}  // namespace

bool is_smaller(UOp after, UOp before) {
  const FlatSet<const Node*> leaves = common_parts(after, before);
  Sizes sizes(leaves);
  const Size a = sizes.of(after), b = sizes.of(before);
  return a.padding != b.padding ? a.padding < b.padding : a.weight < b.weight;
}

}  // namespace croze
