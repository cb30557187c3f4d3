// held_product.cpp -- what one product makes is a factor of the next in the registers it is in.
//
//     x[m, j] = sum over k of q[m, k] * y[j, k]
//     t = max over j of x[m, j]
//     s = sum over j of exp(x[m, j] - t[m])
//     o[m, n] = sum over j of exp(x[m, j] - t[m]) * v[j, n]
// is attention, for a block of keys j.  A unit makes x[m, j] in tiles, of which each thread of a
// wave has a few elements; and it takes the factor of o in the same way.  Where these are the same
// elements, nothing has to go through memory:
//     held[i] = x[m(i, thread), j(i, thread)]      for all i that the thread has
//     t = max of held[i] in a row, and of what other threads have of it
//     held'[i] = exp(held[i] - t)
//     o = sum of the unit's products of held' and v
// The arrays are those of one thread, every index is a number, so compilers keep them in registers.
//
// What a mask leaves out of all of them is no term of the leader, so its exponential is 0: that is
// what the unit multiplies there.
#include "croze/codegen/edits/warps/held_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "croze/codegen/edits/contract.h"
#include "croze/codegen/edits/copied_loops.h"
#include "croze/codegen/lower/masked_turns.h"
#include "croze/graph/analysis/valid.h"
#include "croze/graph/eval.h"
#include "croze/graph/graph.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/rules/follow.h"
#include "croze/graph/tuple.h"

