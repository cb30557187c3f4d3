// shape.cpp -- derived: result dtype, shape, open ranges.
#include <fmt/format.h>

#include <algorithm>

#include "croze/base/error.h"
#include "croze/graph/analysis/derive.h"

namespace croze {
namespace {

std::span<const Extent> extents_of(UOp u) {
  // A Extent is a word and nothing else.
  return {reinterpret_cast<const Extent*>(u.node()->dims), static_cast<std::size_t>(u.rank())};
}

std::string text_of(std::span<const Extent> shape) {
  std::string text;
  for (Extent d : shape) {
    text += text.empty() ? "" : ", ";
    text += d.is_open() ? fmt::format("at most {}", d.most()) : fmt::format("{}", d.number());
  }
  return '(' + text + ')';
}

// Sources of an elementwise op have one shape; a scalar source broadcasts.
Extents elementwise_shape(Op op, std::span<const UOp> src) {
  std::span<const Extent> shape;
  for (UOp s : src) {
    if (s.rank() == 0) continue;
    if (shape.empty()) shape = extents_of(s);
    if (std::ranges::equal(shape, extents_of(s))) continue;
    fail_internal({}, "{}: sources of shapes {} and {}", info(op).name, text_of(shape),
                  text_of(extents_of(s)));
  }
  return Extents(shape);
}

Extents permuted(std::span<const Extent> shape, std::span<const std::int64_t> order) {
  Extents result;
  for (std::int64_t axis : order) result.push_back(shape[static_cast<std::size_t>(axis)]);
  return result;
}

// arg: {axis, size, stride, dilation}.
Extents windowed(std::span<const Extent> shape, std::span<const std::int64_t> arg) {
  const auto axis = static_cast<std::size_t>(arg[0]);
  Extents result(shape);
  result[arg[0]] = (shape[axis] - (arg[3] * (arg[1] - 1) + 1)) / arg[2] + 1;
  result.push_back(arg[1]);
  return result;
}

// arg: {axis, length, stride, dilation}.
Extents unwindowed(std::span<const Extent> shape, std::span<const std::int64_t> arg) {
  Extents result(shape);
  result[arg[0]] = Extent::of_word(arg[1]);
  return result;
}

Extents movement_shape(Op op, std::span<const Extent> in, std::span<const std::int64_t> arg) {
  const auto given = [&](std::size_t i) { return Extent::of_word(arg[i]); };
  Extents result(in);
  switch (op) {
    case Op::Reshape:
    case Op::Expand:
      result.clear();
      for (std::size_t i = 0; i < arg.size(); i++) result.push_back(given(i));
      return result;
    case Op::Permute: return permuted(in, arg);
    case Op::Window: return windowed(in, arg);
    case Op::Unwindow: return unwindowed(in, arg);
    case Op::Pad:
      for (std::size_t i = 0; i < in.size(); i++) {
        result[i] = in[i] + given(2 * i) + given(2 * i + 1);
      }
      return result;
    case Op::Shrink:
      for (std::size_t i = 0; i < in.size(); i++) result[i] = given(2 * i + 1) - given(2 * i);
      return result;
    default: return result;  // Flip
  }
}

Extents reduced(UOp x, std::span<const std::int64_t> axes) {
  Extents result(extents_of(x));
  for (std::int64_t axis : axes) result[axis] = 1;
  return result;
}

}  // namespace

DType result_dtype(Op op, std::span<const UOp> src) {
  if (is_comparison(op)) return DType::Bool;
  return src.back().dtype();
}

Extents derive_shape(Op op, std::span<const UOp> src, const Arg& arg) {
  if (is_elementwise(op)) return elementwise_shape(op, src);
  if (is_movement(op)) return movement_shape(op, extents_of(src[0]), arg.as_ints());
  switch (op) {
    case Op::Buffer: return {src.empty() ? Extent(arg.ints[1]) : Extent(src[0])};
    case Op::Param:
    case Op::Local: return {arg.ints[1]};
    case Op::Iota: return {src.empty() ? Extent(arg.value) : Extent(src[0])};
    case Op::Reduce: return reduced(src[0], arg.as_ints().subspan(1));
    case Op::Gather: return Extents(extents_of(src[1]));
    case Op::Scatter:
    case Op::Contiguous:
    case Op::ContiguousBackward:
    case Op::Detach:
    case Op::WithGradient:
    case Op::Copy:
    case Op::After: return Extents(extents_of(src[0]));
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
