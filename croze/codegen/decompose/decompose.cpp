// decompose.cpp -- the walk over a kernel: each node, operands first, is rebuilt from what its
// operands have become, as itself or as its expansion.
//
// A value of a small float type that the device has no arithmetic for lives as a Float32 that the
// type can represent.  Where it was loaded or rounded its form in memory is known too, and is used
// when it is stored.  What holds such values (a Param, a Local, a Register) holds the form
// in memory: the type itself if the device can load and convert it, else the bits as an integer.
#include "croze/codegen/decompose/decompose.h"

#include <vector>

#include "croze/base/error.h"
#include "croze/base/small_vector.h"
#include "croze/codegen/decompose/expand.h"
#include "croze/graph/rewrite/rewrite.h"

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

  const Value& value_of(UOp u) const { return values_[u.id()]; }

  Value rebuilt(UOp u);
  Sources sources(UOp u);
  UOp elementwise(UOp u, const Sources& src);
  UOp arithmetic(Op op, const Sources& src);
  UOp guarded(Op op, const Sources& src);
  UOp expanded(Op op, const Sources& src);
  void check_dtype(DType t, bool known) const;

  bool is_emulated(DType t) const {
    return is_half(t) && !(caps_.has_dtype(t) && caps_.can_store(t));
  }
  DType memory_type(DType t) const { return caps_.can_store(t) ? t : expand::bits_type(t); }
  Value emulated(UOp u, const Sources& src);
  Value emulated_elementwise(UOp u, const Sources& src);
  Value converted(DType t, UOp x);
  Value rounded(DType t, UOp x);
  Value from_memory(DType t, UOp stored);
  UOp in_memory(UOp u);
  UOp as_bits(UOp u);

  Graph& graph_;
  const Caps& caps_;
  std::vector<Value> values_;  // by node id
};

// ---- the nodes of dtypes that the device has ----------------------------------------------------

Value Decomposer::rebuilt(UOp u) {
  if (u.dtype() == DType::Index) return {u};
  const Sources src = sources(u);
  if (is_emulated(u.dtype())) return emulated(u, src);
  if (is_elementwise(u.op())) return {elementwise(u, src)};
  if (u.is(Op::Load) || u.is(Op::Param)) check_dtype(u.dtype(), caps_.can_store(u.dtype()));
  bool same = true;
  for (int i = 0; i < u.num_src(); i++) same = same && src[i] == u.src(i);
  return {same ? u : graph_.make(u.op(), u.dtype(), std::span<const UOp>(src), u.arg())};
}

