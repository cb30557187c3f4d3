// grid_sample.cpp -- images read at computed places.
#include <algorithm>
#include <cmath>

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/network/resample.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"
#include "croze/tensor/watch.h"

namespace croze {
namespace {

// One spatial axis of the image, and how its positions are meant.
struct GridAxis {
  std::int64_t size = 0;
  GridSampleOptions options;

  // [-1, 1] to element positions.
  Tensor unnormalized(const Tensor& x) const {
    const double n = static_cast<double>(size);
    return options.align_corners ? (x + 1) * ((n - 1) / 2) : ((x + 1) * n - 1) * 0.5;
  }

  // Mirrored at both borders as often as needed, then limited to them.
  Tensor reflected(const Tensor& x) const {
    const double n = static_cast<double>(size);
    const double low = options.align_corners ? 0 : -0.5, span = options.align_corners ? n - 1 : n;
    if (span == 0) return x * 0.0;
    const Tensor away = abs(x - low);
    const Tensor flips = floor(away * (1 / span)).detach();
    const Tensor rest = away - flips * span;
    const Tensor is_even = flips * 0.5 == floor(flips * 0.5);
    return limited(where(is_even, rest + low, span - rest + low));
  }
  // On the border already without a gradient.
  Tensor limited(const Tensor& x) const {
    const double last = static_cast<double>(size - 1);
    return where((x > 0) & (x < last), x, clamp(x, 0, last).detach());
  }

  Tensor inside(const Tensor& x) const {
    switch (options.padding) {
      case GridPadding::Border: return limited(x);
      case GridPadding::Reflection: return reflected(x);
      default: return x;
    }
  }

