// movement.cpp -- shapes and views; joining and cutting is in join.cpp.
#include "croze/tensor/movement/movement.h"

#include <algorithm>
#include <cmath>

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/record.h"

namespace croze {
namespace {

Tensor moved(const Tensor& x, Op op, std::span<const std::int64_t> arg) {
  return moved_view(x, op, arg);
}

// Shrinks one axis to [begin, end).
Tensor cut(const Tensor& x, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  const Shape shape = x.shape();
  if (begin == 0 && end == shape[axis]) return x;
  Shape bounds;
  for (int i = 0; i < shape.size(); i++) {
    bounds.push_back(i == axis ? begin : 0);
    bounds.push_back(i == axis ? end : shape[i]);
  }
  return moved(x, Op::Shrink, bounds);
}

// Every step-th element of an axis.
Tensor strided(const Tensor& x, std::int64_t axis, std::int64_t step) {
  if (step == 1 || x.size(axis) == 0) return x;
  // Windows of one element, and their axis dropped again.
  const std::int64_t arg[] = {axis, 1, step, 1};
  const Tensor windows = moved(x, Op::Window, arg);
  Shape shape = windows.shape();
  shape.erase(shape.size() - 1);
  return moved(windows, Op::Reshape, shape);
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape, Location at) {
  const Call call("reshape", {&x}, at);
  Shape result = shape;
  std::int64_t known = 1;
  int unknown = -1;
  for (int i = 0; i < shape.size(); i++) {
    call.require(shape[i] >= -1, "size {} in shape {}", shape[i], shape);
    call.require(shape[i] >= 0 || unknown < 0, "shape {} has more than one -1", shape);
    if (shape[i] < 0) {
      unknown = i;
    } else {
      call.require(!__builtin_mul_overflow(known, shape[i], &known), "shape {} is too large",
                   shape);
    }
  }
  if (unknown >= 0) {
    call.require(known > 0 && x.numel() % known == 0, "{} elements do not fit shape {}", x.numel(),
                 shape);
    result[unknown] = x.numel() / known;
  }
  call.require(result.numel() == x.numel(), "{} elements do not fit shape {}", x.numel(), shape);
  return moved(x, Op::Reshape, result);
}

Tensor expand(const Tensor& x, const Shape& shape, Location at) {
  const Call call("expand", {&x}, at);
  const Shape from = x.shape();
  const int added = shape.size() - from.size();
  call.require(added >= 0, "shape {} has too few axes", shape);
  Shape result = shape;
  for (int i = 0; i < shape.size(); i++) {
    const std::int64_t size = i < added ? 1 : from[i - added];
    if (shape[i] == -1 && i >= added) result[i] = size;
    call.require(result[i] == size || (size == 1 && result[i] >= 0),
                 "axis {} has size {} and does not expand to {}", i - added, size, shape[i]);
  }
  call.check_shape(result);
  Shape aligned;
  for (int i = 0; i < added; i++) aligned.push_back(1);
  for (std::int64_t size : from) aligned.push_back(size);
  return moved(added > 0 ? moved(x, Op::Reshape, aligned) : x, Op::Expand, result);
}

Tensor permute(const Tensor& x, const Shape& order, Location at) {
  const Call call("permute", {&x}, at);
  const int rank = x.ndim();
  call.require(order.size() == rank, "order {} does not name each axis once", order);
  Shape axes;
  for (std::int64_t a : order) axes.push_back(call.axis(a, rank));
  const bool trivial = std::is_sorted(axes.begin(), axes.end());
  call.axes(axes, rank);
  return trivial ? x : moved(x, Op::Permute, axes);
}

Tensor transpose(const Tensor& x, std::int64_t a, std::int64_t b, Location at) {
  const Call call("transpose", {&x}, at);
  const int rank = x.ndim();
  const std::int64_t i = call.axis(a, rank), j = call.axis(b, rank);
  Shape order;
  for (int k = 0; k < rank; k++) order.push_back(k == i ? j : k == j ? i : k);
  return permute(x, order, at);
}

Tensor flip(const Tensor& x, const Axes& axes, Location at) {
  const Call call("flip", {&x}, at);
  Shape flags;
  for (int i = 0; i < x.ndim(); i++) flags.push_back(0);
  for (std::int64_t a : call.axes(axes, x.ndim())) flags[a] = 1;
  return moved(x, Op::Flip, flags);
}

// ---- parts ------------------------------------------------------------------------------------

Tensor narrow(const Tensor& x, std::int64_t axis, std::int64_t begin, std::int64_t length,
              Location at) {
  const Call call("narrow", {&x}, at);
  call.require(x.ndim() > 0, "a tensor without axes has no parts");
  const std::int64_t a = call.axis(axis, x.ndim()), size = x.shape()[a];
  const std::int64_t first = begin < 0 ? begin + size : begin;
  call.require(length >= 0 && 0 <= first && first <= size - length,
               "{} elements from {} on are not in an axis of size {}", length, begin, size);
  return cut(x, a, first, first + length);
}

Tensor slice(const Tensor& x, std::int64_t axis, const Slice& s, Location at) {
  const Call call("slice", {&x}, at);
  call.require(x.ndim() > 0, "a tensor without axes has no parts");
  call.require(s.step != 0 && s.step != INT64_MIN, "the step of a slice is {}", s.step);
  const std::int64_t a = call.axis(axis, x.ndim()), size = x.shape()[a];
  const auto position = [&](std::optional<std::int64_t> i, std::int64_t missing, std::int64_t low,
                            std::int64_t high) {
    if (!i) return missing;
    return std::clamp(*i < 0 ? *i + size : *i, low, high);
  };
  if (s.step > 0) {
    const std::int64_t begin = position(s.begin, 0, 0, size);
    const std::int64_t end = std::max(begin, position(s.end, size, 0, size));
    return strided(cut(x, a, begin, end), a, s.step);
  }
  // Walking backwards from `first` down to but excluding `last`.
  const std::int64_t first = position(s.begin, size - 1, -1, size - 1);
  const std::int64_t last = std::min(first, position(s.end, -1, -1, size - 1));
  if (first == last) return cut(x, a, 0, 0);
  // The flip comes last: the copy holds what is seen and nothing else, so all its views share it.
  const std::int64_t lowest = first - (first - last - 1) / -s.step * -s.step;
  return flip(strided(cut(x, a, lowest, first + 1), a, -s.step), a, at);
}

Tensor shrink(const Tensor& x, std::span<const std::pair<std::int64_t, std::int64_t>> bounds,
              Location at) {
  const Call call("shrink", {&x}, at);
  const Shape shape = x.shape();
  call.require(static_cast<int>(bounds.size()) == shape.size(), "{} bounds for {} axes",
               bounds.size(), shape.size());
  Tensor result = x;
  for (int i = 0; i < shape.size(); i++) {
    const auto [begin, end] = bounds[static_cast<std::size_t>(i)];
    call.require(0 <= begin && begin <= end && end <= shape[i],
                 "[{}, {}) is not in axis {} of size {}", begin, end, i, shape[i]);
    result = cut(result, i, begin, end);
  }
  return result;
}

Tensor pad(const Tensor& x, const Shape& amounts, Scalar value, Location at) {
  const Call call("pad", {&x}, at);
  const int rank = x.ndim();
  call.require(amounts.size() % 2 == 0 && amounts.size() <= 2 * rank,
               "{} amounts for a tensor of {} axes: two are needed per padded axis", amounts.size(),
               rank);
  Tensor result = x;
  Shape arg;
  for (int i = 0; i < 2 * rank; i++) arg.push_back(0);
  bool padded = false;
  for (int i = 0; i < amounts.size() / 2; i++) {
    const std::int64_t before = amounts[2 * i], after = amounts[2 * i + 1];
    const std::int64_t axis = rank - 1 - i, size = x.shape()[axis];
    const std::int64_t begin = std::max<std::int64_t>(0, -before);
    const std::int64_t end = size - std::max<std::int64_t>(0, -after);
    call.require(begin <= end, "axis {} of size {} cannot be cut by {} and {}", axis, size, before,
                 after);
    result = cut(result, axis, begin, end);
    arg[2 * axis] = std::max<std::int64_t>(0, before);
    arg[2 * axis + 1] = std::max<std::int64_t>(0, after);
    padded = padded || before > 0 || after > 0;
  }
  if (!padded) return result;
  Shape shape = result.shape();
  for (int i = 0; i < rank; i++) {
    call.require(!__builtin_add_overflow(shape[i], arg[2 * i], &shape[i]) &&
                     !__builtin_add_overflow(shape[i], arg[2 * i + 1], &shape[i]),
                 "padding makes axis {} too large", i);
  }
  call.check_shape(shape);
  if (result.numel() == 0) {
    GraphLock lock;
    return wrap_like(x, filled_node(scalar_node(x.dtype(), value), shape));
  }
  const Tensor zero_padded = moved(result, Op::Pad, arg);
  if (value.number() == 0 && !std::signbit(value.number())) return zero_padded;
  const Tensor inside = Tensor::ones(result.shape(), {.dtype = DType::Bool}, at);
  return where(moved(inside, Op::Pad, arg), zero_padded, operand_as(value, x.dtype()));
}

// ---- axes -------------------------------------------------------------------------------------

Tensor squeeze(const Tensor& x, std::optional<std::int64_t> axis, Location at) {
  const Call call("squeeze", {&x}, at);
  const Shape shape = x.shape();
  const std::int64_t chosen = axis ? call.axis(*axis, shape.size()) : -1;
  Shape result;
  for (int i = 0; i < shape.size(); i++) {
    if (shape[i] != 1 || (axis && i != chosen)) result.push_back(shape[i]);
  }
  return moved(x, Op::Reshape, result);
}

Tensor unsqueeze(const Tensor& x, std::int64_t axis, Location at) {
  const Call call("unsqueeze", {&x}, at);
  Shape shape = x.shape();
  shape.insert(call.axis(axis, shape.size() + 1), 1);
  return moved(x, Op::Reshape, shape);
}

Tensor flatten(const Tensor& x, std::int64_t first, std::int64_t last, Location at) {
  const Call call("flatten", {&x}, at);
  const Shape shape = x.shape();
  if (shape.empty()) return moved(x, Op::Reshape, Shape{1});
  const std::int64_t i = call.axis(first, shape.size()), j = call.axis(last, shape.size());
  call.require(i <= j, "axis {} stands after axis {}", first, last);
  Shape result;
  std::int64_t merged = 1;
  for (int k = 0; k < shape.size(); k++) {
    if (k >= i && k <= j) merged *= shape[k];
    if (k < i || k > j) result.push_back(shape[k]);
    if (k == j) result.push_back(merged);
  }
  return moved(x, Op::Reshape, result);
}

Tensor repeat(const Tensor& x, const Shape& times, Location at) {
  const Call call("repeat", {&x}, at);
  Shape shape = x.shape();
  call.require(times.size() >= shape.size(), "{} is too short for {} axes", times, shape.size());
  while (shape.size() < times.size()) shape.insert(0, 1);
  // (a, b) -> (1, a, 1, b) -> (t, a, u, b) -> (t * a, u * b).
  Shape spread, expanded, result;
  for (int i = 0; i < shape.size(); i++) {
    call.require(times[i] >= 0, "a tensor cannot be repeated {} times", times[i]);
    std::int64_t size = 0;
    call.require(!__builtin_mul_overflow(shape[i], times[i], &size), "axis {} gets too large", i);
    for (std::int64_t s : {std::int64_t{1}, shape[i]}) spread.push_back(s);
    for (std::int64_t s : {times[i], shape[i]}) expanded.push_back(s);
    result.push_back(size);
  }
  call.check_shape(result);
  return reshape(expand(reshape(x, spread, at), expanded, at), result, at);
}

namespace {

// Windows that neither overlap nor leave gaps are an axis cut in two: a view whose gradient is a
// view.
Tensor tiles(const Tensor& x, std::int64_t axis, std::int64_t size, Location at) {
  const std::int64_t count = x.shape()[axis] / size;
  Shape cut(x.shape());
  cut[axis] = count;
  cut.insert(axis + 1, size);
  Shape order;
  for (int i = 0; i < cut.size(); i++) {
    if (i != axis + 1) order.push_back(i);
  }
  order.push_back(axis + 1);
  return permute(reshape(narrow(x, axis, 0, count * size, at), cut, at), order, at);
}

}  // namespace

Tensor unfold(const Tensor& x, std::int64_t axis, std::int64_t size, std::int64_t step,
              std::int64_t dilation, Location at) {
  const Call call("unfold", {&x}, at);
  if (x.ndim() == 0) {
    return squeeze(unfold(reshape(x, {1}, at), axis, size, step, dilation, at), 0, at);
  }
  const std::int64_t a = call.axis(axis, x.ndim());
  call.require(size > 0 && step > 0 && dilation > 0,
               "size {}, step {} and dilation {} of windows must be positive", size, step,
               dilation);
  std::int64_t reach = 0;
  call.require(!__builtin_mul_overflow(size - 1, dilation, &reach) && reach < x.shape()[a],
               "a window of {} elements, {} apart, is wider than axis {} of size {}", size,
               dilation, axis, x.shape()[a]);
  if (step == size && dilation == 1) return tiles(x, a, size, at);
  const std::int64_t arg[] = {a, size, step, dilation};
  return moved(x, Op::Window, arg);
}

Tensor unwindow(const Tensor& x, std::int64_t axis, std::int64_t length, std::int64_t step,
                std::int64_t dilation, Location at) {
  const Call call("unwindow", {&x}, at);
  call.require(x.ndim() >= 2, "windows have two axes");
  const std::int64_t a = call.axis(axis, x.ndim());
  call.require(a + 1 < x.ndim(), "the last axis counts the elements of a window");
  call.require(step > 0 && dilation > 0, "step {} and dilation {} must be positive", step,
               dilation);
  Shape shape = x.shape();
  shape[a] = length;
  call.check_shape(shape);
  if (x.numel() == 0 || length == 0) return Tensor::zeros(shape, {.dtype = x.dtype()}, at);
  const std::int64_t arg[] = {a, length, step, dilation};
  return moved(x, Op::Unwindow, arg);
}

// ---- triangles --------------------------------------------------------------------------------

namespace {

// Keeps element (r, c) of the last two axes where r + diagonal <= c, or where the opposite holds.
Tensor triangle(const Call& call, const Tensor& x, std::int64_t diagonal, bool upper) {
  const int rank = x.ndim();
  call.require(rank >= 2, "a triangle needs two axes");
  call.require(std::abs(diagonal) < (std::int64_t{1} << 40), "diagonal {}", diagonal);
  const Shape shape{x.shape()[rank - 2], x.shape()[rank - 1]};
  GraphLock lock;
  const UOp row = position_node(shape, 0), column = position_node(shape, 1);
  const UOp sum[] = {row, tensor_graph().index(upper ? diagonal : diagonal + 1)};
  const UOp shifted = elementwise_node(Op::Add, sum, shape);
  const UOp low[] = {shifted, column}, high[] = {column, shifted};
  const UOp keep =
      upper ? elementwise_node(Op::Le, low, shape) : elementwise_node(Op::Lt, high, shape);
  return where(wrap(keep, -1), x, wrap(scalar_node(x.dtype(), 0), -1));
}

}  // namespace

Tensor triu(const Tensor& x, std::int64_t diagonal, Location at) {
  return triangle(Call("triu", {&x}, at), x, diagonal, true);
}

Tensor tril(const Tensor& x, std::int64_t diagonal, Location at) {
  return triangle(Call("tril", {&x}, at), x, diagonal, false);
}

}  // namespace croze
