// spec.cpp -- what is legal at each boundary.
#include "croze/graph/analysis/spec.h"

#include <initializer_list>
#include <map>
#include <set>
#include <vector>

#include "croze/base/error.h"
#include "croze/graph/graph.h"
#include "croze/graph/matrix_unit.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/text/print.h"

namespace croze {
namespace {

OpSet with_traits(std::uint16_t traits) {
  OpSet set;
  for (int i = 0; i < num_ops; i++) {
    if (info(static_cast<Op>(i)).traits & traits) set.set(static_cast<std::size_t>(i));
  }
  return set;
}

// One stage: its name, and a test that every node passes.
class Checker {
 public:
  Checker(const char* stage, OpSet legal) : stage_(stage), legal_(legal) {}

  void require(bool ok, UOp u, const char* what) const {
    if (ok) return;
    fail_internal({.pass = stage_, .node = to_string(u)}, "illegal {}: {} {}", stage_,
                  info(u.op()).name, what);
  }

  // What holds at every stage.
  void check_node(UOp u) const {
    require(legal_.test(static_cast<std::size_t>(u.op())), u, "does not belong here");
    require(takes_sources(u.op(), u.num_src()), u, "has the wrong number of sources");
    if (has_trait(u.op(), trait_effect)) require(u.dtype() == DType::Void, u, "has a dtype");
    if (is_elementwise(u.op()) && u.num_src() > 0) check_elementwise(u);
  }

 private:
  void check_elementwise(UOp u) const {
    for (UOp s : u.sources()) require(s.dtype() != DType::Void, u, "has a source without value");
    if (u.is(Op::Cast) || u.is(Op::Bitcast)) return;
    const bool is_where = u.is(Op::Where);
    const DType t = u.src(u.num_src() - 1).dtype();
    for (int i = is_where ? 1 : 0; i < u.num_src(); i++) {
      require(u.src(i).dtype() == t, u, "has sources of different dtypes");
    }
    if (is_where) require(u.src(0).dtype() == DType::Bool, u, "has a condition that is not bool");
    require(u.dtype() == (is_comparison(u.op()) ? DType::Bool : t), u, "has the wrong dtype");
    if (has_trait(u.op(), trait_integer_only)) require(is_integral(t), u, "is for integers");
    if (has_trait(u.op(), trait_float_only)) require(is_float(t), u, "is for floats");
  }

