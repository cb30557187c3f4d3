// contract.cpp -- sums of products for a matrix unit.
//
//     out[i, j] = reduce add cast(a[i, k]) * cast(b[k, j]), k
// is for a unit of depth 4, with j as lanes,
//     out[i, j] = reduce add cast(a[i, 4 t + d]) * cast(b[4 t + d, j]), t, d
// where d is of kind Depth.  A unit that wants other elements between the terms, as a tile wants
// those of four columns, gets a loop for each part of them.  That is all the edit does: what is
// copied to tiles before or after it is laid out as their loops stand, and lowering
// (lower/contractions.cpp) makes of the loop d and of the lanes what the unit wants.
#include "croze/codegen/edits/contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "croze/codegen/edits/note.h"
#include "croze/graph/analysis/valid.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// All that close the range, which may be reductions that share their loops; none if others do.
std::vector<UOp> reductions_over(UOp sink, UOp range) {
  std::vector<UOp> found;
  for (UOp u : toposort(sink)) {
    if (!closes(u, range)) continue;
    if (!u.is(Op::Reduce)) return {};
    found.push_back(u);
  }
  return found;
}

// What is multiplied, without a choice that adds nothing elsewhere.
UOp product_in(UOp term) {
  const bool is_gated = term.is(Op::Where) && term.src(2).is_const(0);
  return is_gated ? term.src(1) : term;
}

// Whether it is zero where the condition does not hold: loaded behind a gate that says as much.
bool is_zero_without(UOp factor, UOp condition) {
  if (!factor.is(Op::Load) || factor.src(0).num_src() < 3) return false;
  const std::vector<UOp> gate = conjuncts(factor.src(0).src(2));
  return std::ranges::all_of(conjuncts(condition),
                             [&](UOp c) { return std::ranges::find(gate, c) != gate.end(); });
}

UOp not_widened(UOp factor, DType accumulator) {
  const bool is_widened = factor.is(Op::Cast) && factor.dtype() == accumulator;
  return is_widened ? factor.src(0) : factor;
}

LoadedFactors factors_of(UOp product, DType accumulator) {
  return {not_widened(product.src(0), accumulator), not_widened(product.src(1), accumulator)};
}

// Whether a factor is made of what is loaded, element by element.
bool is_made_of_loads(UOp factor) {
  return std::ranges::none_of(toposort(factor),
                              [](UOp u) { return u.is(Op::Reduce) || u.is(Op::TupleReduce); });
}

// Puts the factors in the order in which the unit takes them, with its dtypes.  Why it cannot;
// empty if it can.
std::string fit_factors(LoadedFactors& factors, UOp lanes, const MatrixUnit& unit) {
  auto& [a, b] = factors;
  const bool is_for_each = has_row_for_each_column(unit);
  if (is_for_each ? a.dtype() != unit.a : a.varies_over(lanes)) std::swap(a, b);
  if (a.varies_over(lanes) != is_for_each || !b.varies_over(lanes)) {
    return is_for_each ? "both factors are to be those of a lane"
                       : "one factor is to be that of all lanes";
  }
  const bool are_at_hand =
      is_for_each ? is_made_of_loads(a) && is_made_of_loads(b) : a.is(Op::Load) && b.is(Op::Load);
  if (are_at_hand && takes_dtype(unit.a, a.dtype()) && takes_dtype(unit.b, b.dtype())) {
    if (!takes_values(unit, a) || !takes_values(unit, b))
      return fmt::format("a factor may have more than {} bits", unit.unsigned_bits);
    a = a.graph().cast(a, unit.a);
    b = b.graph().cast(b, unit.b);
    return {};
  }
  return fmt::format("the factors are not loaded as {} and {}", name_of(unit.a), name_of(unit.b));
}

// The loop over the rows that a unit makes at once.
UOp rows_of(UOp sink, UOp a, UOp b, std::int64_t rows) {
  for (UOp u : toposort(sink)) {
    if (u.is(Op::Range) && u.loop_kind() == LoopKind::Unroll && u.range_size() == rows &&
        a.varies_over(u) && !b.varies_over(u))
      return u;
  }
  return UOp();
}

// How many terms lie together where others come between them, from the innermost on.
std::vector<std::int64_t> terms_together(const MatrixUnit& unit) {
  std::vector<std::int64_t> terms;
  for (const PlaceBits& b : element_bits(unit.places_of_b)) {
    if (b.axis == 'k') terms.push_back(std::int64_t{1} << b.count);
  }
  return terms;
}

// Whether the loops, outermost first, can be cut where the unit wants other elements between the
// terms.
bool can_be_cut(std::span<const UOp> depth, const MatrixUnit& unit) {
  std::size_t loops = depth.size();
  std::int64_t left = depth.back().range_size();
  for (std::int64_t terms : terms_together(unit)) {
    while (left < terms && terms % left == 0 && loops > 1) {
      terms /= left;
      left = depth[--loops - 1].range_size();
    }
    if (left % terms != 0) return false;
    left /= terms;
  }
  return true;
}

