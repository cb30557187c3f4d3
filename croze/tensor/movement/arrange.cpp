// arrange.cpp -- rearrangements made of the movements of movement.cpp and of joining.
#include <algorithm>

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"
#include "croze/tensor/reduce/scan.h"

namespace croze {

// ---- axes moved -------------------------------------------------------------------------------

Tensor movedim(const Tensor& x, const Axes& from, const Axes& to, Location at) {
  const Call call("movedim", {&x}, at);
  const int rank = x.ndim();
  const Shape sources = from.list(), targets = to.list();
  call.require(sources.size() == targets.size(), "{} axes cannot go to {} places", sources.size(),
               targets.size());
  call.axes(from, rank);  // each once
  call.axes(to, rank);
  Shape order;
  for (int i = 0; i < rank; i++) order.push_back(-1);
  std::vector<bool> taken(static_cast<std::size_t>(rank), false);
  for (int i = 0; i < sources.size() && rank > 0; i++) {
    const std::int64_t source = call.axis(sources[i], rank);
    order[call.axis(targets[i], rank)] = source;
    taken[static_cast<std::size_t>(source)] = true;
  }
  std::int64_t next = 0;
  for (int i = 0; i < rank; i++) {
    if (order[i] >= 0) continue;
    while (taken[static_cast<std::size_t>(next)]) next++;
    order[i] = next++;
  }
  return permute(x, order, at);
}

Tensor unflatten(const Tensor& x, std::int64_t axis, const Shape& sizes, Location at) {
  const Call call("unflatten", {&x}, at);
  call.require(x.ndim() > 0 && !sizes.empty(), "there is no axis to cut");
  const std::int64_t a = call.axis(axis, x.ndim());
  const Shape shape = x.shape();
  std::int64_t known = 1;
  for (std::int64_t size : sizes) known *= size < 0 ? 1 : size;
  Shape result;
  for (int i = 0; i < shape.size(); i++) {
    if (i != a) {
      result.push_back(shape[i]);
      continue;
    }
    for (std::int64_t size : sizes) {
      result.push_back(size == -1 && known > 0 ? shape[i] / known : size);
    }
  }
  call.require(result.numel() == x.numel(), "{} elements do not fit sizes {}", shape[a], sizes);
  return reshape(x, result, at);
}

Tensor atleast_1d(const Tensor& x, Location at) {
  const CallScope scope("atleast_1d", at);
  return x.ndim() >= 1 ? x : reshape(x, {1}, at);
}

Tensor atleast_2d(const Tensor& x, Location at) {
  const CallScope scope("atleast_2d", at);
  return x.ndim() >= 2 ? x : unsqueeze(atleast_1d(x, at), 0, at);
}

Tensor atleast_3d(const Tensor& x, Location at) {
  const CallScope scope("atleast_3d", at);
  return x.ndim() >= 3 ? x : unsqueeze(atleast_2d(x, at), -1, at);
}

std::vector<Tensor> broadcast_tensors(std::span<const Tensor> tensors, Location at) {
  const CallScope scope("broadcast_tensors", at);
  std::vector<Shape> shapes;
  for (const Tensor& t : tensors) shapes.push_back(t.shape());
  const Shape shape = Call("broadcast_tensors", {}, at).broadcast(shapes);
  std::vector<Tensor> result;
  for (const Tensor& t : tensors) result.push_back(expand(t, shape, at));
  return result;
}

Tensor roll(const Tensor& x, const Shape& shifts, const Axes& axes, Location at) {
  const Call call("roll", {&x}, at);
  if (axes.all()) {
    call.require(shifts.size() == 1, "{} shifts for the flattened tensor", shifts.size());
    return reshape(roll(reshape(x, {-1}, at), shifts, 0, at), x.shape(), at);
  }
  call.require(shifts.size() == axes.list().size(), "{} shifts for {} axes", shifts.size(),
               axes.list().size());
  Tensor result = x;
  for (int i = 0; i < shifts.size() && x.ndim() > 0; i++) {
    const std::int64_t a = call.axis(axes.list()[i], x.ndim()), size = x.shape()[a];
    if (size == 0) return x;
    const std::int64_t moved = ((shifts[i] % size) + size) % size;
    if (moved == 0) continue;
    result =
        cat({narrow(result, a, size - moved, moved, at), narrow(result, a, 0, size - moved, at)}, a,
            at);
  }
  return result;
}

Tensor rot90(const Tensor& x, std::int64_t k, std::int64_t a, std::int64_t b, Location at) {
  const Call call("rot90", {&x}, at);
  call.require(x.ndim() >= 2, "a plane has two axes");
  const std::int64_t i = call.axis(a, x.ndim()), j = call.axis(b, x.ndim());
  call.require(i != j, "axis {} is given twice", a);
  switch (((k % 4) + 4) % 4) {
    case 1: return transpose(flip(x, j, at), i, j, at);
    case 2: return flip(x, {i, j}, at);
    case 3: return flip(transpose(x, i, j, at), j, at);
    default: return x;
  }
}

// ---- repeated ---------------------------------------------------------------------------------

Tensor tile(const Tensor& x, const Shape& times, Location at) {
  const CallScope scope("tile", at);
  Shape full = times;
  while (full.size() < x.ndim()) full.insert(0, 1);
  return repeat(x, full, at);
}

Tensor repeat_interleave(const Tensor& x, std::int64_t times, std::optional<std::int64_t> axis,
                         Location at) {
  const Call call("repeat_interleave", {&x}, at);
  call.require(times >= 0, "an element cannot be repeated {} times", times);
  const Tensor v = axis ? atleast_1d(x, at) : reshape(x, {-1}, at);
  const std::int64_t a = call.axis(axis.value_or(0), v.ndim());
  Shape spread = v.shape(), result = v.shape();
  spread.insert(a + 1, times);
  result[a] *= times;
  return reshape(expand(unsqueeze(v, a + 1, at), spread, at), result, at);
}

Tensor repeat_interleave(const Tensor& x, const Tensor& times, std::optional<std::int64_t> axis,
                         Location at) {
  const Call call("repeat_interleave", {&x, &times}, at);
  const Tensor v = axis ? atleast_1d(x, at) : reshape(x, {-1}, at);
  const std::int64_t a = call.axis(axis.value_or(0), v.ndim()), size = v.shape()[a];
  call.require(is_integer(times.dtype()) && times.ndim() <= 1 &&
                   (times.numel() == size || times.numel() == 1),
               "there must be a number of repeats (an integer) for each of {} elements", size);
  if (size == 0) return v;
  const Tensor counts = expand(reshape(times, {-1}, at), {size}, at).cast(DType::Int64);
  call.require(counts.min().item<std::int64_t>(at) >= 0, "a number of repeats is negative");
  const Tensor ends = cumsum(counts, 0, at).realize();
  const std::int64_t total = select(ends, 0, -1, at).item<std::int64_t>(at);
  // How many elements end at or before each place of the result.
  const Tensor zero = Tensor::zeros({total}, {.dtype = DType::Int64}, at);
  const Tensor marks = scatter_add(zero, 0, ends, Operand(Tensor::ones_like(ends), at));
  return index_select(v, a, total > 0 ? cumsum(marks, 0, at) : zero, at);
}

std::vector<Tensor> meshgrid(std::span<const Tensor> tensors, MeshIndexing indexing, Location at) {
  const Call call("meshgrid", {}, at);
  Shape shape;
  for (const Tensor& t : tensors) {
    call.require(t.ndim() <= 1, "a tensor of {} axes is no line of a grid", t.ndim());
    shape.push_back(t.numel());
  }
  const bool swap = indexing == MeshIndexing::XY && shape.size() >= 2;
  std::vector<Tensor> result;
  for (int i = 0; i < shape.size(); i++) {
    Shape line;
    for (int k = 0; k < shape.size(); k++) line.push_back(k == i ? shape[k] : 1);
    const Tensor grid = expand(reshape(tensors[static_cast<std::size_t>(i)], line, at), shape, at);
    result.push_back(swap ? transpose(grid, 0, 1, at) : grid);
  }
  return result;
}

Tensor cartesian_prod(std::span<const Tensor> tensors, Location at) {
  const CallScope scope("cartesian_prod", at);
  check(!tensors.empty(), at, "cartesian_prod: there are no tensors");
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns;
  for (const Tensor& t : meshgrid(tensors, MeshIndexing::IJ, at)) {
    columns.push_back(reshape(t, {-1}, at));
  }
  return stack(columns, 1, at);
}

// ---- joined and cut ---------------------------------------------------------------------------

namespace {

using Promote = Tensor (*)(const Tensor&, Location);

std::vector<Tensor> each(std::span<const Tensor> tensors, Promote f, Location at) {
  std::vector<Tensor> result;
  for (const Tensor& t : tensors) result.push_back(f(t, at));
  return result;
}

Tensor as_column(const Tensor& x, Location at) {
  return x.ndim() <= 1 ? reshape(x, {-1, 1}, at) : x;
}

}  // namespace

Tensor hstack(std::span<const Tensor> tensors, Location at) {
  const CallScope scope("hstack", at);
  const std::vector<Tensor> parts = each(tensors, atleast_1d, at);
  return cat(parts, !parts.empty() && parts[0].ndim() > 1 ? 1 : 0, at);
}

Tensor vstack(std::span<const Tensor> tensors, Location at) {
  const CallScope scope("vstack", at);
  return cat(each(tensors, atleast_2d, at), 0, at);
}

Tensor dstack(std::span<const Tensor> tensors, Location at) {
  const CallScope scope("dstack", at);
  return cat(each(tensors, atleast_3d, at), 2, at);
}

Tensor column_stack(std::span<const Tensor> tensors, Location at) {
  const CallScope scope("column_stack", at);
  return cat(each(tensors, as_column, at), 1, at);
}

Tensor block_diag(std::span<const Tensor> tensors, Location at) {
  const CallScope scope("block_diag", at);
  const std::vector<Tensor> parts = each(tensors, atleast_2d, at);
  std::int64_t columns = 0;
  for (const Tensor& t : parts) {
    check(t.ndim() == 2, at, "block_diag: a tensor of {} axes is no matrix", t.ndim());
    columns += t.size(1);
  }
  std::vector<Tensor> rows;
  std::int64_t begin = 0;
  for (const Tensor& t : parts) {
    const std::int64_t width = t.size(1);
    rows.push_back(pad(t, {begin, columns - begin - width}, 0, at));
    begin += width;
  }
  return cat(rows, 0, at);
}

std::vector<Tensor> unbind(const Tensor& x, std::int64_t axis, Location at) {
  const CallScope scope("unbind", at);
  std::vector<Tensor> result;
  for (std::int64_t i = 0; i < x.size(axis, at); i++) result.push_back(select(x, axis, i, at));
  return result;
}

std::vector<Tensor> tensor_split(const Tensor& x, const Shape& positions, std::int64_t axis,
                                 Location at) {
  const CallScope scope("tensor_split", at);
  std::vector<Tensor> result;
  std::optional<std::int64_t> begin = 0;
  for (std::int64_t end : positions) {
    result.push_back(slice(x, axis, {begin, end}, at));
    begin = end;
  }
  result.push_back(slice(x, axis, {begin, std::nullopt}, at));
  return result;
}

std::vector<Tensor> tensor_split(const Tensor& x, std::int64_t sections, std::int64_t axis,
                                 Location at) {
  const Call call("tensor_split", {&x}, at);
  call.require(sections > 0, "{} sections", sections);
  const std::int64_t size = x.size(axis, at);
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < sections; i++)
    sizes.push_back(size / sections + (i < size % sections));
  return split(x, Shape(sizes), axis, at);
}

