// resize.cpp -- Resize and Upsample.
//
// Every mode treats one axis after the other, and along an axis every output element is a weighted
// sum of a few input elements: one for nearest, two for linear, four for cubic, more if the image
// shrinks and antialiasing is asked for.  So an axis is a short list of taps, each a position and a
// weight per output element, computed on the host.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {
namespace {

// Along an axis: its positions and weights are lists on the host.
constexpr std::int64_t most_elements = std::int64_t{1} << 28;

struct Plan {
  std::string_view mode, coordinates, rounding;
  double cubic_a = -0.75;
  bool exclude_outside = false, antialias = false;
};

struct Axis {
  std::int64_t input = 0, output = 0;
  double scale = 1;
  double roi_begin = 0, roi_end = 1;
};

// Positions and weights of one tap, per output element.
struct Tap {
  Ints position;
  std::vector<double> weight;
};

double original_coordinate(const Plan& plan, const Axis& a, std::int64_t i) {
  const auto x = static_cast<double>(i);
  const auto in = static_cast<double>(a.input), out = static_cast<double>(a.output);
  const double half_pixel = (x + 0.5) / a.scale - 0.5;
  if (plan.coordinates == "asymmetric") return x / a.scale;
  if (plan.coordinates == "align_corners") return out == 1 ? 0 : x * (in - 1) / (out - 1);
  if (plan.coordinates == "pytorch_half_pixel") return out > 1 ? half_pixel : 0;
  if (plan.coordinates == "half_pixel_symmetric") {
    // The output is a part of a slightly larger or smaller one, centered.
    const double adjustment = out / (a.scale * in);
    return in / 2 * (1 - adjustment) + half_pixel;
  }
  if (plan.coordinates == "tf_crop_and_resize") {
    const double range = a.roi_end - a.roi_begin;
    return out > 1 ? a.roi_begin * (in - 1) + x * range * (in - 1) / (out - 1)
                   : 0.5 * (a.roi_begin + a.roi_end) * (in - 1);
  }
  check(plan.coordinates == "half_pixel", "coordinates \"{}\"", plan.coordinates);
  return half_pixel;
}

double nearest(std::string_view rounding, double x) {
  if (rounding == "floor") return std::floor(x);
  if (rounding == "ceil") return std::ceil(x);
  if (rounding == "round_prefer_ceil") return std::floor(x + 0.5);
  return std::ceil(x - 0.5);  // round_prefer_floor
}

// The weight of an element at a distance.
double kernel(const Plan& plan, double distance) {
  const double d = std::abs(distance), a = plan.cubic_a;
  if (plan.mode == "linear") return std::max(0.0, 1 - d);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

std::vector<Tap> taps_of(const Plan& plan, const Axis& a) {
  const double shrink = plan.antialias ? std::min(a.scale, 1.0) : 1;
  const double radius = plan.mode == "nearest" ? 0.5 : (plan.mode == "linear" ? 1 : 2) / shrink;
  const auto count =
      plan.mode == "nearest" ? std::size_t{1} : static_cast<std::size_t>(2 * std::ceil(radius));
  std::vector<Tap> taps(count);
  for (std::int64_t i = 0; i < a.output; i++) {
    const double x = original_coordinate(plan, a, i);
    const double base = plan.mode == "nearest" ? nearest(plan.rounding, x)
                                               : std::floor(x) + 1 - static_cast<double>(count / 2);
    std::vector<double> weights;
    for (std::size_t k = 0; k < count; k++) {
      const double place = base + static_cast<double>(k);
      const bool outside = place < 0 || place >= static_cast<double>(a.input);
      const double weight = plan.mode == "nearest" ? 1 : kernel(plan, (place - x) * shrink);
      weights.push_back(outside && plan.exclude_outside ? 0 : weight);
      const double inside = std::clamp(place, 0.0, static_cast<double>(a.input - 1));
      taps[k].position.push_back(static_cast<std::int64_t>(inside));
    }
    const bool rescale = plan.exclude_outside || plan.antialias;
    const double total = rescale ? std::accumulate(weights.begin(), weights.end(), 0.0) : 1;
    for (std::size_t k = 0; k < count; k++) taps[k].weight.push_back(weights[k] / total);
  }
  return taps;
}

Tensor resized(const Tensor& x, std::int64_t axis, const Plan& plan, const Axis& a) {
  const std::vector<Tap> taps = taps_of(plan, a);
  if (plan.mode == "nearest") return take_positions(x, axis, taps[0].position);
  Tensor result;
  for (const Tap& tap : taps) {
    const Tensor weight = Tensor::from_data(tap.weight, {a.output}, {.dtype = x.dtype()});
    const Tensor part = take_positions(x, axis, tap.position) * along_axis(weight, axis, x.ndim());
    result = result.defined() ? result + part : part;
  }
  return result;
}

// Where the coordinate lies outside of the input.
std::vector<std::uint8_t> outside(const Plan& plan, const Axis& a) {
  std::vector<std::uint8_t> flags;
  for (std::int64_t i = 0; i < a.output; i++) {
    const double x = original_coordinate(plan, a, i);
    flags.push_back(x < 0 || x > static_cast<double>(a.input - 1));
  }
  return flags;
}

Tensor resized(const Tensor& x, const Ints& axes, const std::vector<Axis>& sizes, const Plan& plan,
               double extrapolation) {
  Tensor result = x;
  Tensor is_outside;
  for (std::size_t i = 0; i < axes.size(); i++) {
    const Axis& a = sizes[i];
    check(a.output >= 0 && a.output <= most_elements && (a.input > 0 || a.output == 0),
          "axis {} of {} elements to {}", axes[i], a.input, a.output);
    const bool crops = plan.coordinates == "tf_crop_and_resize";
    if (a.input == a.output && a.scale == 1 && !crops) continue;
    result = resized(result, axes[i], plan, a);
    if (!crops) continue;
    const Tensor here =
        along_axis(Tensor::from_data(outside(plan, a), {a.output}) != 0, axes[i], x.ndim());
    is_outside = is_outside.defined() ? logical_or(is_outside, here) : here;
  }
  if (is_outside.defined()) result = where(is_outside, extrapolation, result);
  return result.cast(x.dtype());
}

Tensor in_float(const Tensor& x, const Ints& axes, const std::vector<Axis>& sizes, const Plan& plan,
                double extrapolation) {
  if (plan.mode == "nearest" || (is_float(x.dtype()) && !is_half(x.dtype()))) {
    return resized(x, axes, sizes, plan, extrapolation);
  }
  const Tensor wide = resized(x.cast(DType::Float32), axes, sizes, plan, extrapolation);
  return (is_float(x.dtype()) ? wide : round(wide)).cast(x.dtype());
}

Plan plan_of(const NodeCall& call) {
  Plan plan;
  plan.mode = call.text("mode", "nearest");
  check(plan.mode == "nearest" || plan.mode == "linear" || plan.mode == "cubic", "mode \"{}\"",
        plan.mode);
  plan.coordinates = call.text("coordinate_transformation_mode", "half_pixel");
  plan.rounding = call.text("nearest_mode", "round_prefer_floor");
  plan.cubic_a = call.real("cubic_coeff_a", -0.75);
  plan.exclude_outside = call.flag("exclude_outside");
  plan.antialias = call.flag("antialias");
  return plan;
}

// One scale for all axes, so that the result is not larger, or not smaller, than asked for.
void keep_aspect_ratio(std::string_view policy, std::vector<Axis>& sizes) {
  if (policy == "stretch" || sizes.empty()) return;
  const auto by_scale = [](const Axis& a, const Axis& b) { return a.scale < b.scale; };
  const double scale = policy == "not_larger" ? std::ranges::min(sizes, by_scale).scale
                                              : std::ranges::max(sizes, by_scale).scale;
  for (Axis& a : sizes) {
    a.scale = scale;
    a.output = static_cast<std::int64_t>(std::floor(scale * static_cast<double>(a.input) + 0.5));
  }
}

void set_scale(Axis& a, double scale) {
  const double size = std::floor(static_cast<double>(a.input) * scale);
  check(scale > 0 && size <= static_cast<double>(most_elements), "a scale of {}", scale);
  a.scale = scale;
  a.output = static_cast<std::int64_t>(size);
}

// Inputs: x, region of interest, scales or sizes.
Results resize(const NodeCall& call) {
  const Tensor& x = call[0];
  Ints axes = call.integers("axes");
  if (axes.empty()) axes = all_axes(x.ndim());
  const bool has_scales = call.has(2) && call[2].numel() > 0;
  const std::vector<double> scales = has_scales ? call.numbers(2) : std::vector<double>();
  const Ints wanted = !has_scales && call.has(3) ? call.integers(3) : Ints();
  const std::vector<double> roi = call.has(1) ? call.numbers(1) : std::vector<double>();
  check((has_scales ? scales.size() : wanted.size()) == axes.size(),
        "{} scales and {} sizes for {} axes", scales.size(), wanted.size(), axes.size());
  std::vector<Axis> sizes;
  for (std::size_t i = 0; i < axes.size(); i++) {
    axes[i] = checked_axis(axes[i], x.ndim());
    Axis a;
    a.input = x.size(axes[i]);
    if (has_scales) {
      set_scale(a, scales[i]);
    } else {
      a.output = wanted[i];
      a.scale =
          static_cast<double>(a.output) / static_cast<double>(std::max<std::int64_t>(a.input, 1));
    }
    if (roi.size() == 2 * axes.size()) {
      a.roi_begin = roi[i];
      a.roi_end = roi[i + axes.size()];
    }
    sizes.push_back(a);
  }
  if (!has_scales) keep_aspect_ratio(call.text("keep_aspect_ratio_policy", "stretch"), sizes);
  return {in_float(x, axes, sizes, plan_of(call), call.real("extrapolation_value", 0))};
}

// Upsample, and Resize as it was in opset 10: scales are an attribute or input 1.
Results upsample(const NodeCall& call) {
  const Tensor& x = call[0];
  const std::vector<double> scales = call.version() < 9 ? call.reals("scales") : call.numbers(1);
  check(static_cast<int>(scales.size()) == x.ndim(), "{} scales for {} axes", scales.size(),
        x.ndim());
  std::vector<Axis> sizes(scales.size());
  for (std::size_t i = 0; i < scales.size(); i++) {
    sizes[i].input = x.size(static_cast<std::int64_t>(i));
    set_scale(sizes[i], scales[i]);
  }
  Plan plan = plan_of(call);
  plan.coordinates = "asymmetric";
  plan.rounding = "floor";
  return {in_float(x, all_axes(x.ndim()), sizes, plan, 0)};
}

// clang-format off
constexpr Operator table[] = {
  {"Resize", 10, upsample},
  {"Resize", 11, resize},
  {"Upsample", 7, upsample},
};
// clang-format on

}  // namespace

std::span<const Operator> resize_operators() { return table; }

}  // namespace croze::onnx
