// expand.cpp -- unrolled loops become copies, reductions become registers.
//
// Nodes are walked sources first.  The copies of a node are kept in a table indexed by the values
// of the Unroll ranges it varies over, in mixed radix, the range with the least id slowest; picking
// the copy of a source is projecting the user's digits on the source's ranges.
#include "croze/codegen/lower/expand.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>

#include "croze/base/error.h"
#include "croze/base/small_vector.h"
#include "croze/codegen/edits/kernel_state.h"
#include "croze/codegen/lower/combine_items.h"
#include "croze/codegen/lower/contractions.h"
#include "croze/codegen/lower/masked_parts.h"
#include "croze/codegen/lower/transpose.h"
#include "croze/graph/eval.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/rules/transport.h"
#include "croze/graph/tuple.h"

namespace croze {
namespace {

bool has_kind(UOp range, LoopKind kind) { return range.loop_kind() == kind; }

// Values of some Unroll ranges, counted like an odometer.
class Digits {
 public:
  explicit Digits(std::vector<UOp> ranges)
      : ranges_(std::move(ranges)), values_(ranges_.size(), 0) {}

  std::int64_t value(UOp range) const {
    for (std::size_t i = 0; i < ranges_.size(); i++) {
      if (ranges_[i] == range) return values_[i];
    }
    return -1;
  }
  const std::vector<UOp>& ranges() const { return ranges_; }
  bool next() {
    for (std::size_t i = ranges_.size(); i-- > 0;) {
      if (++values_[i] < ranges_[i].range_size()) return true;
      values_[i] = 0;
    }
    return false;
  }

 private:
  std::vector<UOp> ranges_;
  std::vector<std::int64_t> values_;
};

class Expander {
 public:
  Expander(UOp sink, const Caps& caps, const ItemAxes& items)
      : graph_(sink.graph()), caps_(caps), order_(toposort(sink)), combiner_(order_, caps, items) {
    for (UOp u : order_) {
      for (UOp s : u.sources()) users_[s.node()]++;
      if (!u.is(Op::Range)) continue;
      next_range_ = std::max(next_range_, u.range_id() + 1);
      if (has_kind(u, LoopKind::Unroll)) unrolls_.push_back(u);
      if (has_kind(u, LoopKind::Lane)) lanes_.push_back(u);
    }
    std::sort(unrolls_.begin(), unrolls_.end(),
              [](UOp a, UOp b) { return a.range_id() < b.range_id(); });
  }

  Expanded run() {
    for (UOp u : order_) copies_[u.node()] = copies_of(u);
    return {copies_.at(order_.back().node())[0], std::move(registers_)};
  }

 private:
  using Copies = std::vector<UOp>;

  std::vector<UOp> open_unrolls(UOp u) const {
    std::vector<UOp> result;
    for (UOp r : unrolls_) {
      if (u.varies_over(r)) result.push_back(r);
    }
    return result;
  }

  // The copy of `u` under the given digits; digits of ranges it does not vary over are ignored.
  UOp pick(UOp u, const Digits& open, const Digits& closed) const {
    const Copies& all = copies_.at(u.node());
    if (all.size() == 1) return all[0];
    std::int64_t index = 0;
    for (UOp r : open_unrolls(u)) {
      const std::int64_t v = open.value(r);
      index = index * r.range_size() + (v >= 0 ? v : closed.value(r));
    }
    return all[static_cast<std::size_t>(index)];
  }

  Copies copies_of(UOp u) {
    if (u.is(Op::Range)) return range_copies(u);
    if (u.is(Op::Store)) return store_copies(u);
    if (u.is(Op::Sink) || u.is(Op::After)) return with_all_effects(u);
    Copies result;
    Digits open(open_unrolls(u));
    do {
      result.push_back(copy_of(u, open));
    } while (open.next());
    return result;
  }

  UOp copy_of(UOp u, const Digits& open) {
    switch (u.op()) {
      case Op::Reduce: return reduced(u, open);
      case Op::TupleReduce: return tuple_reduced(u, open);
      case Op::Part: {
        const std::vector<UOp>& all = tuples_.at(pick(u.src(0), open, Digits({})).node());
        return all[static_cast<std::size_t>(u.arg().value)];
      }
      default: return copied(u, open);
    }
  }