// ---- diagonals --------------------------------------------------------------------------------

// In a square of k columns padded to k + 1, the diagonal is the first column of the flat elements
// cut anew in rows of k + 1.
Tensor diagonal(const Tensor& x, std::int64_t offset, std::int64_t a, std::int64_t b, Location at) {
  const Call call("diagonal", {&x}, at);
  call.require(x.ndim() >= 2, "a plane has two axes");
  call.axes({a, b}, x.ndim());
  const Tensor plane = movedim(x, {a, b}, {-2, -1}, at);
  const std::int64_t rows = plane.size(-2), columns = plane.size(-1);
  const std::int64_t down = std::max<std::int64_t>(0, -offset),
                     right = std::max<std::int64_t>(0, offset);
  const std::int64_t k = std::max<std::int64_t>(0, std::min(rows - down, columns - right));
  Shape shape = plane.shape();
  shape.erase(shape.size() - 1);
  shape[shape.size() - 1] = k;
  if (k == 0) return Tensor::zeros(shape, {.dtype = x.dtype()}, at);
  const Tensor square = narrow(narrow(plane, -2, down, k, at), -1, right, k, at);
  const Tensor rest = pad(flatten(square, -2, -1, at), {0, k}, 0, at);
  return select(unflatten(rest, -1, {k, k + 1}, at), -1, 0, at);
}

