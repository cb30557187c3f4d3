// contract_wave.cpp -- sums of products for the threads of a wave.
//
//     out[m, n] = reduce add cast(a[m, 16 t + d]) * cast(b[16 t + d, n]), t, d
// is, for a unit of 16 rows and columns, with the threads i of a wave as items and v the sums that
// each of them has in its registers,
//     out[m(i, v), n(i, v)] = reduce add contract(0, a[m'(i, p), 16 t + d'(i, p)],
//                                                 b[16 t + d"(i, q), n"(i, q)], v, p, q), t
// where p and q count what a thread has of the operands.  All these functions are orders of bits,
// which the record of the unit has.  What is loaded stays as it is, so a tile in group memory that
// extends over i and p holds an operand in the order in which the threads fetch it.
//
// A unit that reads its factors from group memory by itself finds them there in that order: the
// edit makes the tiles, too (group_factor.cpp).
#include "croze/codegen/edits/warps/contract_wave.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/codegen/edits/contract.h"
#include "croze/codegen/edits/note.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/edits/warps/held_product.h"
#include "croze/graph/analysis/valid.h"
#include "croze/graph/matrix_unit.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

struct Plan {
  UOp reduce, a, b;
};

std::vector<GroupFactor> group_factors(const Plan& plan, UOp rows, UOp columns, UOp depth,
                                       const MatrixUnit& unit) {
  if (!unit.reads_group_memory) return {};
  return {{plan.a, rows, depth, 'm', unit.places_of_a},
          {plan.b, columns, depth, 'n', unit.places_of_b}};
}

UOp sum_over(const KernelState& k, UOp depth) {
  UOp found;
  for (UOp u : toposort(k.sink)) {
    if (!closes(u, depth)) continue;
    if (found || !u.is(Op::Reduce)) return UOp();
    found = u;
  }
  return found;
}

// The loops of the sum that are left.  That of steps, which stands around the depth, becomes the
// innermost: what lies in a tile for some steps serves them before a window moves on.
std::vector<UOp> loops_of_steps(UOp reduce, UOp depth) {
  std::vector<UOp> loops = closed_ranges(reduce);
  const auto at = std::ranges::find(loops, depth);
  if (at != loops.begin()) std::rotate(at - 1, at, loops.end());
  std::erase(loops, depth);
  return loops;
}

std::string plan_wave(const KernelState& k, UOp rows, UOp columns, UOp depth,
                      const MatrixUnit& unit, Plan* plan) {
  for (auto [loop, size] : {std::pair(rows, unit.rows), std::pair(columns, unit.columns)}) {
    if (!is_parallel(loop) || loop.is_open() || loop.range_size() != size)
      return fmt::format("loop r{} is no output loop of {}", loop.range_id(), size);
  }
  const bool in_steps = depth.loop_kind() == LoopKind::Reduce && !depth.is_open() &&
                        depth.range_size() % unit.depth == 0 &&
                        (!unit.reads_group_memory || depth.range_size() == unit.depth);
  if (!in_steps) return fmt::format("loop r{} does not go in steps", depth.range_id());
  const UOp reduce = sum_over(k, depth);
  if (!reduce || reduce.reduce_op() != Op::Add || reduce.dtype() != unit.accumulator)
    return fmt::format("loop r{} is not that of one sum of {}", depth.range_id(),
                       name_of(unit.accumulator));
  auto [a, b] = factors_of_sum(reduce, unit.accumulator);
  if (!a) return "no products are summed up, or not all that are not zero";
  if (b.varies_over(rows)) std::swap(a, b);
  if (!a.is(Op::Load) || !b.is(Op::Load) || a.dtype() != unit.a || b.dtype() != unit.b)
    return fmt::format("the factors are not loaded as {} and {}", name_of(unit.a), name_of(unit.b));
  if (a.varies_over(columns) || b.varies_over(rows) || !a.varies_over(rows) ||
      !b.varies_over(columns))
    return "one factor is to be that of the rows and one that of the columns";
  if (!a.varies_over(depth) || !b.varies_over(depth)) return "a factor is that of all terms";
  if (plan) *plan = {reduce, a, b};
  return {};
}

