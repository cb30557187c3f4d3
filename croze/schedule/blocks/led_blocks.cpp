// led_blocks.cpp -- blocks along what a softmax goes over.
//
// The nests of attention have their rows in common, and a block of a sequence has whole rows:
//
//     for i, j:  s[i, j] = sum(q[i, d] * k[j, d])
//     for i, j:  p[i, j] = exp(s[i, j] - max(s[i, ..])) / sum(exp(s[i, ..] - max(s[i, ..])))
//     for i, e:  o[i, e] = sum(p[i, j] * v[j, e])
//
// Of long rows either few fit into a cache, and then each block loads all keys and values for few
// rows, or s and p come from farther away.  But maxima and sums can be those of the terms so far,
// as in reductions that go over their terms together (graph/tuple.h): the laws of
// rules/transport.h say how a sum moves with the maximum.  So the blocks are cut along j as well,
// are run in order, and the nests of one are
//
//     for i, j:  s[i, j] = sum(q[i, d] * k[j, d])
//     for i:     old[i] = m[i]
//     for i:     m[i] = max(old[i], max(s[i, ..]))
//     for i:     f[i] = what moves sums from old[i] to m[i]
//     for i, j:  s[i, j] = exp(s[i, j] - m[i])
//     for i:     l[i] = l[i] * f[i] + sum(s[i, ..])
//     for i, e:  o[i, e] = o[i, e] * f[i] + sum(s[i, j] * v[j, e])
//
// where the first block has no sums before it, and the last divides o by l.
//
// Where others want the exponentials once more, as gradients do, what is made of the sum of a row
// is a nest of its own: it and m are stored for those.
#include "croze/schedule/blocks/led_blocks.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/codegen/lower/masked_turns.h"
#include "croze/graph/analysis/factors.h"
#include "croze/graph/analysis/valid.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/rules/follow.h"
#include "croze/schedule/blocks/open_blocks.h"

namespace croze {
namespace {

// A nest that stores, for each row, terms under the maximum of the row by what they sum to; or one
// that stores them, and the next what is made of the sum.
struct Softmax {
  std::size_t made, nest;         // the nests that make the terms, and the softmax
  std::size_t readers;            // the first nest behind it
  UOp store;                      // of the weights
  UOp leader, sum;                // the reductions: the greatest of the terms, and what they sum to
  UOp made_loop, loop;            // along the rows: of the nest that makes the terms, of the store
  UOp weight;                     // a term under the maximum
  UOp factor;                     // what all terms of a row are multiplied by, made of the sum
  UOp centre;                     // what stands for the maximum in `weight`
  UOp terms, weights;             // the buffers that are read, and written
  UOp kept_leader, kept_factor;   // where others find the maximum and the factor; null: nowhere
  UOp sum_loop;                   // along the rows, of the nest that stores the factor
  std::vector<UOp> reader_loops;  // along the rows, of the nests behind it
};

UOp reduced_loop(UOp reduce) { return reduce.src(reduce.first_closed()); }

bool has_one_loop(UOp reduce) { return reduce.num_src() == reduce.first_closed() + 1; }

// Whether the value is proportional to what is loaded, perhaps behind a mask.
bool is_proportional(UOp value, UOp load) {
  while (value != load) {
    if (value.is(Op::Where) && value.src(2).is_const(0) && !is_used_by(value.src(0), load)) {
      value = value.src(1);
    } else if (value.is(Op::Mul)) {
      const bool first = is_used_by(value.src(0), load);
      if (first == is_used_by(value.src(1), load)) return false;
      value = value.src(first ? 0 : 1);
    } else {
      return false;
    }
  }
  return true;
}

// The product told apart by whether its factors use `part`.
struct Factors {
  UOp with, without;
};

Factors told_apart(UOp product, UOp part) {
  Factors found;
  for (UOp u : factors_of(product)) {
    UOp& side = is_used_by(u, part) ? found.with : found.without;
    side = side ? side * u : u;
  }
  return found;
}

// Whether the value is computed from these two and constants alone.
bool is_made_of(UOp value, UOp a, UOp b) {
  const UOp zero = constant_like(a, 0);
  const UOp rest = substitute(value, std::vector{std::pair{a, zero}, std::pair{b, zero}});
  return std::ranges::all_of(toposort(rest),
                             [](UOp u) { return is_elementwise(u.op()) || u.is_const(); });
}

class Finder {
 public:
  Finder(const PendingStep& step, const BlockPlan& plan) : step_(step), plan_(plan) {}