// What the sources have become; their forms in memory, where these are asked for.
Sources Decomposer::sources(UOp u) {
  Sources src;
  for (UOp s : u.sources()) src.push_back(of(s));
  switch (u.op()) {
    case Op::Bitcast:
      if (is_emulated(u.src(0).dtype())) src[0] = as_bits(u.src(0));
      break;
    case Op::Store:
      if (is_emulated(u.src(0).dtype()) && src[0].dtype() != DType::Float32) {
        src[1] = in_memory(u.src(1));
      }
      break;
    case Op::Contract:  // a unit takes what the device has no arithmetic for as it lies in memory
      for (int i : {1, 2}) {
        if (is_emulated(u.src(i).dtype())) src[i] = in_memory(u.src(i));
      }
      break;
    case Op::Index:
      if (const UOp stage = value_of(u.src(0)).stored) src[0] = stage;
      break;
    default: break;
  }
  return src;
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

UOp Decomposer::elementwise(UOp u, const Sources& src) {
  check_dtype(u.dtype(), caps_.has_dtype(u.dtype()));
  switch (u.op()) {
    case Op::Const:
    case Op::Invalid: return u;
    case Op::Cast: return graph_.cast(src[0], u.dtype());
    case Op::Bitcast: return graph_.bitcast(src[0], u.dtype());
    default: return arithmetic(u.op(), src);
  }
}

UOp Decomposer::arithmetic(Op op, const Sources& src) {
  if (const UOp g = guarded(op, src)) return g;
  if (!caps_.has_op(op)) {
    if (const UOp e = expanded(op, src)) return e;
    fail_internal({"decompose", {}}, "device {} has no {}", caps_.device, info(op).name);
  }
  return graph_.alu(op, std::span<const UOp>(src));
}

// Ops that may not be given to a device as they are, whether it has them or not; null for others.
// Arithmetic on Bool is logic: the sum of two is whether it is not zero.
UOp Decomposer::guarded(Op op, const Sources& src) {
  const UOp x = src[0], y = src[src.size() - 1];
  const bool on_bools = y.dtype() == DType::Bool;
  switch (op) {
    case Op::CDiv: return expand::truncated_div(x, y);
    case Op::CMod: return expand::truncated_mod(x, y);
    case Op::Shl: return expand::shift_left(x, y);
    case Op::Shr: return expand::shift_right(x, y);
    case Op::Trunc: return is_float(x.dtype()) ? UOp{} : x;
    case Op::Add:
    case Op::Max: return on_bools ? x | y : UOp{};
    case Op::Mul:
    case Op::Min: return on_bools ? x & y : UOp{};
    case Op::Lt: return on_bools ? logical_not(x) & y : UOp{};
    case Op::Le: return on_bools ? logical_not(x) | y : UOp{};
    default: return {};
  }
}

// The op written with others; null if that is not known.
UOp Decomposer::expanded(Op op, const Sources& src) {
  const UOp x = src[0], y = src[src.size() - 1];
  switch (op) {
    case Op::IDiv: return expand::floor_div(x, y);
    case Op::Mod: return expand::floor_mod(x, y);
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
    case Op::Trunc: return expand::trunc(x, caps_);
    default: return {};
  }
}

// ---- float types without arithmetic -------------------------------------------------------------

Value Decomposer::emulated(UOp u, const Sources& src) {
  const DType t = u.dtype();
  auto make = [&](DType type) {
    return graph_.make(u.op(), type, std::span<const UOp>(src), u.arg());
  };
  switch (u.op()) {
    case Op::Param:
    case Op::Buffer:
    case Op::Local:
    case Op::Index: return {make(memory_type(t))};
    case Op::Register: return {make(DType::Float32)};
    case Op::Load:
    case Op::LoadMatrix: {
      const UOp loaded = make(src[0].dtype());
      return loaded.dtype() == DType::Float32 ? Value{loaded} : from_memory(t, loaded);
    }
    case Op::After: return {make(src[0].dtype())};
    case Op::Exchange: {
      const UOp x = in_memory(u.src(0)), y = in_memory(u.src(1));
      return from_memory(t, graph_.make(Op::Exchange, x.dtype(), {x, y}, u.arg()));
    }
    case Op::Reduce: {
      const UOp result = make(DType::Float32);
      const bool exact = u.reduce_op() == Op::Max || u.reduce_op() == Op::Min;
      return exact ? Value{result} : rounded(t, result);
    }
    default: break;
  }
  ensure(is_elementwise(u.op()), "decompose: {} of {}", info(u.op()).name, name_of(t));
  return emulated_elementwise(u, src);
}

Value Decomposer::emulated_elementwise(UOp u, const Sources& src) {
  const DType t = u.dtype();
  switch (u.op()) {
    case Op::Invalid: return {graph_.invalid(DType::Float32)};
    case Op::Const: {
      const UOp wide = graph_.constant_bits(DType::Float32, u.arg().value);
      if (caps_.can_store(t)) return {wide, graph_.make(Op::Cast, t, {wide})};
      return {wide, graph_.bitcast(u, expand::bits_type(t))};
    }
    case Op::Cast: return converted(t, src[0]);
    case Op::Bitcast: {
      return from_memory(t, graph_.bitcast(src[0], memory_type(t)));
    }
    case Op::Where: {
      const UOp a = value_of(u.src(1)).stored, b = value_of(u.src(2)).stored;
      const UOp wide = where(src[0], src[1], src[2]);
      if (!a || !b || caps_.can_store(t)) return {wide};
      return {wide, where(src[0], a, b)};
    }
    case Op::Max:
    case Op::Min: return {arithmetic(u.op(), src)};  // one of the operands
    default: return rounded(t, arithmetic(u.op(), src));
  }
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
  return {
      stored.dtype() == t ? graph_.cast(stored, DType::Float32) : expand::decode(t, stored, caps_),
      stored};
}

UOp Decomposer::in_memory(UOp u) {
  const Value& v = value_of(u);
  return v.stored ? v.stored : rounded(u.dtype(), v.value).stored;
}

UOp Decomposer::as_bits(UOp u) {
  const DType bits = expand::bits_type(u.dtype());
  const UOp stored = value_of(u).stored;
  return stored ? graph_.bitcast(stored, bits) : expand::encode(u.dtype(), of(u));
}

}  // namespace

UOp decompose(UOp kernel, const Caps& caps) { return Decomposer(kernel.graph(), caps).run(kernel); }

}  // namespace croze