Tensor diag_embed(const Tensor& x, std::int64_t offset, std::int64_t a, std::int64_t b,
                  Location at) {
  const Call call("diag_embed", {&x}, at);
  call.require(x.ndim() >= 1, "a diagonal has an axis");
  call.axes({a, b}, x.ndim() + 1);
  const std::int64_t k = x.size(-1), above = std::max<std::int64_t>(0, offset),
                     below = std::max<std::int64_t>(0, -offset);
  const Tensor column = pad(unsqueeze(x, -1, at), {0, k}, 0, at);
  const Tensor flat = narrow(flatten(column, -2, -1, at), -1, 0, k * k, at);
  const Tensor square = unflatten(flat, -1, {k, k}, at);
  return movedim(pad(square, {above, below, below, above}, 0, at), {-2, -1}, {a, b}, at);
}

Tensor diag(const Tensor& x, std::int64_t offset, Location at) {
  const Call call("diag", {&x}, at);
  call.require(x.ndim() == 1 || x.ndim() == 2, "works on vectors and matrices");
  return x.ndim() == 1 ? diag_embed(x, offset, -2, -1, at) : diagonal(x, offset, 0, 1, at);
}

Tensor diagflat(const Tensor& x, std::int64_t offset, Location at) {
  const CallScope scope("diagflat", at);
  return diag_embed(reshape(x, {-1}, at), offset, -2, -1, at);
}