  std::optional<Softmax> find() const {
    const BlockSequence& sequence = plan_.sequence;
    if (sequence.prelude > 0 || sequence.strands != 1 || step_.nests.size() < 3) return {};
    if (std::ranges::any_of(sequence.axes, &BlockAxis::is_in_order)) return {};
    // All nests are run for each block: the first makes the terms, the others want the weights.
    for (const bool in_two : {false, true}) {
      Softmax s{.made = 0, .nest = 1, .readers = in_two ? std::size_t{3} : std::size_t{2}};
      const bool found = in_two ? is_softmax_in_two(s) : is_softmax(s);
      if (found && terms_are_passed(s) && follows_law(s) && all_add_up(s)) return s;
    }
    return {};
  }

 private:
  const std::vector<UOp>& places(std::size_t nest) const {
    return plan_.sequence.nests[nest]->places;
  }

  bool is_softmax(Softmax& s) const {
    const UOp nest = step_.nests[s.nest];
    const std::vector<UOp> found = reduces(nest);
    if (nest.num_src() != 1 || found.size() != 2) return false;
    s.store = nest.src(0);
    s.sum = found[0];
    s.leader = found[1];
    if (!has_one_loop(s.sum) || !stores_weights(s)) return false;
    const Factors factors = told_apart(s.store.src(1), s.sum);
    if (!factors.with || !factors.without || factors.with.varies_over(s.loop)) return false;
    s.factor = factors.with;
    s.weight = factors.without;
    return is_made_of(s.factor, s.sum, s.leader);
  }

  // The same where the second nest stores what the sum makes of each row, and the first perhaps its
  // maximum.
  bool is_softmax_in_two(Softmax& s) const {
    if (step_.nests.size() <= s.readers) return false;
    const UOp nest = step_.nests[s.nest], other = step_.nests[s.nest + 1];
    const std::vector<UOp> found = reduces(nest), sums = reduces(other);
    if (found.size() != 1 || sums.size() != 1 || other.num_src() != 1) return false;
    s.leader = found[0];
    for (UOp store : nest.sources()) {
      UOp& which = store.src(1) == s.leader ? s.kept_leader : s.store;
      if (which) return false;
      which = store;
    }
    if (!s.store || !has_one_loop(sums[0]) || !stores_weights(s)) return false;
    if (s.kept_leader) s.kept_leader = s.kept_leader.src(0);
    s.weight = s.store.src(1);
    s.sum_loop = reduced_loop(sums[0]);
    RangeMap rows;
    for (const LayoutAxis& axis : weights_layout(s)) {
      const UOp loop = loop_along(places(s.nest + 1), s.weights, axis);
      if (!loop || (axis.loop == s.loop) != (loop == s.sum_loop)) return false;
      if (loop == s.sum_loop) continue;
      if (axis.loop.range_id() == s.sum_loop.range_id()) return false;
      rows.emplace_back(loop, axis.loop);
    }
    s.sum = substitute(sums[0], rows);
    s.factor = substitute(other.src(0).src(1), rows);
    s.kept_factor = substitute(other.src(0).src(0), rows);
    return s.kept_factor.num_src() == 2 && is_made_of(s.factor, s.sum, s.leader);
  }

  // A weight for each turn of one loop of each row.
  bool stores_weights(Softmax& s) const {
    if (!has_one_loop(s.leader)) return false;
    s.weights = s.store.src(0).src(0);
    std::vector<UOp> loops = closed_ranges(s.store);
    std::erase_if(loops, [&](UOp r) { return s.leader.varies_over(r); });
    if (loops.size() != 1 || !plan_.sequence.is_inner(s.weights)) return false;
    s.loop = loops[0];
    return true;
  }

