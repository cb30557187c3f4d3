// words.cpp -- integers of 64 bits on a device that has none, as pairs of 32-bit words.
//
// One walk, operands first.  A node of dtype Int64 or UInt64 becomes two: values, places in memory,
// registers and stores alike; a buffer becomes one of twice as many words.  All else is rebuilt
// over what its operands have become.
//
// Addresses are 64-bit where an index may go beyond 32 bits before its gate stops it; a place takes
// the low word.  Loops and launches count in Int32.
#include "croze/codegen/decompose/words.h"

#include "croze/base/error.h"
#include "croze/base/small_vector.h"
#include "croze/codegen/decompose/word_arithmetic.h"
#include "croze/codegen/lower/expand.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

using words::Pair;

constexpr std::uint32_t bit(DType t) { return std::uint32_t{1} << static_cast<int>(t); }

bool is_wide(DType t) { return t == DType::Int64 || t == DType::UInt64; }

class WordSplitter {
 public:
  WordSplitter(Graph& graph, std::vector<RegisterScope>& registers, const Caps& caps)
      : graph_(graph), registers_(registers), caps_(caps), values_(graph.id_limit()) {}

  UOp run(UOp kernel) {
    for (UOp u : toposort(kernel)) values_[u.id()] = rebuilt(u);
    return of(kernel).low;
  }

 private:
  // What a node has become; `high` is null where it is one node still.
  const Pair& of(UOp u) const { return values_[u.id()]; }
  UOp one(UOp u) const { return of(u).low; }

  Pair rebuilt(UOp u);
  Pair same_over_new_sources(UOp u);
  UOp counter(UOp u);
  Pair counted(UOp u);
  UOp address(UOp index);
  Pair memory(UOp u);
  Pair place(UOp u);
  Pair store(UOp u);
  Pair after(UOp u);
  Pair wide(UOp u);
  Pair converted(UOp u);
  Pair arithmetic(Op op, Pair a, Pair b, bool is_signed);
  UOp narrow_of_wide(UOp u);
  [[noreturn]] void fail_on(UOp u) const;

  Graph& graph_;
  std::vector<RegisterScope>& registers_;
  const Caps& caps_;
  std::vector<Pair> values_;  // by node id
};

Pair WordSplitter::rebuilt(UOp u) {
  switch (u.op()) {
    case Op::After: return after(u);
    case Op::Store: return store(u);
    case Op::Range:
    case Op::Special:
    case Op::Variable: return is_wide(u.dtype()) ? counted(u) : Pair{u, {}};
    case Op::Index: return place(u);
    case Op::Param:
    case Op::Local:
    case Op::Register:
    case Op::Load: return is_wide(u.dtype()) ? memory(u) : same_over_new_sources(u);
    default: break;
  }
  if (is_wide(u.dtype())) return wide(u);
  const bool from_wide =
      is_elementwise(u.op()) && u.num_src() > 0 && is_wide(u.src(u.num_src() - 1).dtype());
  return from_wide ? Pair{narrow_of_wide(u), {}} : same_over_new_sources(u);
}

// Effects may have become two.
Pair WordSplitter::same_over_new_sources(UOp u) {
  SmallVector<UOp, 8> src;
  bool same = true;
  for (UOp s : u.sources()) {
    const Pair p = s.is(Op::Range) ? Pair{counter(s), {}} : of(s);
    src.push_back(p.low);
    if (p.high) src.push_back(p.high);
    same = same && p.low == s && !p.high;
  }
  return {same ? u : graph_.make(u.op(), u.dtype(), std::span<const UOp>(src), u.arg()), {}};
}

// A range, or an index of the launch, in a type that the device can count in; so is its trip count.
UOp WordSplitter::counter(UOp u) {
  if (!is_wide(u.dtype())) return u;
  ensure(u.lo() >= min_value(DType::Int32) && u.hi() <= max_value(DType::Int32),
         "words: a loop of {}", u.hi());
  if (!u.is_open()) return graph_.make(u.op(), DType::Int32, {}, u.arg());
  return graph_.make(u.op(), DType::Int32, {address(u.src(0))}, u.arg());
}