namespace {

template <typename Keep>
Tensor triangle_indices(std::int64_t rows, std::int64_t columns, Location at, Keep keep) {
  check(rows >= 0 && columns >= 0, at, "a matrix of {} rows and {} columns", rows, columns);
  std::vector<std::int64_t> numbers[2];
  for (std::int64_t r = 0; r < rows; r++) {
    for (std::int64_t c = 0; c < columns; c++) {
      if (!keep(r, c)) continue;
      numbers[0].push_back(r);
      numbers[1].push_back(c);
    }
  }
  const std::int64_t count = static_cast<std::int64_t>(numbers[0].size());
  numbers[0].insert(numbers[0].end(), numbers[1].begin(), numbers[1].end());
  return Tensor::from_data(numbers[0], {2, count}, {}, at);
}

}  // namespace

Tensor triu_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset, Location at) {
  const CallScope scope("triu_indices", at);
  return triangle_indices(rows, columns, at,
                          [&](std::int64_t r, std::int64_t c) { return c - r >= offset; });
}

Tensor tril_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset, Location at) {
  const CallScope scope("tril_indices", at);
  return triangle_indices(rows, columns, at,
                          [&](std::int64_t r, std::int64_t c) { return c - r <= offset; });
}

// ---- borders ----------------------------------------------------------------------------------

namespace {

// What stands before (or after) an axis, for one of the modes that continue x.
Tensor border(const Call& call, const Tensor& x, std::int64_t axis, std::int64_t count, bool before,
              PadMode mode, Location at) {
  const std::int64_t size = x.shape()[axis];
  switch (mode) {
    case PadMode::Reflect:
      call.require(count < size, "{} elements cannot be mirrored from {}", count, size);
      return flip(narrow(x, axis, before ? 1 : size - 1 - count, count, at), axis, at);
    case PadMode::Circular:
      call.require(count <= size, "{} elements cannot be continued from {}", count, size);
      return narrow(x, axis, before ? size - count : 0, count, at);
    default: {
      call.require(size > 0, "there is no element to repeat");
      Shape shape = x.shape();
      shape[axis] = count;
      return expand(narrow(x, axis, before ? 0 : size - 1, 1, at), shape, at);
    }
  }
}

}  // namespace

Tensor pad(const Tensor& x, const Shape& amounts, PadMode mode, Scalar value, Location at) {
  const CallScope scope("pad", at);
  if (mode == PadMode::Constant) return pad(x, amounts, value, at);
  const Call call("pad", {&x}, at);
  call.require(amounts.size() % 2 == 0 && amounts.size() <= 2 * x.ndim(),
               "{} amounts for a tensor of {} axes: two are needed per padded axis", amounts.size(),
               x.ndim());
  Tensor result = x;
  Shape cut = amounts;
  for (int i = 0; i < amounts.size() / 2; i++) {
    const std::int64_t axis = x.ndim() - 1 - i;
    std::vector<Tensor> parts;
    if (amounts[2 * i] > 0)
      parts.push_back(border(call, result, axis, amounts[2 * i], true, mode, at));
    parts.push_back(result);
    if (amounts[2 * i + 1] > 0) {
      parts.push_back(border(call, result, axis, amounts[2 * i + 1], false, mode, at));
    }
    if (parts.size() > 1) result = cat(parts, axis, at);
  }
  for (std::int64_t& amount : std::span(&cut[0], static_cast<std::size_t>(cut.size()))) {
    amount = std::min<std::int64_t>(amount, 0);
  }
  return pad(result, cut, 0, at);
}

}  // namespace croze