namespace croze {
namespace {

using Replacements = std::vector<std::pair<UOp, UOp>>;

// ---- finding ----------------------------------------------------------------------------------

// What is chosen where all masks are open, and their conditions.
struct Unmasked {
  UOp value;
  std::vector<UOp> conditions;
};

Unmasked unmasked(UOp term, UOp identity) {
  Unmasked result{term, {}};
  while (result.value.is(Op::Where) && result.value.src(2) == identity) {
    for (UOp c : conjuncts(result.value.src(0))) result.conditions.push_back(c);
    result.value = result.value.src(1);
  }
  return result;
}

UOp identity_of_reduce(UOp reduce) {
  return reduce.graph().constant_bits(reduce.dtype(),
                                      identity_of(reduce.reduce_op(), reduce.dtype()));
}

bool are_among(const std::vector<UOp>& conditions, const std::vector<UOp>& all) {
  return std::ranges::all_of(conditions,
                             [&](UOp c) { return std::ranges::find(all, c) != all.end(); });
}

// Whether a place of `a` is that of the same thread among the sums: rows are rows, and columns of
// the sums are terms.
bool are_held_by_same(const MatrixUnit& unit) {
  const auto bits_of_threads = [&](std::string_view places, char column) {
    const int own = std::countr_zero(static_cast<std::uint64_t>(places_of_thread(unit, places)));
    std::vector<std::pair<bool, int>> bits;
    for (const PlaceBits& b : place_bits(places)) {
      for (int i = 0; i < b.count; i++) {
        if (b.first_of_place + i < own) continue;
        if (b.axis != 'm' && b.axis != column) return std::vector<std::pair<bool, int>>();
        bits.emplace_back(b.axis == 'm', b.first_of_axis + i);
      }
    }
    return bits;
  };
  const auto of_sums = bits_of_threads(unit.places_of_sums, 'n');
  return !of_sums.empty() && of_sums == bits_of_threads(unit.places_of_a, 'k') &&
         unit.depth % unit.columns == 0;
}

UOp tuple_with(UOp sink, UOp value) {
  for (UOp u : toposort(sink)) {
    if (u.is(Op::TupleReduce) && u.src(u.first_closed() - 1) == value) return u;
  }
  return UOp();
}

// The value over the loop `depth` in place of its own.
UOp over(UOp reduce, UOp depth, UOp like) {
  const std::pair<UOp, UOp> loop{closed_ranges(reduce)[0], depth};
  return rebuilt(with_reductions_of(substitute(reduce.src(0), std::span(&loop, 1)), like, depth));
}

// The products of loads in the terms, of the rows and the terms' loop, which the unit makes.
UOp product_in_terms(UOp terms, UOp rows, UOp depth, const MatrixUnit& unit) {
  UOp found;
  for (UOp u : toposort(terms)) {
    if (!u.is(Op::Reduce)) continue;
    if (found || !multiplies_for(u, unit) || closed_ranges(u).size() != 1) return UOp();
    const auto [x, y] = factors_of_sum(u, unit.accumulator);
    const bool is_of_both = x && x.varies_over(rows) != y.varies_over(rows) &&
                            x.varies_over(depth) != y.varies_over(depth) &&
                            x.varies_over(rows) != x.varies_over(depth);
    if (!is_of_both) return UOp();
    found = u;
  }
  return found;
}

std::string plan_rows(HeldProduct* plan, UOp rows, UOp columns, UOp depth) {
  const Unmasked leader = unmasked(plan->terms, identity_of_reduce(plan->tuple.src(0)));
  for (int i = 0; i + 1 < plan->tuple.first_closed(); i++) {
    const UOp value = plan->tuple.src(i);
    const bool is_of_rows = value.is(Op::Reduce) && closed_ranges(value).size() == 1 &&
                            turn_alike(closed_ranges(value)[0], depth) && value.varies_over(rows) &&
                            !value.varies_over(columns);
    if (!is_of_rows) return "what goes along with the sum is not reduced along its rows";
    const Unmasked term =
        i == 0 ? leader : unmasked(over(value, depth, plan->sum.src(0)), identity_of_reduce(value));
    if (!are_among(term.conditions, leader.conditions))
      return "terms are left out that are not zero";
    plan->rows.push_back({rebuilt(value), i == 0 ? plan->terms : term.value});
  }
  const Unmasked sum = unmasked(plan->sum.src(0), identity_of_reduce(plan->sum));
  return are_among(sum.conditions, leader.conditions) ? "" : "terms are left out that are not zero";
}

// Puts the factors of the sum in the order in which the unit takes them.
std::string plan_factors(HeldProduct* plan, UOp rows, UOp columns, const MatrixUnit& unit) {
  const UOp product = rebuilt(unmasked(plan->sum.src(0), identity_of_reduce(plan->sum)).value);
  if (!product.is(Op::Mul)) return "no products are summed up";
  const auto not_widened = [&](UOp u) {
    return u.is(Op::Cast) && u.dtype() == unit.accumulator ? u.src(0) : u;
  };
  plan->a = not_widened(product.src(0));
  plan->b = not_widened(product.src(1));
  if (plan->b.varies_over(rows)) std::swap(plan->a, plan->b);
  const bool fits = plan->b.is(Op::Load) && plan->a.dtype() == unit.a &&
                    plan->b.dtype() == unit.b && plan->a.varies_over(rows) &&
                    !plan->a.varies_over(columns) && plan->b.varies_over(columns) &&
                    !plan->b.varies_over(rows);
  return fits ? "" : "the factors are not one of the rows and one, loaded, of the columns";
}

}  // namespace

std::string plan_held(const KernelState& k, UOp rows, UOp columns, UOp depth,
                      const MatrixUnit& unit, HeldProduct* plan) {
  *plan = {};
  for (auto [loop, size] : {std::pair(rows, unit.rows), std::pair(columns, unit.columns)}) {
    if (!is_parallel(loop) || loop.is_open() || loop.range_size() != size)
      return fmt::format("loop r{} is no output loop of {}", loop.range_id(), size);
  }
  for (UOp u : toposort(k.sink)) {
    if (closes(u, depth)) plan->sum = u;
  }
  plan->tuple = plan->sum ? tuple_with(k.sink, plan->sum) : UOp();
  if (!plan->tuple || plan->tuple.first_closed() < 2) return "the sum is no part of a tuple";
  if (!k.caps().shuffles_items || unit.keeps_sums || !are_held_by_same(unit))
    return "threads have other elements of the sums than of a factor";
  const bool in_steps = closed_ranges(plan->sum).size() == 1 && !depth.is_open() &&
                        depth.range_size() % unit.depth == 0;
  if (!in_steps) return fmt::format("loop r{} does not go in steps", depth.range_id());
  if (std::string why = plan_factors(plan, rows, columns, unit); !why.empty()) return why;
  plan->terms = over(plan->tuple.src(0), depth, plan->sum.src(0));
  if (std::string why = plan_rows(plan, rows, columns, depth); !why.empty()) return why;
  plan->product = product_in_terms(plan->terms, rows, depth, unit);
  if (!plan->product) return "the factor is not made of one product of what is loaded";
  plan->depth = closed_ranges(plan->product)[0];
  if (plan->depth.is_open() || plan->depth.range_size() % unit.depth != 0)
    return fmt::format("loop r{} does not go in steps", plan->depth.range_id());
  return {};
}

UOp coordinate(const MatrixUnit& unit, std::string_view places, char axis, UOp place, UOp thread) {
  const std::int64_t own = places_of_thread(unit, places);
  UOp result = thread.graph().index(0);
  for (const PlaceBits& b : place_bits(places)) {
    if (b.axis != axis) continue;
    for (int i = 0; i < b.count; i++) {
      const std::int64_t bit = std::int64_t{1} << (b.first_of_place + i);
      const UOp digit = bit < own ? place / bit % 2 : thread / (bit / own) % 2;
      result = result + digit * (std::int64_t{1} << (b.first_of_axis + i));
    }
  }
  return result;
}

// ---- making -----------------------------------------------------------------------------------

namespace {

// Bits of a place of the sums, of those that a thread has.
struct OwnBit {
  std::int64_t place, axis;  // weights
};

std::vector<OwnBit> own_bits(const MatrixUnit& unit, char axis) {
  std::vector<OwnBit> bits;
  for (const PlaceBits& b : place_bits(unit.places_of_sums)) {
    for (int i = 0; i < b.count && b.axis == axis; i++) {
      const std::int64_t place = std::int64_t{1} << (b.first_of_place + i);
      if (place < places_of_thread(unit, unit.places_of_sums))
        bits.push_back({place, std::int64_t{1} << (b.first_of_axis + i)});
    }
  }
  return bits;
}

class Holder {
 public:
  Holder(KernelState& k, const HeldProduct& plan, UOp rows, UOp columns, UOp depth,
         const MatrixUnit& unit)
      : k_(k),
        g_(k.graph()),
        plan_(plan),
        unit_(unit),
        rows_(rows),
        columns_(columns),
        depth_(depth),
        thread_(g_.range(k.next_range++, unit.threads, LoopKind::Item)),
        copies_(loops_with_copies(plan.terms)),
        own_rows_(own_bits(unit, 'm')),
        own_columns_(own_bits(unit, 'n')) {}