  const char* stage_;
  OpSet legal_;
};

bool is_reduction(Op op) {
  return op == Op::Add || op == Op::Mul || op == Op::Max || op == Op::Min || op == Op::And ||
         op == Op::Or || op == Op::Xor;
}

// The storage behind a buffer operand, looking through After.
UOp storage(UOp u) {
  while (u.is(Op::After)) u = u.src(0);
  return u;
}

// ---- tensor graphs ----------------------------------------------------------------------------

const Checker& tensor_checker() {
  static const Checker& checker = *new Checker(
      "tensor graph", (with_traits(trait_elementwise | trait_movement) &
                       ~set_of({Op::Invalid, Op::CDiv, Op::CMod, Op::Scale})) |
                          set_of({Op::Buffer, Op::Variable, Op::Iota, Op::Gather, Op::Scatter,
                                  Op::Contiguous, Op::ContiguousBackward, Op::Detach, Op::Copy,
                                  Op::Reduce, Op::Store, Op::After, Op::Sink}));
  return checker;
}

void check_tensor_node(const Checker& checker, UOp u) {
  checker.check_node(u);
  switch (u.op()) {
    case Op::Reduce:
      checker.require(u.num_src() == 1 && u.arg().as_ints().size() >= 1, u, "is over axes here");
      checker.require(is_reduction(u.reduce_op()), u, "is by an op that does not reduce");
      break;
    case Op::Gather:
    case Op::Scatter:
      for (int i = u.is(Op::Gather) ? 1 : 2; i < u.num_src(); i++) {
        checker.require(is_integral(u.src(i).dtype()), u, "has an index that is no integer");
      }
      break;
    case Op::Store:
      checker.require(u.num_src() >= 2 && u.src(0).dtype() == u.src(1).dtype(), u,
                      "stores another dtype");
      break;
    default: break;
  }
}

// ---- kernels ----------------------------------------------------------------------------------

const Checker& kernel_checker() {
  static const Checker& checker = *new Checker(
      "kernel",
      (with_traits(trait_elementwise)) |
          set_of({Op::Param, Op::Variable, Op::Range, Op::Reduce, Op::TupleReduce, Op::Part,
                  Op::Index, Op::Load, Op::Store, Op::After, Op::Sink, Op::Local}));
  return checker;
}

void check_ranges(const Checker& checker, UOp u, int first) {
  for (int i = first; i < u.num_src(); i++) {
    checker.require(u.src(i).is(Op::Range), u, "closes what is no range");
  }
}

void check_place(const Checker& checker, UOp u, DType index_type) {
  checker.require(u.num_src() == 2 || u.num_src() == 3, u, "needs a buffer, an index, and a gate");
  const Op buffer = storage(u.src(0)).op();
  checker.require(buffer == Op::Param || buffer == Op::Local, u, "is into no memory");
  checker.require(u.dtype() == u.src(0).dtype(), u, "has another dtype than its buffer");
  const DType t = u.src(1).dtype();
  checker.require(index_type == DType::Index ? t == DType::Index : is_integer(t), u,
                  "has an index of the wrong dtype");
  checker.require(u.num_src() < 3 || u.src(2).dtype() == DType::Bool, u,
                  "has a gate that is not bool");
}

// The source of an open range or buffer is known before the kernel begins.
void check_size(const Checker& checker, UOp u, std::int64_t most) {
  const UOp size = u.src(0);
  checker.require(size.dtype() == DType::Index, u, "has a size that is no index");
  checker.require(size.lo() >= 0 && size.hi() <= most, u, "has a size beyond its limits");
  for (UOp part : toposort(size)) {
    switch (part.op()) {
      case Op::Const:
      case Op::Variable:
      case Op::Add:
      case Op::Mul:
      case Op::IDiv:
      case Op::Mod:
      case Op::Max:
      case Op::Min: break;
      default: checker.require(false, u, "has a size that depends on more than variables");
    }
  }
}

void check_kernel_node(const Checker& checker, UOp u) {
  checker.check_node(u);
  switch (u.op()) {
    case Op::Index: check_place(checker, u, DType::Index); break;
    case Op::Load: checker.require(u.src(0).is(Op::Index), u, "is from no place"); break;
    case Op::Store:
      checker.require(u.num_src() >= 2 && u.src(0).is(Op::Index), u, "is to no place");
      checker.require(u.src(0).dtype() == u.src(1).dtype(), u, "stores another dtype");
      check_ranges(checker, u, 2);
      break;
    case Op::Reduce:
      checker.require(u.num_src() >= 2, u, "is over ranges here");
      checker.require(is_reduction(u.reduce_op()), u, "is by an op that does not reduce");
      check_ranges(checker, u, 1);
      break;
    case Op::TupleReduce:
      checker.require(u.first_closed() > 0 && u.num_src() > u.first_closed(), u,
                      "needs values and ranges");
      check_ranges(checker, u, u.first_closed());
      break;
    case Op::Part:
      checker.require(u.src(0).is(Op::TupleReduce) && u.arg().value > 0 &&
                          u.arg().value < u.src(0).first_closed(),
                      u, "is of no tuple");
      break;
    case Op::Range:
      checker.require(u.range_size() > 0, u, "has no values");
      if (u.is_open()) check_size(checker, u, u.range_size());
      break;
    case Op::Param:
      if (u.num_src() > 0) check_size(checker, u, u.elements());
      break;
    default: break;
  }
}

// ---- linear programs --------------------------------------------------------------------------

const Checker& program_checker() {
  static const Checker& checker = *new Checker(
      "linear program",
      (with_traits(trait_elementwise) & ~set_of({Op::Invalid})) |
          set_of({Op::Param,    Op::Variable, Op::Special,    Op::Local,         Op::Register,
                  Op::Range,    Op::Loop,     Op::EndLoop,    Op::Load,          Op::Store,
                  Op::Reduce,   Op::Barrier,  Op::Exchange,   Op::Prefetch,      Op::Lookup,
                  Op::Contract, Op::Shuffle,  Op::LoadMatrix, Op::AwaitProducts, Op::CopyBox,
                  Op::Ballot}));
  return checker;
}

// Index and After are no instructions: what they are made of must have come before.
bool is_available(const std::set<const Node*>& seen, UOp u) {
  std::vector<UOp> pending{u};
  while (!pending.empty()) {
    const UOp v = pending.back();
    pending.pop_back();
    if (seen.contains(v.node())) continue;
    if (v.is(Op::After)) {
      pending.push_back(v.src(0));  // its effects only order
    } else if (v.is(Op::Index)) {
      for (UOp s : v.sources()) pending.push_back(s);
    } else {
      return false;
    }
  }
  return true;
}

// What was not bound to anything else runs as a loop.
bool is_loop_or_lane(LoopKind kind) {
  switch (kind) {
    case LoopKind::Thread:
    case LoopKind::Group:
    case LoopKind::Item:
    case LoopKind::Unroll:
    case LoopKind::Depth: return false;
    default: return true;
  }
}

// An operand of a unit: all its lanes, or the same in all of them.  What the device has no
// arithmetic for stands as bits.
bool is_operand(UOp u, UOp lane, DType t, const MatrixUnit& unit, std::string_view places) {
  const std::int64_t lanes =
      unit.threads > 1 ? places_of_thread(unit, places) : count_places(element_bits(places));
  const bool is_vector =
      lane.is(Op::Range) && lane.loop_kind() == LoopKind::Lane && lane.range_size() == lanes;
  const bool is_bits = !is_float(u.dtype()) && is_half(t) && size_of(u.dtype()) == size_of(t);
  return is_vector && (u.dtype() == t || is_bits);
}

// Whether a unit that keeps its sums may begin with these.
bool can_be_kept(UOp sums) {
  const bool is_state = sums.is(Op::Load) && storage(sums.src(0)).is(Op::Register);
  return sums.is_const(0) || sums.is(Op::Contract) || is_state;
}

void check_contract(const Checker& checker, UOp u) {
  const MatrixUnit* unit = find_matrix_unit(u.arg().as_text());
  checker.require(unit && unit->shifted.empty(), u, "is by no unit");
  if (!unit) return;
  checker.require(
      u.dtype() == unit->accumulator &&
          is_operand(u.src(0), u.src(3), unit->accumulator, *unit, unit->places_of_sums) &&
          is_operand(u.src(1), u.src(4), unit->a, *unit, unit->places_of_a) &&
          is_operand(u.src(2), u.src(5), unit->b, *unit, unit->places_of_b),
      u, "has operands that are not those of the unit");
  checker.require(!unit->keeps_sums || can_be_kept(u.src(0)), u,
                  "adds to sums that are not the unit's");
}

void check_copy(const Checker& checker, UOp u) {
  check_place(checker, u.src(1), DType::Int64);
  const UOp to = storage(u.src(0).src(0)), from = storage(u.src(1).src(0));
  const bool is_to_group = to.is(Op::Local) && static_cast<Space>(to.arg().ints[2]) == Space::Group;
  checker.require(is_to_group && from.is(Op::Param) && to.dtype() == from.dtype(), u,
                  "copies what is no parameter, or not to a group");
}

void check_box(const Checker& checker, UOp u) {
  constexpr std::int64_t most_axes = 5, row_bytes = 128;
  checker.require(u.src(0).is(Op::Index), u, "is to no place");
  if (u.src(0).is(Op::Index)) check_place(checker, u.src(0), DType::Int64);
  const UOp to = storage(u.src(0).src(0)), from = u.src(1);
  const bool is_to_group = to.is(Op::Local) && static_cast<Space>(to.arg().ints[2]) == Space::Group;
  checker.require(is_to_group && from.is(Op::Param) && to.dtype() == from.dtype(), u,
                  "copies what is no parameter, or not to a group");
  const auto words = u.arg().as_ints();
  checker.require(std::ssize(words) <= 3 * most_axes &&
                      words[2] * size_of(from.dtype()) == row_bytes && words[1] == 1,
                  u, "has no rows of 128 bytes");
  for (int i = 2; i < u.first_closed(); i++) {
    checker.require(is_integer(u.src(i).dtype()), u, "has a coordinate that is no integer");
  }
}

void check_instruction(const Checker& checker, UOp u) {
  checker.check_node(u);
  checker.require(u.dtype() != DType::Index, u, "is of dtype index");
  switch (u.op()) {
    case Op::Range:
      checker.require(is_loop_or_lane(u.loop_kind()), u, "is neither a loop nor a lane");
      break;
    case Op::Load:
    case Op::Store:
      if (u.src(0).is(Op::Index)) {
        check_place(checker, u.src(0), DType::Int64);
        if (u.is(Op::Store) && u.src(1).is(Op::Index)) check_copy(checker, u);
      } else {
        checker.require(storage(u.src(0)).is(Op::Register), u, "is neither a place nor a register");
      }
      break;
    case Op::Prefetch:
      check_place(checker, u.src(0), DType::Int64);
      checker.require(u.arg().value == 1 || u.arg().value == 2, u, "is for no cache");
      break;
    case Op::Exchange:
      checker.require(u.src(0).dtype() == u.dtype() && u.src(1).dtype() == u.dtype(), u,
                      "exchanges lanes of different dtypes");
      break;
    case Op::Lookup:
      checker.require(u.src(0).dtype() == u.dtype(), u, "looks up what is of another dtype");
      checker.require(
          is_unsigned(u.src(1).dtype()) && size_of(u.src(1).dtype()) == size_of(u.dtype()), u,
          "has indices of another size");
      break;
    case Op::CopyBox: check_box(checker, u); break;
    case Op::Contract: check_contract(checker, u); break;
    case Op::Shuffle:
      checker.require(u.src(0).dtype() == u.dtype() && size_of(u.dtype()) >= 4, u,
                      "gives items what is of another dtype, or of less than 4 bytes");
      break;
    case Op::Ballot:
      checker.require(u.src(0).dtype() == DType::Bool &&
                          u.dtype() == (u.arg().value > 32 ? DType::UInt64 : DType::UInt32),
                      u, "is no number with a bit for each item of a warp");
      break;
    case Op::LoadMatrix:
      checker.require(u.src(0).is(Op::Index) && u.src(0).num_src() == 2 &&
                          (size_of(u.dtype()) == 2 || u.arg().value > 1),
                      u, "is not of elements of 2 bytes at a place");
      checker.require(u.src(1).is(Op::Range) && u.src(1).loop_kind() == LoopKind::Lane &&
                          u.src(1).range_size() % 2 == 0,
                      u, "has no pairs of lanes");
      break;
    default: break;
  }
}

}  // namespace

void check_tensor_graph(UOp root) {
  for (UOp u : toposort(root)) check_tensor_node(tensor_checker(), u);
}

void check_kernel(UOp sink) {
  const Checker& checker = kernel_checker();
  checker.require(sink.is(Op::Sink), sink, "is not the root of a kernel");
  for (UOp s : sink.sources()) {
    checker.require(storage(s).is(Op::Store), s, "under the sink is no store");
  }
  checker.require(sink.ranges().empty(), sink, "leaves a range open");
  std::map<std::int64_t, UOp> range_of_id;
  for (UOp u : toposort(sink)) {
    check_kernel_node(checker, u);
    if (!u.is(Op::Range)) continue;
    const UOp known = range_of_id.emplace(u.range_id(), u).first->second;
    checker.require(known == u, u, "has the id of another range");
  }
}

void check_program(std::span<const UOp> instructions) {
  const Checker& checker = program_checker();
  std::set<const Node*> seen;
  std::vector<UOp> open;
  for (UOp u : instructions) {
    check_instruction(checker, u);
    const bool waits = u.is(Op::Barrier) || u.is(Op::AwaitProducts);
    const bool repeats = seen.contains(u.node()) && !waits;
    checker.require(!repeats, u, "stands in the list twice");
    if (u.is(Op::Loop)) {
      open.push_back(u.src(0));
    } else if (u.is(Op::EndLoop)) {
      checker.require(!open.empty() && open.back() == u.src(0), u, "ends no open loop");
      open.pop_back();
    } else {
      // A write's ranges are the loops it stands in.
      const int sources = is_write(u) ? u.first_closed() : u.is(Op::Register) ? 0 : u.num_src();
      for (int i = 0; i < sources; i++) {
        checker.require(is_available(seen, u.src(i)), u, "uses what comes later");
      }
    }
    seen.insert(u.node());
  }
  if (!open.empty()) checker.require(false, open.back(), "is a loop that never ends");
}

}  // namespace croze