  // The terms are loaded from where the first nest leaves them, and weights can take their place.
  bool terms_are_passed(Softmax& s) const {
    const UOp term = s.leader.src(0);
    if (!term.is(Op::Load)) return false;
    s.terms = term.src(0).src(0);
    if (!plan_.sequence.is_inner(s.terms) || s.terms.dtype() != s.weights.dtype()) return false;
    const Written& made = plan_.written.at(s.terms.node());
    if (made.nest != s.made || plan_.accessed.at(s.terms.node()).size() != 2) return false;
    const UOp place = s.store.src(0);
    const std::vector loops{std::pair{reduced_loop(s.leader), s.loop},
                            std::pair{reduced_loop(s.sum), s.loop}};
    for (UOp p : places(s.nest)) {
      if (p == s.kept_leader) continue;
      if (substitute(p.src(1), loops) != place.src(1)) return false;
    }
    for (const LayoutAxis& axis : made.layout) {
      if (position_along(place.src(1), axis) == s.loop) s.made_loop = axis.loop;
    }
    const std::vector<UOp> common = common_loops(step_.nests[s.made]);
    return s.made_loop && std::ranges::find(common, s.made_loop) != common.end();
  }

  // What is reduced, with the loop of the store for that of the reduction.
  static UOp term_of(UOp reduce, const Softmax& s) {
    return substitute(reduce.src(0), std::vector{std::pair{reduced_loop(reduce), s.loop}});
  }

  // The weights are the terms of the sum, which move with the maximum.
  static bool follows_law(Softmax& s) {
    if (s.sum.reduce_op() != Op::Add || s.sum.dtype() != s.leader.dtype()) return false;
    const UOp term = s.kept_factor ? s.sum.graph().load(s.store.src(0)) : s.weight;
    if (rebuilt(term_of(s.sum, s)) != rebuilt(term)) return false;
    const auto found = find_law({.op = Op::Add,
                                 .value = s.weight,
                                 .leader = s.leader,
                                 .leader_op = s.leader.reduce_op(),
                                 .terms = term_of(s.leader, s),
                                 .is_count = [](UOp) { return false; }});
    if (!found || found->law != exponential_law) return false;
    s.centre = found->centre;
    return s.weight.dtype() == s.leader.dtype() && s.weights.dtype() == s.leader.dtype();
  }

  // The nests behind it store sums of multiples of the weights, and of the factor where that is
  // stored.
  bool all_add_up(Softmax& s) const {
    for (std::size_t n = s.readers; n < step_.nests.size(); n++) {
      const UOp nest = step_.nests[n];
      RangeMap rows;
      UOp loop;
      for (const LayoutAxis& axis : weights_layout(s)) {
        const UOp along = loop_along(places(n), s.weights, axis);
        if (!along) return false;
        if (axis.loop == s.loop) loop = along;
        rows.emplace_back(axis.loop, along);
      }
      const std::vector<UOp> summed = summed_loops(nest);
      if (std::ranges::find(summed, loop) == summed.end()) return false;
      const UOp value = reduces(nest)[0].src(0);
      const UOp weight = only_load(value, s.weights);
      if (!weight || !is_proportional(value, weight)) return false;
      if (value.dtype() != s.weight.dtype()) return false;
      if (s.kept_factor) {
        const UOp factor = only_load(value, s.kept_factor.src(0));
        if (!factor || !is_proportional(value, factor)) return false;
        if (factor.src(0) != substitute(s.kept_factor, rows)) return false;
      }
      s.reader_loops.push_back(loop);
    }
    return true;
  }

  // The load of the buffer, if there is one.
  static UOp only_load(UOp value, UOp buffer) {
    std::vector<UOp> found = loads(value);
    std::erase_if(found, [&](UOp l) { return l.src(0).src(0) != buffer; });
    return found.size() == 1 ? found[0] : UOp();
  }

  const Layout& weights_layout(const Softmax& s) const {
    return plan_.written.at(s.weights.node()).layout;
  }