  Copies range_copies(UOp u) {
    if (!has_kind(u, LoopKind::Unroll)) return {u};
    Copies result;
    for (std::int64_t i = 0; i < u.range_size(); i++) result.push_back(graph_.index(i));
    return result;
  }

  UOp copied(UOp u, const Digits& open) {
    SmallVector<UOp, 4> src;
    bool changed = false;
    for (UOp s : u.sources()) {
      src.push_back(pick(s, open, Digits({})));
      changed = changed || src.back() != s;
    }
    return changed ? graph_.with_sources(u, src) : u;
  }

  // One store per value of the Unroll ranges it closes, and of those it stands in.
  Copies store_copies(UOp u) {
    std::vector<UOp> unrolled = open_unrolls(u), loops;
    for (UOp r : closed_ranges(u)) {
      (has_kind(r, LoopKind::Unroll) ? unrolled : loops).push_back(r);
    }
    if (const auto tile = transposed_tile(u, caps_)) {
      std::erase(unrolled, tile->unrolled);
      return transposed_stores(u, *tile, Digits(unrolled), loops);
    }
    Copies result;
    Digits closed(unrolled);
    do {
      const UOp place = pick(u.src(0), closed, closed), value = pick(u.src(1), closed, closed);
      result.push_back(graph_.store(place, value, loops));
    } while (closed.next());
    return result;
  }

  // The lanes run over the copies, and there is a store for each lane; or for as many as have
  // copies enough for a vector.  All that for each value of the other unrolled loops.
  Copies transposed_stores(UOp u, const TransposedTile& tile, Digits others,
                           std::span<const UOp> loops) {
    Copies result;
    do {
      for (UOp store : transposed_stores_at(u, tile, others, loops)) result.push_back(store);
    } while (others.next());
    return result;
  }

  Copies transposed_stores_at(UOp u, const TransposedTile& tile, const Digits& others,
                              std::span<const UOp> loops) {
    std::vector<UOp> rows;
    Digits copy({tile.unrolled});
    do {
      rows.push_back(pick(u.src(1), copy, others));
    } while (copy.next());
    const UOp buffer = pick(u.src(0).src(0), copy, others);
    const std::int64_t lanes = tile.lanes, copies = tile.unrolled.range_size(), terms = tile.terms;
    Copies result;
    for (UOp column : transposed(std::move(rows), lanes, terms)) {
      const UOp first = tile.lane / lanes * lanes, run = tile.lane % lanes / terms;
      const UOp place =
          first + run / copies * terms + std::ssize(result) * (lanes / copies) + tile.lane % terms;
      std::vector<std::pair<UOp, UOp>> turned{{tile.lane, place}, {tile.unrolled, run % copies}};
      for (UOp r : others.ranges()) turned.emplace_back(r, graph_.index(others.value(r)));
      const UOp index = substitute(u.src(0).src(1), turned);
      result.push_back(graph_.store(graph_.place(buffer, index), column, loops));
    }
    return result;
  }

  // Sink and After take every copy of each effect.
  Copies with_all_effects(UOp u) {
    SmallVector<UOp, 8> src;
    for (UOp s : u.sources()) {
      for (UOp copy : copies_.at(s.node())) src.push_back(copy);
    }
    return {graph_.with_sources(u, src)};
  }

  UOp reduced(UOp u, const Digits& open) {
    std::vector<UOp> unrolled, lanes, items, loops;
    for (UOp r : closed_ranges(u)) {
      auto& list = has_kind(r, LoopKind::Unroll) ? unrolled
                   : has_kind(r, LoopKind::Lane) ? lanes
                   : has_kind(r, LoopKind::Item) ? items
                                                 : loops;
      list.push_back(r);
    }
    const auto values_of = [&](UOp value) {
      std::vector<UOp> values;
      Digits closed(unrolled);
      do {
        values.push_back(pick(value, open, closed));
      } while (closed.next());
      return values;
    };
    const UOp identity = identity_constant(u.reduce_op(), u.dtype());
    UOp result;
    if (loops.empty()) {
      result = chained(u.reduce_op(), UOp(), values_of(u.src(0)));
    } else if (const std::vector<MaskedPart>& parts = parts_of(u); !parts.empty()) {
      result = identity;
      for (const MaskedPart& p : parts) {
        const UOp value = p.is_open ? u.src(0).src(1) : u.src(0);
        result = looped(u, result, in_part(values_of(value), loops[0], p), std::span(&p.loop, 1));
      }
    } else {
      std::vector<UOp> values;
      for (UOp term : terms_of(u)) std::ranges::copy(values_of(term), std::back_inserter(values));
      result = looped(u, identity, values, loops);
    }
    for (UOp lane : lanes) result = graph_.reduce(u.reduce_op(), result, std::span(&lane, 1));
    return combiner_.combined(u, result, items);
  }

