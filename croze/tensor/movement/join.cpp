// join.cpp -- tensors joined along an axis, and cut apart again.
#include <algorithm>

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/record.h"

namespace croze {

namespace {

// Each element of a join chooses among all parts, so many parts are joined in groups first.
constexpr std::size_t most_parts = 16;

std::vector<Tensor> joined_in_groups(std::span<const Tensor> tensors, std::int64_t axis,
                                     Location at) {
  std::vector<Tensor> groups;
  for (std::size_t i = 0; i < tensors.size(); i += most_parts) {
    const std::size_t count = std::min(most_parts, tensors.size() - i);
    groups.push_back(cat(tensors.subspan(i, count), axis, at).contiguous());
  }
  return groups;
}

}  // namespace

// Each part is padded to its place, and each position chooses its part: a choice and not a sum, so
// that infinities, NaN and -0 stay in their part.
//
// As in PyTorch, a tensor of shape (0) joins with any shape.
Tensor cat(std::span<const Tensor> tensors, std::int64_t axis, Location at) {
  const CallScope scope("cat", at);
  check(!tensors.empty(), at, "cat: there are no tensors to join");
  if (tensors.size() > most_parts) return cat(joined_in_groups(tensors, axis, at), axis, at);
  const auto is_nothing = [](const Tensor& t) { return t.shape() == Shape{0}; };
  const auto found = std::ranges::find_if_not(tensors, is_nothing);
  const Tensor& first = found == tensors.end() ? tensors[0] : *found;
  const int rank = first.ndim();
  const Call of_first("cat", {&first}, at);
  of_first.require(rank > 0, "tensors without axes are stacked, not joined");
  const std::int64_t a = of_first.axis(axis, rank);

  DType dtype = first.dtype();
  std::int64_t total = 0;
  for (const Tensor& t : tensors) {
    const Call call("cat", {&first, &t}, at);
    call.device();
    dtype = promote(dtype, t.dtype());
    if (is_nothing(t)) continue;
    const Shape shape = t.shape(), expected = first.shape();
    bool agree = shape.size() == rank;
    for (int i = 0; agree && i < rank; i++) agree = i == a || shape[i] == expected[i];
    call.require(agree, "the shapes differ outside axis {}", axis);
    call.require(!__builtin_add_overflow(total, shape[a], &total), "the sizes add up to too much");
  }

  Shape shape = first.shape();
  shape[a] = total;
  of_first.check_shape(shape);
  GraphLock lock;
  const Shape line = {total};
  Shape place;
  for (int i = 0; i < rank; i++) place.push_back(i == a ? total : 1);
  Tensor result;
  std::int64_t begin = 0;
  for (const Tensor& t : tensors) {
    if (t.numel() == 0) continue;
    const std::int64_t end = begin + t.shape()[a];
    Shape amounts;
    for (int i = rank - 1; i >= a; i--) {
      amounts.push_back(i == a ? begin : 0);
      amounts.push_back(i == a ? total - end : 0);
    }
    const Tensor padded = pad(t.cast(dtype), amounts, 0, at);
    if (!result.defined()) {
      result = padded;
    } else {
      const UOp sides[] = {position_node(line, 0), tensor_graph().index(begin)};
      const UOp before = elementwise_node(Op::Lt, sides, line);
      result = where(wrap(reshape_node(before, place), -1), result, padded);
    }
    begin = end;
  }
  return result.defined() ? result : Tensor::zeros(shape, {.dtype = dtype}, at);
}

Tensor cat(std::initializer_list<Tensor> tensors, std::int64_t axis, Location at) {
  return cat(std::span(tensors.begin(), tensors.size()), axis, at);
}

Tensor stack(std::span<const Tensor> tensors, std::int64_t axis, Location at) {
  const CallScope scope("stack", at);
  check(!tensors.empty(), at, "stack: there are no tensors to join");
  std::vector<Tensor> parts;
  for (const Tensor& t : tensors) {
    const Call call("stack", {&tensors[0], &t}, at);
    call.require(t.shape() == tensors[0].shape(), "the shapes differ");
    parts.push_back(unsqueeze(t, axis, at));
  }
  return cat(parts, axis, at);
}

Tensor stack(std::initializer_list<Tensor> tensors, std::int64_t axis, Location at) {
  return stack(std::span(tensors.begin(), tensors.size()), axis, at);
}

std::vector<Tensor> split(const Tensor& x, const Shape& sizes, std::int64_t axis, Location at) {
  const Call call("split", {&x}, at);
  call.require(x.ndim() > 0, "a tensor without axes has no parts");
  const std::int64_t size = x.shape()[call.axis(axis, x.ndim())];
  std::int64_t rest = size;
  for (std::int64_t part : sizes) {
    call.require(0 <= part && part <= rest, "sizes {} do not add up to {}", sizes, size);
    rest -= part;
  }
  call.require(rest == 0, "sizes {} do not add up to {}", sizes, size);
  std::vector<Tensor> parts;
  std::int64_t begin = 0;
  for (std::int64_t part : sizes) {
    parts.push_back(narrow(x, axis, begin, part, at));
    begin += part;
  }
  return parts;
}

std::vector<Tensor> split(const Tensor& x, std::int64_t size, std::int64_t axis, Location at) {
  const Call call("split", {&x}, at);
  call.require(x.ndim() > 0, "a tensor without axes has no parts");
  call.require(size > 0, "parts of size {}", size);
  const std::int64_t total = x.shape()[call.axis(axis, x.ndim())];
  std::vector<std::int64_t> sizes;
  for (std::int64_t begin = 0; begin < total; begin += size) {
    sizes.push_back(std::min(size, total - begin));
  }
  if (sizes.empty()) sizes.push_back(0);
  return split(x, Shape(sizes), axis, at);
}

std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, std::int64_t axis, Location at) {
  const Call call("chunk", {&x}, at);
  call.require(x.ndim() > 0, "a tensor without axes has no parts");
  call.require(chunks > 0, "{} chunks", chunks);
  const std::int64_t total = x.shape()[call.axis(axis, x.ndim())];
  return split(x, std::max<std::int64_t>(1, (total + chunks - 1) / chunks), axis, at);
}

}  // namespace croze