  const PendingStep& step_;
  const BlockPlan& plan_;
};

// The nests of a block, and what they pass on.
class Maker {
 public:
  Maker(PendingStep& step, BlockPlan& plan, Schedule& schedule, const Softmax& softmax,
        BlockCut cut)
      : step_(step), plan_(plan), schedule_(schedule), s_(softmax), g_(step.nests[0].graph()) {
    plan_.cut = std::move(cut);
    count_blocks();
    for (const LayoutAxis& axis : plan_.written.at(s_.weights.node()).layout) {
      if (axis.loop == s_.loop) continue;
      rows_.push_back(axis);
      row_loops_.push_back(axis.loop);
    }
  }

  void run() {
    const std::vector<UOp> nests = std::exchange(step_.nests, {});
    made_by_.push_back({s_.made, s_.made_loop});
    step_.nests.push_back(nests[s_.made]);
    add_softmax(s_.store);
    for (std::size_t i = 0; i < s_.reader_loops.size(); i++) {
      const std::size_t n = s_.readers + i;
      plan_.adds_itself.insert(step_.nests.size());
      add_reader(nests[n].src(0), n, s_.reader_loops[i]);
    }
    for (UOp& nest : step_.nests) nest = is_any_ ? storing_where(nest, is_any_) : nest;
    make_plan(nests.size());
  }

 private:
  // Which block is the first, and the last that has anything to add: where a mask leaves out all of
  // what is behind it the nests have nothing to do.
  void count_blocks() {
    std::int64_t cut_axes = 0;
    RangeMap positions;  // of the loops of the nest that makes the terms
    for (std::size_t i = 0; i < plan_.sequence.axes.size(); i++) {
      const std::int64_t blocks = plan_.cut.blocks[i];
      if (blocks == 1) continue;
      const UOp loop = plan_.sequence.axes[i].loops[s_.made];
      const std::int64_t extent = loop.range_size() / blocks;
      const UOp number = g_.variable(block_variable(cut_axes++), 0, blocks - 1);
      positions.emplace_back(loop,
                             number * extent + g_.range(loop.range_id(), extent, loop.loop_kind()));
    }
    const std::int64_t blocks = plan_.cut.blocks.back();
    const std::int64_t extent = s_.loop.range_size() / blocks;
    const UOp number = g_.variable(block_variable(cut_axes), 0, blocks - 1);
    is_first_ = less(number, g_.index(1));
    const UOp end = end_of_terms(positions);
    if (!end) {
      is_last_ = less(g_.index(blocks - 2), number);
      return;
    }
    const UOp turns = min(max((end + (extent - 1)) / extent, g_.index(1)), g_.index(blocks));
    is_any_ = less(number, turns);
    is_last_ = equal(number, turns - 1);
  }

  // The place along the rows behind which a mask leaves out all terms of the block; null: none.
  UOp end_of_terms(const RangeMap& positions) const {
    const UOp value = step_.nests[s_.made].src(0).src(1);
    const UOp mask = mask_of_value(value, s_.leader.reduce_op());
    if (!mask) return UOp();
    return open_turns(mask, s_.made_loop, positions).end;
  }

  static const Transport& law() { return transports()[exponential_law]; }
  UOp centre(UOp leader) const { return centre_of(law(), leader, {}); }

  // A buffer with a number for each row, and that of a row.
  UOp row_buffer() {
    return add_temporary(schedule_, g_, s_.leader.dtype(), iterations(row_loops_), step_.device,
                         {BufferCause::SharedReduction});
  }
  UOp place_of_row(UOp buffer) const {
    for (UOp kept : {s_.kept_leader, s_.kept_factor}) {
      if (kept && kept.src(0) == buffer) return kept;
    }
    UOp row = g_.index(0);
    for (UOp loop : row_loops_) row = row * loop.range_size() + loop;
    return g_.place(buffer, row);
  }
  UOp of_row(UOp buffer) const { return g_.load(place_of_row(buffer)); }

  void add(UOp place, UOp value, std::span<const UOp> loops, std::size_t made_by, UOp along) {
    const UOp store = g_.store(place, value, loops);
    step_.nests.push_back(g_.sink(std::span(&store, 1)));
    made_by_.push_back({made_by, along});
  }

