// measure.cpp -- the size of nodes.
#include "croze/graph/analysis/measure.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/base/small_vector.h"
#include "croze/graph/graph.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// Exact up to 2^64; what is larger is compared to its leading digits.
using Number = long double;
// What would weigh more weighs that; its products are numbers still.
constexpr Number most = 1e2000L;

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
      for (UOp s : u.sources()) {
        if (counts(u, s) && !known_.find(s.node())) pending.push_back(s);
      }
      if (pending.size() != before) continue;
      pending.pop_back();
      known_[u.node()] = derive(u);
    }
    return *known_.find(root.node());
  }

 private:
  // Whether the size of u depends on that of its source s: of what lies below a leaf only the
  // leaves count, and the rest weighs as little as it can.
  bool counts(UOp u, UOp s) const {
    return !leaves_.contains(u.node()) || leaves_.contains(s.node());
  }

  Size derive(UOp u) {
    if (u.is_const()) return {0, 1};
    if (u.is(Op::Invalid)) return {1, 1};
    if (u.num_src() == 0) return {0, least_leaf_weight};
    SmallVector<Number, 4> padding, weight;
    for (UOp s : u.sources()) {
      const Size size = counts(u, s) ? *known_.find(s.node()) : Size{0, least_leaf_weight};
      padding.push_back(size.padding);
      weight.push_back(size.weight);
    }
    const bool pads = u.is(Op::Where) && u.src(2).is(Op::Invalid);
    return {padding_of<Number>(u.op(), pads, padding), std::min(most, weigh(u, weight))};
  }

  static Number weigh(UOp u, std::span<const Number> weight) {
    const bool on_index = u.src(0).dtype() == DType::Index;
    if (on_index && is_scaled(u)) {
      // The weights of two factors may add up to that of their product, or to one less.
      const int nested = is_scaled(u.src(0)) ? 2 : 0;
      // A condition times a number outweighs the choice of that number or zero.
      const bool is_choice = u.src(0).is(Op::Cast) && u.src(0).src(0).dtype() == DType::Bool;
      return (is_choice ? 7 * weight[0] / 4 : weight[0]) +
             static_cast<Number>(weight_of_coefficient(u.src(1).const_int()) + nested);
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

// The first nodes of an expression, from its root on.
FlatSet<const Node*> top_of(UOp root, std::int64_t most_nodes) {
  FlatSet<const Node*> top;
  std::vector<UOp> row{root};  // grows as it is read
  top.insert(root.node());
  for (std::size_t i = 0; i < row.size() && top.size() < most_nodes; i++) {
    for (UOp s : row[i].sources()) {
      if (top.insert(s.node())) row.push_back(s);
    }
  }
  return top;
}

// The topmost nodes of an expression that are among these parts.  Null if too much lies above them.
std::optional<FlatSet<const Node*>> topmost(UOp root, const FlatSet<const Node*>& parts,
                                            std::int64_t most_nodes) {
  FlatSet<const Node*> seen, reached;
  std::vector<UOp> pending{root};
  while (!pending.empty()) {
    const UOp u = pending.back();
    pending.pop_back();
    if (!seen.insert(u.node())) continue;
    if (seen.size() > most_nodes) return std::nullopt;
    if (parts.contains(u.node())) {
      reached.insert(u.node());
    } else {
      for (UOp s : u.sources()) pending.push_back(s);
    }
  }
  return reached;
}

// Whether it is a sum or product of indices that its constructor would have written otherwise.
bool is_not_canonical(UOp u) {
  if (u.dtype() != DType::Index || (!u.is(Op::Add) && !u.is(Op::Mul))) return false;
  return u.graph().alu(u.op(), {u.src(0), u.src(1)}) != u;
}

}  // namespace

std::optional<bool> is_smaller(UOp after, UOp before, std::int64_t most_nodes) {
  if (is_not_canonical(before) && !is_not_canonical(after)) return true;
  FlatSet<const Node*> parts = top_of(before, most_nodes);
  parts.erase(before.node());
  const auto common = topmost(after, parts, most_nodes);
  if (!common || !topmost(before, *common, most_nodes)) return std::nullopt;
  Sizes sizes(*common);
  const Size a = sizes.of(after), b = sizes.of(before);
  if (a.weight == most && b.weight == most) return std::nullopt;
  return a.padding != b.padding ? a.padding < b.padding : a.weight < b.weight;
}

std::optional<bool> is_seen_smaller(UOp after, UOp before) {
  for (std::int64_t most_nodes : {4, 200}) {
    if (const auto smaller = is_smaller(after, before, most_nodes)) return smaller;
  }
  return std::nullopt;
}

bool is_smaller(UOp after, UOp before) {
  return is_smaller(after, before, std::numeric_limits<std::int64_t>::max()).value_or(false);
}

}  // namespace croze
