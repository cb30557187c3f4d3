// masked_turns.cpp -- solves the comparison for the loop, at the extreme of what is not known.
#include "croze/codegen/lower/masked_turns.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "croze/graph/eval.h"
#include "croze/graph/graph.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/render/program.h"

namespace croze {
namespace {

// The least value of the terms, or the greatest, in which only ranges in `known` are left.
LinearForm extreme(const LinearForm& form, RangeSet known, Open open) {
  LinearForm result;
  result.constant = form.constant;
  for (const Term& t : form.terms) {
    if ((t.atom.ranges() - known).empty()) {
      result.add(t.atom, t.coefficient);
      continue;
    }
    const bool takes_low = (t.coefficient > 0) == (open == Open::Somewhere);
    LinearForm bound;
    bound.constant = takes_low ? t.atom.lo() : t.atom.hi();
    result.add(bound, t.coefficient);
  }
  return result;
}

// Whether the other one is at most, or at least, this one already.
bool is_source_of(UOp u, UOp other, Op op) {
  return other.is(op) && (other.src(0) == u || other.src(1) == u);
}

// The greater one, without an instruction where that is known.
UOp at_least(UOp a, UOp b) {
  if (a == b || a.lo() >= b.hi() || is_source_of(b, a, Op::Max)) return a;
  return b.lo() >= a.hi() || is_source_of(a, b, Op::Max) ? b : max(a, b);
}

UOp at_most(UOp a, UOp b) {
  if (a == b || a.hi() <= b.lo() || is_source_of(b, a, Op::Min)) return a;
  return b.hi() <= a.lo() || is_source_of(a, b, Op::Min) ? b : min(a, b);
}

// Whether an index has the values of the side of a comparison.  An integer that is narrower than
// what it is cast from may have others.
bool is_as_good_as_index(UOp side) {
  if (side.dtype() != DType::Int32) return side.dtype() == DType::Index;
  if (!side.is(Op::Cast) || side.src(0).dtype() != DType::Index) return true;
  using Limits = std::numeric_limits<std::int32_t>;
  return side.src(0).lo() >= Limits::min() && side.src(0).hi() <= Limits::max();
}

LinearForm form_of_index(UOp side) {
  if (side.dtype() == DType::Index) return LinearForm::of(side);
  const bool was_index = side.is(Op::Cast) && side.src(0).dtype() == DType::Index;
  return LinearForm::of(was_index ? side.src(0) : side.graph().cast(side, DType::Index));
}

MaskedTurns solved(UOp comparison, UOp loop, RangeSet known, Open open) {
  Graph& g = comparison.graph();
  LinearForm difference = form_of_index(comparison.src(1)), form;
  difference.add(form_of_index(comparison.src(0)), -1);
  const std::int64_t limit = std::exchange(difference.constant, 0);
  form.add(difference, -1);
  const std::int64_t step = form.coefficient(loop);
  form.add(loop, -step);
  const LinearForm others = extreme(form, known, open);
  if (step == 0) {
    if (others.bounds().hi < limit) return {};
    return {UOp(), where(less(others.build(g), limit), loop.trip_count(), g.index(0))};
  }
  // step * turn < limit - others.  Turns before 0 are none, so quotients may be cut off there.
  LinearForm room;
  room.constant = limit;
  room.add(others, -1);
  if (step > 0) return {UOp(), at_least(room.build(g) + (step - 1), g.index(0)) / step};
  return {at_least(-room.build(g) - step, g.index(0)) / -step, UOp()};
}

}  // namespace

bool is_comparison_of_index(UOp u) {
  return u.is(Op::Lt) && u.src(0).dtype() == DType::Index && u.src(1).is_const();
}

bool compares_indices(UOp u) {
  return u.is(Op::Lt) && is_as_good_as_index(u.src(0)) && is_as_good_as_index(u.src(1));
}

bool is_settled(UOp comparison, std::span<const UOp> order) {
  const auto may_change = [&](UOp u) {
    if (!u.is(Op::Load)) return false;
    const UOp buffer = buffer_of(u.src(0));
    const auto changes_it = [&](UOp v) { return v.is(Op::Store) && buffer_of(v.src(0)) == buffer; };
    return !buffer.is(Op::Param) || std::ranges::any_of(order, changes_it);
  };
  return std::ranges::none_of(toposort(comparison), may_change);
}

UOp mask_of_value(UOp value, Op op) {
  if (!value.is(Op::Where)) return UOp();
  const UOp identity = value.graph().constant_bits(value.dtype(), identity_of(op, value.dtype()));
  return value.src(2) == identity ? value.src(0) : UOp();
}

MaskedTurns turns_of_mask(UOp comparison, UOp loop, RangeSet known, Open open) {
  try {
    return solved(comparison, loop, known, open);
  } catch (const IndexOverflow&) {  // a number from memory may be any
    return open == Open::Somewhere ? MaskedTurns() : MaskedTurns{UOp(), loop.graph().index(0)};
  }
}

MaskedTurns both(const MaskedTurns& a, const MaskedTurns& b) {
  MaskedTurns result = a;
  if (b.first) result.first = a.first ? at_least(a.first, b.first) : b.first;
  if (b.end) result.end = a.end ? at_most(a.end, b.end) : b.end;
  return result;
}

UOp clamped(UOp turn, UOp loop, UOp otherwise) {
  return turn ? at_most(at_least(turn, turn.graph().index(0)), loop.trip_count()) : otherwise;
}

UOp turns_between(UOp first, UOp end) { return at_least(end - first, first.graph().index(0)); }

}  // namespace croze
