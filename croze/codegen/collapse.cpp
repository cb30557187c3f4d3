// collapse.cpp -- sums in closed form.
//
// A term of a sum is where(condition, value, 0).  The parts of the condition that vary over the
// summed range are solved for it: each says `r < u`, `l <= r` or `r == p`.  A one-hot product is
// the last kind, so indexing that was written as a sum over all places becomes one load.
#include "croze/codegen/collapse.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "croze/graph/analysis/valid.h"
#include "croze/graph/graph.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

using i64 = std::int64_t;

// The integer `x` as an Index, or null if that is not the same number.
UOp as_index(UOp x) {
  if (x.dtype() == DType::Index) return x;
  if (!is_integral(x.dtype()) || x.dtype() == DType::UInt64) return UOp();
  if (x.is(Op::Cast) && x.src(0).dtype() == DType::Index) {
    const bool exact =
        min_value(x.dtype()) <= x.src(0).lo() && x.src(0).hi() <= max_value(x.dtype());
    return exact ? x.src(0) : UOp();
  }
  return cast(x, DType::Index);
}

// What a condition says of the range it was solved for; null where it says nothing.
struct Solution {
  std::vector<UOp> lower, upper;  // lower <= r, r < upper
  UOp point;                      // r == point
  std::vector<UOp> others;        // terms without r
};

class Solver {
 public:
  explicit Solver(UOp range) : range_(range) {}

  Solution solution;

  // False if a term cannot be solved.
  bool solve(UOp condition) {
    for (UOp term : conjuncts(condition)) {
      if (!term.varies_over(range_)) {
        solution.others.push_back(term);
      } else if (!solve_term(term)) {
        return false;
      }
    }
    return true;
  }

  // A term that holds where the value is not 0: it need not be solved, and may end the range early.
  void consider(UOp term) {
    Solver alone(range_);
    if (!term.varies_over(range_) || !alone.solve_term(term)) return;
    for (UOp l : alone.solution.lower) {
      if (l.is_const()) solution.lower.push_back(l);
    }
    for (UOp u : alone.solution.upper) {
      if (u.is_const()) solution.upper.push_back(u);
    }
  }

 private:
  // coefficient * r + rest, compared with 0.
  bool solve_term(UOp term) {
    if (term.num_src() != 2) return false;
    const UOp a = as_index(term.src(0)), b = as_index(term.src(1));
    if (!a || !b) return false;
    LinearForm rest = LinearForm::of(a);
    rest.add(LinearForm::of(b), -1);
    const i64 coefficient = rest.coefficient(range_);
    rest.add(range_, -coefficient);
    const UOp other = rest.build(range_.graph());
    if (coefficient == 0 || other.varies_over(range_)) return false;
    if (term.is(Op::Lt)) return bound(coefficient, other);
    if (term.is(Op::Le)) return bound(coefficient, other - 1);
    if (!term.is(Op::Eq) || std::abs(coefficient) != 1 || solution.point) return false;
    solution.point = other * -coefficient;
    return true;
  }

  // coefficient * r + rest < 0.
  bool bound(i64 coefficient, UOp rest) {
    if (coefficient > 0) {
      solution.upper.push_back((rest * -1 + (coefficient - 1)) / coefficient);
    } else {
      solution.lower.push_back(rest / -coefficient + 1);
    }
    return true;
  }

  UOp range_;
};

// `value` with r = place.  Where `inside` is false, the place is none and nothing is loaded.
UOp at_place(UOp value, UOp range, UOp place, UOp inside) {
  Graph& graph = value.graph();
  std::unordered_map<const Node*, UOp> moved{{range.node(), place}};
  std::vector<UOp> src;
  for (UOp u : toposort(value)) {
    if (u == range) continue;
    src.clear();
    for (UOp s : u.sources()) src.push_back(moved.at(s.node()));
    if (!u.varies_over(range)) {
      moved[u.node()] = u;
    } else if (u.is(Op::Index) && !inside.is_const()) {
      const UOp gate = u.num_src() == 3 ? src[2] & inside : inside;
      moved[u.node()] = graph.place(src[0], src[1], gate);
    } else {
      moved[u.node()] = graph.with_sources(u, src);
    }
  }
  return moved.at(value.node());
}