  // Positions as an index: what is outside becomes `size`, which is read as zero.
  Tensor index(const Tensor& x) const {
    const Tensor ok = (x >= 0) & (x < static_cast<double>(size));
    return where(ok, x, static_cast<double>(size)).detach().cast(DType::Int64);
  }
};

// The elements at whole positions, one tensor per spatial axis in the order of x's: (n, .., c).
Tensor elements_at(const Tensor& x, std::span<const GridAxis> axes,
                   std::span<const Tensor> positions, Location at) {
  Shape samples{x.size(0)};
  for (std::size_t i = 0; i < axes.size(); i++) samples.push_back(1);
  std::vector<TensorIndex> indices{
      TensorIndex(reshape(Tensor::arange(x.size(0), {}, at), samples, at)), TensorIndex(Slice{})};
  for (std::size_t i = 0; i < axes.size(); i++) {
    indices.emplace_back(axes[i].index(positions[i]));
  }
  const OutOfRangeOnPurpose outside;
  return croze::index(x, indices, at);
}

// The sum over all 2^k corners around the places.
Tensor linear_sample(const Tensor& x, std::span<const GridAxis> axes,
                     std::span<const Tensor> places, Location at) {
  Tensor result;
  for (unsigned corner = 0; corner < 1U << axes.size(); corner++) {
    std::vector<Tensor> positions;
    Tensor weight;
    for (std::size_t i = 0; i < axes.size(); i++) {
      const Tensor below = floor(places[i]).detach();
      const Tensor part = places[i] - below;
      const bool upper = (corner >> i & 1) != 0;
      positions.push_back(upper ? below + 1 : below);
      const Tensor w = upper ? part : 1 - part;
      weight = weight.defined() ? weight * w : w;
    }
    const Tensor term = elements_at(x, axes, positions, at) * unsqueeze(weight, -1, at);
    result = result.defined() ? result + term : term;
  }
  return result;
}

// Keys' filter with a = -0.75 at distances 1 + t, t, 1 - t and 2 - t.
Tensor cubic_weight(const Tensor& t, int tap) {
  constexpr double a = -0.75;
  const auto near = [&](const Tensor& d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [&](const Tensor& d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  switch (tap) {
    case 0: return far(t + 1);
    case 1: return near(t);
    case 2: return near(1 - t);
    default: return far(2 - t);
  }
}

Tensor cubic_sample(const Tensor& x, std::span<const GridAxis> axes, std::span<const Tensor> places,
                    Location at) {
  Tensor result;
  for (int i = 0; i < 16; i++) {
    const int taps[] = {i / 4, i % 4};
    std::vector<Tensor> positions;
    Tensor weight;
    for (std::size_t k = 0; k < 2; k++) {
      const Tensor below = floor(places[k]).detach();
      positions.push_back(axes[k].inside(below + (taps[k] - 1)));
      const Tensor w = cubic_weight(places[k] - below, taps[k]);
      weight = weight.defined() ? weight * w : w;
    }
    const Tensor term = elements_at(x, axes, positions, at) * unsqueeze(weight, -1, at);
    result = result.defined() ? result + term : term;
  }
  return result;
}

}  // namespace

Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options,
                   Location at) {
  const Call call("grid_sample", {&x, &grid}, at);
  call.device();
  const int axes = x.ndim() - 2;
  call.require((axes == 2 || axes == 3) && grid.ndim() == x.ndim(),
               "the image is (n, c, h, w) or (n, c, d, h, w) and the grid has as many axes");
  call.require(grid.size(0) == x.size(0) && grid.size(-1) == axes, "the grid must be ({}, .., {})",
               x.size(0), axes);
  call.require(is_float(x.dtype()) && is_float(grid.dtype()), "image and grid hold floats");
  call.require(options.mode != GridMode::Bicubic || axes == 2, "bicubic works on two axes");
  const DType dtype = x.dtype(), wide = is_half(dtype) ? DType::Float32 : dtype;
  const Tensor image = x.cast(wide), where_to = grid.cast(wide);
  // The grid names the last axis first.
  std::vector<GridAxis> each;
  std::vector<Tensor> places;
  for (int i = 0; i < axes; i++) {
    each.push_back({x.shape()[2 + i], options});
    const Tensor place = each.back().unnormalized(select(where_to, -1, axes - 1 - i, at));
    places.push_back(options.mode == GridMode::Bicubic ? place : each.back().inside(place));
  }
  Tensor result;
  switch (options.mode) {
    case GridMode::Nearest:
      for (Tensor& p : places) p = round(p);
      result = elements_at(image, each, places, at);
      break;
    case GridMode::Bilinear: result = linear_sample(image, each, places, at); break;
    case GridMode::Bicubic: result = cubic_sample(image, each, places, at); break;
  }
  return movedim(result, -1, 1, at).cast(dtype);
}

Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners, Location at) {
  const Call call("affine_grid", {&theta}, at);
  const int axes = size.size() - 2;
  call.require(axes == 2 || axes == 3, "the size is (n, c, h, w) or (n, c, d, h, w)");
  call.require(is_float(theta.dtype()) && theta.shape() == Shape{size[0], axes, axes + 1},
               "theta must be floats of shape ({}, {}, {})", size[0], axes, axes + 1);
  const TensorOptions options{.dtype = theta.dtype()};
  std::vector<Tensor> lines;
  for (int i = 0; i < axes; i++) {
    const double n = static_cast<double>(size[2 + i]);
    const double end = align_corners ? (n > 1 ? 1 : 0) : (n - 1) / n;
    lines.push_back(Tensor::linspace(-end, end, size[2 + i], options, at));
  }
  std::vector<Tensor> columns = meshgrid(lines, MeshIndexing::IJ, at);
  std::reverse(columns.begin(), columns.end());
  columns.push_back(Tensor::ones_like(columns[0]));
  const Tensor points = reshape(stack(columns, -1, at), {-1, axes + 1}, at);
  Shape result{size[0]};
  for (int i = 0; i < axes; i++) result.push_back(size[2 + i]);
  result.push_back(axes);
  return reshape(matmul(points, transpose(theta, 1, 2, at), at), result, at);
}

}  // namespace croze