Pair WordSplitter::counted(UOp u) { return words::from(counter(u), true); }

// ---- memory -----------------------------------------------------------------------------------

UOp WordSplitter::address(UOp index) {
  const Pair& p = of(index);
  return p.high ? graph_.bitcast(p.low, DType::Int32) : p.low;
}

Pair WordSplitter::place(UOp u) {
  const UOp buffer = one(u.src(0)), gate = u.num_src() > 2 ? one(u.src(2)) : UOp();
  auto at = [&](UOp i) { return gate ? graph_.place(buffer, i, gate) : graph_.place(buffer, i); };
  const UOp i = address(u.src(1));
  return is_wide(u.dtype()) ? Pair{at(i * 2), at(i * 2 + 1)} : Pair{at(i), {}};
}

Pair WordSplitter::memory(UOp u) {
  constexpr DType t = DType::UInt32;
  switch (u.op()) {
    case Op::Param:
      check(u.buffer_elements() <= max_value(DType::Int32) / 2,
            "device {} has 32-bit integers only, which cannot address a tensor of {} {}",
            caps_.device, u.buffer_elements(), name_of(u.dtype()));
      return {graph_.param(t, u.slot(), 2 * u.buffer_elements()), {}};
    case Op::Local: {
      const auto ints = u.arg().as_ints();
      return {graph_.local(t, ints[0], 2 * ints[1], static_cast<Space>(ints[2])), {}};
    }
    case Op::Register: {
      const auto high = static_cast<std::int64_t>(registers_.size());
      registers_.push_back(registers_[static_cast<std::size_t>(u.arg().value)]);
      SmallVector<UOp, 2> lanes;
      for (UOp s : u.sources()) lanes.push_back(counter(s));
      return {graph_.make(Op::Register, t, std::span<const UOp>(lanes), u.arg()),
              graph_.make(Op::Register, t, std::span<const UOp>(lanes), Arg(high))};
    }
    default: return {graph_.load(of(u.src(0)).low), graph_.load(of(u.src(0)).high)};
  }
}

Pair WordSplitter::store(UOp u) {
  if (!is_wide(u.src(1).dtype())) return same_over_new_sources(u);
  SmallVector<UOp, 4> closed;
  for (int i = 2; i < u.num_src(); i++) closed.push_back(counter(u.src(i)));
  const Pair &place = of(u.src(0)), &value = of(u.src(1));
  return {graph_.store(place.low, value.low, closed), graph_.store(place.high, value.high, closed)};
}

Pair WordSplitter::after(UOp u) {
  SmallVector<UOp, 8> effects;
  for (int i = 1; i < u.num_src(); i++) {
    const Pair& p = of(u.src(i));
    effects.push_back(p.low);
    if (p.high) effects.push_back(p.high);
  }
  const Pair& value = of(u.src(0));
  return {graph_.after(value.low, effects), value.high ? graph_.after(value.high, effects) : UOp()};
}

// ---- values -----------------------------------------------------------------------------------

Pair WordSplitter::wide(UOp u) {
  const bool is_signed = u.dtype() == DType::Int64;
  switch (u.op()) {
    case Op::Const: return words::constant(graph_, u.arg().value);
    case Op::Invalid: return {graph_.invalid(DType::UInt32), graph_.invalid(DType::UInt32)};
    case Op::Cast:
    case Op::Bitcast: return converted(u);
    case Op::Where: return words::choose(one(u.src(0)), of(u.src(1)), of(u.src(2)));
    case Op::Reduce:
      if (!combines_lanes(u.reduce_op(), u.dtype(), caps_)) fail_on(u);
      return words::reduce(u.reduce_op(), of(u.src(0)), counter(u.src(1)), is_signed);
    case Op::MulAdd: return words::add(words::multiply(of(u.src(0)), of(u.src(1))), of(u.src(2)));
    default: break;
  }
  ensure(is_elementwise(u.op()), "words: {} of {}", info(u.op()).name, name_of(u.dtype()));
  return arithmetic(u.op(), of(u.src(0)), of(u.src(u.num_src() - 1)), is_signed);
}

