// fuse.cpp -- the cost model of fusion.
//
// A node is computed where it is used (fused) unless storing it is cheaper.  This file decides what
// can be decided from the graph alone:
//
//   * roots, Contiguous, copies and scatters have buffers because they were asked for;
//   * a node wanted by several kernels is stored if it holds a reduction or costs more than a few
//     operations: else each kernel computes it again, which saves memory traffic;
//   * an elementwise expression is cut when it has grown so large, or reads so many buffers, that
//     compiling it as one kernel costs more than a pass over memory.
//
// What depends on the loops around (would this reduction be repeated?) is decided while lowering
// (lower.cpp), which adds buffers.
#include "croze/schedule/fuse.h"

#include <algorithm>

#include "croze/codegen/choose/warps/warp_model.h"
#include "croze/codegen/decompose/words.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

constexpr float max_fused_reads = 30;

// An operand of so many times fewer elements than an expression is far smaller: a part that is put
// beside others, a row that is repeated.
constexpr std::int64_t small_operand = 8;

// Nodes between a value and the one in which all that is made of it meets again: an activation.
constexpr std::int32_t most_joined = 16;

// Of what has a buffer whatever it costs.
BufferReason always_buffered(Op op) {
  switch (op) {
    case Op::Contiguous:
    case Op::ContiguousBackward: return {BufferCause::Contiguous};
    case Op::Copy: return {BufferCause::Copied};
    case Op::Scatter: return {BufferCause::ScatterTarget};
    default: return {};
  }
}

// Whether a buffer can hold the node: mathematical integers have no width before codegen.
bool fits_memory(UOp u) { return u.dtype() != DType::Index; }

bool is_number(UOp u) { return u.is(Op::Const) || u.is(Op::Variable); }

// Terms of a block of quantized numbers, at most.
constexpr std::int64_t longest_block = 64;

// A byte, or what units that have no use for bytes want instead.
bool is_widened_byte(UOp u) {
  u = strip_movement(u);
  while (u.is(Op::Cast) && is_integer(u.dtype()) && size_of(u.dtype()) > 2)
    u = strip_movement(u.src(0));
  return is_integer(u.dtype()) && size_of(u.dtype()) <= 2;
}

bool adds_products_of_bytes(UOp u) {
  if (!u.is(Op::Reduce) || u.reduce_op() != Op::Add || !is_integer(u.dtype())) return false;
  if (u.elements() == 0 || u.src(0).elements() / u.elements() > longest_block) return false;
  UOp product = u.src(0);
  if (product.is(Op::Cast) && is_integer(product.src(0).dtype())) product = product.src(0);
  return product.is(Op::Mul) && is_widened_byte(product.src(0)) && is_widened_byte(product.src(1));
}

// Costs nothing to compute anywhere.
bool is_free(UOp u) { return is_number(u) || u.is(Op::Iota) || is_state(u); }

}  // namespace

std::int32_t arithmetic_cost(Op op) {
  if (has_trait(op, trait_transcendental)) return 10;
  switch (op) {
    case Op::Threefry: return 40;
    case Op::Div:
    case Op::Sqrt:
    case Op::Reciprocal:
    case Op::Gather: return 4;
    case Op::Const:
    case Op::Cast:
    case Op::Bitcast: return 0;
    default: return is_elementwise(op) ? 1 : 0;
  }
}

bool is_state(UOp u) { return u.is(Op::Buffer) || u.is(Op::After); }

UOp strip_movement(UOp u) {
  while (is_movement(u.op())) u = u.src(0);
  return u;
}

FusionPlan::FusionPlan(std::span<const UOp> roots, bool fuse, const Caps& caps)
    : machine_(caps), runs_warps_(caps.runs_warps()), splits_words_(needs_words(caps)) {
  const std::vector<UOp> order = toposort(roots);
  facts_.resize(order.empty() ? 0 : order.front().graph().id_limit());
  for (UOp root : roots) {
    const UOp u = strip_movement(root);
    if (!is_state(root) && !(is_state(u) && root != u && root.op() == Op::Reshape)) {
      if (!is_state(root)) buffer(root, {BufferCause::Requested});
    }
  }
  count_consumers(order);
  for (UOp u : order) {
    const bool computes =
        !is_free(u) && (is_elementwise(u.op()) || u.is(Op::Reduce) || u.is(Op::Gather));
    const BufferReason reason = always_buffered(u.op());
    if (reason && !(fuse && is_for_store_only(u))) buffer(u, reason);
    if (!fuse && computes && fits_memory(u)) buffer(u, {BufferCause::Unfused});
    if (u.is(Op::Copy) && !is_state(u.src(0))) buffer(u.src(0), {BufferCause::CopySource});
  }
  measure(order);
  assign_owners(order);
  measure_distances(order);
  release_cheap(order);
  for (UOp u : order) {
    if (const UOp sum = sum_of_blocks(u)) facts(sum).block = u;
  }
}