// The terms of a unit, by loops that end where it wants other elements between them.
class Depths {
 public:
  Depths(KernelState& k, std::span<const UOp> loops) : k_(k), loops_(loops.begin(), loops.end()) {}

  // The innermost of them become loops over so many terms.  The last one that does so first.
  UOp take(std::int64_t terms) {
    UOp innermost;
    while (terms > 1) {
      UOp inner = loops_.back();
      loops_.pop_back();
      if (inner.range_size() > terms) {
        const SplitRange parts = split_in_two(k_, inner, terms);
        loops_.push_back(parts.outer);
        inner = parts.inner;
      }
      terms /= inner.range_size();
      const UOp marked = k_.graph().range_of_kind(inner, LoopKind::Depth);
      replace_ranges(k_, {{inner, marked}});
      if (!innermost) innermost = marked;
    }
    return innermost;
  }

 private:
  KernelState& k_;
  std::vector<UOp> loops_;
};

// What an integer is at most: one that is loaded from a tile as much as what is stored there.
std::int64_t greatest_of(UOp value) {
  const std::int64_t greatest = value.bounds().hi;
  if (!value.is(Op::Load)) return greatest;
  std::optional<std::int64_t> stored;
  UOp memory = value.src(0).src(0);
  for (; memory.is(Op::After); memory = memory.src(0)) {
    for (int i = 1; i < memory.num_src(); i++) {
      const UOp store = memory.src(i);
      if (!store.is(Op::Store)) return greatest;
      stored = std::max(stored.value_or(0), store.src(1).bounds().hi);
    }
  }
  return memory.is(Op::Local) && stored ? std::min(greatest, *stored) : greatest;
}

}  // namespace

bool takes_dtype(DType of_unit, DType factor) {
  const bool is_wider = is_integer(of_unit) && is_integer(factor) && !is_unsigned(of_unit) &&
                        size_of(of_unit) > size_of(factor);
  return of_unit == factor || is_wider;
}

bool takes_values(const MatrixUnit& unit, UOp factor) {
  return factor.dtype() != DType::UInt8 || greatest_of(factor) < std::int64_t{1}
                                                                     << unit.unsigned_bits;
}

LoadedFactors factors_of_sum(UOp reduce, DType accumulator) {
  const UOp product = product_in(reduce.src(0));
  if (!product.is(Op::Mul)) return {};
  const LoadedFactors factors = factors_of(product, accumulator);
  const bool is_gated = product != reduce.src(0);
  if (is_gated && !(is_zero_without(factors.first, reduce.src(0).src(0)) &&
                    is_zero_without(factors.second, reduce.src(0).src(0))))
    return {};
  return factors;
}

bool multiplies_for(UOp reduce, const MatrixUnit& unit) {
  if (has_row_for_each_column(unit)) return false;
  if (reduce.reduce_op() != Op::Add || reduce.dtype() != unit.accumulator) return false;
  const UOp product = product_in(reduce.src(0));
  if (!product.is(Op::Mul)) return false;
  const auto [x, y] = factors_of(product, unit.accumulator);
  if (!x.is(Op::Load) || !y.is(Op::Load)) return false;
  if (!takes_values(unit, x) || !takes_values(unit, y)) return false;
  return (x.dtype() == unit.a && y.dtype() == unit.b) ||
         (x.dtype() == unit.b && y.dtype() == unit.a);
}

std::vector<UOp> depths_of(UOp reduce) {
  std::vector<UOp> depths;
  if (!reduce.is(Op::Reduce)) return depths;
  std::ranges::copy_if(closed_ranges(reduce), std::back_inserter(depths),
                       [](UOp r) { return r.loop_kind() == LoopKind::Depth; });
  return depths;
}

std::int64_t ranges_for_contractions(UOp sink) {
  std::int64_t count = 0;
  for (UOp u : reduces(sink)) {
    if (!depths_of(u).empty()) count += 3 + std::ssize(closed_ranges(u));
  }
  return count;
}

