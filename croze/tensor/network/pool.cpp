// pool.cpp -- pooling over any number of axes.
#include "croze/tensor/network/pool.h"

#include <cmath>

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/elementwise/numeric.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/network/windows.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze {
namespace {

Shape last_axes(const Tensor& x, int axes) {
  const Shape shape = x.shape();
  return Shape(std::span(shape.end() - axes, shape.end()));
}

Shape numbered_from_end(int count) {
  Shape axes;
  for (int i = count; i > 0; i--) axes.push_back(-i);
  return axes;
}

Scalar least_of(DType t) { return is_float(t) ? Scalar(-infinity) : Scalar(min_value(t)); }

// A pooling at work: the windows, with `after` grown where one overhangs the end.
struct Pooling {
  Call call;
  int axes;
  Shape length;
  WindowGrid grid;
  std::int64_t overhang = 0;

  Pooling(std::string_view name, int count, const Tensor& x, const PerAxis& window,
          const PoolOptions& options, Location at)
      : call(name, {&x}, at),
        axes(count),
        length(checked_length(x)),
        grid(call, axes, window.for_axes(call, axes, "window", 1),
             options.stride ? *options.stride : window, options.padding, options.dilation) {
    const Shape counts = grid.counts(call, length, options.ceil_mode);
    for (int i = 0; i < axes; i++) {
      call.require(2 * grid.before[i] <= grid.size[i], "padding {} is more than half of window {}",
                   grid.before[i], grid.size[i]);
      const std::int64_t end = (counts[i] - 1) * grid.stride[i] + grid.reach(i);
      const std::int64_t more = end - (length[i] + grid.before[i] + grid.after[i]);
      if (more <= 0) continue;
      grid.after[i] += more;
      overhang += more;
    }
  }

  Shape checked_length(const Tensor& x) const {
    call.require(x.ndim() >= axes, "the input has at least {} axes", axes);
    return last_axes(x, axes);
  }
};

Tensor max_pooled(std::string_view name, int axes, const Tensor& x, const PerAxis& window,
                  const PoolOptions& options, Location at) {
  const Pooling p(name, axes, x, window, options, at);
  return max(windows_of(x, p.grid, least_of(x.dtype()), at), numbered_from_end(axes), false, at);
}

// Where the greatest element of the last axes of `values` stands, by their `positions`.
ValuesAndIndices greatest(const Tensor& values, const Tensor& positions, int axes, Location at) {
  const Tensor flat = flatten(values, -axes, -1, at);
  const Tensor best = argmax(flat, -1, true, at);
  const Tensor places = expand(flatten(positions, -axes, -1, at), flat.shape(), at);
  return {squeeze(gather(flat, -1, best, at), -1, at),
          squeeze(gather(places, -1, best, at), -1, at)};
}

Tensor plane_positions(const Shape& length, Location at) {
  return reshape(Tensor::arange(length.numel(), {}, at), length, at);
}

ValuesAndIndices max_pooled_with_indices(std::string_view name, int axes, const Tensor& x,
                                         const PerAxis& window, const PoolOptions& options,
                                         Location at) {
  const Pooling p(name, axes, x, window, options, at);
  return greatest(windows_of(x, p.grid, least_of(x.dtype()), at),
                  windows_of(plane_positions(p.length, at), p.grid, -1, at), axes, at);
}

Tensor avg_pooled(std::string_view name, int axes, const Tensor& x, const PerAxis& window,
                  const PoolOptions& options, Location at) {
  const Pooling p(name, axes, x, window, options, at);
  p.call.require(!options.divisor || *options.divisor != 0, "the divisor is zero");
  p.call.require(x.dtype() != DType::Bool, "works on numbers, not on bool");
  const Shape list = numbered_from_end(axes);
  const auto count = [&](const Tensor& v) -> Operand {
    if (options.divisor) return *options.divisor;
    const bool whole = p.overhang == 0 && options.count_include_pad;
    if (whole) return p.grid.size.numel();
    // What counts: the input, and its padding if it does, but not the overhang.
    WindowGrid counted = p.grid;
    Shape inside = p.length;
    for (int i = 0; options.count_include_pad && i < axes; i++) {
      inside[i] += 2 * p.grid.before[i];
      counted.after[i] -= p.grid.before[i];
      counted.before[i] = 0;
    }
    const Tensor ones = Tensor::ones(inside, {.dtype = v.dtype()}, at);
    return sum(windows_of(ones, counted, 0, at), list, false, at);
  };
  const auto total = [&](const Tensor& v) {
    return sum(windows_of(v, p.grid, 0, at), list, false, at);
  };
  if (is_integer(x.dtype())) return div(total(x), count(x), Rounding::Trunc).cast(x.dtype());
  return in_wide_float(x, [&](const Tensor& v) { return total(v) / count(v); });
}

Tensor lp_pooled(std::string_view name, int axes, const Tensor& x, double p, const PerAxis& window,
                 const PoolOptions& options, Location at) {
  const Pooling pooling(name, axes, x, window, options, at);
  return in_wide_float(x, [&](const Tensor& v) {
    const Tensor powers = windows_of(pow(v, p), pooling.grid, 0, at);
    return pow(sum(powers, numbered_from_end(axes), false, at), 1 / p);
  });
}

// ---- adaptive ---------------------------------------------------------------------------------

// The windows of an axis of `length` that are to be `count`, as wide as the widest: which elements,
// and how many of each window are its own.
struct AdaptiveAxis {
  std::int64_t width = 0;
  std::vector<std::int64_t> positions, sizes;

  AdaptiveAxis(std::int64_t length, std::int64_t count) {
    const auto begin = [&](std::int64_t i) { return i * length / count; };
    const auto end = [&](std::int64_t i) { return ((i + 1) * length + count - 1) / count; };
    for (std::int64_t i = 0; i < count; i++) {
      sizes.push_back(end(i) - begin(i));
      width = std::max(width, sizes.back());
    }
    for (std::int64_t i = 0; i < count; i++) {
      for (std::int64_t k = 0; k < width; k++) {
        positions.push_back(std::min(begin(i) + k, length - 1));
      }
    }
  }
};

// x cut into the windows of an adaptive pooling, (.., counts, widths), and which of their elements
// count (undefined: all), how many, and where they stand.
struct AdaptiveWindows {
  Tensor values, counts, inside, positions;
};

Shape adaptive_size(const Call& call, const Tensor& x, int axes, const PerAxis& size) {
  call.require(x.ndim() >= axes, "the input has at least {} axes", axes);
  Shape result = size.for_axes(call, axes, "size", -1);
  for (int i = 0; i < axes; i++) {
    const std::int64_t length = x.shape()[x.ndim() - axes + i];
    if (result[i] < 0) result[i] = length;
    call.require(length > 0 || result[i] == 0, "axis {} is empty", i);
  }
  return result;
}

// One axis of x replaced by (count, width).
Tensor cut_axis(const Tensor& x, std::int64_t axis, const AdaptiveAxis& windows, Location at) {
  const std::int64_t length = x.shape()[axis];
  const auto count = static_cast<std::int64_t>(windows.sizes.size());
  if (length == count * windows.width) return unflatten(x, axis, {count, windows.width}, at);
  const Tensor index = Tensor::from_data(windows.positions, {count * windows.width}, beside(x), at);
  return unflatten(index_select(x, axis, index, at), axis, {count, windows.width}, at);
}

AdaptiveWindows adaptive_windows(const Tensor& x, const Shape& size, Location at) {
  const int axes = size.size();
  const int first = x.ndim() - axes;
  const Tensor positions = plane_positions(last_axes(x, axes), at).to(x.device(), at);
  AdaptiveWindows result{.values = x, .positions = positions};
  Shape order;
  for (int i = 0; i < first + axes; i++) order.push_back(i < first ? i : 2 * i - first);
  for (int i = 0; i < axes; i++) order.push_back(first + 2 * i + 1);
  for (int i = axes; i-- > 0;) {
    const AdaptiveAxis windows(x.shape()[first + i], size[i]);
    result.values = cut_axis(result.values, first + i, windows, at);
    result.positions = cut_axis(result.positions, i, windows, at);
    if (windows.positions.size() == static_cast<std::size_t>(x.shape()[first + i])) {
      const Tensor width = Tensor::scalar(windows.width, {.dtype = DType::Float32}, at);
      result.counts = result.counts.defined() ? result.counts * width : width;
      continue;
    }
    // Aligned with (counts, widths).
    Shape along;
    for (int k = 0; k < axes; k++) along.push_back(k == i ? size[i] : 1);
    const Tensor sizes = Tensor::from_data(windows.sizes, along, beside(x), at);
    const Tensor own = sizes.cast(DType::Float32);
    result.counts = result.counts.defined() ? result.counts * own : own;
    Shape spread = along, across;
    for (int k = 0; k < axes; k++) {
      spread.push_back(1);
      across.push_back(k == i ? windows.width : 1);
    }
    const Tensor k = reshape(Tensor::arange(windows.width, {}, at), across, at);
    const Tensor inside = k < reshape(sizes, spread, at);
    result.inside = result.inside.defined() ? result.inside & inside : inside;
  }
  result.values = permute(result.values, order, at);
  Shape plane;
  for (int i = 0; i < axes; i++) plane.push_back(2 * i);
  for (int i = 0; i < axes; i++) plane.push_back(2 * i + 1);
  result.positions = permute(result.positions, plane, at);
  return result;
}

Tensor adaptive_avg(std::string_view name, int axes, const Tensor& x, const PerAxis& size,
                    Location at) {
  const Call call(name, {&x}, at);
  const Shape target = adaptive_size(call, x, axes, size);
  return in_wide_float(x, [&](const Tensor& v) {
    const AdaptiveWindows w = adaptive_windows(v, target, at);
    const Tensor own = w.inside.defined() ? where(w.inside, w.values, 0) : w.values;
    return sum(own, numbered_from_end(axes), false, at) / w.counts.cast(v.dtype());
  });
}

AdaptiveWindows own_windows(std::string_view name, int axes, const Tensor& x, const PerAxis& size,
                            Location at) {
  const Call call(name, {&x}, at);
  AdaptiveWindows w = adaptive_windows(x, adaptive_size(call, x, axes, size), at);
  if (w.inside.defined()) {
    w.values = where(w.inside, w.values, operand_as(Operand(least_of(x.dtype())), x.dtype()));
  }
  return w;
}

Tensor adaptive_max(std::string_view name, int axes, const Tensor& x, const PerAxis& size,
                    Location at) {
  return max(own_windows(name, axes, x, size, at).values, numbered_from_end(axes), false, at);
}

ValuesAndIndices adaptive_max_with_indices(std::string_view name, int axes, const Tensor& x,
                                           const PerAxis& size, Location at) {
  const AdaptiveWindows w = own_windows(name, axes, x, size, at);
  return greatest(w.values, w.positions, axes, at);
}

}  // namespace

// ---- by number of axes ------------------------------------------------------------------------

Tensor max_pool1d(const Tensor& x, const PerAxis& window, const PoolOptions& o, Location at) {
  return max_pooled("max_pool1d", 1, x, window, o, at);
}
Tensor max_pool2d(const Tensor& x, const PerAxis& window, const PoolOptions& o, Location at) {
  return max_pooled("max_pool2d", 2, x, window, o, at);
}
Tensor max_pool3d(const Tensor& x, const PerAxis& window, const PoolOptions& o, Location at) {
  return max_pooled("max_pool3d", 3, x, window, o, at);
}

ValuesAndIndices max_pool1d_with_indices(const Tensor& x, const PerAxis& window,
                                         const PoolOptions& o, Location at) {
  return max_pooled_with_indices("max_pool1d", 1, x, window, o, at);
}
ValuesAndIndices max_pool2d_with_indices(const Tensor& x, const PerAxis& window,
                                         const PoolOptions& o, Location at) {
  return max_pooled_with_indices("max_pool2d", 2, x, window, o, at);
}
ValuesAndIndices max_pool3d_with_indices(const Tensor& x, const PerAxis& window,
                                         const PoolOptions& o, Location at) {
  return max_pooled_with_indices("max_pool3d", 3, x, window, o, at);
}

Tensor avg_pool1d(const Tensor& x, const PerAxis& window, const PoolOptions& o, Location at) {
  return avg_pooled("avg_pool1d", 1, x, window, o, at);
}
Tensor avg_pool2d(const Tensor& x, const PerAxis& window, const PoolOptions& o, Location at) {
  return avg_pooled("avg_pool2d", 2, x, window, o, at);
}
Tensor avg_pool3d(const Tensor& x, const PerAxis& window, const PoolOptions& o, Location at) {
  return avg_pooled("avg_pool3d", 3, x, window, o, at);
}

Tensor lp_pool1d(const Tensor& x, double p, const PerAxis& window, const PoolOptions& o,
                 Location at) {
  return lp_pooled("lp_pool1d", 1, x, p, window, o, at);
}
Tensor lp_pool2d(const Tensor& x, double p, const PerAxis& window, const PoolOptions& o,
                 Location at) {
  return lp_pooled("lp_pool2d", 2, x, p, window, o, at);
}
Tensor lp_pool3d(const Tensor& x, double p, const PerAxis& window, const PoolOptions& o,
                 Location at) {
  return lp_pooled("lp_pool3d", 3, x, p, window, o, at);
}

Tensor adaptive_avg_pool1d(const Tensor& x, const PerAxis& size, Location at) {
  return adaptive_avg("adaptive_avg_pool1d", 1, x, size, at);
}
Tensor adaptive_avg_pool2d(const Tensor& x, const PerAxis& size, Location at) {
  return adaptive_avg("adaptive_avg_pool2d", 2, x, size, at);
}
Tensor adaptive_avg_pool3d(const Tensor& x, const PerAxis& size, Location at) {
  return adaptive_avg("adaptive_avg_pool3d", 3, x, size, at);
}

Tensor adaptive_max_pool1d(const Tensor& x, const PerAxis& size, Location at) {
  return adaptive_max("adaptive_max_pool1d", 1, x, size, at);
}
Tensor adaptive_max_pool2d(const Tensor& x, const PerAxis& size, Location at) {
  return adaptive_max("adaptive_max_pool2d", 2, x, size, at);
}
Tensor adaptive_max_pool3d(const Tensor& x, const PerAxis& size, Location at) {
  return adaptive_max("adaptive_max_pool3d", 3, x, size, at);
}

ValuesAndIndices adaptive_max_pool1d_with_indices(const Tensor& x, const PerAxis& size,
                                                  Location at) {
  return adaptive_max_with_indices("adaptive_max_pool1d", 1, x, size, at);
}
ValuesAndIndices adaptive_max_pool2d_with_indices(const Tensor& x, const PerAxis& size,
                                                  Location at) {
  return adaptive_max_with_indices("adaptive_max_pool2d", 2, x, size, at);
}
ValuesAndIndices adaptive_max_pool3d_with_indices(const Tensor& x, const PerAxis& size,
                                                  Location at) {
  return adaptive_max_with_indices("adaptive_max_pool3d", 3, x, size, at);
}

// ---- unpooling --------------------------------------------------------------------------------

Tensor max_unpool(const Tensor& x, const Tensor& indices, const Shape& size, Location at) {
  const Call call("max_unpool", {&x, &indices}, at);
  const int axes = size.size();
  call.require(axes > 0 && x.ndim() >= axes && x.shape() == indices.shape(),
               "values and positions must have one shape with at least {} axes", axes);
  Shape flat = x.shape(), result = x.shape();
  for (int i = 0; i < axes; i++) {
    flat.erase(flat.size() - 1);
    result[x.ndim() - axes + i] = size[i];
  }
  flat.push_back(size.numel());
  const Tensor zeros = Tensor::zeros(flat, {.dtype = x.dtype()}, at);
  const Tensor values = flatten(x, -axes, -1, at), places = flatten(indices, -axes, -1, at);
  return reshape(scatter(zeros, -1, places, Operand(values, at)), result, at);
}

}  // namespace croze