  // What a turn adds to a sum of floats: each of its products, for a multiply-add, and the rest as
  // one, so that what cancels there is lost exactly.  Of n products these are n operations in place
  // of 2 n.  Each waits for the one before it, so there must be sums enough, or enough to compute
  // beside them, to hide that.
  std::vector<UOp> terms_of(UOp reduce) {
    if (reduce.reduce_op() != Op::Add || !is_float(reduce.dtype())) return {reduce.src(0)};
    std::vector<UOp> terms, others, pending{reduce.src(0)};
    while (!pending.empty()) {
      const UOp term = pending.back();
      pending.pop_back();
      if (is_product(term) || is_gated_product(term)) {
        terms.push_back(term);
      } else if (term.is(Op::Add) && users_.at(term.node()) == 1) {
        pending.insert(pending.end(), {term.src(1), term.src(0)});
      } else {
        others.push_back(term);
      }
    }
    if (terms.empty() || !hides_chain(reduce, terms)) return {reduce.src(0)};
    UOp rest;
    for (UOp term : others) rest = rest ? with_copies(rest + term) : term;
    if (rest) terms.push_back(rest);
    return terms;
  }

  // Whether a turn takes as long as multiply-adds of all products one after the other.
  bool hides_chain(UOp reduce, std::span<const UOp> products) const {
    constexpr std::int64_t in_flight = 8;  // two begin in a cycle, each takes four
    std::int64_t sums = 1;
    for (UOp r : open_unrolls(reduce)) sums *= r.range_size();
    std::int64_t operations = 0;
    for (UOp product : products) operations += vector_operations(product);
    return sums * operations >= in_flight * std::ssize(products);
  }

  // Of a product, the multiply-add, and what makes the factors.
  std::int64_t vector_operations(UOp product) const {
    const auto is_one = [&](UOp u) {
      const bool computes = is_elementwise(u.op()) || u.is(Op::Contract);
      return computes && u != product && u.dtype() != DType::Index &&
             std::ranges::any_of(lanes_, [&](UOp lane) { return u.varies_over(lane); });
    };
    return 1 + std::ranges::count_if(toposort(product), is_one);
  }

  UOp with_copies(UOp u) {
    if (!copies_.contains(u.node())) copies_[u.node()] = copies_of(u);
    return u;
  }

  // op(.. op(op(start, v0), v1) ..).  Extremes are the same in any order: neighbours come first, of
  // which fewer wait for each other.
  UOp chained(Op op, UOp start, std::span<const UOp> values) {
    if ((op == Op::Max || op == Op::Min) && values.size() > 1) {
      const std::size_t half = values.size() / 2;
      const UOp both = combined(op, chained(op, UOp(), values.first(half)),
                                chained(op, UOp(), values.subspan(half)));
      return start ? combined(op, start, both) : both;
    }
    UOp result = start;
    for (UOp v : values) result = result ? combined(op, result, v) : v;
    return result;
  }

  // A product, or one with its sign changed: of a constant factor it would be the factor's.
  static bool is_product(UOp v) { return v.is(Op::Mul) || (v.is(Op::Neg) && v.src(0).is(Op::Mul)); }
  static bool is_gated_product(UOp v) {
    return v.is(Op::Where) && is_product(v.src(1)) && v.src(2).is_const(0);
  }

