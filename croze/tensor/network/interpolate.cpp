// interpolate.cpp -- resizing, one axis after another.
//
// Each output of an axis is a weighted sum of a few inputs.  Which, and with what weights, depends
// on sizes only: tables worked out here, in double.
#include <algorithm>
#include <cmath>

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/network/pool.h"
#include "croze/tensor/network/resample.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze {
namespace {

// For each of `count` outputs `width` inputs and their weights.
struct Taps {
  std::int64_t count = 0, width = 0;
  std::vector<std::int64_t> positions;
  std::vector<double> weights;

  Taps(std::int64_t outputs, std::int64_t per_output) : count(outputs), width(per_output) {}
  void add(std::int64_t position, double weight, std::int64_t length) {
    positions.push_back(std::clamp<std::int64_t>(position, 0, length - 1));
    weights.push_back(weight);
  }
};

// How an axis is sampled: `step` inputs per output.
struct Sampling {
  std::int64_t in = 0, out = 0;
  double step = 1;
  bool align_corners = false;

  double centre(std::int64_t i) const {
    const double place = static_cast<double>(i);
    return align_corners ? step * place : step * (place + 0.5) - 0.5;
  }
};

Taps nearest(const Sampling& s, bool exact) {
  Taps taps(s.out, 1);
  for (std::int64_t i = 0; i < s.out; i++) {
    const double place = (static_cast<double>(i) + (exact ? 0.5 : 0)) * s.step;
    taps.add(static_cast<std::int64_t>(std::floor(place)), 1, s.in);
  }
  return taps;
}

Taps linear(const Sampling& s) {
  Taps taps(s.out, 2);
  for (std::int64_t i = 0; i < s.out; i++) {
    const double place = std::max(s.centre(i), 0.0);
    const double below = std::floor(place);
    taps.add(static_cast<std::int64_t>(below), 1 - (place - below), s.in);
    taps.add(static_cast<std::int64_t>(below) + 1, place - below, s.in);
  }
  return taps;
}

// Keys' cubic filter.
double cubic_filter(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

Taps cubic(const Sampling& s) {
  Taps taps(s.out, 4);
  for (std::int64_t i = 0; i < s.out; i++) {
    const double place = s.centre(i), below = std::floor(place);
    for (int k = -1; k <= 2; k++) {
      taps.add(static_cast<std::int64_t>(below) + k, cubic_filter(place - below - k, -0.75), s.in);
    }
  }
  return taps;
}

// A filter as wide as the outputs are apart, its weights adding up to 1.
Taps antialiased(const Sampling& s, bool is_cubic) {
  const double stretch = std::max(s.step, 1.0);
  const double support = (is_cubic ? 2 : 1) * stretch;
  const auto filter = [&](double x) {
    return is_cubic ? cubic_filter(x, -0.5) : std::max(0.0, 1 - std::abs(x));
  };
  Taps taps(s.out, static_cast<std::int64_t>(std::ceil(support)) * 2 + 1);
  for (std::int64_t i = 0; i < s.out; i++) {
    const double centre = s.step * (static_cast<double>(i) + 0.5);
    const auto begin = std::max<std::int64_t>(static_cast<std::int64_t>(centre - support + 0.5), 0);
    const auto end =
        std::min<std::int64_t>(static_cast<std::int64_t>(centre + support + 0.5), s.in);
    double total = 0;
    std::vector<double> weights;
    for (std::int64_t k = 0; k < taps.width; k++) {
      const double distance = (static_cast<double>(begin + k) - centre + 0.5) / stretch;
      weights.push_back(begin + k < end ? filter(distance) : 0);
      total += weights.back();
    }
    for (std::int64_t k = 0; k < taps.width; k++) {
      taps.add(begin + k, weights[static_cast<std::size_t>(k)] / total, s.in);
    }
  }
  return taps;
}

Tensor resampled(const Tensor& x, std::int64_t axis, const Taps& taps, Location at) {
  const Tensor index = Tensor::from_data(taps.positions, {taps.count * taps.width}, beside(x), at);
  const Tensor chosen = index_select(x, axis, index, at);
  if (taps.width == 1) return chosen;
  Shape along{taps.count, taps.width};
  for (std::int64_t i = axis + 1; i < x.ndim(); i++) along.push_back(1);
  const Tensor weights = Tensor::from_data(taps.weights, along, beside(x), at).cast(x.dtype());
  const Tensor cut = unflatten(chosen, axis, {taps.count, taps.width}, at);
  return sum(cut * weights, axis + 1, false, at);
}

Taps taps_of(const Sampling& s, const InterpolateOptions& options) {
  switch (options.mode) {
    case InterpolateMode::Nearest: return nearest(s, false);
    case InterpolateMode::NearestExact: return nearest(s, true);
    case InterpolateMode::Linear: return options.antialias ? antialiased(s, false) : linear(s);
    default: return options.antialias ? antialiased(s, true) : cubic(s);
  }
}

// The sampling of each spatial axis.
std::vector<Sampling> samplings(const Call& call, const Tensor& x,
                                const InterpolateOptions& options) {
  const int axes = x.ndim() - 2;
  const bool by_size = !options.size.empty();
  call.require(by_size != !options.scale.empty(), "give either a size or a scale");
  call.require(by_size
                   ? options.size.size() == axes
                   : options.scale.size() == 1 || static_cast<int>(options.scale.size()) == axes,
               "there are {} spatial axes", axes);
  std::vector<Sampling> result;
  for (int i = 0; i < axes; i++) {
    Sampling s{.in = x.shape()[2 + i], .align_corners = options.align_corners};
    const double scale =
        by_size ? 0 : options.scale[options.scale.size() == 1 ? 0 : static_cast<std::size_t>(i)];
    call.require(by_size || (scale > 0 && scale < 1e9), "scale {}", scale);
    s.out = by_size ? options.size[i]
                    : static_cast<std::int64_t>(std::floor(static_cast<double>(s.in) * scale));
    call.require(s.in > 0 && s.out > 0, "axis {} of size {} cannot get size {}", 2 + i, s.in,
                 s.out);
    const double in = static_cast<double>(s.in), out = static_cast<double>(s.out);
    if (options.align_corners) {
      s.step = s.out > 1 ? (in - 1) / (out - 1) : 0;
    } else {
      s.step = by_size || options.recompute_scale ? in / out : 1 / scale;
    }
    result.push_back(s);
  }
  return result;
}

}  // namespace

Tensor interpolate(const Tensor& x, const InterpolateOptions& options, Location at) {
  const Call call("interpolate", {&x}, at);
  call.require(x.ndim() >= 3 && x.ndim() <= 5,
               "the input has batch, channels and one to three spatial axes");
  const bool is_nearest =
      options.mode == InterpolateMode::Nearest || options.mode == InterpolateMode::NearestExact;
  const bool filters =
      options.mode == InterpolateMode::Linear || options.mode == InterpolateMode::Bicubic;
  call.require(is_nearest || is_float(x.dtype()), "works on floats, not on {}", name_of(x.dtype()));
  call.require(filters || (!options.align_corners && !options.antialias),
               "align_corners and antialias belong to linear and bicubic");
  call.require((options.mode != InterpolateMode::Bicubic && !options.antialias) || x.ndim() == 4,
               "bicubic and antialias work on two spatial axes");
  const std::vector<Sampling> axes = samplings(call, x, options);
  if (options.mode == InterpolateMode::Area) {
    Shape size;
    for (const Sampling& s : axes) size.push_back(s.out);
    return size.size() == 1   ? adaptive_avg_pool1d(x, size, at)
           : size.size() == 2 ? adaptive_avg_pool2d(x, size, at)
                              : adaptive_avg_pool3d(x, size, at);
  }
  const auto all_axes = [&](Tensor v) {
    for (std::size_t i = axes.size(); i-- > 0;) {
      v = resampled(v, 2 + static_cast<std::int64_t>(i), taps_of(axes[i], options), at);
    }
    return v;
  };
  return is_nearest ? all_axes(x) : in_wide_float(x, all_axes);
}

}  // namespace croze
