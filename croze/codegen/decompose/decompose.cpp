// decompose.cpp -- the walk over a kernel: each node, operands first, is rebuilt from what its
// operands have become, as itself or as its expansion.
//
// A value of a small float type that the device has no arithmetic for lives as a Float32 that the
// type can represent.  Where it was loaded or rounded its form in memory is known too, and is used
// when it is stored.  What holds such values (a Param, a Local, a Register, a Stage) holds the form
// in memory: the type itself if the device can load and convert it, else the bits as an integer.
#include "codegen/decompose/decompose.h"

#include <vector>

#include "base/error.h"
#include "base/small_vector.h"
#include "codegen/decompose/expand.h"
#include "graph/rewrite.h"

namespace croze {
namespace {

using Sources = SmallVector<UOp, 4>;

// What a node has become.
struct Value {
  UOp value;
  UOp stored = {};  // of an emulated float: its form in memory, if known
};

class Decomposer {
 public:
  Decomposer(Graph& graph, const Caps& caps)
      : graph_(graph), caps_(caps), values_(graph.id_limit()) {}

  UOp run(UOp kernel) {
    for (UOp u : toposort(kernel)) values_[u.id()] = rebuilt(u);
    return of(kernel);
  }

 private:
  UOp of(UOp u) const { return values_[u.id()].value; }

  Value rebuilt(UOp u);
  UOp elementwise(Op op, UOp like, const Sources& src);
  UOp expanded(Op op, const Sources& src);
  UOp on_bools(Op op, UOp a, UOp b);
  void check_dtype(DType t, bool known) const;

  bool is_emulated(DType t) const {
    return is_half(t) && !(caps_.has_dtype(t) && caps_.can_store(t));
  }
  DType memory_type(DType t) const { return caps_.can_store(t) ? t : expand::bits_type(t); }
  Value emulated(UOp u);
  Value emulated_arithmetic(UOp u);
  Value emulated_constant(UOp u);
  Value converted(DType t, UOp x);
  Value rounded(DType t, UOp x);
  Value from_memory(DType t, UOp stored);
  UOp in_memory(DType t, const Value& v);
  UOp as_bits(DType t, const Value& v);