std::string plan_contraction(UOp sink, UOp reduce, UOp lanes, std::span<const UOp> depth,
                             const MatrixUnit& unit, ContractionPlan* plan) {
  if (lanes.loop_kind() != LoopKind::Lane || lanes.range_size() != unit.columns)
    return fmt::format("loop r{} is no vector of {} lanes", lanes.range_id(), unit.columns);
  const auto can_be_depth = [](UOp r) {
    return !r.is_open() && (r.loop_kind() == LoopKind::Reduce || r.loop_kind() == LoopKind::Depth);
  };
  const UOp first = depth[0];
  if (!std::ranges::all_of(depth, can_be_depth) || iterations(depth) % unit.depth != 0)
    return fmt::format("loop r{} does not go in steps of {}", first.range_id(), unit.depth);
  if (reduce.reduce_op() != Op::Add || reduce.dtype() != unit.accumulator)
    return fmt::format("loop r{} is not that of a sum of {}", first.range_id(),
                       name_of(unit.accumulator));
  if (closes(reduce, lanes)) return "the lanes are summed up themselves";
  const UOp product = product_in(reduce.src(0));
  if (!product.is(Op::Mul)) return "no products are summed up";
  LoadedFactors factors = factors_of(product, unit.accumulator);
  if (std::string why = fit_factors(factors, lanes, unit); !why.empty()) return why;
  const auto [a, b] = factors;
  if (!std::ranges::all_of(
          depth, [&, x = a, y = b](UOp r) { return x.varies_over(r) && y.varies_over(r); }))
    return "a factor is that of all terms";
  const bool is_gated = product != reduce.src(0);
  if (is_gated &&
      !(is_zero_without(a, reduce.src(0).src(0)) && is_zero_without(b, reduce.src(0).src(0))))
    return "terms are left out that are not zero";
  const UOp rows = unit.rows > 1 ? rows_of(sink, a, b, unit.rows) : UOp();
  if (unit.rows > 1 && !rows) return fmt::format("no {} rows are copies of the code", unit.rows);
  if (plan) *plan = {reduce, a, b, rows};
  return {};
}

bool is_of_wave(const Caps& caps, std::int64_t unit) {
  const auto& units = caps.matrix_units;
  return unit >= 1 && unit <= std::ssize(units) &&
         units[static_cast<std::size_t>(unit - 1)]->threads > 1;
}

std::string refuse_contraction(const KernelState& k, UOp lanes, std::span<const UOp> depth,
                               std::int64_t unit) {
  const auto& units = k.caps().matrix_units;
  if (unit < 1 || unit > std::ssize(units)) return "the device has no such unit";
  const MatrixUnit& taken = *units[static_cast<std::size_t>(unit - 1)];
  const std::vector<UOp> all = reductions_over(k.sink, depth.back());
  if (all.empty())
    return fmt::format("loop r{} is not that of sums alone", depth.back().range_id());
  for (UOp reduce : all) {
    if (!depths_of(reduce).empty()) return "a matrix unit adds them up already";
    if (!std::ranges::all_of(depth, [&](UOp r) { return closes(reduce, r); }))
      return "the loops are not of one sum";
    std::string why = plan_contraction(k.sink, reduce, lanes, depth, taken, nullptr);
    if (!why.empty()) return why;
  }
  if (depth.size() > 1 && (iterations(depth) != taken.depth || !can_be_cut(depth, taken)))
    return fmt::format("the loops do not make up the {} terms of the unit", taken.depth);
  return {};
}

bool leaves_contractions(UOp sink, EditKind kind, UOp range) {
  if (ranges_for_contractions(sink) == 0) return true;
  switch (kind) {
    case EditKind::Split:
    case EditKind::SplitOverlapping:
    case EditKind::Merge:
    case EditKind::Bind:
    case EditKind::Reorder:
    case EditKind::Share:
    case EditKind::Accumulate:
    case EditKind::Contract:
    case EditKind::Stage:
    case EditKind::Tabulate:
    case EditKind::Simplify:
    case EditKind::FillAhead: return true;
    case EditKind::Pad: return is_parallel(range);
    default: return false;
  }
}

UOp contract(KernelState& k, UOp lanes, std::span<const UOp> depth, std::int64_t unit) {
  Edit edit{.kind = EditKind::Contract, .ranges = {lanes.range_id()}, .size = unit};
  for (UOp r : depth) edit.ranges.push_back(r.range_id());
  note(k, edit);
  const MatrixUnit& taken = *k.caps().matrix_units[static_cast<std::size_t>(unit - 1)];
  const bool is_part = depth.size() == 1 && depth[0].range_size() != taken.depth;
  const UOp part = is_part ? split_in_two(k, depth[0], taken.depth).inner : UOp();
  Depths depths(k, is_part ? std::span(&part, 1) : depth);
  UOp innermost;
  for (std::int64_t terms : terms_together(taken)) {
    const UOp inner = depths.take(terms);
    if (!innermost) innermost = inner;
  }
  std::vector<std::pair<UOp, UOp>> ungated;
  for (UOp reduce : reductions_over(k.sink, innermost)) {
    const UOp product = product_in(reduce.src(0));
    if (product != reduce.src(0))
      ungated.emplace_back(reduce, k.graph().reduce(Op::Add, product, closed_ranges(reduce)));
  }
  k.sink = substitute(k.sink, ungated);
  return innermost;
}

}  // namespace croze