Pair WordSplitter::converted(UOp u) {
  const UOp x = u.src(0);
  if (is_wide(x.dtype())) return of(x);
  if (u.is(Op::Bitcast)) fail_on(u);
  return words::from(one(x), u.dtype() == DType::Int64);
}

Pair WordSplitter::arithmetic(Op op, Pair a, Pair b, bool is_signed) {
  switch (op) {
    case Op::Neg: return words::negate(a);
    case Op::Not: return {graph_.alu(Op::Not, {a.low}), graph_.alu(Op::Not, {a.high})};
    case Op::And:
    case Op::Or:
    case Op::Xor: return words::each(op, a, b);
    case Op::Add: return words::add(a, b);
    case Op::Mul: return words::multiply(a, b);
    case Op::CDiv: return words::divide(a, b, is_signed).quotient;
    case Op::CMod: return words::divide(a, b, is_signed).remainder;
    case Op::Max: return words::choose(words::is_less(a, b, is_signed), b, a);
    case Op::Min: return words::choose(words::is_less(a, b, is_signed), a, b);
    case Op::Shl: return words::shift_left(a, b.low);
    case Op::Shr: return words::shift_right(a, b.low, is_signed);
    default: fail_internal({"words", {}}, "{} of 64-bit integers", info(op).name);
  }
}

// An op on 64-bit integers whose result is of another type.
UOp WordSplitter::narrow_of_wide(UOp u) {
  const UOp operand = u.src(u.num_src() - 1);
  const bool is_signed = operand.dtype() == DType::Int64;
  const Pair a = of(u.src(0)), b = of(operand);
  switch (u.op()) {
    case Op::Cast: return words::to(a, u.dtype(), is_signed);
    case Op::Bitcast: fail_on(u);
    case Op::Lt: return words::is_less(a, b, is_signed);
    case Op::Le: return logical_not(words::is_less(b, a, is_signed));
    case Op::Eq: return words::is_equal(a, b);
    case Op::Ne: return logical_not(words::is_equal(a, b));
    default: fail_internal({"words", {}}, "{} of 64-bit integers", info(u.op()).name);
  }
}

void WordSplitter::fail_on(UOp u) const {
  fail({.op = std::string(info(u.op()).name),
        .shapes = {},
        .dtypes = {std::string(name_of(u.dtype())), std::string(name_of(u.src(0).dtype()))},
        .devices = {caps_.device},
        .where = {},
        .hint = "cast to a type that the device has"},
       "device {} has no 64-bit integers, and this cannot be done on pairs of words", caps_.device);
}

}  // namespace

bool needs_words(const Caps& caps) {
  return !caps.has_dtype(DType::Int64) || !caps.has_dtype(DType::UInt64);
}

Caps with_wide_integers(Caps caps) {
  if (!needs_words(caps)) return caps;
  caps.dtypes |= bit(DType::Int64) | bit(DType::UInt64);
  caps.storage |= bit(DType::Int64) | bit(DType::UInt64);
  caps.ops &= ~set_of({Op::IDiv, Op::Mod, Op::Threefry});
  return caps;
}

UOp split_words(UOp kernel, std::vector<RegisterScope>& registers, const Caps& caps) {
  return needs_words(caps) ? WordSplitter(kernel.graph(), registers, caps).run(kernel) : kernel;
}

std::int64_t length_in_words(UOp u) {
  constexpr std::int64_t long_division = 24;  // some 150 ops on words, where others are 2 to 20
  const bool divides = u.is(Op::IDiv) || u.is(Op::Mod) || u.is(Op::CDiv) || u.is(Op::CMod);
  return divides && is_wide(u.dtype()) ? long_division : 1;
}

bool combines_lanes(Op op, DType t, const Caps& caps) {
  return op != Op::Mul || !is_wide(t) || !needs_words(caps);
}

}  // namespace croze