i64 significand_limit(DType t) {
  return t == DType::Float64 ? i64{1} << 53 : t == DType::Float32 ? i64{1} << 24 : 0;
}

// count * x, equal to adding x that many times, at most `most`; null if rounding could differ.
UOp times(UOp x, UOp count, i64 most) {
  const UOp n = cast(count, x.dtype());
  if (is_integral(x.dtype())) return x * n;
  if (!x.is_const()) return UOp();
  const double v = x.const_double();
  const auto limit = static_cast<double>(significand_limit(x.dtype()));
  const bool exact = v == std::trunc(v) && std::abs(v) * static_cast<double>(most) <= limit;
  // A sum starts from 0: it is -0 for no terms and for no number of -0.
  const bool keeps_zero = !std::signbit(v) || (v < 0 && count.lo() > 0);
  return exact && keeps_zero ? x * n : UOp();
}

// Comparisons outside of which a value is 0, as far as its loads say: a load is 0 outside of its
// gate.
std::vector<UOp> zero_outside(UOp x) {
  if (x.is(Op::Load) && x.src(0).num_src() == 3) return conjuncts(x.src(0).src(2));
  if (x.is(Op::Cast)) return zero_outside(x.src(0));
  if (!x.is(Op::Mul)) return {};
  // An infinity times zero is none.
  std::vector<UOp> all = zero_outside(x.src(0));
  const std::vector<UOp> others = zero_outside(x.src(1));
  std::erase_if(all, [&](UOp c) { return std::ranges::find(others, c) == others.end(); });
  return all;
}

// Places of a range, so many and so far apart.
struct Places {
  i64 first = 0, step = 1, count = 0;
};

// Those at which a condition holds that says so of a remainder: (r + c) % step == k.
std::optional<Places> places_of_remainder(UOp condition, UOp range) {
  const bool compares = condition.is(Op::Lt) || condition.is(Op::Eq);
  if (!compares || !condition.src(0).is(Op::Mod) || !condition.src(1).is_const()) return {};
  const UOp remainder = condition.src(0);
  const i64 bound = condition.src(1).const_int();
  if (condition.is(Op::Lt) && bound != 1) return {};
  if (remainder.dtype() != DType::Index || !remainder.src(1).is_const()) return {};
  LinearForm rest = LinearForm::of(remainder.src(0));
  const i64 coefficient = rest.coefficient(range), step = remainder.src(1).const_int();
  rest.add(range, -coefficient);
  if (std::abs(coefficient) != 1 || !rest.terms.empty() || step < 2) return {};
  const i64 wanted = condition.is(Op::Lt) ? 0 : bound;
  if (wanted < 0 || wanted >= step) return {};
  const i64 first = (coefficient * (wanted - rest.constant) % step + step) % step;
  return Places{first, step, std::max<i64>(0, (range.range_size() - first + step - 1) / step)};
}

// One range of one sum.
class Sum {
 public:
  Sum(UOp reduce, UOp range, i64 next_range)
      : reduce_(reduce), range_(range), next_range_(next_range), graph_(reduce.graph()) {}

  // The sum without the range, or over less of it; null if nothing is known.
  UOp collapsed() {
    const UOp x = reduce_.src(0);
    if (const UOp few = at_remainder(x)) return few;
    UOp condition = graph_.boolean(true), value = x;
    if (x.is(Op::Where) && x.src(2).is_const(0)) {
      condition = x.src(0);
      value = x.src(1);
    } else if (x.is(Op::Cast) && x.src(0).dtype() == DType::Bool) {
      condition = x.src(0);
      value = constant_like(x, 1);
    }
    Solver solver(range_);
    if (!solver.solve(condition)) return UOp();
    for (UOp c : zero_outside(x)) solver.consider(c);
    const Solution& s = solver.solution;
    if (s.point) return over_others(one_place(s, value), s);
    if (!value.varies_over(range_)) return over_others(counted(s, value), s);
    return shorter(s, value);
  }