  // A nest that stores a number for each row, and one for what only this block wants.
  void add_rows(UOp buffer, UOp value, UOp along) {
    if (along) plan_.adds_itself.insert(step_.nests.size());
    add(place_of_row(buffer), value, row_loops_, s_.nest, along);
  }
  UOp pass_on(UOp value) {
    const UOp buffer = row_buffer();
    Layout layout = rows_;
    std::int64_t stride = 1;
    for (std::size_t i = layout.size(); i-- > 0;) {
      layout[i].stride = stride;
      stride *= layout[i].loop.range_size();
    }
    plan_.written.emplace(buffer.node(), Written{buffer, step_.nests.size(), std::move(layout)});
    passed_.push_back(buffer);
    add_rows(buffer, value, UOp());
    return buffer;
  }

  void add_softmax(UOp store) {
    const UOp greatest = s_.kept_leader ? s_.kept_leader.src(0) : row_buffer();
    const UOp sums = row_buffer();
    const UOp leader = of_row(greatest), sum = of_row(sums), place = store.src(0).src(1);
    const UOp before = pass_on(leader);
    const UOp both = g_.alu(s_.leader.reduce_op(), {leader, s_.leader});
    add_rows(greatest, where(is_first_, s_.leader, both), reduced_loop(s_.leader));
    mover_ = pass_on(moved(law(), Op::Add, constant_like(leader, 1), centre(of_row(before)),
                           centre(leader), g_.index(1)));
    const std::vector now{std::pair{s_.centre, centre(leader)}};
    add(g_.place(s_.terms, place), substitute(s_.weight, now), closed_ranges(store), s_.nest,
        s_.loop);
    const UOp loop = reduced_loop(s_.sum);
    const std::vector along{std::pair{s_.loop, loop}};
    const UOp weight = g_.load(g_.place(s_.terms, substitute(place, along)));
    const UOp part = g_.reduce(Op::Add, weight, std::span(&loop, 1));
    add_rows(sums, continued(sum, of_row(mover_), part), loop);
    const UOp wanted = substitute(s_.centre, std::vector{std::pair{s_.leader, leader}});
    const UOp to_wanted = g_.alu(Op::Exp, {centre(leader) - wanted});
    if (!s_.kept_factor) {
      const std::vector at_last{std::pair{s_.sum, sum}, std::pair{s_.leader, leader}};
      factor_ = pass_on(substitute(s_.factor, at_last) * to_wanted);
      return;
    }
    const std::vector at_last{std::pair{s_.sum, sum * to_wanted}, std::pair{s_.leader, leader}};
    add_rows(s_.kept_factor.src(0), substitute(s_.factor, at_last), UOp());
    factor_ = pass_on(of_row(s_.kept_factor.src(0)) * to_wanted);
  }

  // A sum of multiples of the weights, of this block and those before it.
  void add_reader(UOp store, std::size_t nest, UOp along) {
    const std::vector<UOp>& places = plan_.sequence.nests[nest]->places;
    RangeMap rows, weights;
    for (const LayoutAxis& axis : rows_) {
      rows.emplace_back(axis.loop, loop_along(places, s_.weights, axis));
    }
    for (UOp p : places) {
      if (p.src(0) == s_.weights) weights.emplace_back(p, g_.place(s_.terms, p.src(1)));
    }
    // The last block multiplies by the factor.
    if (s_.kept_factor) {
      const UOp factor = substitute(of_row(s_.kept_factor.src(0)), rows);
      weights.emplace_back(factor, constant_like(factor, 1));
    }
    const UOp so_far = g_.load(store.src(0));
    const UOp sum =
        continued(so_far, substitute(of_row(mover_), rows), substitute(store.src(1), weights));
    const UOp whole = where_any_term(sum * substitute(of_row(factor_), rows), store, along, rows);
    add(store.src(0), where(is_last_, whole, sum), closed_ranges(store), nest, along);
  }