void FusionPlan::buffer(UOp u, BufferReason reason) {
  facts(u).buffered = true;
  reasons_.insert(u.node(), reason);
}

BufferReason FusionPlan::reason(UOp u) const {
  const BufferReason* known = reasons_.find(u.node());
  return known ? *known : BufferReason{};
}

void FusionPlan::count_consumers(std::span<const UOp> order) {
  for (UOp u : order) {
    for (UOp s : u.sources()) {
      if (facts(s).consumer == u) continue;
      facts(s).consumers++;
      facts(s).consumer = u;
    }
  }
}

// Whether it is asked to be in memory and goes to memory that there is: an assignment is one pass.
bool FusionPlan::is_for_store_only(UOp u) const {
  const Facts& f = facts_[u.id()];
  return u.is(Op::Contiguous) && f.consumers == 1 && f.consumer.is(Op::Store);
}

// Where the expression above reads: a shared reduction will be buffered in nearly every case.
bool FusionPlan::is_boundary(UOp u) const {
  const Facts& f = facts_[u.id()];
  return f.buffered || is_free(u) || (f.contains_reduce && f.consumers > 1);
}

void FusionPlan::measure_one(UOp u) {
  Facts& f = facts(u);
  std::int64_t cost = arithmetic_cost(u.op());
  f.contains_reduce = u.is(Op::Reduce) || f.joins_reduce;
  f.size = static_cast<float>(splits_words_ ? cost * length_in_words(u) : cost);
  f.reads = 0;
  for (int i = 0; i < u.num_src(); i++) {
    const UOp s = u.src(i);
    if (i > 0 && s == u.src(0)) continue;
    const Facts& g = facts(s);
    if (is_boundary(s)) {
      f.reads += is_number(s) || s.is(Op::Iota) ? 0.0F : 1.0F;
      continue;
    }
    cost += g.cost;
    f.contains_reduce = f.contains_reduce || g.contains_reduce;
    f.size += g.size / static_cast<float>(g.consumers);
    f.reads += g.reads / static_cast<float>(g.consumers);
  }
  f.cost = static_cast<std::int32_t>(std::min<std::int64_t>(cost, 1 << 20));
}

// Of an expression that has grown too large: what is far smaller than it, and stands below views of
// one of its operands, is stored in its stead.  False if there is none.
bool FusionPlan::buffer_small_operand(UOp u) {
  for (UOp s : u.sources()) {
    const UOp base = strip_movement(s);
    const bool is_computed = is_elementwise(base.op()) && !is_boundary(base) && fits_memory(base);
    if (!is_computed || facts(base).cost <= cheap_cost) continue;
    if (base.elements() * small_operand > u.elements()) continue;
    buffer(base,
           {BufferCause::LargeExpression, static_cast<std::int64_t>(facts(u).size), max_size});
    std::vector<UOp> views;
    for (UOp v = s; v != base; v = v.src(0)) views.push_back(v);
    for (; !views.empty(); views.pop_back()) measure_one(views.back());
    return true;
  }
  return false;
}

void FusionPlan::buffer_if_large(UOp u) {
  if (!is_elementwise(u.op()) || !fits_memory(u)) return;
  const Facts& f = facts(u);
  if (f.size > static_cast<float>(max_size) && buffer_small_operand(u)) measure_one(u);
  if (f.size > static_cast<float>(max_size)) {
    buffer(u, {BufferCause::LargeExpression, static_cast<std::int64_t>(f.size), max_size});
  } else if (f.reads > max_fused_reads) {
    buffer(u, {BufferCause::ManyReads, static_cast<std::int64_t>(f.reads),
               static_cast<std::int64_t>(max_fused_reads)});
  }
}