 private:
  // where(the terms without r, x, 0), summed over the other ranges.
  UOp over_others(UOp x, const Solution& s) {
    if (!x) return x;
    for (UOp term : s.others) x = where(term, x, constant_like(x, 0));
    SmallVector<UOp, 8> ranges;
    for (int i = 1; i < reduce_.num_src(); i++) {
      if (reduce_.src(i) != range_) ranges.push_back(reduce_.src(i));
    }
    return graph_.reduce(Op::Add, x, ranges);
  }

  UOp one_place(const Solution& s, UOp value) {
    const UOp p = s.point;
    UOp inside = less(graph_.index(-1), p) & less(p, range_.trip_count());
    for (UOp l : s.lower) inside = inside & less_equal(l, p);
    for (UOp u : s.upper) inside = inside & less(p, u);
    const UOp found = at_place(value, range_, p, inside);
    return where(inside, found, constant_like(value, 0));
  }

  UOp counted(const Solution& s, UOp value) {
    UOp begin = graph_.index(0), end = range_.trip_count();
    for (UOp l : s.lower) begin = max(begin, l);
    for (UOp u : s.upper) end = min(end, u);
    return times(value, max(end - begin, graph_.index(0)), range_.range_size());
  }

  // Only the iterations between constant ends.
  UOp shorter(const Solution& s, UOp value) {
    i64 begin = 0, end = range_.range_size();
    for (UOp l : s.lower) begin = std::max(begin, l.lo());
    for (UOp u : s.upper) end = std::min(end, u.hi());
    const bool decided = std::ranges::all_of(s.lower, [](UOp l) { return l.is_const(); }) &&
                         std::ranges::all_of(s.upper, [](UOp u) { return u.is_const(); });
    if (!decided || range_.is_open() || next_range_ >= RangeSet::capacity) return UOp();
    if (end - begin >= range_.range_size()) return UOp();
    return over_places({begin, 1, end - begin}, value, s);
  }

  // Only the iterations whose remainder is the one that a condition asks for.
  UOp at_remainder(UOp x) {
    if (range_.is_open() || next_range_ >= RangeSet::capacity) return UOp();
    std::vector<UOp> conditions = zero_outside(x);
    if (x.is(Op::Where) && x.src(2).is_const(0)) conditions = conjuncts(x.src(0));
    for (UOp c : conditions) {
      if (const auto places = places_of_remainder(c, range_)) return over_places(*places, x, {});
    }
    return UOp();
  }

  UOp over_places(const Places& places, UOp value, const Solution& s) {
    if (places.count <= 0) return constant_like(value, 0);
    const UOp part = places.count == 1
                         ? graph_.index(0)
                         : graph_.range(next_range_, places.count, range_.loop_kind());
    UOp x = at_place(value, range_, part * places.step + places.first, graph_.boolean(true));
    for (UOp term : s.others) x = where(term, x, constant_like(x, 0));
    SmallVector<UOp, 8> ranges;
    for (int i = 1; i < reduce_.num_src(); i++) {
      const UOp r = reduce_.src(i) == range_ ? part : reduce_.src(i);
      if (r.is(Op::Range)) ranges.push_back(r);
    }
    return graph_.reduce(Op::Add, x, ranges);
  }

  UOp reduce_, range_;
  i64 next_range_;
  Graph& graph_;
};

i64 next_range_of(UOp sink) {
  i64 next = 0;
  for (UOp u : toposort(sink)) {
    if (u.is(Op::Range)) next = std::max(next, u.range_id() + 1);
  }
  return next;
}

// The first sum that collapses, and what it becomes; false if there is none.
bool find_collapse(UOp sink, std::pair<UOp, UOp>* found) {
  const i64 next_range = next_range_of(sink);
  for (UOp u : toposort(sink)) {
    if (!u.is(Op::Reduce) || u.reduce_op() != Op::Add) continue;
    for (int i = 1; i < u.num_src(); i++) {
      const UOp x = Sum(u, u.src(i), next_range).collapsed();
      if (!x) continue;
      *found = {u, x};
      return true;
    }
  }
  return false;
}

}  // namespace

UOp collapse_reductions(UOp sink) {
  std::pair<UOp, UOp> found;
  while (find_collapse(sink, &found)) sink = substitute(sink, std::span(&found, 1));
  return sink;
}

}  // namespace croze