  UOp run() {
    const UOp v = lanes(unit_.places_of_sums);
    Replacements of_rows;  // what is held, and what has come of rows
    std::vector<UOp> values;
    for (std::size_t i = 0; i < plan_.rows.size(); i++) {
      const RowReduction& r = plan_.rows[i];
      const UOp held = hold(substitute(r.term, of_rows));
      of_rows.emplace_back(r.term, held);
      // Those who follow have the term without masks: they are open there, or it adds nothing.
      const UOp inside = unmasked(r.term, identity_of_reduce(r.reduce)).value;
      if (inside != r.term) of_rows.emplace_back(inside, held);
      const UOp result = kept_row(reduced_row(r.reduce.reduce_op(), held));
      of_rows.emplace_back(r.reduce, result);
      values.push_back(at_sums(i == 0 ? where_some_term_is(r, result) : result, v));
    }
    values.push_back(sum(substitute(plan_.a, of_rows), v));
    const UOp tuple = tuple_reduce(form_of(plan_.tuple), values, closed_ranges(plan_.tuple));
    const std::pair<UOp, UOp> replacement[] = {{plan_.tuple, tuple}};
    k_.sink = substitute(k_.sink, replacement);
    replace_ranges(k_, {{rows_, coordinate(unit_, unit_.places_of_sums, 'm', v, thread_)},
                        {columns_, coordinate(unit_, unit_.places_of_sums, 'n', v, thread_)}});
    return thread_;
  }

 private:
  UOp lanes(std::string_view places) {
    return g_.range(k_.next_range++, places_of_thread(unit_, places), LoopKind::Lane);
  }
  UOp unrolled(std::int64_t size) {
    return size == 1 ? g_.index(0) : g_.range(k_.next_range++, size, LoopKind::Unroll);
  }

