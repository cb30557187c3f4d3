// inplace_steps.cpp -- the table of steps.
#include "fuzz/inplace_steps.h"

#include <algorithm>
#include <cmath>

#include "croze/base/error.h"
#include "croze/base/flat_map.h"
#include "croze/jit/capture.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"

namespace croze::fuzz {
namespace {

using Made = std::optional<Place>;

// ---- drawing ----------------------------------------------------------------------------------

std::int64_t axis_of(Chance& c, const Place& x) { return c.below(x.rank()); }

Numbers small_number(Chance& c, const Place&) { return {c.between(-9, 9)}; }

Numbers nothing(Chance&, const Place&) { return {}; }

// The range of numbers that it holds, and sizes.
Numbers new_tensor(Chance& c, const Place&) {
  const std::int64_t first = c.between(-20, 20);
  Numbers arg{first, first + 1};
  for (std::int64_t rank = c.between(0, 3); rank > 0; rank--) {
    arg.push_back(c.between(1, 4));
    arg[1] = first + (arg[1] - first) * arg.back();
  }
  return arg;
}

// begin, end and step, on both sides of the ends.
void draw_slice(Chance& c, std::int64_t size, Numbers& arg) {
  const std::int64_t step = c.percent(60) ? 1 : c.one_of({2, 3, -1, -2});
  arg.insert(arg.end(), {c.between(-size - 1, size + 1), c.between(-size - 1, size + 1), step});
}

// Positions of an axis, which may repeat, count from the end, or be out of range.
void draw_rows(Chance& c, std::int64_t size, Numbers& arg) {
  for (std::int64_t count = c.between(1, 3); count > 0; count--) {
    arg.push_back(c.percent(5) ? size + 1 : c.between(-size, std::max<std::int64_t>(size - 1, 0)));
  }
}

Numbers axis_and_slice(Chance& c, const Place& x) {
  Numbers arg{axis_of(c, x)};
  draw_slice(c, x.size(arg[0]), arg);
  return arg;
}

Numbers number_and_slice(Chance& c, const Place& x) {
  Numbers arg{c.between(-9, 9), c.between(-x.size(0), x.size(0) - 1)};
  draw_slice(c, x.size(1), arg);
  return arg;
}

Numbers last_slice(Chance& c, const Place& x) {
  Numbers arg;
  draw_slice(c, x.size(x.rank() - 1), arg);
  return arg;
}

template <int axis>
Numbers rows_of(Chance& c, const Place& x) {
  Numbers arg;
  draw_rows(c, x.size(axis), arg);
  return arg;
}

template <int axis>
Numbers number_and_rows(Chance& c, const Place& x) {
  Numbers arg{c.between(-9, 9)};
  draw_rows(c, x.size(axis), arg);
  return arg;
}

Numbers two_axes(Chance& c, const Place& x) { return {axis_of(c, x), axis_of(c, x)}; }

Numbers part_of_axis(Chance& c, const Place& x) {
  const std::int64_t axis = axis_of(c, x), begin = c.below(x.size(axis));
  return {axis, begin, c.between(0, x.size(axis) - begin)};
}

// How many parts, along which axis, where the first begins, how far on the next does; their length.
Numbers parts_in_a_row(Chance& c, const Place& x) {
  const std::int64_t axis = axis_of(c, x), size = std::max<std::int64_t>(x.size(axis), 1);
  const std::int64_t length = c.between(1, std::max<std::int64_t>(size / 2, 1));
  const std::int64_t step = c.percent(60) ? length : c.between(1, length + 1);
  const std::int64_t most = (size - length) / step + 1, count = c.between(1, most);
  return {count, axis, c.between(0, size - length - (count - 1) * step), step, length};
}

Numbers place_on_axis(Chance& c, const Place& x) {
  const std::int64_t axis = axis_of(c, x), size = x.size(axis);
  return {axis, c.between(-size, size - 1)};
}

Numbers expanded_sizes(Chance& c, const Place& x) {
  Numbers sizes(x.shape.begin(), x.shape.end());
  for (std::int64_t& s : sizes) s = s == 1 ? c.between(1, 3) : s;
  if (c.percent(50) && x.rank() < 4) sizes.insert(sizes.begin(), c.between(1, 3));
  return sizes;
}

Numbers window(Chance& c, const Place& x) {
  const std::int64_t axis = axis_of(c, x);
  return {axis, c.between(1, x.size(axis)), c.between(1, 3)};
}

// The prime factors of the number of elements, dealt to two or three axes.
Numbers other_sizes(Chance& c, const Place& x) {
  Numbers sizes(static_cast<std::size_t>(c.between(1, 3)), 1);
  std::int64_t rest = x.shape.numel();
  if (rest == 0) return {0};
  for (std::int64_t p = 2; rest > 1; p++) {
    for (; rest % p == 0; rest /= p)
      sizes[static_cast<std::size_t>(c.below(std::ssize(sizes)))] *= p;
  }
  return sizes;
}

// ---- meaning ----------------------------------------------------------------------------------

template <typename F>
Place with_values(const Place& x, F f) {
  Elements elements = x.elements();
  for (Element& e : elements) {
    const bool depends = e.depends;
    e = f(e);
    e.depends = e.depends || depends;
  }
  return Place::of(std::move(elements), x.shape, x.dtype);
}

Place of_any_slope(const Place& x) {
  return with_values(x, [](Element e) {
    return Element{.number = e.number, .is_any = true, .is_minus = e.is_minus, .is_nan = e.is_nan};
  });
}

DType common_dtype(const Place& x, const Place& y) {
  return x.dtype == DType::Float32 ? x.dtype : y.dtype;
}

Made sum_of(const Place& x, const Place& y, std::int64_t sign = 1) {
  Shape shape = x.rank() >= y.rank() ? x.shape : y.shape;
  for (int i = 1; i <= std::min(x.rank(), y.rank()); i++) {
    std::int64_t& size = shape[shape.size() - i];
    size = x.shape[x.rank() - i] == 1 ? y.shape[y.rank() - i] : x.shape[x.rank() - i];
  }
  const Made a = x.expanded(shape), b = y.expanded(shape);
  if (!a || !b) return std::nullopt;
  Elements elements = a->elements();
  const Elements others = b->elements();
  for (std::size_t i = 0; i < elements.size(); i++) elements[i] = elements[i] + others[i] * sign;
  return Place::of(std::move(elements), shape, common_dtype(x, y));
}

// What PyTorch refuses: a float added to integers in place.
Made add_in_place(const Place& x, const Place& y, std::int64_t sign) {
  if (common_dtype(x, y) != x.dtype) return std::nullopt;
  const Made sum = sum_of(x, y, sign);
  return sum && sum->shape == x.shape ? x.write(sum) : std::nullopt;
}

// The slices of x along the axis at the positions: nothing for one that is out of range.
std::vector<Made> rows_at(const Place& x, std::int64_t axis, std::span<const std::int64_t> rows) {
  std::vector<Made> result;
  for (std::int64_t r : rows) result.push_back(x.selected(axis, r));
  return result;
}

// The value, expanded to (.., rows, ..), put there in order.  Rows out of range are left out.  Of
// rows that are given twice the last is seen, but a gradient comes to all, as in PyTorch.
Made put_rows(const Place& x, std::int64_t axis, std::span<const std::int64_t> rows,
              const Place& value) {
  if (axis >= x.rank() || x.overlaps()) return std::nullopt;
  Shape shape = x.shape;
  shape[axis] = std::ssize(rows);
  const Made source = value.copied().expanded(shape);
  if (!source) return std::nullopt;
  const std::vector<Made> places = rows_at(x, axis, rows);
  FlatSet<std::int64_t> seen;
  for (std::size_t i = 0; i < places.size(); i++) {
    if (!places[i]) continue;
    const Place row = *source->selected(axis, static_cast<std::int64_t>(i));
    const bool is_first = seen.insert(places[i]->offset);
    places[i]->write(is_first ? row : of_any_slope(row));
  }
  if (x.shape.numel() > 0) x.storage->writes++;
  // What is left out counts, too, for all that is known when it is recorded.
  if (x.dtype == DType::Float32 && std::ranges::any_of(source->elements(), &Element::depends)) {
    for (Element& e : x.storage->elements) e.depends = true;
  }
  return x;
}

Made take_rows(const Place& x, std::span<const std::int64_t> rows) {
  if (x.rank() == 0) return std::nullopt;
  Shape shape = x.shape;
  shape[0] = std::ssize(rows);
  // What is out of range depends on x, too, for all that is known when it is recorded.
  const bool depends = std::ranges::any_of(x.elements(), &Element::depends);
  Elements elements;
  for (const Made& row : rows_at(x, 0, rows)) {
    const Elements found = row ? row->elements()
                               : Elements(static_cast<std::size_t>(
                                     shape.numel() / std::max<std::int64_t>(shape[0], 1)));
    elements.insert(elements.end(), found.begin(), found.end());
  }
  for (Element& e : elements) e.depends = depends;
  return Place::of(std::move(elements), shape, x.dtype);
}

// A part that is written through x itself, as one backwards is, needs an x without overlaps.
Made write_part(const Place& x, const Made& part, const Place& value, std::int64_t step) {
  if (!part || (step < 0 && x.overlaps())) return std::nullopt;
  if (step < 0 && part->shape.numel() > 0) x.storage->writes++;
  return part->write(value.copied()) ? Made(x) : std::nullopt;
}

// The float alone: 0 in the memory of integers.
Place special(const Element& e) { return Place::of({e}, {}, DType::Float32); }

template <typename F>
Made each_in_a_row(const Place& x, const Numbers& n, F write) {
  for (std::int64_t i = 0; i < n[0]; i++) {
    const Made part = x.part(n[1], n[2] + i * n[3], n[4]);
    if (!part || !write(*part, i)) return std::nullopt;
  }
  return x;
}

Made assigned_in_a_row(const Place& x, const Place& y, const Numbers& n) {
  const auto fits = [&](const Place& part, std::int64_t) {
    return !part.overlaps() && y.expanded(part.shape);
  };
  if (!each_in_a_row(x, n, fits)) return std::nullopt;
  return each_in_a_row(x, n,
                       [&](const Place& part, std::int64_t) { return part.write(y.copied()); });
}

Made added_in_a_row(const Place& x, const Place&, const Numbers& n) {
  if (x.overlaps() || !each_in_a_row(x, n, [](const Place&, std::int64_t) { return true; })) {
    return std::nullopt;
  }
  return each_in_a_row(x, n, [&](const Place& part, std::int64_t i) {
    return part.write(sum_of(part, Place::number(i - 1)));
  });
}

Made negated_in_a_row(const Place& x, const Place&, const Numbers& n) {
  if (n[0] >= x.rank() || x.overlaps()) return std::nullopt;
  for (std::int64_t i = 1; i < x.size(n[0]); i++) {
    const Place from = *x.selected(n[0], i - n[1]);
    x.selected(n[0], i)->write(with_values(from, [](Element e) { return e * -1; }));
  }
  return x;
}

// ---- calls ------------------------------------------------------------------------------------

constexpr std::string_view device = "INTERP";

Tensor counting(const Numbers& n, DType dtype) {
  return Tensor::arange(n[0], n[1], 1, {.dtype = dtype, .device = device})
      .reshape(Shape(std::span(n).subspan(2)))
      .contiguous();
}

template <DType dtype>
Made counting_place(const Place&, const Place&, const Numbers& n) {
  Elements elements;
  for (std::int64_t v = n[0]; v < n[1]; v++) elements.push_back({v});
  return Place::of(std::move(elements), Shape(std::span(n).subspan(2)), dtype);
}

Tensor in_memory(std::int64_t n) {
  return Tensor::from_data<float>({static_cast<float>(n)}, {}, {.device = device});
}

Tensor positions(std::span<const std::int64_t> rows) {
  return Tensor::from_data(rows, {std::ssize(rows)}, {.device = device});
}

void collect() {
  GraphLock lock;
  Registry::instance().collect();
}

std::span<const std::int64_t> but_first(const Numbers& n) { return std::span(n).subspan(1); }

// A captured step, called several times.  Where it refuses x for want of memory, it has done
// nothing, and the same is done without it.
Tensor subtract_in_steps(Tensor& x, const Tensor& y, std::int64_t calls) {
  const auto body = [&](const Tensor& v) {
    x.assign(v - x);
    return x;
  };
  auto step = capture(body);
  Tensor result;
  try {
    for (std::int64_t i = 0; i < calls; i++) result = step(y);
    return result;
  } catch (const Error& e) {
    if (e.message().find("no memory of its own") == std::string::npos) throw;
  }
  for (std::int64_t i = 0; i < calls; i++) result = body(y.contiguous()).contiguous();
  return result;
}

Made subtracted_in_steps(const Place& x, const Place& y, std::int64_t calls) {
  if (common_dtype(x, y) != x.dtype) return std::nullopt;
  for (std::int64_t i = 0; i < calls; i++) {
    const Made difference = sum_of(y, x, -1);
    if (!difference || difference->shape != x.shape) return std::nullopt;
    if (!x.write(of_any_slope(*difference))) return std::nullopt;
  }
  return x.copied();
}

// ---- the table --------------------------------------------------------------------------------

using P = const Place&;
using N = const Numbers&;
using X = Tensor&;
using Y = const Tensor&;
constexpr StepKind::Result makes = StepKind::Result::Made, changes = StepKind::Result::Changed;
constexpr StepKind::Result makes_distinct = StepKind::Result::Distinct;

// clang-format off
constexpr StepKind steps[] = {
    // From nothing: in memory, or still to be computed.
    {0, makes_distinct,
     "Tensor::arange($0, $1, 1, {.dtype = DType::Float32}).reshape({$*}).contiguous().realize()",
     new_tensor, counting_place<DType::Float32>,
     [](X, Y, N n) { return counting(n, DType::Float32).realize(); }},
    {0, makes,
     "Tensor::arange($0, $1, 1, {.dtype = DType::Int32}).reshape({$*}).contiguous()",
     new_tensor, counting_place<DType::Int32>,
     [](X, Y, N n) { return counting(n, DType::Int32); }},

    // Views.
    {1, makes, "$x.narrow($0, $1, $2)", part_of_axis,
     [](P x, P, N n) { return x.part(n[0], n[1], n[2]); },
     [](X x, Y, N n) { return x.narrow(n[0], n[1], n[2]); }},
    {1, makes, "$x.select($0, $1)", place_on_axis,
     [](P x, P, N n) { return x.selected(n[0], n[1]); },
     [](X x, Y, N n) { return x.select(n[0], n[1]); }},
    {1, makes, "$x.slice($0, {$1, $2, $3})", axis_and_slice,
     [](P x, P, N n) {
       const Made part = x.sliced(n[0], n[1], n[2], n[3]);
       return part && n[3] < 0 ? part->copied() : part;
     },
     [](X x, Y, N n) { return x.slice(n[0], {n[1], n[2], n[3]}); }},
    {1, makes, "$x.transpose($0, $1)", two_axes,
     [](P x, P, N n) { return x.transposed(n[0], n[1]); },
     [](X x, Y, N n) { return x.transpose(n[0], n[1]); }},
    {1, makes, "$x.unsqueeze($0)",
     [](Chance& c, P x) { return Numbers{c.below(x.rank() + 1)}; },
     [](P x, P, N n) { return x.rank() < 5 ? x.unsqueezed(n[0]) : std::nullopt; },
     [](X x, Y, N n) { return x.unsqueeze(n[0]); }},
    {1, makes, "$x.squeeze($0)",
     [](Chance& c, P x) { return Numbers{axis_of(c, x)}; },
     [](P x, P, N n) { return x.squeezed(n[0]); },
     [](X x, Y, N n) { return x.squeeze(n[0]); }},
    {1, makes, "$x.expand({$*})", expanded_sizes,
     [](P x, P, N n) { return x.expanded(Shape(n)); },
     [](X x, Y, N n) { return x.expand(Shape(n)); }},
    {1, makes, "$x.unfold($0, $1, $2)", window,
     [](P x, P, N n) { return x.rank() < 5 ? x.unfolded(n[0], n[1], n[2]) : std::nullopt; },
     [](X x, Y, N n) { return x.unfold(n[0], n[1], n[2]); }},
    {1, makes, "$x.reshape({$*})", other_sizes,
     [](P x, P, N n) { return x.reshaped(Shape(n)); },
     [](X x, Y, N n) { return x.reshape(Shape(n)); }},
    {1, makes, "$x.index({$0, std::nullopt, Slice{$1, $2, $3}})",
     [](Chance& c, P x) {
       const Numbers n = number_and_slice(c, x);
       return Numbers(n.begin() + 1, n.end());
     },
     [](P x, P, N n) {
       const Made row = x.selected(0, n[0]);
       const Made part = row ? row->sliced(0, n[1], n[2], n[3]) : row;
       const Made view = part ? part->unsqueezed(0) : part;
       return view && n[3] < 0 ? view->copied() : view;
     },
     [](X x, Y, N n) { return x.index({n[0], std::nullopt, Slice{n[1], n[2], n[3]}}); }},
    {1, makes, "$x.detach()", nothing,
     [](P x, P, N) { return Made(x.shape.numel() > 0 ? x.detached() : x.copied()); },
     [](X x, Y, N) { return x.detach(); }},

    // Values of their own.
    {1, makes, "$x.contiguous()", nothing,
     [](P x, P, N) { return Made(x.copied()); },
     [](X x, Y, N) { return x.contiguous(); }},
    {1, makes, "$x * $0", [](Chance& c, P) { return Numbers{c.between(-2, 2)}; },
     [](P x, P, N n) { return Made(with_values(x, [&](Element v) { return v * n[0]; })); },
     [](X x, Y, N n) { return x * n[0]; }},
    {1, makes_distinct, "$x - Tensor::from_data<float>({$0}, {})", small_number,
     [](P x, P, N n) { return sum_of(x, Place::of({Element{n[0]}}, {}, DType::Float32), -1); },
     [](X x, Y, N n) { return x - in_memory(n[0]); }},
    {2, makes, "$x + $y", nothing,
     [](P x, P y, N) { return sum_of(x, y); },
     [](X x, Y y, N) { return x + y; }},
    {1, makes, "$x.index({Tensor::from_data<std::int64_t>({$*}, {$#})})", rows_of<0>,
     [](P x, P, N n) { return take_rows(x, n); },
     [](X x, Y, N n) { return x.index({positions(n)}); }},

    // In place.
    {1, changes, "$x.fill_($0)", small_number,
     [](P x, P, N n) { return x.write(Place::number(n[0])); },
     [](X x, Y, N n) { return x.fill_(n[0]); }},
    {1, changes, "$x.fill_(-0.)", nothing,
     [](P x, P, N) { return x.write(special({.is_minus = true})); },
     [](X x, Y, N) { return x.fill_(-0.); }},
    {1, changes, "$x.fill_(NAN)", nothing,
     [](P x, P, N) { return x.write(special({.is_nan = true})); },
     [](X x, Y, N) { return x.fill_(NAN); }},
    {2, changes, "$x.assign($y)", nothing,
     [](P x, P y, N) { return x.write(y); },
     [](X x, Y y, N) { return x.assign(y); }},
    {1, changes, "$x += $0", small_number,
     [](P x, P, N n) { return x.write(sum_of(x, Place::number(n[0]))); },
     [](X x, Y, N n) { return x += n[0]; }},
    {1, changes, "$x *= $0", [](Chance& c, P) { return Numbers{c.between(-2, 2)}; },
     [](P x, P, N n) { return x.write(with_values(x, [&](Element v) { return v * n[0]; })); },
     [](X x, Y, N n) { return x *= n[0]; }},
    {2, changes, "$x += $y", nothing,
     [](P x, P y, N) { return add_in_place(x, y, 1); },
     [](X x, Y y, N) { return x += y; }},
    {2, changes, "$x -= $y", nothing,
     [](P x, P y, N) { return add_in_place(x, y, -1); },
     [](X x, Y y, N) { return x -= y; }},

    // Parts of one tensor in a row, which may overlap.
    {2, changes, "for (int i = 0; i < $0; i++) $x.narrow($1, $2 + i * $3, $4).assign($y)",
     parts_in_a_row, assigned_in_a_row,
     [](X x, Y y, N n) {
       for (int i = 0; i < n[0]; i++) x.narrow(n[1], n[2] + i * n[3], n[4]).assign(y);
       return x;
     }},
    {1, changes, "for (int i = 0; i < $0; i++) $x.narrow($1, $2 + i * $3, $4) += i - 1",
     parts_in_a_row, added_in_a_row,
     [](X x, Y, N n) {
       for (int i = 0; i < n[0]; i++) x.narrow(n[1], n[2] + i * n[3], n[4]) += i - 1;
       return x;
     }},
    {1, changes, "for (int i = 1; i < $x.size($0); i++) $x.select($0, i) = -$x.select($0, i - $1)",
     [](Chance& c, P x) { return Numbers{axis_of(c, x), c.below(2)}; }, negated_in_a_row,
     [](X x, Y, N n) {
       for (std::int64_t i = 1; i < x.size(n[0]); i++) x.select(n[0], i) = -x.select(n[0], i - n[1]);
       return x;
     }},

    // In place by an index.
    {1, changes, "$x.index_put_({$1, Slice{$2, $3, $4}}, $0)", number_and_slice,
     [](P x, P, N n) {
       const Made row = x.selected(0, n[1]);
       const Made part = row ? row->sliced(0, n[2], n[3], n[4]) : row;
       return write_part(x, part, Place::number(n[0]), n[4]);
     },
     [](X x, Y, N n) { return x.index_put_({n[1], Slice{n[2], n[3], n[4]}}, n[0]); }},
    {2, changes, "$x.index_put_({indexing::Ellipsis, Slice{$0, $1, $2}}, $y)", last_slice,
     [](P x, P y, N n) {
       if (x.rank() == 0) return Made();
       return write_part(x, x.sliced(x.rank() - 1, n[0], n[1], n[2]), y, n[2]);
     },
     [](X x, Y y, N n) { return x.index_put_({indexing::Ellipsis, Slice{n[0], n[1], n[2]}}, y); }},
    {1, changes, "$x.index_put_({Tensor::from_data<std::int64_t>({$*}, {$#})}, $0)",
     number_and_rows<0>,
     [](P x, P, N n) { return put_rows(x, 0, but_first(n), Place::number(n[0])); },
     [](X x, Y, N n) { return x.index_put_({positions(but_first(n))}, n[0]); }},
    {2, changes, "$x.index_put_({Tensor::from_data<std::int64_t>({$*}, {$#})}, $y)", rows_of<0>,
     [](P x, P y, N n) { return put_rows(x, 0, n, y); },
     [](X x, Y y, N n) { return x.index_put_({positions(n)}, y); }},
    {1, changes, "$x.index_put_({Slice{}, Tensor::from_data<std::int64_t>({$*}, {$#})}, $0)",
     number_and_rows<1>,
     [](P x, P, N n) { return put_rows(x, 1, but_first(n), Place::number(n[0])); },
     [](X x, Y, N n) { return x.index_put_({Slice{}, positions(but_first(n))}, n[0]); }},
    {1, changes, "$x.index_put_({$x > $0}, $1)",
     [](Chance& c, P) { return Numbers{c.between(-20, 20), c.between(-9, 9)}; },
     [](P x, P, N n) {
       const auto put = [&](Element v) { return v > n[0] ? Element{n[1]} : v; };
       return x.write(with_values(x.attached(), put));
     },
     [](X x, Y, N n) { return x.index_put_({x > n[0]}, n[1]); }},

    // By a captured step.
    {2, makes,
     "[&] { auto step = capture([&](const Tensor& v) { $x.assign(v - $x); return $x; }); "
     "for (int i = 1; i < $0; i++) step($y); return step($y); }()",
     [](Chance& c, P) { return Numbers{c.between(1, 3)}; },
     [](P x, P y, N n) { return subtracted_in_steps(x, y, n[0]); },
     [](X x, Y y, N n) { return subtract_in_steps(x, y, n[0]); }},

    // What changes no value.
    {1, changes, "[] { GraphLock lock; Registry::instance().collect(); }()", nothing,
     [](P x, P, N) { return Made(x); },
     [](X x, Y, N) { collect(); return x; }},
    {1, changes, "$x.realize()", nothing,
     [](P x, P, N) { return Made(x); },
     [](X x, Y, N) { return x.realize(); }},
    {1, makes, "$x", nothing,  // another handle
     [](P x, P, N) { return Made(x); },
     [](X x, Y, N) { return Tensor(x); }},
    {1, changes, "$x = Tensor()", nothing,
     [](P, P, N) { return Made(Place{}); },
     [](X x, Y, N) { return x = Tensor(); }},
};
// clang-format on

}  // namespace

std::span<const StepKind> inplace_steps() { return steps; }

}  // namespace croze::fuzz
