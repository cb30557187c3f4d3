// uop.cpp -- accessors and operators of the node handle.
#include "croze/graph/uop.h"

#include <bit>

#include "croze/base/error.h"
#include "croze/graph/eval.h"
#include "croze/graph/extent.h"
#include "croze/graph/graph.h"

namespace croze {

RangeSet RangeSet::of(std::int64_t id) {
  RangeSet s;
  s.words[id >> 6] = std::uint64_t{1} << (id & 63);
  return s;
}

int RangeSet::count() const { return std::popcount(words[0]) + std::popcount(words[1]); }

Graph& UOp::graph() const { return *static_cast<Graph*>(Arena::owner_of(node_)); }

void UOp::refuse_open() const {
  fail_internal({}, "{}: a shape of numbers is asked for, and a size is open", info(op()).name);
}

Extent UOp::extent(std::int64_t axis) const { return Extent::of_word(node_->dims[axis]); }

std::int64_t UOp::elements() const {
  std::int64_t n = 1;
  for (int axis = 0; axis < rank(); axis++) n *= extent(axis).most();
  return n;
}

Extent UOp::element_count() const {
  Extent n = 1;
  for (int axis = 0; axis < rank(); axis++) n = n * extent(axis);
  return n;
}

bool UOp::is_const(std::int64_t value) const {
  return is_const() && node_->arg.value == bits_of(value, dtype());
}

UOp UOp::trip_count() const {
  return num_src() > 0 ? src(0) : graph().constant_bits(dtype(), range_size());
}

std::int64_t UOp::trip_divisor() const {
  if (!is_open() || src(0).bounds().multiple == 0) return range_size();
  return src(0).bounds().multiple;
}

std::int64_t UOp::least_elements() const {
  return is(Op::Param) && num_src() > 0 ? src(0).lo() : element_count().least();
}

Op UOp::reduce_op() const {
  const Arg& a = node_->arg;
  return static_cast<Op>(a.kind == Arg::Kind::Ints ? a.ints[0] : a.value);
}

namespace {

UOp binary(Op op, UOp a, UOp b) { return a.graph().alu(op, {a, b}); }
Op division(UOp a) { return is_float(a.dtype()) ? Op::Div : Op::IDiv; }

}  // namespace

UOp constant_like(UOp a, std::int64_t value) { return a.graph().constant(a.dtype(), value); }

UOp operator+(UOp a, UOp b) { return binary(Op::Add, a, b); }
UOp operator-(UOp a, UOp b) { return a + -b; }
UOp operator*(UOp a, UOp b) { return binary(Op::Mul, a, b); }
UOp operator/(UOp a, UOp b) { return binary(division(a), a, b); }
UOp operator%(UOp a, UOp b) { return binary(Op::Mod, a, b); }
UOp operator-(UOp a) { return a.dtype() == DType::Index ? a * -1 : a.graph().alu(Op::Neg, {a}); }
UOp operator+(UOp a, std::int64_t b) { return a + constant_like(a, b); }
UOp operator-(UOp a, std::int64_t b) { return a + constant_like(a, -b); }
UOp operator*(UOp a, std::int64_t b) { return a * constant_like(a, b); }
UOp operator/(UOp a, std::int64_t b) { return a / constant_like(a, b); }
UOp operator%(UOp a, std::int64_t b) { return a % constant_like(a, b); }
UOp operator&(UOp a, UOp b) { return binary(Op::And, a, b); }
UOp operator|(UOp a, UOp b) { return binary(Op::Or, a, b); }
UOp logical_not(UOp a) { return a.graph().alu(Op::Not, {a}); }
UOp less(UOp a, UOp b) { return binary(Op::Lt, a, b); }
UOp less(UOp a, std::int64_t b) { return less(a, constant_like(a, b)); }
UOp less_equal(UOp a, UOp b) { return binary(Op::Le, a, b); }
UOp equal(UOp a, UOp b) { return binary(Op::Eq, a, b); }
UOp equal(UOp a, std::int64_t b) { return equal(a, constant_like(a, b)); }
UOp not_equal(UOp a, UOp b) { return binary(Op::Ne, a, b); }
UOp where(UOp condition, UOp a, UOp b) {
  return condition.graph().alu(Op::Where, {condition, a, b});
}
UOp max(UOp a, UOp b) { return binary(Op::Max, a, b); }
UOp min(UOp a, UOp b) { return binary(Op::Min, a, b); }
UOp cast(UOp a, DType t) { return a.graph().cast(a, t); }

}  // namespace croze
