// shape.cpp -- derived: result dtype, shape, open ranges.
#include <fmt/format.h>

#include <algorithm>

#include "croze/base/error.h"
#include "croze/graph/analysis/derive.h"

namespace croze {
namespace {

std::string text_of(std::span<const std::int64_t> shape) {
  return fmt::format("({})", fmt::join(shape, ", "));
}

// Sources of an elementwise op have one shape; a scalar source broadcasts.
Dims elementwise_shape(Op op, std::span<const UOp> src) {
  std::span<const std::int64_t> shape;
  for (UOp s : src) {
    if (s.rank() == 0) continue;
    if (shape.empty()) shape = s.shape();
    if (std::ranges::equal(shape, s.shape())) continue;
    fail_internal({}, "{}: sources of shapes {} and {}", info(op).name, text_of(shape),
                  text_of(s.shape()));
  }
  return Dims(shape);
}

Dims permuted(std::span<const std::int64_t> shape, std::span<const std::int64_t> order) {
  Dims result;
  for (std::int64_t axis : order) result.push_back(shape[static_cast<std::size_t>(axis)]);
  return result;
}

// arg: {axis, size, stride, dilation}.
Dims windowed(std::span<const std::int64_t> shape, std::span<const std::int64_t> arg) {
  const auto axis = static_cast<std::size_t>(arg[0]);
  Dims result(shape);
  result[arg[0]] = (shape[axis] - arg[3] * (arg[1] - 1) - 1) / arg[2] + 1;
  result.push_back(arg[1]);
  return result;
}

// arg: {axis, length, stride, dilation}.
Dims unwindowed(std::span<const std::int64_t> shape, std::span<const std::int64_t> arg) {
  Dims result(shape);
  result[arg[0]] = arg[1];
  return result;
}

Dims movement_shape(Op op, std::span<const std::int64_t> in, std::span<const std::int64_t> arg) {
  Dims result(in);
  switch (op) {
    case Op::Reshape:
    case Op::Expand: return Dims(arg);
    case Op::Permute: return permuted(in, arg);
    case Op::Window: return windowed(in, arg);
    case Op::Unwindow: return unwindowed(in, arg);
    case Op::Pad:
      for (std::size_t i = 0; i < in.size(); i++) result[i] = in[i] + arg[2 * i] + arg[2 * i + 1];
      return result;
    case Op::Shrink:
      for (std::size_t i = 0; i < in.size(); i++) result[i] = arg[2 * i + 1] - arg[2 * i];
      return result;
    default: return result;  // Flip
  }
}

Dims reduced(UOp x, std::span<const std::int64_t> axes) {
  Dims result(x.shape());
  for (std::int64_t axis : axes) result[axis] = 1;
  return result;
}

}  // namespace

DType result_dtype(Op op, std::span<const UOp> src) {
  if (is_comparison(op)) return DType::Bool;
  return src.back().dtype();
}

Dims derive_shape(Op op, std::span<const UOp> src, const Arg& arg) {
  if (is_elementwise(op)) return elementwise_shape(op, src);
  if (is_movement(op)) return movement_shape(op, src[0].shape(), arg.as_ints());
  switch (op) {
    case Op::Buffer:
    case Op::Param:
    case Op::Local: return {arg.ints[1]};
    case Op::Iota: return {arg.value};
    case Op::Reduce: return reduced(src[0], arg.as_ints().subspan(1));
    case Op::Gather: return Dims(src[1].shape());
    case Op::Scatter:
    case Op::Contiguous:
    case Op::ContiguousBackward:
    case Op::Detach:
    case Op::WithGradient:
    case Op::Copy:
    case Op::After: return Dims(src[0].shape());
    default: return {};
  }
}

RangeSet derive_ranges(Op op, std::span<const UOp> src, const Arg& arg) {
  if (op == Op::Range) return RangeSet::of(arg.ints[0]);
  RangeSet open;
  for (UOp s : src) open = open | s.ranges();
  for (auto i = static_cast<std::size_t>(first_closed(op, arg)); i < src.size(); i++)
    open = open - src[i].ranges();
  return open;
}

}  // namespace croze