  // The result of the leader's row, with the condition that the block has a term of it: it is what
  // it combines to anyway, but tells in which turns there is nothing to do.
  UOp where_some_term_is(const RowReduction& leader, UOp result) const {
    const UOp none = identity_of_reduce(leader.reduce);
    for (UOp c : unmasked(leader.term, none).conditions) {
      if (!is_comparison_of_index(c)) continue;
      const std::int64_t step = LinearForm::of(c.src(0)).coefficient(depth_);
      const UOp term = g_.index(step < 0 ? depth_.range_size() - 1 : 0);
      const std::pair<UOp, UOp> best{depth_, term};
      result = where(substitute(c, std::span(&best, 1)), result, none);
    }
    return result;
  }

  // ---- what a thread holds ----

  // The digits of a coordinate that stand in the places of one thread.
  static UOp own_digits(UOp coordinate, const std::vector<OwnBit>& bits, bool are_packed) {
    UOp result = coordinate.graph().index(0);
    std::int64_t packed = 1;
    for (const OwnBit& b : bits) {
      result = result + coordinate / b.axis % 2 * (are_packed ? packed : b.place);
      packed *= 2;
    }
    return result;
  }
  // The place with the bits of a number.
  static UOp place_of(UOp number, const std::vector<OwnBit>& bits) {
    UOp result = number.graph().index(0);
    for (std::size_t i = 0; i < bits.size(); i++)
      result = result + number / (std::int64_t{1} << i) % 2 * bits[i].place;
    return result;
  }
  std::int64_t rows_of_thread() const { return std::int64_t{1} << own_rows_.size(); }
  std::int64_t tiles() const { return depth_.range_size() / unit_.columns; }

  UOp copy() const {
    UOp copy = g_.index(0);
    for (UOp r : copies_) copy = copy * r.range_size() + r;
    return copy;
  }

  // Where a thread has the element of a row and a term.
  UOp index_of_element() const {
    const UOp tile = copy() * tiles() + depth_ / unit_.columns;
    return tile * places_of_thread(unit_, unit_.places_of_sums) +
           own_digits(rows_, own_rows_, false) + own_digits(depth_, own_columns_, false);
  }
  UOp index_of_row() const {
    return copy() * rows_of_thread() + own_digits(rows_, own_rows_, true);
  }

  // What the thread has at a place of a tile of sums.
  UOp at_place(UOp value, UOp tile, UOp place) const {
    const UOp column = coordinate(unit_, unit_.places_of_sums, 'n', place, thread_);
    const std::pair<UOp, UOp> there[] = {
        {rows_, coordinate(unit_, unit_.places_of_sums, 'm', place, thread_)},
        {depth_, tile * unit_.columns + column}};
    return substitute(value, there);
  }
  UOp at_sums(UOp value, UOp v) const { return at_place(value, g_.index(0), v); }

  UOp kept(UOp value, UOp index, std::int64_t elements, const std::vector<UOp>& loops, UOp wanted) {
    const UOp memory =
        g_.local(value.dtype(), k_.next_local++, elements * iterations(copies_), Space::Thread);
    const UOp filled = g_.store(g_.place(memory, index), value, loops);
    return g_.load(g_.place(g_.after(memory, std::span(&filled, 1)), wanted));
  }

  static std::vector<UOp> ranges_of(std::initializer_list<UOp> loops) {
    std::vector<UOp> ranges;
    std::ranges::copy_if(loops, std::back_inserter(ranges), [](UOp r) { return r.is(Op::Range); });
    return ranges;
  }

  // All of a term's values that the thread has, in its memory: a load of the one of row and term.
  UOp hold(UOp term) {
    const UOp tile = unrolled(tiles()), v = lanes(unit_.places_of_sums);
    const std::int64_t elements = tiles() * places_of_thread(unit_, unit_.places_of_sums);
    if (is_used_by(term, plan_.product)) {
      const std::pair<UOp, UOp> made{plan_.product, first_product(tile, v)};
      term = substitute(term, std::span(&made, 1));
    }
    return kept(at_place(term, tile, v), at_place(index_of_element(), tile, v), elements,
                ranges_of({tile, v}), index_of_element());
  }