  // A sum of products is a chain of multiply-adds; a gated term leaves the sum as it is.  What a
  // matrix unit adds to nothing it adds to the sum.
  UOp combined(Op op, UOp sum, UOp v) {
    if (op == Op::Add && v.is(Op::Contract) && v.src(0).is_const(0)) {
      SmallVector<UOp, 6> src;
      for (UOp s : v.sources()) src.push_back(s);
      src[0] = sum;
      return graph_.with_sources(v, src);
    }
    const bool float_sum = op == Op::Add && is_float(v.dtype());
    if (float_sum && is_product(v)) {
      const UOp product = v.is(Op::Neg) ? v.src(0) : v;
      const UOp factor = v.is(Op::Neg) ? -product.src(0) : product.src(0);
      return graph_.alu(Op::MulAdd, {factor, product.src(1), sum});
    }
    if (float_sum && is_gated_product(v)) {
      if (const UOp product = product_of_gated(v)) return combined(op, sum, product);
      return where(v.src(0), combined(op, sum, v.src(1)), sum);
    }
    return graph_.alu(op, {sum, v});
  }

  // where(g, load * load, 0) with both loads behind g: that zeros are added to a sum which began
  // with 0, and so is never -0, leaves it as it is, and takes no choice for each of the sums that a
  // load is for.  Null if the factors are no loads, or the gate
  // no mask.
  UOp product_of_gated(UOp v) {
    const UOp product = v.src(1);
    if (!is_mask_of_lanes(v.src(0)) || !product.is(Op::Mul) || !product.src(0).is(Op::Load) ||
        !product.src(1).is(Op::Load)) {
      return UOp();
    }
    const UOp a = behind(v.src(0), product.src(0)), b = behind(v.src(0), product.src(1));
    return a && b ? a * b : UOp();
  }

  // Whether it is the same mask in all turns, which costs loads nothing.
  bool is_mask_of_lanes(UOp gate) const {
    return caps_.masked_vectors && !gate.ranges().empty() &&
           std::ranges::all_of(toposort(gate), [](UOp u) {
             return !u.is(Op::Load) && (!u.is(Op::Range) || has_kind(u, LoopKind::Lane));
           });
  }

  UOp behind(UOp gate, UOp load) {
    const UOp place = load.src(0);
    if (!place.is(Op::Index) || load.num_src() > 1) return UOp();
    const UOp both = place.num_src() > 2 ? place.src(2) & gate : gate;
    return graph_.load(graph_.place(place.src(0), place.src(1), both));
  }

  UOp looped(UOp u, UOp start, std::span<const UOp> values, std::span<const UOp> loops) {
    const UOp value = u.src(0);
    const Accumulator sum = accumulator(u, std::span(&value, 1), start);
    const UOp update = graph_.store(sum.reg, chained(u.reduce_op(), sum.before, values), loops);
    return graph_.load(graph_.after(sum.reg, std::span(&update, 1)));
  }

  // The same for all copies, which share the loops.
  const std::vector<MaskedPart>& parts_of(UOp reduce) {
    const auto [known, is_new] = parts_.try_emplace(reduce.node());
    if (is_new) known->second = parts_by_mask(reduce, order_, next_range_);
    return known->second;
  }

  static std::vector<UOp> in_part(std::vector<UOp> values, UOp loop, const MaskedPart& part) {
    const std::pair<UOp, UOp> turn{loop, part.first + part.loop};
    for (UOp& v : values) v = substitute(v, std::span(&turn, 1));
    return values;
  }

  // A register for what the loops that `u` closes combine, which has the lanes of the values that
  // come into it.
  struct Accumulator {
    UOp reg;
    UOp before;  // what it holds when an iteration begins
  };
  Accumulator accumulator(UOp u, std::span<const UOp> values, UOp start_value) {
    const auto id = static_cast<std::int64_t>(registers_.size());
    registers_.push_back({u.ranges()});
    SmallVector<UOp, 2> lanes;
    for (UOp v : order_) {
      const auto varies = [v](UOp value) { return value.varies_over(v); };
      if (v.is(Op::Range) && has_kind(v, LoopKind::Lane) && std::ranges::any_of(values, varies))
        lanes.push_back(v);
    }
    const UOp reg = graph_.make(Op::Register, start_value.dtype(), lanes, Arg(id));
    const UOp start = graph_.store(reg, start_value);
    return {reg, graph_.load(graph_.after(reg, std::span(&start, 1)))};
  }

