#include "croze/schedule/parts/cut.h"

#include <algorithm>

#include "croze/graph/eval.h"
#include "croze/graph/graph.h"

namespace croze {
namespace {

std::int64_t divisor_within(std::int64_t size, std::int64_t least, std::int64_t most) {
  for (std::int64_t n = std::min(size / 2, most); n >= least; n--) {
    if (size % n == 0) return n;
  }
  return 1;
}

bool is_same_along(UOp x, std::int64_t axis) {
  return x.is(Op::Expand) && x.src(0).shape()[static_cast<std::size_t>(axis)] == 1;
}

// The same of such a view, with more of what is there.
UOp longer(UOp x, std::int64_t axis, std::int64_t count) {
  Numbers shape(x.shape());
  shape[axis] += count;
  return view_of(Op::Expand, x.src(0), shape);
}

}  // namespace

Cut cut_of(UOp reduce, const Parts& wanted) {
  const auto shape = reduce.src(0).shape();
  Cut longest;
  for (std::int64_t axis : reduce.arg().as_ints().subspan(1)) {
    const std::int64_t size = shape[static_cast<std::size_t>(axis)];
    const std::int64_t parts = divisor_within(size, wanted.least, wanted.most);
    if (parts > 1) return {axis, parts, size / parts};
    if (size > longest.length) longest = {axis, 1, size};
  }
  const std::int64_t parts = std::min(longest.length / 2, wanted.most);
  if (!wanted.may_differ || parts < 2) return {};
  // Parts begin where vectors do.
  constexpr std::int64_t aligned = 16;
  std::int64_t length = (longest.length + parts - 1) / parts;
  if (length > aligned * aligned) length = (length + aligned - 1) / aligned * aligned;
  return {longest.axis, (longest.length + length - 1) / length, length};
}

UOp view_of(Op op, UOp x, const Numbers& arg) {
  return x.graph().movement(op, x, std::span<const std::int64_t>(arg));
}

UOp filled_with(UOp number, std::span<const std::int64_t> shape) {
  const UOp one = view_of(Op::Reshape, number, Numbers(std::ssize(shape), 1));
  return number.graph().movement(Op::Expand, one, shape);
}

UOp filled(UOp x, Op reduce, std::int64_t axis, std::int64_t count) {
  if (count == 0) return x;
  Numbers padding;
  for (std::int64_t i = 0; i < x.rank(); i++) {
    padding.push_back(0);
    padding.push_back(i == axis ? count : 0);
  }
  Graph& g = x.graph();
  const UOp wide = view_of(Op::Pad, x, padding);
  const std::int64_t identity = identity_of(reduce, x.dtype());
  if (identity == identity_of(Op::Add, x.dtype())) return wide;
  const UOp is_there = view_of(Op::Pad, filled_with(g.boolean(true), x.shape()), padding);
  return where(is_there, wide, filled_with(g.constant_bits(x.dtype(), identity), wide.shape()));
}

UOp cut_axis(UOp x, const Cut& c, bool alternate) {
  Numbers shape;
  for (std::int64_t i = 0; i < x.rank(); i++) {
    const std::int64_t size = x.shape()[static_cast<std::size_t>(i)];
    if (i == c.axis) shape.push_back(alternate ? c.length : c.parts);
    shape.push_back(i != c.axis ? size : alternate ? c.parts : c.length);
  }
  return view_of(Op::Reshape, x, shape);
}

UOp cut_longer(UOp x, const Cut& c, Op reduce, bool alternate) {
  const std::int64_t missing = c.missing(x.shape()[static_cast<std::size_t>(c.axis)]);
  const bool is_same = missing > 0 && is_same_along(x, c.axis);
  const UOp even = is_same ? longer(x, c.axis, missing) : filled(x, reduce, c.axis, missing);
  return cut_axis(even, c, alternate);
}

StoredParts stored_parts(UOp reduce, const Cut& c, UOp cut_value) {
  Graph& g = reduce.graph();
  Numbers inner;
  for (std::int64_t a : reduce.arg().as_ints().subspan(1)) inner.push_back(a < c.axis ? a : a + 1);
  const UOp partial = g.reduce_axes(reduce.reduce_op(), cut_value, inner);
  if (reduce.elements() < c.parts) {
    const UOp stored = g.make(Op::Contiguous, partial.dtype(), {partial});
    return {stored, stored};
  }
  Numbers first{c.axis}, back;  // neighbours have neighbouring results
  for (std::int64_t i = 0; i < partial.rank(); i++) {
    if (i != c.axis) first.push_back(i);
    back.push_back(i == c.axis ? 0 : i < c.axis ? i + 1 : i);
  }
  const UOp stored =
      g.make(Op::Contiguous, partial.dtype(), {view_of(Op::Permute, partial, first)});
  return {stored, view_of(Op::Permute, stored, back)};
}

UOp joined(UOp reduce, const Cut& c, UOp parts) {
  Graph& g = reduce.graph();
  const UOp whole = g.reduce_axes(reduce.reduce_op(), parts, std::span(&c.axis, 1));
  return g.make(Op::Reshape, reduce.dtype(), {whole}, Arg(reduce.shape()));
}

}  // namespace croze