  // Those of a row in one: of the thread's own, and then of the threads that have others of it.
  UOp reduced_row(Op op, UOp held) {
    const UOp tile = unrolled(tiles()), row = row_number(),
              column = unrolled(std::int64_t{1} << own_columns_.size());
    const UOp place = place_of(row, own_rows_) + place_of(column, own_columns_);
    UOp value = at_place(held, tile, place);
    const std::vector<UOp> loops = ranges_of({tile, column});
    if (!loops.empty()) value = g_.reduce(op, value, loops);
    const std::int64_t own = places_of_thread(unit_, unit_.places_of_sums);
    for (const PlaceBits& b : place_bits(unit_.places_of_sums)) {
      for (int i = 0; i < b.count && b.axis == 'n'; i++) {
        const std::int64_t place_bit = std::int64_t{1} << (b.first_of_place + i);
        if (place_bit < own) continue;
        value =
            g_.alu(op, {value, g_.make(Op::Shuffle, value.dtype(), {value}, Arg(place_bit / own))});
      }
    }
    return value;
  }

  UOp row_number() {
    if (!row_) row_ = unrolled(rows_of_thread());
    return row_;
  }

  // What rows have come to, in memory of the thread: a load of that of a row.
  UOp kept_row(UOp value) {
    const UOp row = row_number();
    return kept(value, copy() * rows_of_thread() + row, rows_of_thread(), ranges_of({row}),
                index_of_row());
  }

  // ---- products ----

  UOp contracted(UOp a, UOp b, UOp v, UOp p, UOp q, UOp step) {
    const UOp zero = g_.constant(unit_.accumulator, std::int64_t{0});
    const UOp products =
        g_.make(Op::Contract, unit_.accumulator, {zero, a, b, v, p, q}, Arg(unit_.name));
    return step.is(Op::Range) ? g_.reduce(Op::Add, products, std::span(&step, 1)) : products;
  }

  UOp term_of(std::string_view places, UOp step, UOp place) const {
    return step * unit_.depth + coordinate(unit_, places, 'k', place, thread_);
  }

  // The product in the leader's terms, of a tile of them.
  UOp first_product(UOp tile, UOp v) {
    auto [a, b] = factors_of_sum(plan_.product, unit_.accumulator);
    if (b.varies_over(rows_)) std::swap(a, b);
    const std::int64_t steps = plan_.depth.range_size() / unit_.depth;
    const UOp step = steps == 1 ? g_.index(0) : g_.range(k_.next_range++, steps, LoopKind::Reduce),
              p = lanes(unit_.places_of_a), q = lanes(unit_.places_of_b);
    const std::pair<UOp, UOp> in_a[] = {
        {rows_, coordinate(unit_, unit_.places_of_a, 'm', p, thread_)},
        {plan_.depth, term_of(unit_.places_of_a, step, p)}};
    const std::pair<UOp, UOp> in_b[] = {
        {depth_, tile * unit_.columns + coordinate(unit_, unit_.places_of_b, 'n', q, thread_)},
        {plan_.depth, term_of(unit_.places_of_b, step, q)}};
    return contracted(substitute(a, in_a), substitute(b, in_b), v, p, q, step);
  }

  // The sum, whose factor is made of what is held: steps are copies of the code, for they are
  // places of it.
  UOp sum(UOp a, UOp v) {
    const UOp step = unrolled(depth_.range_size() / unit_.depth), p = lanes(unit_.places_of_a),
              q = lanes(unit_.places_of_b);
    const std::pair<UOp, UOp> in_a[] = {
        {rows_, coordinate(unit_, unit_.places_of_a, 'm', p, thread_)},
        {depth_, term_of(unit_.places_of_a, step, p)}};
    const std::pair<UOp, UOp> in_b[] = {
        {columns_, coordinate(unit_, unit_.places_of_b, 'n', q, thread_)},
        {depth_, term_of(unit_.places_of_b, step, q)}};
    return contracted(substitute(a, in_a), substitute(plan_.b, in_b), v, p, q, step);
  }

  KernelState& k_;
  Graph& g_;
  const HeldProduct& plan_;
  const MatrixUnit& unit_;
  UOp rows_, columns_, depth_, thread_;
  std::vector<UOp> copies_;
  std::vector<OwnBit> own_rows_, own_columns_;
  UOp row_;  // number of a row among those that a thread has
};

}  // namespace

UOp contract_held(KernelState& k, const HeldProduct& plan, UOp rows, UOp columns, UOp depth,
                  const MatrixUnit& unit) {
  return Holder(k, plan, rows, columns, depth, unit).run();
}

}  // namespace croze
