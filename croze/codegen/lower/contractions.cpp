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

// The place of an element of the sums.
UOp place_of_sum(std::string_view places, UOp row, UOp column) {
  UOp result = column.graph().index(0);
  for (const PlaceBits& b : element_bits(places)) {
    const UOp of_axis = b.axis == 'm' ? row : column;
    const UOp part = of_axis / (std::int64_t{1} << b.first_of_axis) % (std::int64_t{1} << b.count);
    result = result + part * (std::int64_t{1} << b.first_of_place);
  }
  return result;
}

class Lowering {
 public:
  Lowering(UOp sink, const Caps& caps) : graph_(sink.graph()), sink_(sink), caps_(caps) {
    for (UOp u : toposort(sink)) {
      if (u.is(Op::Local)) next_local_ = std::max(next_local_, u.arg().ints[0] + 1);
      if (!u.is(Op::Range)) continue;
      next_range_ = std::max(next_range_, u.range_id() + 1);
      if (u.loop_kind() == LoopKind::Lane) lanes_.push_back(u);
      if (u.loop_kind() == LoopKind::Unroll) copies_.push_back(u);
    }
  }

  UOp run() {
    Replacements replacements;
    for (UOp u : reduces(sink_)) {
      if (const auto depth = depths_of(u); !depth.empty())
        replacements.emplace_back(u, contracted(u, depth));
    }
    return substitute(sink_, replacements);
  }

 private:
  // The unit that the edit has named: of two that do the same one is as good as the other.
  UOp contracted(UOp reduce, const std::vector<UOp>& depth) {
    for (const MatrixUnit* unit : caps_.matrix_units) {
      for (UOp lanes : lanes_) {
        if (unit->depth != iterations(depth) || !reduce.varies_over(lanes)) continue;
        ContractionPlan plan;
        if (plan_contraction(sink_, reduce, lanes, depth, *unit, &plan).empty())
          return sum_of(plan, lanes, *unit);
      }
    }
    fail_internal({"expand", {}}, "no unit adds up what is reduced over r{}", depth[0].range_id());
  }

  UOp sum_of(const ContractionPlan& plan, UOp lanes, const MatrixUnit& unit) {
    if (unit.shifted.empty()) return sum_by(unit, plan, lanes);
    const MatrixUnit& unsigned_unit = *find_matrix_unit(unit.shifted);
    ContractionPlan shifted = plan, added = plan;
    added.a = graph_.constant(unsigned_unit.a, std::int64_t{128});
    shifted.a = graph_.alu(Op::Xor, {graph_.bitcast(plan.a, unsigned_unit.a), added.a});
    const UOp sum = sum_by(unsigned_unit, shifted, lanes);
    // Loops of its own, so that it stands where no loop over rows does.
    Replacements renamed;
    for (UOp r : closed_ranges(plan.reduce)) {
      if (r.loop_kind() == LoopKind::Depth) continue;
      const UOp own = graph_.range(next_range_++, Extent(r.trip_count()), r.loop_kind());
      renamed.emplace_back(r, own);
    }
    return sum - substitute(sum_by(unsigned_unit, added, lanes), renamed);
  }

  UOp sum_by(const MatrixUnit& unit, const ContractionPlan& plan, UOp lanes) {
    const std::vector<UOp> depth = depths_of(plan.reduce);
    const UOp p = operand_lanes(depth.back().range_id(), unit.places_of_a),
              q = operand_lanes(next_range_++, unit.places_of_b);
    Replacements in_a = terms(depth, coordinate(p, unit.places_of_a, 'k')),
                 in_b = terms(depth, coordinate(q, unit.places_of_b, 'k'));
    in_b.emplace_back(lanes, coordinate(q, unit.places_of_b, 'n'));
    if (has_row_for_each_column(unit))
      in_a.emplace_back(lanes, coordinate(p, unit.places_of_a, 'n'));
    UOp of_sums = lanes;
    if (plan.rows) {
      in_a.emplace_back(plan.rows, coordinate(p, unit.places_of_a, 'm'));
      of_sums = operand_lanes(next_range_++, unit.places_of_sums);
    }
    const UOp zero = graph_.constant(unit.accumulator, std::int64_t{0});
    const UOp products = graph_.make(
        Op::Contract, unit.accumulator,
        {zero, substitute(plan.a, in_a), substitute(plan.b, in_b), of_sums, p, q}, Arg(unit.name));
    std::vector<UOp> loops = closed_ranges(plan.reduce);
    std::erase_if(loops, [](UOp r) { return r.loop_kind() == LoopKind::Depth; });
    const UOp sum = loops.empty() ? products : graph_.reduce(Op::Add, products, loops);
    return plan.rows ? from_tile(sum, of_sums, place_of_sum(unit.places_of_sums, plan.rows, lanes))
                     : sum;
  }

  // Sums of several rows are put into memory, from which each row is a vector: a place for each
  // copy of the code.
  UOp from_tile(UOp sum, UOp of_sums, UOp place) {
    const std::int64_t size = of_sums.range_size();
    std::int64_t count = 1;
    UOp copy = graph_.index(0);
    for (UOp r : copies_) {
      if (!sum.varies_over(r)) continue;
      copy = copy * r.range_size() + r;
      count *= r.range_size();
    }
    const UOp tile = graph_.local(sum.dtype(), next_local_++, count * size, Space::Thread);
    const UOp filled =
        graph_.store(graph_.place(tile, copy * size + of_sums), sum, std::span(&of_sums, 1));
    return graph_.load(
        graph_.place(graph_.after(tile, std::span(&filled, 1)), copy * size + place));
  }

  // The loops of the terms, for the number of a term.
  static Replacements terms(const std::vector<UOp>& depth, UOp term) {
    Replacements result;
    std::int64_t inside = 1;
    for (std::size_t i = depth.size(); i-- > 0;) {
      result.emplace_back(depth[i], term / inside % depth[i].range_size());
      inside *= depth[i].range_size();
    }
    return result;
  }

  UOp operand_lanes(std::int64_t id, std::string_view places) {
    return graph_.range(id, count_places(element_bits(places)), LoopKind::Lane);
  }

  Graph& graph_;
  UOp sink_;
  const Caps& caps_;
  std::vector<UOp> lanes_, copies_;
  std::int64_t next_range_ = 0, next_local_ = 0;
};

}  // namespace

UOp lower_contractions(UOp sink, const Caps& caps) { return Lowering(sink, caps).run(); }

}  // namespace croze
