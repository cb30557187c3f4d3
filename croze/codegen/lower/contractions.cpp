// contractions.cpp -- operands of matrix units are vectors.
//
//     reduce add cast(a[i, 4 t + d]) * cast(b[t, j, d]), t, d
// becomes, for sixteen lanes j, and p and q the lanes of the operands,
//     reduce add contract(0, a[i, 4 t + p], b[t, q / 4, q % 4], j, p, q), t
// By which quotients and remainders a lane gives a term and a column, the record of the unit says.
//
// Where the unit takes a without a sign and it has one, 128 is added to it, and
//     reduce add contract(0, 128, b[t, q / 4, q % 4], j, p, q), t
// is subtracted: a reduction of its own, which is the same for all rows.
#include "croze/codegen/lower/contractions.h"

#include <algorithm>
#include <vector>

#include "croze/base/error.h"
#include "croze/codegen/edits/contract.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

using Replacements = std::vector<std::pair<UOp, UOp>>;

// The coordinate along an axis of the element in a lane.
UOp coordinate(UOp lane, std::string_view places, char axis) {
  UOp result = lane.graph().index(0);
  for (const PlaceBits& b : element_bits(places)) {
    if (b.axis != axis) continue;
    const UOp part = lane / (std::int64_t{1} << b.first_of_place) % (std::int64_t{1} << b.count);
    result = result + part * (std::int64_t{1} << b.first_of_axis);
  }
  return result;
}

class Lowering {
 public:
  Lowering(UOp sink, const Caps& caps) : graph_(sink.graph()), sink_(sink), caps_(caps) {
    for (UOp u : toposort(sink)) {
      if (!u.is(Op::Range)) continue;
      next_range_ = std::max(next_range_, u.range_id() + 1);
      if (u.loop_kind() == LoopKind::Lane) lanes_.push_back(u);
    }
  }

  UOp run() {
    Replacements replacements;
    for (UOp u : reduces(sink_)) {
      if (const UOp depth = depth_of(u)) replacements.emplace_back(u, contracted(u, depth));
    }
    return substitute(sink_, replacements);
  }

 private:
  // The unit that the edit has named: of two that do the same one is as good as the other.
  UOp contracted(UOp reduce, UOp depth) {
    for (const MatrixUnit* unit : caps_.matrix_units) {
      for (UOp lanes : lanes_) {
        if (unit->depth != depth.range_size()) continue;
        ContractionPlan plan;
        if (plan_lowered(reduce, lanes, depth, *unit, &plan))
          return sum_of(plan, lanes, depth, *unit);
      }
    }
    fail_internal({"expand", {}}, "no unit adds up what is reduced over r{}", depth.range_id());
  }

  static bool plan_lowered(UOp reduce, UOp lanes, UOp depth, const MatrixUnit& unit,
                           ContractionPlan* plan) {
    return reduce.varies_over(lanes) && plan_contraction(reduce, lanes, depth, unit, plan).empty();
  }

  UOp sum_of(const ContractionPlan& plan, UOp lanes, UOp depth, const MatrixUnit& unit) {
    if (unit.shifted.empty()) return sum_by(unit, plan.reduce, plan.a, plan.b, lanes, depth);
    const MatrixUnit& unsigned_unit = *find_matrix_unit(unit.shifted);
    const UOp shift = graph_.constant(unsigned_unit.a, std::int64_t{128});
    const UOp shifted = graph_.alu(Op::Xor, {graph_.bitcast(plan.a, unsigned_unit.a), shift});
    const UOp sum = sum_by(unsigned_unit, plan.reduce, shifted, plan.b, lanes, depth);
    // Loops of its own, so that it stands where no loop over rows does.
    Replacements renamed;
    for (UOp r : closed_ranges(plan.reduce)) {
      if (r != depth)
        renamed.emplace_back(r, graph_.range(next_range_++, Extent(r.trip_count()), r.loop_kind()));
    }
    const UOp added = sum_by(unsigned_unit, plan.reduce, shift, plan.b, lanes, depth);
    return sum - substitute(added, renamed);
  }

  UOp sum_by(const MatrixUnit& unit, UOp reduce, UOp a, UOp b, UOp lanes, UOp depth) {
    const UOp p = operand_lanes(depth.range_id(), unit.places_of_a);
    const UOp q = operand_lanes(next_range_++, unit.places_of_b);
    const std::pair<UOp, UOp> in_a[] = {{depth, coordinate(p, unit.places_of_a, 'k')}};
    const std::pair<UOp, UOp> in_b[] = {{depth, coordinate(q, unit.places_of_b, 'k')},
                                        {lanes, coordinate(q, unit.places_of_b, 'n')}};
    const UOp zero = graph_.constant(unit.accumulator, std::int64_t{0});
    const UOp products =
        graph_.make(Op::Contract, unit.accumulator,
                    {zero, substitute(a, in_a), substitute(b, in_b), lanes, p, q}, Arg(unit.name));
    std::vector<UOp> loops = closed_ranges(reduce);
    std::erase(loops, depth);
    return loops.empty() ? products : graph_.reduce(Op::Add, products, loops);
  }

  UOp operand_lanes(std::int64_t id, std::string_view places) {
    return graph_.range(id, count_places(element_bits(places)), LoopKind::Lane);
  }

  Graph& graph_;
  UOp sink_;
  const Caps& caps_;
  std::vector<UOp> lanes_;
  std::int64_t next_range_ = 0;
};

}  // namespace

UOp lower_contractions(UOp sink, const Caps& caps) { return Lowering(sink, caps).run(); }

}  // namespace croze
