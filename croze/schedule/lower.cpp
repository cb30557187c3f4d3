// lower.cpp -- pulling the value of a node down to loads, and deciding on the way what must be
// buffered because fusing it would repeat work.
//
// A reduction inside a kernel runs where its value is needed: codegen hoists it to the loops its
// position depends on.  So a softmax row (max, then sum, then the quotient) is one kernel: both
// reductions vary over the row only, and the loop over the row's elements stands inside.  A
// reduction is buffered instead when its position depends on the loops of another reduction, when
// two positions of one kernel want it, or when hoisting would leave too little to do in parallel.
#include "croze/schedule/lower.h"

#include <algorithm>
#include <limits>

#include "croze/base/error.h"
#include "croze/base/hash.h"
#include "croze/graph/eval.h"
#include "croze/graph/matrix_unit.h"
#include "croze/schedule/nest_facts.h"
#include "croze/schedule/numbers.h"

namespace croze {
namespace {

// Below this many element visits a kernel is too small to care how parallel it is.
constexpr std::int64_t small_work = 1 << 15;

// What is less than this part of a reduction's work may be repeated.
constexpr std::int64_t small_beside_reduction = 8;

// Two operations, a scale and a shift, hide behind a load for so many visits: a register tile is
// about as wide, and they are done once in it.  (Comparing and choosing is one, a maximum.)
constexpr std::int64_t least_cheap_visits = 64;

// More of them, in a reduction: so many visits are those of the rows of one or two register tiles.
constexpr std::int64_t least_computed_visits = 16;

// Weights of some bits each, and what blocks of them share, are decoded where they are used, for
// the rows of some register tiles; what they come to, written and read again, would take longer.
constexpr std::int64_t least_decoded_visits = 64;

// What a matrix unit multiplies is loaded: if it is computed, that is no less than this.
constexpr std::int64_t least_factor_cost = 3;

// A transcendental function.
constexpr std::int64_t dear = 40;

// Below that many visits, another launch costs more than lanes and tiles gain.
constexpr std::int64_t least_contraction = 1 << 20;

// The same where loops around it run in order, one row after the other: no tile has rows of them.
constexpr std::int64_t least_contraction_in_order = 1 << 18;

// Steps of the longest reduction in the kernel of `root`, for one element of the root.
std::int64_t reduced_elements(UOp root, const FusionPlan& plan) {
  std::int64_t longest = 1;
  FlatSet<const Node*> seen;
  std::vector<UOp> pending{root};
  while (!pending.empty()) {
    const UOp u = pending.back();
    pending.pop_back();
    if (!seen.insert(u.node()) || !plan.contains_reduce(u)) continue;
    if (u != root && plan.buffered(u)) continue;
    if (u.is(Op::Reduce) && u.elements() > 0) {
      longest = std::max(longest, u.src(0).elements() / u.elements());
    }
    for (UOp s : u.sources()) pending.push_back(s);
  }
  return longest;
}

// For how many products of a block's sum each number of the larger factor is used.
std::int64_t uses_in_block(UOp block) {
  UOp product = block.src(0);
  while (product.is(Op::Cast)) product = product.src(0);
  std::int64_t largest = 1;
  for (UOp factor : product.sources()) {
    while (factor.is(Op::Cast) || factor.is(Op::Expand) || factor.is(Op::Reshape) ||
           factor.is(Op::Permute)) {
      factor = factor.src(0);
    }
    largest = std::max(largest, factor.elements());
  }
  return product.elements() / largest;
}

}  // namespace

std::uint64_t Lowering::Task::hash() const {
  return hash_mix(reinterpret_cast<std::uintptr_t>(node.node()),
                  reinterpret_cast<std::uintptr_t>(position.node()));
}

Lowering::Lowering(Graph& graph, FusionPlan& plan, UOp root, Limits limits, BufferOf buffer_of,
                   void* context)
    : graph_(graph),
      plan_(plan),
      root_(root),
      limits_(limits),
      buffer_of_(buffer_of),
      context_(context),
      reduced_(reduced_elements(root, plan)) {}

UOp Lowering::new_range(Extent size, LoopKind kind) {
  if (size.is_number(1)) return graph_.index(0);
  sizes_.push_back(size.most());
  return graph_.range(static_cast<std::int64_t>(sizes_.size()) - 1, size, kind);
}

void Lowering::set_output(std::span<const UOp> ranges) {
  for (UOp r : ranges) {
    output_ranges_ = output_ranges_ | r.ranges();
    if (r.loop_kind() == LoopKind::Serial) serial_ranges_ = serial_ranges_ | r.ranges();
  }
}

UOp Lowering::pack(const Position& p) {
  SmallVector<UOp, 8> parts(p.index);
  parts.push_back(p.gate);
  return graph_.sink(parts);
}

Position Lowering::unpack(UOp packed) const {
  Position p;
  for (UOp s : packed.sources()) p.index.push_back(s);
  p.gate = p.index.back();
  p.index.pop_back();
  return p;
}

// ---- the driver -------------------------------------------------------------------------------

UOp Lowering::value(UOp u, const Position& at) {
  const Task root{u, pack(at)};
  stack_.assign(1, root);
  while (!stack_.empty()) {
    const Task task = stack_.back();
    if (memo_.contains(task)) {
      stack_.pop_back();
      continue;
    }
    const std::size_t depth = stack_.size();
    if (try_lower(task)) stack_.resize(depth - 1);
    if (grown_) return UOp();
  }
  return *memo_.find(root);
}

// The memoised value, or null after asking for it.
UOp Lowering::want(UOp u, const Position& p) {
  const Task task{u, pack(p)};
  if (const UOp* known = memo_.find(task)) return *known;
  stack_.push_back(task);
  return UOp();
}

// True if the task's value is known now; otherwise what it waits for has been pushed.
bool Lowering::try_lower(const Task& task) {
  const Position p = unpack(task.position);
  const UOp result = result_of(task.node, p);
  if (result) memo_.insert(task, result);
  return static_cast<bool>(result);
}

UOp Lowering::result_of(UOp u, const Position& p) {
  const bool never_used = p.gate.is_const(0) || u.elements() == 0;
  if (never_used) return graph_.constant(u.dtype(), std::int64_t{0});
  if (u.is(Op::Const)) return u;
  if (u.is(Op::Variable)) {
    return u.dtype() == DType::Index ? u : number_of_words(graph_, u.dtype(), u.slot());
  }
  if (is_state(u) || (plan_.buffered(u) && u != root_)) return lower_load(u, p);
  if (must_buffer(u, p)) return UOp();
  computed_.insert(u.node());
  switch (u.op()) {
    case Op::Iota: return p.index[0];
    case Op::Reduce: return lower_reduce({u, pack(p)}, p);
    case Op::Gather: return lower_gather(u, p);
    case Op::Pad:
    case Op::Unwindow: {
      const Position inner = through_movement(u, p);
      const UOp x = want(u.src(0), inner);
      if (!x || inner.gate == p.gate) return x;
      return where(inner.gate, x, graph_.constant(u.dtype(), std::int64_t{0}));
    }
    case Op::Contiguous:
    case Op::ContiguousBackward:
    case Op::Detach:
    case Op::After: return want(u.src(0), p);
    default: break;
  }
  if (u.is(Op::Reshape)) return lower_reshape(u, p);
  if (is_movement(u.op())) return want(u.src(0), through_movement(u, p));
  ensure(is_elementwise(u.op()), "lowering cannot compute {} in a kernel", info(u.op()).name);
  return lower_elementwise(u, p);
}

// A chain of reshapes is one: only the first and the last shape matter.
UOp Lowering::lower_reshape(UOp u, const Position& p) {
  UOp x = u.src(0);
  while (x.is(Op::Reshape) && !plan_.buffered(x)) x = x.src(0);
  return want(x, through_reshape(x, u, p));
}

UOp Lowering::lower_elementwise(UOp u, const Position& p) {
  SmallVector<UOp, 4> src;
  bool ready = true;
  for (UOp s : u.sources()) {
    const UOp v = s.rank() == 0 && !p.index.empty() ? want(s, {{}, p.gate}) : want(s, p);
    ready = ready && v;
    src.push_back(v);
  }
  return ready ? graph_.with_sources(u, src) : UOp();
}

UOp Lowering::lower_reduce(const Task& task, const Position& p) {
  const UOp u = task.node;
  const auto axes = u.arg().as_ints().subspan(1);
  Position inner = p;
  SmallVector<UOp, 8> ranges;
  UOp* known = reduce_ranges_.find(task);
  for (std::size_t i = 0; i < axes.size(); i++) {
    const Extent size = u.src(0).extent(axes[i]);
    if (size.is_number(0))
      return graph_.constant_bits(u.dtype(), identity_of(u.reduce_op(), u.dtype()));
    const UOp r = known ? known->src(static_cast<int>(i)) : new_range(size, LoopKind::Reduce);
    inner.index[axes[i]] = r;
    ranges.push_back(r);
  }
  if (!known) {
    reduce_ranges_.insert(task, graph_.sink(ranges));
    placements_.resize(sizes_.size());
    for (UOp r : ranges) {
      if (r.is(Op::Range))
        placements_[static_cast<std::size_t>(r.range_id())] = {true, ranges_of(p)};
    }
  }
  SmallVector<UOp, 8> loops;
  for (UOp r : ranges) {
    if (!r.is(Op::Range)) continue;
    loops.push_back(r);
    if (plan_.block_of(u)) in_blocks_ = in_blocks_ | r.ranges();
  }
  const UOp x = want(u.src(0), inner);
  if (!x) return UOp();
  const UOp result = flat_reduce(u.reduce_op(), x, loops);
  if (plan_.feeds_sum(u)) joinable_.insert(result.node(), true);
  return result;
}

// A sum of sums is one sum; so is a sum of gated sums, each term gated.
UOp Lowering::flat_reduce(Op op, UOp x, SmallVector<UOp, 8> loops) {
  UOp gate;
  while (op == Op::Add) {
    UOp inner = x;
    const bool gated = x.is(Op::Where) && x.src(2).is_const(0);
    if (gated) inner = x.src(1);
    if (!inner.is(Op::Reduce) || inner.reduce_op() != op || !joinable_.contains(inner.node()))
      break;
    if (gated) gate = gate ? both(gate, x.src(0)) : x.src(0);
    for (int i = 1; i < inner.num_src(); i++) loops.push_back(inner.src(i));
    x = inner.src(0);
  }
  if (gate) x = where(gate, x, graph_.constant(x.dtype(), std::int64_t{0}));
  return graph_.reduce(op, x, loops);
}

// x[i0, i1, ..]: the indices are values themselves; out of range gives zero.
UOp Lowering::lower_gather(UOp u, const Position& p) {
  const UOp x = u.src(0);
  Position inner{{}, p.gate};
  bool ready = true;
  for (int i = 1; i < u.num_src(); i++) {
    UOp v = want(u.src(i), p);
    ready = ready && v;
    if (!v) continue;
    v = cast(v, DType::Index);
    inner.gate = both(inner.gate, within(v, x.extent(i - 1)));
    inner.index.push_back(v);
  }
  if (!ready) return UOp();
  const UOp v = want(x, inner);
  if (!v || inner.gate == p.gate) return v;
  return where(inner.gate, v, graph_.constant(u.dtype(), std::int64_t{0}));
}

// The gate is for safety only (what must be zero outside of it is selected where the gate arose),
// so an access that cannot leave the buffer has none.
UOp Lowering::lower_load(UOp state, const Position& p) {
  const UOp buffer = buffer_of_(context_, state);
  const UOp flat = flat_index(p.index, extents_of(state), graph_);
  const bool inside = flat.lo() >= 0 && flat.hi() < state.least_elements();
  const UOp place =
      inside || p.gate.is_const() ? graph_.place(buffer, flat) : graph_.place(buffer, flat, p.gate);
  const auto read = std::ranges::find(reads_, state, &Read::state);
  if (read == reads_.end()) {
    reads_.push_back({state, {place}});
  } else {
    read->places.push_back(place);
  }
  return cast(graph_.load(place), state.dtype());  // an Index stands in memory as an Int64
}

// ---- what fusing would repeat -----------------------------------------------------------------

RangeSet Lowering::ranges_of(const Position& p) const {
  RangeSet s;
  for (UOp i : p.index) s = s | i.ranges();
  return s;
}

std::int64_t Lowering::iterations(RangeSet ranges) const {
  std::int64_t n = 1;
  for (std::size_t id = 0; id < sizes_.size(); id++) {
    if (ranges.contains(static_cast<std::int64_t>(id))) n *= sizes_[id];
  }
  return n;
}

// The loops that run an expression varying over `open`: inside a reduction those of its place, else
// in the worst case all output loops.
RangeSet Lowering::loops_around(RangeSet open) const {
  RangeSet around = open;
  bool in_reduction = false;
  for (std::size_t id = 0; id < placements_.size(); id++) {
    if (placements_[id].reduction && open.contains(static_cast<std::int64_t>(id))) {
      around = around | placements_[id].outer;
      in_reduction = true;
    }
  }
  return in_reduction ? around : output_ranges_;
}

// How often an expression at a position is computed: once where a reduction has several iterations
// for a position, which codegen makes a loop of their own.
std::int64_t Lowering::computations(const Position& p, RangeSet around) const {
  std::int64_t n = iterations(around);
  const auto unused = static_cast<std::int64_t>(sizes_.size());
  for (const auto& [task, loops] : reduce_ranges_) {
    for (UOp r : loops.sources()) {
      if (r.is(Op::Range) && ranges_of(p).contains(r.range_id())) n /= run_along(p, r, unused);
    }
  }
  return n;
}

// Marks what has to be buffered and returns true if something has.
bool Lowering::must_buffer(UOp u, const Position& p) {
  // Mathematical integers have no width in memory: what they are computed from is stored instead.
  if (u == root_ || u.dtype() == DType::Index) return false;
  if (u.is(Op::Reduce)) {
    if (const BufferReason reason = why_buffer_reduce(u, p)) {
      plan_.buffer(plan_.epilogue(u), reason);
      return grown_ = true;
    }
  }
  const auto buffers = static_cast<std::int64_t>(reads_.size()) + 1;
  const auto ranges = static_cast<std::int64_t>(sizes_.size());
  const bool many_buffers = buffers >= limits_.max_buffers;
  if ((ranges > most_nest_ranges || many_buffers) && u.num_src() > 0 && !is_movement(u.op())) {
    plan_.buffer(u, many_buffers
                        ? BufferReason{BufferCause::ManyBuffers, buffers, limits_.max_buffers}
                        : BufferReason{BufferCause::ManyRanges, ranges, most_nest_ranges});
    return grown_ = true;
  }
  // An operand of a contraction that costs more than a load, visited once per element of the other
  // operand.
  // What is looked up element by element has no neighbours for lanes.
  const bool is_factor = is_multiplied_by_units(u.dtype()) && !is_as_stored(u);
  const std::int64_t cost = u.is(Op::Gather) ? dear - 1
                            : is_factor      ? std::max(plan_.cost(u), least_factor_cost)
                                             : plan_.cost(u);
  const bool widens = u.is(Op::Cast) && size_of(u.src(0).dtype()) < size_of(u.dtype());
  if (widens && is_multiplied_by_units(u.src(0).dtype())) return false;  // its source is stored
  if (!(is_elementwise(u.op()) || u.is(Op::Gather)) || cost < 2 || (cost == 2 && u.is(Op::Where))) {
    return false;
  }
  if (plan_.is_mask(u)) return false;
  const RangeSet open = ranges_of(p);
  const bool in_reduction = !(open - output_ranges_).empty();
  if (u.is(Op::Gather) && !in_reduction) return false;
  // Weights and scales, of which panels are made there.
  if (open.intersects(in_blocks_) && cost < dear && is_made_of_bytes(u)) return false;
  if (plan_.contains_reduce(u) && !in_reduction) return false;  // the reduction decides
  const RangeSet around = loops_around(open);
  if (u.elements() < 64 && cost < dear) return false;
  // Beside a long reduction, arithmetic that is done once an element of the result is nothing.
  if (around == output_ranges_ && cost * small_beside_reduction <= reduced_) return false;
  const std::int64_t visits = computations(p, around);
  const bool is_decoded = visits < iterations(around) || is_packed(u);
  const std::int64_t least_visits = cost == 2                       ? least_cheap_visits
                                    : !in_reduction || cost >= dear ? 2
                                    : is_decoded                    ? least_decoded_visits
                                                                    : least_computed_visits;
  if (visits / least_visits < u.elements()) return false;
  const UOp last = plan_.epilogue(u);  // a clamp of what is normed, but no factor made wide
  plan_.buffer(size_of(last.dtype()) <= size_of(u.dtype()) ? last : u,
               {BufferCause::RepeatedOperand, visits / u.elements(), cost});
  return grown_ = true;
}

// Whether it is memory of its dtype, widened, perhaps times one as in a gradient, and made narrow
// again: code generation makes a load of that.
bool Lowering::is_as_stored(UOp u) const {
  UOp stored = u;
  const auto is_one = [](UOp factor) { return strip_movement(factor).is_const(1); };
  while (stored.is(Op::Cast) || is_movement(stored.op()) || stored.is(Op::Mul)) {
    if (stored.is(Op::Mul) && !is_one(stored.src(0)) && !is_one(stored.src(1))) return false;
    stored = stored.src(stored.is(Op::Mul) && is_one(stored.src(0)) ? 1 : 0);
  }
  return stored.dtype() == u.dtype() && (is_state(stored) || plan_.buffered(stored));
}

// Whether a matrix unit of a wave takes factors of the dtype.  What units gain with wide ones is
// not worth a pass over memory.
bool Lowering::is_multiplied_by_units(DType t) const {
  if (size_of(t) > 2) return false;
  return std::ranges::any_of(limits_.units, [&](const MatrixUnit* unit) {
    return (unit->a == t || unit->b == t) && is_allowed(*unit);
  });
}

// None if the reduction may be computed at the position.
BufferReason Lowering::why_buffer_reduce(UOp u, const Position& p) {
  const RangeSet varies = ranges_of(p);
  // Half as much again is let pass: the border of a padded tensor.
  const std::int64_t visits = visits_of(varies);
  if (visits * 2 > u.elements() * 3) {
    return {BufferCause::RepeatedReduction, visits / u.elements()};
  }
  const bool in_reduction = !(varies - output_ranges_).empty();
  if (in_reduction && !plan_.feeds_sum(u) && !plan_.is_block_of_sum(u))
    return {BufferCause::NestedReduction};
  const UOp packed = pack(p);
  if (const UOp* first = reduce_positions_.find(u.node())) {
    if (*first != packed) return {BufferCause::SeveralPlaces};
  } else {
    reduce_positions_.insert(u.node(), packed);
  }
  const bool is_in_order = varies.intersects(serial_ranges_);
  if (!in_reduction && is_contraction(u, is_in_order)) {
    if (is_in_order) return {BufferCause::RowsInOrder};
    if (contraction_ && contraction_ != u) return {BufferCause::SecondContraction};
    contraction_ = u;
  }
  if (in_reduction || varies == output_ranges_) return {};
  return why_not_hoist(u, varies);
}

// Whether a value takes far less memory in the form that it is computed from than in the one that
// is made of it in the end: bits of a weight are no more than a step on the way.
bool Lowering::is_packed(UOp u) const {
  std::int64_t bytes = 0;
  for_memory_below(u, [&](UOp x) { bytes += x.elements() * size_of(x.dtype()); });
  return 2 * bytes <= u.elements() * size_of(plan_.epilogue(u).dtype());
}

bool Lowering::is_made_of_bytes(UOp u) const {
  bool result = true;
  for_memory_below(u, [&](UOp x) { result = result && size_of(x.dtype()) == 1; });
  return result;
}

// Calls with what is read from memory to compute `u`, each once.
void Lowering::for_memory_below(UOp u, function_ref<void(UOp)> read) const {
  FlatSet<const Node*> seen;
  std::vector<UOp> pending{u};
  while (!pending.empty()) {
    const UOp x = pending.back();
    pending.pop_back();
    if (!seen.insert(x.node())) continue;
    if (is_state(x) || plan_.buffered(x)) {
      read(x);
    } else {
      for (UOp s : x.sources()) pending.push_back(s);
    }
  }
}

// Whether the reduction is so large, and visits each element below so often, that it wants tiles of
// its own.
bool Lowering::is_contraction(UOp u, bool is_in_order) const {
  const UOp block = plan_.block_of(u);
  const std::int64_t visits = (block ? block : u).src(0).elements();
  if (visits < (is_in_order ? least_contraction_in_order : least_contraction)) return false;
  if (block) return uses_in_block(block) >= MachineModel::least_reuse;
  std::int64_t memory = 0;
  for_memory_below(u.src(0), [&](UOp x) { memory += x.elements(); });
  return visits > contraction_reuse * memory;
}

// How many elements of a value the loops walk that its position varies over.
std::int64_t Lowering::visits_of(RangeSet varies) const {
  const bool in_reduction = !(varies - output_ranges_).empty();
  return iterations(in_reduction ? loops_around(varies) | varies : varies);
}

// The loops of `varies` go outermost: they must be free to, nest with those of other hoisted
// reductions, do no work twice, and leave enough to run in parallel.
BufferReason Lowering::why_not_hoist(UOp u, RangeSet varies) {
  if (varies.intersects(serial_ranges_)) return {BufferCause::LoopOrder};
  for (RangeSet other : hoisted_) {
    if (!other.contains_all(varies) && !varies.contains_all(other)) return {BufferCause::LoopOrder};
  }
  const std::int64_t outer = iterations(varies);
  if (outer > u.elements()) return {BufferCause::RepeatedReduction, outer / u.elements()};
  const std::int64_t work = std::max(u.src(0).elements(), iterations(output_ranges_));
  const bool reduces_rows = u.arg().as_ints().back() == u.src(0).rank() - 1;
  const std::int64_t wanted = 2 * (reduces_rows ? limits_.threads : limits_.columns);
  if (outer < wanted && work > small_work) return {BufferCause::FewOuterLoops, outer, wanted};
  hoisted_.push_back(varies);
  return {};
}

}  // namespace croze
