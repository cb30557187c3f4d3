// sampling.cpp -- GridSample, AffineGrid, RoiAlign and MaxRoiPool.
#include "croze/io/onnx/ops/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace croze::onnx {

Tensor sample_at(const Tensor& x, const std::vector<Tensor>& coordinates) {
  Tensor place = Tensor::zeros(Shape(), {.dtype = DType::Int64});
  Tensor inside = Tensor::scalar(true);
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < coordinates.size(); i++) {
    const std::int64_t size = x.size(static_cast<std::int64_t>(i) + 2);
    const Tensor& c = coordinates[i];
    inside = logical_and(inside, logical_and(c >= 0, c < size));
    place = place * size + c;
    elements *= size;
  }
  // A place that is out of range reads zero.
  const Tensor index = where(inside, place, -1).unsqueeze(1);
  const std::int64_t n = x.size(0), channels = x.size(1);
  return gather(x.reshape({n, channels, elements}), 2, index.expand({n, channels, index.size(2)}));
}

Tensor sample_bilinear(const Tensor& x, const std::vector<Tensor>& coordinates) {
  const std::size_t axes = coordinates.size();
  Tensor result;
  for (unsigned corner = 0; corner < 1u << axes; corner++) {
    std::vector<Tensor> places;
    Tensor weight;
    for (std::size_t i = 0; i < axes; i++) {
      const Tensor below = floor(coordinates[i]);
      const Tensor distance = coordinates[i] - below;
      const bool upper = corner >> i & 1;
      const Tensor near = upper ? distance : 1 - distance;
      places.push_back(below.cast(DType::Int64) + (upper ? 1 : 0));
      weight = weight.defined() ? weight * near : near;
    }
    const Tensor part = sample_at(x, places) * weight.unsqueeze(1);
    result = result.defined() ? result + part : part;
  }
  return result;
}

