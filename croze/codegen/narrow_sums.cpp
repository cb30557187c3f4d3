// narrow_sums.cpp -- the low bits of sums.
#include "croze/codegen/narrow_sums.h"

#include <limits>
#include <unordered_map>
#include <vector>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/eval.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

constexpr DType narrow = DType::Int32;

bool is_wide(DType t) { return t == DType::Int64 || t == DType::UInt64; }

bool takes_low_bits(UOp user) {
  const DType t = user.dtype();
  return user.is(Op::Cast) && is_integer(t) && t != DType::Index && size_of(t) <= size_of(narrow);
}

// The low bits of integers, computed as such as far down as there is only arithmetic.
class LowBits {
 public:
  // Sources before users, so that no depth is too great.
  UOp of(UOp value) {
    for (UOp u : toposort(value)) {
      if (is_wide(u.dtype())) low_[u.node()] = computed(u);
    }
    return low_.at(value.node());
  }

 private:
  UOp computed(UOp u) const {
    Graph& g = u.graph();
    const auto low = [&](int i) { return low_.at(u.src(i).node()); };
    switch (u.op()) {
      case Op::Const: return g.constant_bits(narrow, convert(u.arg().value, u.dtype(), narrow));
      case Op::Add:
      case Op::Mul: return g.alu(u.op(), {low(0), low(1)});
      case Op::Neg: return -low(0);
      case Op::Where: return where(u.src(0), low(1), low(2));
      case Op::Cast: {
        const DType from = u.src(0).dtype();
        if (is_wide(from)) return low(0);
        return g.cast(is_integral(from) && from != DType::Index ? u.src(0) : u, narrow);
      }
      default: return g.cast(u, narrow);
    }
  }

  std::unordered_map<const Node*, UOp> low_;
};

bool fits_narrow(UOp u) {
  return u.lo() >= std::numeric_limits<std::int32_t>::min() &&
         u.hi() <= std::numeric_limits<std::int32_t>::max();
}

// The reductions that are wider than all their users, or than what they can come to.
std::vector<UOp> wide_sums(UOp sink) {
  std::vector<UOp> sums;
  std::unordered_map<const Node*, bool> is_wider;
  for (UOp u : toposort(sink)) {
    const bool is_sum = u.is(Op::Reduce) && u.reduce_op() == Op::Add && is_wide(u.dtype());
    if (is_sum) sums.push_back(u);
    if (is_sum) is_wider[u.node()] = true;
    for (UOp s : u.sources()) {
      if (const auto sum = is_wider.find(s.node()); sum != is_wider.end())
        sum->second = sum->second && takes_low_bits(u);
    }
  }
  std::erase_if(sums, [&](UOp u) { return !is_wider.at(u.node()) && !fits_narrow(u); });
  return sums;
}

}  // namespace

UOp narrow_sums(UOp sink) {
  Graph& g = sink.graph();
  std::vector<std::pair<UOp, UOp>> replacements;
  LowBits low_bits;
  for (UOp u : wide_sums(sink)) {
    const UOp sum = g.reduce(Op::Add, low_bits.of(u.src(0)), closed_ranges(u));
    replacements.emplace_back(u, g.cast(sum, u.dtype()));
  }
  return replacements.empty() ? sink : substitute(sink, replacements);
}

}  // namespace croze