// The factor in the registers of the threads, `part` of it in those of each.
UOp held_factor(UOp load, const MatrixUnit& unit, char axis, UOp lines, UOp depth, UOp part,
                UOp thread) {
  const std::string_view places = axis == 'm' ? unit.places_of_a : unit.places_of_b;
  const std::pair<UOp, UOp> coordinates[] = {{lines, coordinate(unit, places, axis, part, thread)},
                                             {depth, coordinate(unit, places, 'k', part, thread)}};
  return substitute(load, coordinates);
}

// Both in tiles, which the threads fill with the other items.
std::vector<UOp> tiled_factors(KernelState& k, const std::vector<GroupFactor>& factors, UOp thread,
                               UOp part_of_a, UOp part_of_b, const MatrixUnit& unit) {
  std::vector<UOp> items = items_of(k);
  items.push_back(thread);
  return {group_factor(k, factors[0], items, part_of_a, unit),
          group_factor(k, factors[1], items, part_of_b, unit)};
}

}  // namespace

std::string refuse_wave(const KernelState& k, UOp rows, UOp columns, UOp depth, std::int64_t unit) {
  const auto& units = k.caps().matrix_units;
  if (unit < 1 || unit > std::ssize(units)) return "the device has no such unit";
  const MatrixUnit& taken = *units[static_cast<std::size_t>(unit - 1)];
  if (taken.threads == 1 || taken.threads % k.caps().warp_items != 0)
    return "the unit is not one of a whole wave";
  if (!is_allowed(taken)) return "the unit rounds the factors";
  std::string why = plan_wave(k, rows, columns, depth, taken, nullptr);
  HeldProduct held;
  const bool is_held = !why.empty() && plan_held(k, rows, columns, depth, taken, &held).empty();
  return is_held ? "" : why;
}

std::vector<GroupFactor> group_factors_of_wave(const KernelState& k, UOp rows, UOp columns,
                                               UOp depth, std::int64_t unit) {
  const MatrixUnit& taken = *k.caps().matrix_units[static_cast<std::size_t>(unit - 1)];
  Plan plan;
  plan_wave(k, rows, columns, depth, taken, &plan);
  return group_factors(plan, rows, columns, depth, taken);
}

UOp contract(KernelState& k, UOp rows, UOp columns, UOp depth, std::int64_t unit) {
  note(k, {.kind = EditKind::Contract,
           .ranges = {rows.range_id(), columns.range_id(), depth.range_id()},
           .size = unit});
  const MatrixUnit& u = *k.caps().matrix_units[static_cast<std::size_t>(unit - 1)];
  HeldProduct held;
  if (plan_held(k, rows, columns, depth, u, &held).empty())
    return contract_held(k, held, rows, columns, depth, u);
  if (depth.range_size() != u.depth) depth = split_in_two(k, depth, u.depth).inner;
  Plan plan;
  plan_wave(k, rows, columns, depth, u, &plan);

  Graph& g = k.graph();
  const UOp thread = g.range(k.next_range++, u.threads, LoopKind::Item);
  const auto lanes = [&](std::string_view places) {
    return g.range(k.next_range++, places_of_thread(u, places), LoopKind::Lane);
  };
  const UOp v = lanes(u.places_of_sums), p = lanes(u.places_of_a), q = lanes(u.places_of_b);
  const std::vector<UOp> factors =
      u.reads_group_memory
          ? tiled_factors(k, group_factors(plan, rows, columns, depth, u), thread, p, q, u)
          : std::vector<UOp>{held_factor(plan.a, u, 'm', rows, depth, p, thread),
                             held_factor(plan.b, u, 'n', columns, depth, q, thread)};
  const UOp zero = g.constant(u.accumulator, std::int64_t{0});
  const UOp products =
      g.make(Op::Contract, u.accumulator, {zero, factors[0], factors[1], v, p, q}, Arg(u.name));
  const std::vector<UOp> loops = loops_of_steps(plan.reduce, depth);
  const UOp sum = loops.empty() ? products : g.reduce(Op::Add, products, loops);
  const std::pair<UOp, UOp> replacement[] = {{plan.reduce, sum}};
  k.sink = substitute(k.sink, replacement);
  replace_ranges(k, {{rows, coordinate(u, u.places_of_sums, 'm', v, thread)},
                     {columns, coordinate(u, u.places_of_sums, 'n', v, thread)}});
  return thread;
}

}  // namespace croze