namespace {

// ---- GridSample -------------------------------------------------------------------------------

struct GridMode {
  bool align_corners = false;
  std::string_view padding = "zeros";
};

// From [-1, 1] to elements.
Tensor to_elements(const Tensor& grid, std::int64_t size, bool align_corners) {
  const auto n = static_cast<double>(size);
  return align_corners ? (grid + 1) * ((n - 1) / 2) : ((grid + 1) * n - 1) / 2;
}

// Mirrored at the borders as often as needed.
Tensor reflected(const Tensor& c, std::int64_t size, bool align_corners) {
  const double low = align_corners ? 0 : -0.5;
  const double range = static_cast<double>(align_corners ? size - 1 : size);
  if (range == 0) return Tensor::zeros_like(c);
  const Tensor distance = remainder(abs(c - low), 2 * range);
  return minimum(distance, 2 * range - distance) + low;
}

// Coordinates outside of the image moved into it, unless the padding is zeros.
Tensor padded(const Tensor& c, std::int64_t size, const GridMode& mode) {
  if (mode.padding == "zeros") return c;
  const Tensor inside = mode.padding == "reflection" ? reflected(c, size, mode.align_corners) : c;
  return clamp(inside, 0, static_cast<double>(size - 1));
}

// Weights of the four elements around a point that lies `t` after the second (Keys, 1981).
std::vector<Tensor> cubic_weights(const Tensor& t, double a) {
  const auto inner = [&](const Tensor& d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto outer = [&](const Tensor& d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {outer(t + 1), inner(t), inner(1 - t), outer(2 - t)};
}

Tensor sample_bicubic(const Tensor& x, const Tensor& ys, const Tensor& xs, const GridMode& mode) {
  const Tensor y0 = floor(ys), x0 = floor(xs);
  const std::vector<Tensor> wy = cubic_weights(ys - y0, -0.75), wx = cubic_weights(xs - x0, -0.75);
  Tensor result = Tensor::zeros(Shape(), {.dtype = x.dtype()});
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      const Tensor py = padded(y0 + (i - 1), x.size(2), mode);
      const Tensor px = padded(x0 + (j - 1), x.size(3), mode);
      const Tensor weight = wy[static_cast<std::size_t>(i)] * wx[static_cast<std::size_t>(j)];
      const Tensor value = sample_at(x, {py.cast(DType::Int64), px.cast(DType::Int64)});
      result = result + value * weight.unsqueeze(1);
    }
  }
  return result;
}

Results grid_sample(const NodeCall& call) {
  const Tensor& x = call[0];
  const Tensor grid = call[1].cast(x.dtype());
  const int axes = x.ndim() - 2;
  check(axes >= 1 && grid.ndim() == x.ndim() && grid.size(-1) == axes && grid.size(0) == x.size(0),
        "an input of shape {} and a grid of shape {}", to_text(x.shape()), to_text(grid.shape()));
  const GridMode mode{call.flag("align_corners"), call.text("padding_mode", "zeros")};
  const std::string_view kind = call.text("mode", "linear");
  std::int64_t points = 1;
  Shape shape{x.size(0), x.size(1)};
  for (int i = 1; i + 1 < grid.ndim(); i++) {
    points *= grid.size(i);
    shape.push_back(grid.size(i));
  }
  const bool cubic = kind == "cubic" || kind == "bicubic";
  check(!cubic || axes == 2, "cubic samples of {} axes", axes);
  std::vector<Tensor> coordinates;
  for (int i = 0; i < axes; i++) {
    // The last axis of the image comes first in the grid.
    const Tensor part = grid.narrow(-1, axes - 1 - i, 1).reshape({x.size(0), points});
    const Tensor c = to_elements(part, x.size(2 + i), mode.align_corners);
    coordinates.push_back(cubic ? c : padded(c, x.size(2 + i), mode));
  }
  if (cubic) return {sample_bicubic(x, coordinates[0], coordinates[1], mode).reshape(shape)};
  if (kind != "nearest") return {sample_bilinear(x, coordinates).reshape(shape)};
  for (Tensor& c : coordinates) c = round(c).cast(DType::Int64);
  return {sample_at(x, coordinates).reshape(shape)};
}

// ---- AffineGrid -------------------------------------------------------------------------------

// The places of an image of the given size in [-1, 1], moved by a matrix per batch.
Results affine_grid(const NodeCall& call) {
  const Tensor& theta = call[0];
  const Ints size = call.integers(1);
  const int axes = static_cast<int>(size.size()) - 2;
  check(axes >= 2 && axes <= 3 && theta.ndim() == 3 && theta.size(1) == axes &&
            theta.size(2) == axes + 1,
        "matrices of shape {} for an image of {} axes", to_text(theta.shape()), axes);
  const bool align = call.flag("align_corners");
  std::vector<Tensor> columns;
  Shape spatial(Ints(size.begin() + 2, size.end()));
  for (int i = axes; i-- > 0;) {
    const auto n = static_cast<double>(spatial[i]);
    const Tensor steps = Tensor::arange(spatial[i]).cast(theta.dtype());
    const Tensor line =
        align ? steps * (n > 1 ? 2 / (n - 1) : 0) - (n > 1 ? 1 : 0) : (steps * 2 + 1) / n - 1;
    columns.push_back(along_axis(line, i, axes).expand(spatial).flatten());
  }
  columns.push_back(Tensor::ones_like(columns[0]));
  // (1, points, axes + 1) x (n, axes + 1, axes)
  const Tensor moved = matmul(stack(columns, 1).unsqueeze(0), theta.transpose(1, 2));
  Shape shape = spatial;
  shape.insert(0, theta.size(0));
  shape.push_back(axes);
  return {moved.reshape(shape)};
}

// ---- regions ----------------------------------------------------------------------------------

// Places along an axis are lists on the host.
constexpr std::int64_t most_bins = 1 << 14, most_places = 1 << 22;

std::vector<double> regions_of(const NodeCall& call) {
  std::vector<double> numbers = call.numbers(1);
  for (double n : numbers) check(std::abs(n) < 1e9, "a region at {}", n);
  return numbers;
}

double scale_of(const NodeCall& call) {
  const double scale = call.real("spatial_scale", 1);
  check(std::abs(scale) < 1e9, "a spatial_scale of {}", scale);
  return scale;
}

struct RoiPlan {
  std::int64_t height, width, ratio;
  double scale, shift;
  bool largest;
};

// Mean or maximum over sample points of each bin of one region: (c, height, width).
Tensor align_region(const Tensor& image, const double* roi, const RoiPlan& plan) {
  const double x1 = roi[0] * plan.scale - plan.shift, y1 = roi[1] * plan.scale - plan.shift;
  const double x2 = roi[2] * plan.scale - plan.shift, y2 = roi[3] * plan.scale - plan.shift;
  const bool aligned = plan.shift != 0;
  const double roi_w = aligned ? x2 - x1 : std::max(x2 - x1, 1.0);
  const double roi_h = aligned ? y2 - y1 : std::max(y2 - y1, 1.0);
  const double bin_h = roi_h / static_cast<double>(plan.height);
  const double bin_w = roi_w / static_cast<double>(plan.width);
  constexpr double most = 1024;  // samples a bin: a region may be as large as it likes
  const auto samples = [&](double bin) {
    return plan.ratio > 0 ? plan.ratio
                          : static_cast<std::int64_t>(std::clamp(std::ceil(bin), 1.0, most));
  };
  const std::int64_t sh = samples(bin_h), sw = samples(bin_w);
  // Coordinates of all samples along an axis; those beyond the border count as on it, those more
  // than one element away as nothing.
  const auto line = [&](double begin, double bin, std::int64_t bins, std::int64_t per_bin,
                        std::int64_t size) {
    check(bins * per_bin <= most_places, "{} bins of {} samples", bins, per_bin);
    std::vector<double> places;
    for (std::int64_t i = 0; i < bins * per_bin; i++) {
      const double place =
          begin + bin * (static_cast<double>(i) + 0.5) / static_cast<double>(per_bin);
      const auto limit = static_cast<double>(size);
      const bool away = place < -1 || place > limit;
      places.push_back(away ? -2 : std::clamp(place, 0.0, limit - 1));
    }
    return Tensor::from_data(places, {bins * per_bin}, {.dtype = image.dtype()});
  };
  const Tensor ys = line(y1, bin_h, plan.height, sh, image.size(2)).unsqueeze(1);
  const Tensor xs = line(x1, bin_w, plan.width, sw, image.size(3)).unsqueeze(0);
  const Shape grid{plan.height * sh, plan.width * sw};
  const std::int64_t points = grid.numel(), channels = image.size(1);
  const Shape bins{channels, plan.height, sh, plan.width, sw};
  if (!plan.largest) {
    const Tensor sampled = sample_bilinear(
        image, {ys.expand(grid).reshape({1, points}), xs.expand(grid).reshape({1, points})});
    return mean(sampled.reshape(bins), {2, 4});
  }
  // The maximum is taken over the weighted elements themselves.
  Tensor best;
  for (int corner = 0; corner < 4; corner++) {
    const Tensor y0 = floor(ys), x0 = floor(xs), dy = ys - y0, dx = xs - x0;
    const bool lower = corner / 2 != 0, right = corner % 2 != 0;
    const Tensor weight = (lower ? dy : 1 - dy) * (right ? dx : 1 - dx);
    const auto place = [&](const Tensor& t, bool next) {
      return (t.cast(DType::Int64) + (next ? 1 : 0)).expand(grid).reshape({1, points});
    };
    const Tensor value = sample_at(image, {place(y0, lower), place(x0, right)});
    const Tensor part = value * weight.expand(grid).reshape({1, 1, points});
    best = best.defined() ? maximum(best, part) : part;
  }
  return max(best.reshape(bins), {2, 4});
}

Results roi_align(const NodeCall& call) {
  const Tensor &x = call[0], &rois = call[1];
  check(x.ndim() == 4 && rois.ndim() == 2 && rois.size(1) == 4, "an input of shape {}, rois of {}",
        to_text(x.shape()), to_text(rois.shape()));
  const std::string_view missing = call.version() >= 16 ? "half_pixel" : "output_half_pixel";
  const RoiPlan plan{
      .height = call.integer("output_height", 1),
      .width = call.integer("output_width", 1),
      .ratio = call.integer("sampling_ratio", 0),
      .scale = scale_of(call),
      .shift = call.text("coordinate_transformation_mode", missing) == "half_pixel" ? 0.5 : 0.0,
      .largest = call.text("mode", "avg") == "max"};
  check(std::min(plan.height, plan.width) > 0 && std::max(plan.height, plan.width) <= most_bins &&
            plan.ratio <= most_bins,
        "an output of {} x {} from {} samples each", plan.height, plan.width, plan.ratio);
  const std::vector<double> corners = regions_of(call);
  const Ints batches = call.integers(2);
  check(static_cast<std::int64_t>(batches.size()) == rois.size(0), "{} batch indices for {} rois",
        batches.size(), rois.size(0));
  std::vector<Tensor> regions;
  for (std::size_t i = 0; i < batches.size(); i++) {
    const Tensor image = x.narrow(0, checked_axis(batches[i], x.size(0)), 1);
    regions.push_back(align_region(image, &corners[4 * i], plan));
  }
  if (regions.empty()) {
    return {Tensor::zeros({0, x.size(1), plan.height, plan.width}, {.dtype = x.dtype()})};
  }
  return {stack(regions).reshape({rois.size(0), x.size(1), plan.height, plan.width})};
}

// The places of an axis that lie in bin b of region r: (regions, bins, size), true where they do.
// Bins are fractions of a region whose ends are rounded to whole places, both of them inside.
Tensor in_bins(const std::vector<double>& rois, std::size_t first, double scale, std::int64_t bins,
               std::int64_t size) {
  Ints begin, end;
  for (std::size_t r = 0; r < rois.size(); r += 5) {
    const double low = std::round(rois[r + first] * scale);
    const double length = std::max(std::round(rois[r + first + 2] * scale) - low + 1, 1.0);
    for (std::int64_t b = 0; b < bins; b++) {
      const auto place = [&](double x) {
        return static_cast<std::int64_t>(std::clamp(low + x, 0.0, static_cast<double>(size)));
      };
      const double step = length / static_cast<double>(bins);
      begin.push_back(place(std::floor(static_cast<double>(b) * step)));
      end.push_back(place(std::ceil(static_cast<double>(b + 1) * step)));
    }
  }
  const Shape shape{static_cast<std::int64_t>(rois.size() / 5), bins, 1};
  const Tensor places = Tensor::arange(size);
  return logical_and(places >= vector_of(begin).reshape(shape),
                     places < vector_of(end).reshape(shape));
}

// The largest element of each bin of each region (image, x1, y1, x2, y2); 0 of none.
Results max_roi_pool(const NodeCall& call) {
  const Tensor &x = call[0], &rois = call[1];
  check(x.ndim() == 4 && rois.ndim() == 2 && rois.size(1) == 5, "an input of shape {}, rois of {}",
        to_text(x.shape()), to_text(rois.shape()));
  const Ints bins = call.integers("pooled_shape");
  check(bins.size() == 2, "pooled_shape has {} entries", bins.size());
  for (std::int64_t n : bins) {
    check(n > 0 && n <= most_bins && n * rois.size(0) <= most_places, "{} bins in {} regions", n,
          rois.size(0));
  }
  const std::vector<double> numbers = regions_of(call);
  const double scale = scale_of(call);
  Ints images;
  for (std::size_t r = 0; r < numbers.size(); r += 5) {
    images.push_back(checked_axis(static_cast<std::int64_t>(numbers[r]), x.size(0)));
  }
  const Tensor rows = in_bins(numbers, 2, scale, bins[0], x.size(2));     // (r, ph, h)
  const Tensor columns = in_bins(numbers, 1, scale, bins[1], x.size(3));  // (r, pw, w)
  const double none = -std::numeric_limits<double>::infinity();
  const Tensor source = take_positions(x, 0, images).unsqueeze(2);  // (r, c, 1, h, w)
  const Tensor by_row =
      max(where(rows.unsqueeze(1).unsqueeze(4), source, none), 3).unsqueeze(3);  // (r, c, ph, 1, w)
  const Tensor best = max(where(columns.unsqueeze(1).unsqueeze(1), by_row, none), 4);
  const Tensor holds = logical_and(any(rows, {2}).unsqueeze(2), any(columns, {2}).unsqueeze(1));
  return {where(holds.unsqueeze(1), best, 0)};
}

// clang-format off
constexpr Operator table[] = {
  {"AffineGrid", 20, affine_grid},
  {"GridSample", 16, grid_sample},
  {"MaxRoiPool", 1, max_roi_pool},
  {"RoiAlign", 10, roi_align},
};
// clang-format on

}  // namespace

std::span<const Operator> sampling_operators() { return table; }

}  // namespace croze::onnx