  Graph& graph_;
  const Caps& caps_;
  std::vector<Value> values_;  // by node id
};

// ---- the nodes of dtypes that the device has ----------------------------------------------------

Value Decomposer::rebuilt(UOp u) {
  if (is_emulated(u.dtype())) return emulated(u);
  if (u.is(Op::Bitcast) && is_emulated(u.src(0).dtype())) {
    const DType t = u.src(0).dtype();
    return {graph_.bitcast(as_bits(t, values_[u.src(0).id()]), u.dtype())};
  }
  if (u.dtype() == DType::Index) return {u};
  Sources src;
  for (UOp s : u.sources()) src.push_back(of(s));
  if (u.is(Op::Store) && is_emulated(u.src(0).dtype())) {
    src[1] = in_memory(u.src(1).dtype(), values_[u.src(1).id()]);
  }
  if (is_elementwise(u.op())) return {elementwise(u.op(), u, src)};
  if (u.is(Op::Load) || u.is(Op::Param)) check_dtype(u.dtype(), caps_.can_store(u.dtype()));
  bool same = true;
  for (int i = 0; i < u.num_src(); i++) same = same && src[i] == u.src(i);
  return {same ? u : graph_.make(u.op(), u.dtype(), std::span<const UOp>(src), u.arg())};
}

void Decomposer::check_dtype(DType t, bool known) const {
  if (known || t == DType::Void || t == DType::Index || t == DType::Bool) return;
  fail({.op = {},
        .shapes = {},
        .dtypes = {std::string(name_of(t))},
        .devices = {caps_.device},
        .where = {},
        .hint = "cast to a type that the device has"},
       "device {} has no {}", caps_.device, name_of(t));
}

// `like` tells the dtype of a Cast or Bitcast, and a leaf is itself.
UOp Decomposer::elementwise(Op op, UOp like, const Sources& src) {
  check_dtype(like.dtype(), caps_.has_dtype(like.dtype()));
  switch (op) {
    case Op::Const:
    case Op::Invalid: return like;
    case Op::Cast: return graph_.cast(src[0], like.dtype());
    case Op::Bitcast: return graph_.bitcast(src[0], like.dtype());
    default: break;
  }
  if (const UOp e = expanded(op, src)) return e;
  ensure(caps_.has_op(op), "device {} has no {} and it is not decomposed", caps_.device,
         info(op).name);
  return graph_.alu(op, std::span<const UOp>(src));
}

// The op written with others; null if it can stand as it is.
UOp Decomposer::expanded(Op op, const Sources& src) {
  const UOp x = src[0], y = src[src.size() - 1];
  const bool on_floats = is_float(y.dtype());
  if (y.dtype() == DType::Index) return {};
  if (y.dtype() == DType::Bool && src.size() == 2) return on_bools(op, x, y);
  // These have operands that a device's own op may not be given.
  switch (op) {
    case Op::CDiv: return expand::truncated_div(x, y, caps_);
    case Op::CMod: return expand::truncated_mod(x, y, caps_);
    case Op::Shl: return expand::shift_left(x, y);
    case Op::Shr: return expand::shift_right(x, y);
    default: break;
  }
  if (caps_.has_op(op)) return {};
  switch (op) {
    case Op::IDiv: return expand::floor_div(x, y, caps_);
    case Op::Mod: return expand::floor_mod(x, y, caps_);
    case Op::Threefry: return expand::threefry(x, y);
    case Op::MulAdd: return x * src[1] + y;
    case Op::Max: return expand::maximum(x, y);
    case Op::Min: return expand::minimum(x, y);
    case Op::Exp: return expand::exp(x, caps_);
    case Op::Exp2: return expand::exp2(x, caps_);
    case Op::Log: return expand::log(x, caps_);
    case Op::Log2: return expand::log2(x, caps_);
    case Op::Sin: return expand::sin(x, caps_);
    case Op::Cos: return expand::cos(x, caps_);
    case Op::Pow: return expand::pow(x, y, caps_);
    case Op::Sqrt: return expand::sqrt(x, caps_);
    case Op::Reciprocal: return graph_.constant(x.dtype(), 1.0) / x;
    case Op::Trunc: return on_floats ? expand::trunc(x, caps_) : x;
    default: return {};
  }
}

// Arithmetic on Bool is logic: the sum of two is whether it is not zero.
UOp Decomposer::on_bools(Op op, UOp a, UOp b) {
  switch (op) {
    case Op::Add:
    case Op::Max: return a | b;
    case Op::Mul:
    case Op::Min: return a & b;
    case Op::Lt: return logical_not(a) & b;
    case Op::Le: return logical_not(a) | b;
    default: return {};
  }
}

// ---- float types without arithmetic -------------------------------------------------------------

Value Decomposer::emulated(UOp u) {
  const DType t = u.dtype();
  Sources src;
  for (UOp s : u.sources()) src.push_back(of(s));
  auto make = [&](DType type) {
    return graph_.make(u.op(), type, std::span<const UOp>(src), u.arg());
  };
  switch (u.op()) {
    case Op::Const: return emulated_constant(u);
    case Op::Param:
    case Op::Buffer:
    case Op::Local:
    case Op::Register: return {make(memory_type(t))};
    case Op::Index:
      if (const UOp holder = values_[u.src(0).id()].stored) src[0] = holder;
      return {make(memory_type(t))};
    case Op::Load: return from_memory(t, make(memory_type(t)));
    case Op::Stage:
      src[0] = in_memory(t, values_[u.src(0).id()]);
      return from_memory(t, make(memory_type(t)));
    case Op::After: return {make(src[0].dtype())};
    case Op::Reduce: {
      const UOp sum = make(DType::Float32);
      const bool exact = u.reduce_op() == Op::Max || u.reduce_op() == Op::Min;
      return exact ? Value{sum} : rounded(t, sum);
    }
    case Op::Cast: return converted(t, src[0]);
    case Op::Bitcast: {
      const bool both = is_emulated(u.src(0).dtype());
      const UOp from = both ? as_bits(u.src(0).dtype(), values_[u.src(0).id()]) : src[0];
      const UOp bits = graph_.bitcast(from, expand::bits_type(t));
      if (memory_type(t) == bits.dtype()) return from_memory(t, bits);
      return {expand::decode(t, bits)};
    }
    default: break;
  }
  ensure(is_elementwise(u.op()), "decompose: {} of {}", info(u.op()).name, name_of(t));
  return emulated_arithmetic(u);
}

Value Decomposer::emulated_arithmetic(UOp u) {
  const DType t = u.dtype();
  if (u.is(Op::Invalid)) return {graph_.invalid(DType::Float32)};
  Sources src;
  for (UOp s : u.sources()) src.push_back(of(s));
  const UOp result = elementwise(u.op(), src[src.size() - 1], src);
  switch (u.op()) {
    case Op::Where: {
      const UOp a = values_[u.src(1).id()].stored, b = values_[u.src(2).id()].stored;
      if (!a || !b || a.dtype() != b.dtype()) return {result};
      return {result, where(src[0], a, b)};
    }
    case Op::Max:
    case Op::Min: return {result};  // one of the operands
    default: return rounded(t, result);
  }
}

Value Decomposer::emulated_constant(UOp u) {
  const DType t = u.dtype();
  const UOp wide = graph_.constant_bits(DType::Float32, u.arg().value);
  return {wide, caps_.can_store(t) ? u : graph_.bitcast(u, expand::bits_type(t))};
}

// A number of any other type.  Float32 is enough on the way, if its rounding leaves a trace.
Value Decomposer::converted(DType t, UOp x) {
  const DType from = x.dtype();
  const bool exact = from == DType::Bool || (is_integer(from) && size_of(from) <= 2);
  if (from == DType::Float32) return rounded(t, x);
  return rounded(t, exact ? graph_.cast(x, DType::Float32) : expand::to_odd_float(x));
}

Value Decomposer::rounded(DType t, UOp x) {
  return from_memory(t, caps_.can_store(t) ? graph_.cast(x, t) : expand::encode(t, x));
}

Value Decomposer::from_memory(DType t, UOp stored) {
  return {stored.dtype() == t ? graph_.cast(stored, DType::Float32) : expand::decode(t, stored),
          stored};
}

UOp Decomposer::in_memory(DType t, const Value& v) {
  return v.stored ? v.stored : rounded(t, v.value).stored;
}

UOp Decomposer::as_bits(DType t, const Value& v) {
  const bool known = v.stored && v.stored.dtype() == expand::bits_type(t);
  return known ? v.stored : expand::encode(t, v.value);
}

}  // namespace

UOp decompose(UOp kernel, const Caps& caps) { return Decomposer(kernel.graph(), caps).run(kernel); }

}  // namespace croze
