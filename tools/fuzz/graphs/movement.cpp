// movement.cpp -- movement and indexing of programs on Tensors.
#include <algorithm>

#include "croze/croze.h"
#include "fuzz/graphs/steps.h"

namespace croze::fuzz {
namespace {

using R = GraphStepKind::Result;
using Drawn = std::optional<DrawnStep>;
using Numbers = std::vector<std::int64_t>;
using Kind = Wanted::Kind;

// ---- movement ---------------------------------------------------------------------------------

Drawn any_of_rank(GraphDraft& d, int rank) {
  const auto x = d.pick({.kind = Kind::Any, .least_rank = rank});
  if (!x) return {};
  return DrawnStep{{*x}, {}};
}

template <int rank = 1>
Drawn with_axis(GraphDraft& d) {
  Drawn drawn = any_of_rank(d, rank);
  if (drawn) drawn->arg = {d.axis_of(drawn->src[0]), d.axis_of(drawn->src[0])};
  return drawn;
}

Drawn with_axes(GraphDraft& d) {
  Drawn drawn = any_of_rank(d, 1);
  if (drawn) drawn->arg = d.axes_of(drawn->src[0]);
  return drawn;
}

// Neighbouring axes become one, and one becomes two.
Drawn other_sizes(GraphDraft& d) {
  Drawn drawn = any_of_rank(d, 0);
  if (!drawn) return {};
  for (std::int64_t size : d.shape(drawn->src[0])) {
    Numbers& arg = drawn->arg;
    if (!arg.empty() && d.chance.percent(40)) {
      arg.back() *= size;
    } else if (size > 3 && d.chance.percent(40)) {
      std::int64_t factor = d.chance.between(2, std::min<std::int64_t>(size, 9));
      while (size % factor != 0) factor--;
      arg.push_back(factor);
      arg.push_back(size / factor);
    } else {
      arg.push_back(size);
    }
  }
  return drawn;
}

Drawn other_order(GraphDraft& d) {
  Drawn drawn = any_of_rank(d, 2);
  if (!drawn) return {};
  for (int i = 0; i < d.rank(drawn->src[0]); i++) {
    drawn->arg.insert(drawn->arg.begin() + d.chance.below(i + 1), i);
  }
  return drawn;
}

Drawn part_of_axis(GraphDraft& d) {
  Drawn drawn = with_axis(d);
  if (!drawn) return {};
  const std::int64_t size = d.size(drawn->src[0], drawn->arg[0]);
  const std::int64_t begin = d.chance.below(size);
  drawn->arg = {drawn->arg[0], begin, d.chance.between(0, size - begin)};
  return drawn;
}

Drawn slice_of_axis(GraphDraft& d) {
  Drawn drawn = with_axis(d);
  if (!drawn) return {};
  constexpr std::int64_t steps[] = {1, 2, 3, -1, -2};
  const std::int64_t size = d.size(drawn->src[0], drawn->arg[0]), step = d.chance.one_of(steps);
  std::int64_t begin = d.chance.below(size), end = d.chance.between(begin, size);
  if (step < 0) std::swap(begin, end);
  drawn->arg = {drawn->arg[0], begin, end, step};
  return drawn;
}

Drawn place_on_axis(GraphDraft& d) {
  Drawn drawn = with_axis(d);
  if (!drawn) return {};
  drawn->arg[1] = d.chance.below(d.size(drawn->src[0], drawn->arg[0]));
  return drawn;
}

Drawn padding(GraphDraft& d) {
  Drawn drawn = any_of_rank(d, 1);
  if (!drawn) return {};
  for (int i = 2 * std::min(2, d.rank(drawn->src[0])); i > 0; i--) {
    drawn->arg.push_back(d.chance.between(0, 2));
  }
  return drawn;
}

Drawn expanded(GraphDraft& d) {
  Drawn drawn = any_of_rank(d, 0);
  if (!drawn) return {};
  const Shape& shape = d.shape(drawn->src[0]);
  drawn->arg.assign(shape.begin(), shape.end());
  for (std::int64_t& size : drawn->arg) {
    if (size == 1 && d.chance.percent(70)) size = d.chance.between(1, 6);
  }
  if (drawn->arg.size() < 4 && d.chance.percent(60))
    drawn->arg.insert(drawn->arg.begin(), d.chance.between(1, 5));
  return drawn;
}

Drawn repeats(GraphDraft& d) {
  Drawn drawn = any_of_rank(d, 1);
  if (!drawn) return {};
  for (int i = d.rank(drawn->src[0]); i > 0; i--) drawn->arg.push_back(d.chance.between(1, 2));
  return drawn;
}

// Another of the same shape but, sometimes, for one axis.
Drawn joined(GraphDraft& d) {
  const auto x = d.pick({.kind = Kind::Number, .least_rank = 1});
  if (!x) return {};
  const std::int64_t axis = d.axis_of(*x);
  Shape shape = d.shape(*x);
  if (const auto y = d.of_shape(shape, Kind::Number); y && d.chance.percent(50))
    return DrawnStep{{*x, *y}, {axis}};
  shape[axis] = d.chance.between(0, 5);
  const int y =
      is_float(d.dtype(*x)) ? d.real(shape, d.dtype(*x)) : d.whole(shape, d.dtype(*x), -4, 4);
  return DrawnStep{{*x, y}, {axis}};
}

Drawn stacked(GraphDraft& d) {
  const auto x = d.pick({.kind = Kind::Number, .most_rank = 3});
  if (!x) return {};
  const auto y = d.of_shape(d.shape(*x), Kind::Number);
  return DrawnStep{{*x, *y}, {d.chance.below(d.rank(*x) + 1)}};
}

Drawn windows(GraphDraft& d) {
  Drawn drawn = with_axis(d);
  if (!drawn || d.rank(drawn->src[0]) > 4) return {};
  const std::int64_t size = d.size(drawn->src[0], drawn->arg[0]);
  drawn->arg = {drawn->arg[0], d.chance.between(1, std::min<std::int64_t>(size, 4)),
                d.chance.between(1, 3)};
  return drawn;
}

Drawn triangle(GraphDraft& d) {
  const auto x = d.pick({.kind = Kind::Number, .least_rank = 2});
  if (!x) return {};
  return DrawnStep{{*x}, {d.chance.between(-2, 2)}};
}

// ---- indexing ---------------------------------------------------------------------------------

// x, positions on an axis, and what goes there; `full`: the positions have the shape of x but for
// the axis, else they are a list.
Drawn positions(GraphDraft& d, Kind kind, bool full, bool with_source) {
  const auto x = d.pick({.kind = kind, .least_rank = 1, .most_rank = 4});
  if (!x) return {};
  const std::int64_t axis = d.axis_of(*x), size = d.size(*x, axis);
  if (size == 0) return {};
  const std::int64_t count = d.chance.between(1, 2 * std::min<std::int64_t>(size, 20));
  Shape shape = d.shape(*x);
  shape[axis] = count;
  const DType dtype = d.chance.percent(50) ? DType::Int64 : DType::Int32;
  DrawnStep drawn{{*x, d.whole(full ? shape : Shape{count}, dtype, 0, size - 1)}, {axis}};
  if (!with_source) return drawn;
  const auto source = d.of_shape(shape, kind);
  drawn.src.push_back(source && d.dtype(*source) == d.dtype(*x) ? *source
                      : is_float(d.dtype(*x))                   ? d.real(shape, d.dtype(*x))
                                              : d.whole(shape, d.dtype(*x), -4, 4));
  return drawn;
}

Drawn list_of_places(GraphDraft& d) { return positions(d, Kind::Any, false, false); }
Drawn grid_of_places(GraphDraft& d) { return positions(d, Kind::Any, true, false); }
Drawn rows_to_place(GraphDraft& d) { return positions(d, Kind::Number, false, true); }
Drawn elements_to_place(GraphDraft& d) { return positions(d, Kind::Number, true, true); }

Drawn rows(GraphDraft& d) {
  const auto x = d.pick({.least_rank = 2, .most_rank = 2});
  if (!x || d.size(*x, 0) == 0) return {};
  const int index = d.whole(d.any_shape(static_cast<int>(d.chance.between(1, 2))), DType::Int64, 0,
                            d.size(*x, 0) - 1);
  return DrawnStep{{*x, index}, {}};
}

Drawn classes(GraphDraft& d) {
  const std::int64_t count = d.chance.between(1, 12);
  const int rank = static_cast<int>(d.chance.between(1, 2));
  return DrawnStep{{d.whole(d.any_shape(rank), DType::Int64, 0, count - 1)}, {count}};
}

#define STEP CROZE_GRAPH_STEP
// clang-format off
constexpr GraphStepKind steps[] = {
    {R::Selects, other_sizes, STEP(reshape(x, shape_in(n, 0)))},
    {R::Selects, other_sizes, STEP(reshape(x, shape_in(n, 0)))},
    {R::Selects, other_order, STEP(permute(x, shape_in(n, 0)))},
    {R::Selects, with_axis<2>, STEP(transpose(x, n[0], n[1]))},
    {R::Selects, with_axes, STEP(flip(x, axes_in(n, 0)))},
    {R::Selects, part_of_axis, STEP(narrow(x, n[0], n[1], n[2]))},
    {R::Selects, slice_of_axis, STEP(slice(x, n[0], Slice{n[1], n[2], n[3]}))},
    {R::Selects, place_on_axis, STEP(select(x, n[0], n[1]))},
    {R::Selects, padding, STEP(pad(x, shape_in(n, 0)))},
    {R::Selects, padding, STEP(pad(x, shape_in(n, 0), 1))},
    {R::Selects, padding, STEP(pad(x, shape_in(n, 0), PadMode::Replicate))},
    {R::Selects, with_axis<>, STEP(unsqueeze(x, n[0]))},
    {R::Selects, with_axis<>, STEP(squeeze(x))},
    {R::Selects, expanded, STEP(expand(x, shape_in(n, 0)))},
    {R::Selects, repeats, STEP(repeat(x, shape_in(n, 0)))},
    {R::Selects, with_axis<>, STEP(repeat_interleave(x, 2, n[0]))},
    {R::Selects, joined, STEP(cat({x, y}, n[0]))},
    {R::Selects, joined, STEP(cat({y, x, x}, n[0]))},
    {R::Selects, stacked, STEP(stack({x, y}, n[0]))},
    {R::Selects, place_on_axis, STEP(roll(x, {n[1]}, n[0]))},
    {R::Selects, windows, STEP(unfold(x, n[0], n[1], n[2]))},
    {R::Selects, with_axis<2>, STEP(diagonal(x, 0, n[0], n[1]))},
    {R::Selects, triangle, STEP(triu(x, n[0]))},
    {R::Selects, triangle, STEP(tril(x, n[0]))},
    {R::Selects, with_axis<>, STEP(x.contiguous())},
    {R::Selects, with_axis<>, STEP(x.detach())},

    {R::Selects, list_of_places, STEP(index_select(x, n[0], y))},
    {R::Selects, grid_of_places, STEP(gather(x, n[0], y))},
    {R::Selects, rows, STEP(embedding(x, y))},
    {R::Selects, rows, STEP(x.index({y}))},
    {R::Selects, classes, STEP(one_hot(x, n[0]))},
    {R::Adds, rows_to_place, STEP(index_add(x, n[0], y, z))},
    {R::Selects, rows_to_place, STEP(index_copy(x, n[0], y, z))},
    {R::Selects, elements_to_place, STEP(scatter(x, n[0], y, z))},
    {R::Adds, elements_to_place, STEP(scatter_add(x, n[0], y, z))},
    {R::Selects, elements_to_place, STEP(scatter_reduce(x, n[0], y, z, ScatterReduce::Amax))},
    {R::Rounds, elements_to_place, STEP(scatter_reduce(x, n[0], y, z, ScatterReduce::Mean))},
};
// clang-format on
#undef STEP

}  // namespace

std::span<const GraphStepKind> moving_graph_steps() { return steps; }

}  // namespace croze::fuzz