// Bottom-up.
void FusionPlan::measure(std::span<const UOp> order) {
  for (UOp u : order) {
    if (is_free(u)) continue;
    measure_one(u);
    buffer_if_large(u);
    const Facts& f = facts(u);
    if (f.buffered || !f.contains_reduce || f.consumers < 2) continue;
    if (const UOp top = join_above(u)) facts(top).joins_reduce = true;
  }
}

// Top-down.  Movement ops are never stored themselves: what they move is.
void FusionPlan::assign_owners(std::span<const UOp> order) {
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const UOp u = *it;
    Facts& f = facts(u);
    if (f.many_owners && !is_free(u) && !is_movement(u.op()) && !u.is(Op::Store) &&
        fits_memory(u)) {
      if (f.contains_reduce) {
        buffer(u, {BufferCause::SharedReduction});
      } else if (f.cost > cheap_cost) {
        buffer(u, {BufferCause::SharedArithmetic, f.cost, cheap_cost});
      }
    }
    const bool starts = starts_kernel(u);
    for (UOp s : u.sources()) {
      Facts& g = facts(s);
      const UOp owner = starts ? u : f.owner;
      if (!starts && f.many_owners) g.many_owners = true;
      if (g.owner && owner && g.owner != owner) g.many_owners = true;
      if (owner) g.owner = owner;
    }
  }
}

bool FusionPlan::starts_kernel(UOp u) const {
  return facts_[u.id()].buffered || u.is(Op::Store) || u.is(Op::After);
}

// How much is read and written between the making of a value and its last use tells from where it
// comes back.
void FusionPlan::measure_distances(std::span<const UOp> order) {
  double touched = 0;
  for (UOp u : order) {
    facts(u).made_at = facts(u).wanted_at = touched;
    const bool in_memory = u.is(Op::Buffer) || facts(u).buffered;
    if (in_memory) touched += static_cast<double>(u.elements() * size_of(u.dtype()));
  }
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Facts& f = facts(*it);
    const double at = starts_kernel(*it) ? f.made_at : f.wanted_at;
    for (UOp s : it->sources()) facts(s).wanted_at = std::max(facts(s).wanted_at, at);
  }
}

// Bottom-up.  What a value costs was counted before the values below it got buffers: from these it
// may be a step away, and then they serve its readers as well.
void FusionPlan::release_cheap(std::span<const UOp> order) {
  for (UOp u : order) {
    Facts& f = facts(u);
    if (is_free(u)) continue;
    std::int64_t cost = arithmetic_cost(u.op());
    for (int i = 0; i < u.num_src(); i++) {
      const UOp s = u.src(i);
      if (i > 0 && s == u.src(0)) continue;
      if (!is_boundary(s)) cost += facts(s).cost;
    }
    f.cost = static_cast<std::int32_t>(std::min<std::int64_t>(cost, f.cost));
    if (!f.buffered || reason(u).cause != BufferCause::SharedArithmetic) continue;
    const Repeated again = repeated(u);
    if (again.large_reads > 1) continue;
    const std::int64_t affordable = affordable_operations(u);
    if (again.operations > affordable) {
      reasons_[u.node()] = {BufferCause::SharedArithmetic, again.operations, affordable};
      continue;
    }
    f.buffered = false;
    reasons_.erase(u.node());
  }
}

FusionPlan::Repeated FusionPlan::repeated(UOp u) const {
  Repeated result;
  FlatSet<const Node*> seen;
  std::vector<UOp> pending{u};
  while (!pending.empty()) {
    const UOp v = pending.back();
    pending.pop_back();
    result.operations += arithmetic_cost(v.op());
    for (UOp s : v.sources()) {
      if (!seen.insert(s.node())) continue;
      if (!is_boundary(s)) {
        pending.push_back(s);
      } else if (!is_number(s) && 2 * s.elements() > u.elements()) {
        result.large_reads++;
      }
    }
  }
  return result;
}