  // What a sum comes to that has no terms is 0, whatever it is multiplied by.
  UOp where_any_term(UOp value, UOp store, UOp along, const RangeMap& rows) const {
    const UOp mask = mask_of_terms(reduces(g_.sink(std::span(&store, 1)))[0]);
    if (!mask) return value;
    RangeSet known;
    for (const auto& [loop, row] : rows) known = known | row.ranges();
    const MaskedTurns turns = open_turns(mask, along, {}, known);
    const UOp none = g_.index(0), all = g_.index(along.range_size());
    const UOp first = clamped(turns.first, along, none), end = clamped(turns.end, along, all);
    return where(less(first, end), value, constant_like(value, 0));
  }

  UOp continued(UOp so_far, UOp mover, UOp part) const {
    return where(is_first_, part, so_far * mover + part);
  }

  void make_plan(std::size_t nests_before) {
    const BlockSequence before = std::exchange(plan_.sequence, {});
    BlockAxis along{s_.loop.range_size(), {}};
    plan_.sequence.axes = before.axes;
    for (BlockAxis& axis : plan_.sequence.axes) axis.loops.clear();
    for (const auto& [nest, loop] : made_by_) {
      plan_.sequence.nests.push_back(before.nests[nest]);
      along.loops.push_back(loop);
      for (std::size_t i = 0; i < before.axes.size(); i++) {
        plan_.sequence.axes[i].loops.push_back(before.axes[i].loops[nest]);
      }
    }
    plan_.sequence.axes.push_back(std::move(along));
    plan_.written.erase(s_.weights.node());
    for (auto& [buffer, w] : plan_.written) {
      if (w.nest > s_.nest && !std::ranges::count(passed_, w.buffer)) {
        w.nest += step_.nests.size() - nests_before;
      }
    }
    plan_.accessed.clear();
    for (std::size_t n = 0; n < step_.nests.size(); n++) {
      for (UOp u : toposort(step_.nests[n])) {
        if (u.is(Op::Index)) plan_.accessed[u.src(0).node()].insert(n);
      }
    }
    passed_.push_back(s_.terms);
    for (UOp buffer : passed_) {
      const std::set<std::size_t>& by = plan_.accessed.at(buffer.node());
      plan_.sequence.passed.push_back({buffer, *by.begin(), *by.rbegin(), true});
    }
    std::ranges::sort(plan_.sequence.passed, {},
                      [](const PassedBuffer& p) { return p.buffer.buffer_id(); });
  }

  PendingStep& step_;
  BlockPlan& plan_;
  Schedule& schedule_;
  const Softmax& s_;
  Graph& g_;
  UOp is_first_, is_last_, is_any_;  // a block; null: all are any
  Layout rows_;
  std::vector<UOp> row_loops_;
  UOp mover_, factor_;                                // buffers of the rows
  std::vector<UOp> passed_;                           // to later nests of the block
  std::vector<std::pair<std::size_t, UOp>> made_by_;  // each nest: of which, its loop along rows
};

// The sequence with an axis along the rows.  The weights take the place of the terms, so one of the
// two is alive at a time.
BlockSequence along_rows_too(const BlockSequence& sequence, const Softmax& s) {
  BlockSequence result = sequence;
  for (PassedBuffer& p : result.passed) p.last = p.buffer == s.terms ? p.first : p.last;
  BlockAxis axis{s.loop.range_size(), {s.made_loop, s.loop}};
  if (s.sum_loop) axis.loops.push_back(s.sum_loop);
  axis.loops.insert(axis.loops.end(), s.reader_loops.begin(), s.reader_loops.end());
  result.axes.push_back(std::move(axis));
  return result;
}

}  // namespace

void cut_rows_of_softmax(PendingStep& step, BlockPlan& plan, Schedule& schedule,
                         const MachineModel& machine) {
  const auto softmax = Finder(step, plan).find();
  if (!softmax) return;
  BlockCut cut = cut_last_in_order(along_rows_too(plan.sequence, *softmax), machine);
  if (cut.gain <= plan.cut.gain) return;
  Maker(step, plan, schedule, *softmax, std::move(cut)).run();
}

}  // namespace croze