  UOp identity_constant(Op op, DType t) { return graph_.constant_bits(t, identity_of(op, t)); }

  // A part of a tuple, for one of the copies that it has: those of its leader may be fewer.  Copies
  // that add the same in each turn are one unless their leaders, which transport them, differ.
  struct PartRegister {
    UOp reg, before, now;  // what it holds when a turn begins, and what the turn adds
  };
  const PartRegister& part_register(UOp tuple, const TupleForm& form, std::size_t part,
                                    std::span<const UOp> registers, const Digits& open) {
    const auto value_of = [tuple](std::size_t i) { return tuple.src(static_cast<int>(i)); };
    const UOp now = pick(value_of(part), open, Digits({}));
    SmallVector<UOp, 2> values{value_of(part)};
    UOp leader;
    if (form.parts[part].leader >= 0) {
      const auto leads = static_cast<std::size_t>(form.parts[part].leader);
      values.push_back(value_of(leads));
      leader = registers[leads];  // which has been made: leaders come first, and follow nothing
    }
    const auto [known, is_new] =
        part_registers_.try_emplace({tuple.node(), part, now.node(), leader.node()});
    if (is_new) {
      const UOp start = identity_constant(form.parts[part].op, now.dtype());
      const Accumulator sum = accumulator(tuple, values, start);
      known->second = {sum.reg, sum.before, now};
    }
    return known->second;
  }

  // Whether no terms, combined with others, leave these as they are: a sum of exponentials under no
  // maximum is zero, and stays it under any other.  Squares around the mean of nothing do not.
  static bool begins_with_identities(const TupleForm& form) {
    return std::ranges::all_of(form.parts, [](const TuplePart& p) {
      return p.transport < 0 || p.transport == exponential_law;
    });
  }

  // The loops run in the order in which they are closed, so what has been before an iteration is
  // known: the first one sets the registers, the others combine.
  UOp tuple_reduced(UOp u, const Digits& open) {
    const TupleForm form = form_of(u);
    const std::vector<UOp> loops = closed_ranges(u);
    UOp before = graph_.index(0);
    for (UOp r : loops) before = before * r.trip_count() + r;
    TupleState so_far{.values = {}, .terms = before * form.terms};
    TupleState now{.values = {}, .terms = graph_.index(form.terms)};
    std::vector<UOp> registers;
    for (std::size_t i = 0; i < form.parts.size(); i++) {
      const PartRegister& part = part_register(u, form, i, registers, open);
      registers.push_back(part.reg);
      so_far.values.push_back(part.before);
      now.values.push_back(part.now);
    }
    const TupleState both = croze::combined(form, so_far, now);
    const UOp is_first = begins_with_identities(form) ? UOp() : equal(before, 0);
    std::vector<UOp> updates, results;
    for (std::size_t i = 0; i < registers.size(); i++) {
      const UOp value = is_first ? where(is_first, now.values[i], both.values[i]) : both.values[i];
      updates.push_back(graph_.store(registers[i], value, loops));
    }
    // All of them for each: a part that nobody wants may lead others.
    for (UOp reg : registers) results.push_back(graph_.load(graph_.after(reg, updates)));
    tuples_[results[0].node()] = results;
    return results[0];
  }

  Graph& graph_;
  const Caps& caps_;
  std::vector<UOp> order_;
  ItemCombiner combiner_;
  std::vector<UOp> unrolls_, lanes_;
  std::int64_t next_range_ = 0;
  std::unordered_map<const Node*, int> users_;
  std::unordered_map<const Node*, std::vector<MaskedPart>> parts_;
  std::unordered_map<const Node*, Copies> copies_;
  std::map<std::tuple<const Node*, std::size_t, const Node*, const Node*>, PartRegister>
      part_registers_;
  std::unordered_map<const Node*, std::vector<UOp>> tuples_;  // all results, by the first of them
  std::vector<RegisterScope> registers_;
};

}  // namespace

Expanded expand(UOp sink, const Caps& caps, const ItemAxes& items) {
  return Expander(lower_contractions(sink, caps), caps, items).run();
}

}  // namespace croze