// Operations an element that take no longer than writing the value down: reading it again takes as
// long as reading what it is computed from.
std::int64_t FusionPlan::affordable_operations(UOp u) const {
  const Facts& f = facts_[u.id()];
  const auto bytes = static_cast<double>(size_of(u.dtype()));
  if (runs_warps_) {
    const double cycles = bytes / WarpModel::memory_bytes;
    const double operations = machine_.write_accesses * cycles * WarpModel::multiply_adds;
    return std::max(cheap_cost, static_cast<std::int64_t>(operations));
  }
  const double lanes = std::max(1.0, static_cast<double>(machine_.vector_bytes) / bytes);
  const double written =
      machine_.write_accesses * bytes * machine_.cycles_per_byte(f.wanted_at - f.made_at);
  const double operations = written * lanes * static_cast<double>(machine_.threads);
  return std::max(cheap_cost, static_cast<std::int64_t>(operations));
}

bool FusionPlan::is_mask(UOp u) const {
  const Facts& f = facts_[u.id()];
  return u.dtype() == DType::Bool && f.reads == 0 && !f.contains_reduce && f.cost <= cheap_cost;
}

UOp FusionPlan::epilogue(UOp u) const {
  const std::int64_t elements = u.elements();
  UOp best = u, alone = u;
  for (UOp top = u; !facts_[top.id()].buffered;) {
    const UOp next = join_above(top);
    if (!next) break;
    // What stores the rest of the chain keeps what it makes of other reductions.
    if (facts_[next.id()].buffered) return alone;
    const bool plain_view = next.is(Op::Reshape) || next.is(Op::Permute);
    if (next.elements() != elements) break;
    if (!plain_view && !(is_elementwise(next.op()))) break;
    if (!fits_memory(next)) break;
    const bool is_alone = alone == best && !adds_reduction(next, top);
    top = next;
    if (!plain_view) best = top;
    if (is_alone) alone = best;
  }
  return best;
}

bool FusionPlan::adds_reduction(UOp u, UOp chain) const {
  const auto consumers = facts_[chain.id()].consumers;
  for (UOp s : u.sources()) {
    if (s != chain && consumers == 1 && contains_reduce(s) && !facts_[s.id()].buffered) return true;
  }
  return false;
}

UOp FusionPlan::join_above(UOp u) const {
  const std::int32_t consumers = facts_[u.id()].consumers;
  UOp top = consumers > 0 ? facts_[u.id()].consumer : UOp();
  for (int i = 0; consumers > 1 && i < most_joined; i++) {
    if (!is_elementwise(top.op())) return UOp();
    if (consumers_within(top, u) == consumers) return top;
    if (facts_[top.id()].consumers != 1) return UOp();
    top = facts_[top.id()].consumer;
  }
  return consumers > 1 ? UOp() : top;
}

std::int32_t FusionPlan::consumers_within(UOp top, UOp u) const {
  std::int32_t found = 0;
  FlatSet<const Node*> seen;
  std::vector<UOp> pending{top};
  while (!pending.empty() && seen.size() < most_joined) {
    const UOp v = pending.back();
    pending.pop_back();
    if (!seen.insert(v.node())) continue;
    bool uses = false;
    for (UOp s : v.sources()) {
      uses = uses || s == u;
      const Facts& f = facts_[s.id()];
      const bool is_inside = f.consumers == 1 && !f.buffered && is_elementwise(s.op());
      if (is_inside && s != u && s.elements() == u.elements()) pending.push_back(s);
    }
    if (uses) found++;
  }
  return found;
}

bool FusionPlan::feeds_sum(UOp u) const {
  if (u.reduce_op() != Op::Add) return false;
  for (UOp top = u;;) {
    const Facts& f = facts_[top.id()];
    if (f.consumers != 1 || f.buffered) return false;
    top = f.consumer;
    if (top.is(Op::Reduce)) return top.reduce_op() == Op::Add;
    if (!is_movement(top.op())) return false;
  }
}

UOp FusionPlan::sum_of_blocks(UOp u) const {
  if (!adds_products_of_bytes(u) || facts_[u.id()].buffered) return UOp();
  for (UOp top = u;;) {
    const Facts& f = facts_[top.id()];
    if (f.consumers != 1) return UOp();
    top = f.consumer;
    if (top.is(Op::Reduce)) return top.reduce_op() == Op::Add ? top : UOp();
    const bool is_view = top.is(Op::Reshape) || top.is(Op::Permute);
    const bool is_inside = !facts_[top.id()].buffered && (is_view || is_elementwise(top.op()));
    if (!is_inside || top.elements() != u.elements()) return UOp();
  }
}

}  // namespace croze
