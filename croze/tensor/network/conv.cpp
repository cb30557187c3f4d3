// conv.cpp -- convolutions over any number of axes as products of windows and kernels.
#include "croze/tensor/network/conv.h"

#include <algorithm>

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/network/windows.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze {

Shape PerAxis::for_axes(const Call& call, int axes, std::string_view what,
                        std::int64_t least) const {
  call.require(list_.size() == 1 || list_.size() == axes, "{} {} for {} axes", list_.size(), what,
               axes);
  Shape result;
  for (int i = 0; i < axes; i++) {
    result.push_back(list_[list_.size() == 1 ? 0 : i]);
    call.require(result.back() >= least, "{} {} must be at least {}", what, result.back(), least);
  }
  return result;
}

Tensor windows_of(const Tensor& x, const WindowGrid& grid, Scalar border, Location at) {
  const int axes = grid.size.size();
  const int first = x.ndim() - axes;
  Shape amounts;
  for (int i = axes; i-- > 0;) {
    amounts.push_back(grid.before[i]);
    amounts.push_back(grid.after[i]);
  }
  Tensor result = pad(x, amounts, border, at);
  for (int i = 0; i < axes; i++) {
    result = unfold(result, first + i, grid.size[i], grid.stride[i], grid.dilation[i], at);
  }
  return result;
}

Tensor summed_windows(const Tensor& windows, const WindowGrid& grid, const Shape& length,
                      Location at) {
  const int axes = grid.size.size();
  const int first = windows.ndim() - 2 * axes;
  Tensor result = windows;
  for (int i = axes; i-- > 0;) {
    const std::int64_t padded = length[i] + grid.before[i] + grid.after[i];
    result = unwindow(result, first + i, padded, grid.stride[i], grid.dilation[i], at);
    result = narrow(sum(result, -1, false, at), first + i, grid.before[i], length[i], at);
  }
  return result.cast(windows.dtype());
}

namespace {

// Sum of a * b over `axes`, in the accumulator of their common dtype, returned in that dtype.
Tensor sum_of_products(const Tensor& a, const Tensor& b, const Axes& axes, Location at) {
  const DType dtype = promote(a.dtype(), b.dtype());
  const DType wide = is_float(dtype) ? accumulator(dtype) : DType::Int64;
  return sum(a.cast(wide) * b.cast(wide), axes, false, at).cast(dtype);
}

Shape joined(const Shape& first, const Shape& second) {
  Shape result = first;
  for (std::int64_t size : second) result.push_back(size);
  return result;
}

Shape part(const Shape& shape, int begin) {
  return Shape(std::span(shape.begin() + begin, shape.end()));
}

Shape ones(int count) {
  Shape result;
  for (int i = 0; i < count; i++) result.push_back(1);
  return result;
}

Shape with_batch(const Tensor& x, int axes) {
  return x.ndim() == axes + 1 ? joined({1}, x.shape()) : x.shape();
}

// The result with the bias, and without the batch axis if x had none.
Tensor finished(const Call& call, Tensor result, const Tensor& bias, const Tensor& x, int axes,
                Location at) {
  if (bias.defined()) {
    const std::int64_t channels = result.size(1);
    call.require(bias.shape() == Shape{channels}, "the bias must have {} elements", channels);
    result = result + reshape(bias, joined({channels}, ones(axes)), at);
  }
  return x.ndim() == axes + 1 ? squeeze(result, 0, at) : result;
}

// Padding that keeps the size.
void pad_to_same(const Call& call, WindowGrid& grid) {
  for (int i = 0; i < grid.size.size(); i++) {
    call.require(grid.stride[i] == 1, "the size stays only with stride 1");
    const std::int64_t total = grid.dilation[i] * (grid.size[i] - 1);
    grid.before[i] = total / 2;
    grid.after[i] = total - total / 2;
  }
}

Tensor convolved(std::string_view name, int axes, const Tensor& x, const Tensor& weight,
                 const Tensor& bias, const ConvOptions& options, Location at) {
  const Call call(name, {&x, &weight, &bias}, at);
  call.device();
  call.require(x.ndim() == axes + 2 || x.ndim() == axes + 1,
               "the input has {} axes: batch (or none), channels, and {} spatial ones", axes + 2,
               axes);
  call.require(weight.ndim() == axes + 2, "the weight has {} axes: outputs, inputs, and its size",
               axes + 2);
  const Tensor input = reshape(x, with_batch(x, axes), at);
  const std::int64_t groups = options.groups;
  const Shape in = input.shape(), w = weight.shape();
  call.require(groups > 0 && in[1] == w[1] * groups && w[0] % groups == 0,
               "{} input and {} output channels in {} groups do not fit a weight of {} inputs",
               in[1], w[0], groups, w[1]);
  WindowGrid grid(call, axes, part(w, 2), options.stride, options.padding, options.dilation);
  if (options.same) pad_to_same(call, grid);
  const Tensor windows = windows_of(input, grid, 0, at);
  const Shape cut = windows.shape();
  const Shape out(std::span(cut.begin() + 2, cut.begin() + 2 + axes));
  // (n, g, 1, c, out.., k..) * (1, g, o, c, 1.., k..) summed over c and k.
  const Tensor left =
      reshape(windows, joined(joined({in[0], groups, 1, w[1]}, out), grid.size), at);
  const Tensor right =
      reshape(weight, joined(joined({1, groups, w[0] / groups, w[1]}, ones(axes)), grid.size), at);
  Shape summed{3};
  for (int i = 0; i < axes; i++) summed.push_back(4 + axes + i);
  const Tensor product = sum_of_products(left, right, summed, at);
  return finished(call, reshape(product, joined({in[0], w[0]}, out), at), bias, x, axes, at);
}

// ---- transposed -------------------------------------------------------------------------------

struct Transposed {
  Tensor input;   // (n, groups * c, spatial ..)
  Tensor weight;  // (groups * c, o, kernel ..)
  WindowGrid grid;
  Shape length;  // of the spatial axes of the result, which begin at grid.before
  std::int64_t groups;

  int axes() const { return grid.size.size(); }
  // (groups, c, o)
  Shape channels() const { return {groups, weight.size(0) / groups, weight.size(1)}; }
};

// Each input element is spread over the places that its windows reach, weighted by the kernel.
Tensor sum_of_spread(const Transposed& t, Location at) {
  Tensor spread = t.input;
  for (int i = 0; i < t.axes(); i++) {
    const std::int64_t size = t.input.size(2 + i) - 1;
    const std::int64_t whole =
        std::max(size * t.grid.stride[i] + t.grid.reach(i), t.grid.before[i] + t.length[i]);
    Shape expanded = spread.shape();
    expanded.push_back(t.grid.size[i]);
    spread = expand(unsqueeze(spread, -1, at), expanded, at);
    spread = unwindow(spread, 2 + i, whole, t.grid.stride[i], t.grid.dilation[i], at);
    spread = narrow(spread, 2 + i, t.grid.before[i], t.length[i], at);
  }
  // (n, g, c, 1, out.., k..) * (1, g, c, o, 1.., k..) summed over c and k.
  const Shape c = t.channels();
  const Tensor left =
      reshape(spread, joined(joined({t.input.size(0), c[0], c[1], 1}, t.length), t.grid.size), at);
  const Tensor right =
      reshape(t.weight, joined(joined({1, c[0], c[1], c[2]}, ones(t.axes())), t.grid.size), at);
  Shape summed{2};
  for (int i = 0; i < t.axes(); i++) summed.push_back(4 + t.axes() + i);
  return sum_of_products(left, right, summed, at);
}

// Along an axis of stride s, place p of the result is s * q + r, and only the taps r, r + s, .. of
// the kernel reach it: those of phase r.  So the result is the phases side by side, each of which
// is a convolution, and nothing is multiplied with the zeros between spread elements.
class Phases {
 public:
  Phases(const Transposed& t, Location at) : t_(t), at_(at), counts_(taps_of(t)) {
    for (int i = 0; i < t.axes(); i++) {
      lengths_.push_back((t.grid.before[i] + t.length[i] + t.grid.stride[i] - 1) /
                         t.grid.stride[i]);
    }
  }

  // Strides beyond the kernel leave phases without a tap, which are not worth being computed: there
  // may be any number of them.
  static bool serves(const Transposed& t) {
    for (int i = 0; i < t.axes(); i++) {
      const std::int64_t stride = t.grid.stride[i];
      if (stride > t.grid.size[i] || (stride > 1 && t.grid.dilation[i] > 1)) return false;
    }
    return true;
  }

  // Of a phase, along each axis.
  const Shape& lengths() const { return lengths_; }
  const Shape& taps() const { return counts_; }

  Tensor sum() const {
    // (n, g, c, 1, q.., 1.., taps..) * (1, g, c, o, 1.., r.., taps..) summed over c and taps.
    Shape summed{2};
    for (int i = 0; i < t_.axes(); i++) summed.push_back(4 + 2 * t_.axes() + i);
    const Tensor kernels = reshape(t_.weight, joined(t_.channels(), t_.grid.size), at_);
    const Tensor phases = sum_of_products(windows(), by_phase(kernels), summed, at_);
    return side_by_side(phases);
  }

 private:
  // Of the phase that has most.
  static Shape taps_of(const Transposed& t) {
    Shape result;
    for (int i = 0; i < t.axes(); i++) {
      result.push_back((t.grid.size[i] + t.grid.stride[i] - 1) / t.grid.stride[i]);
    }
    return result;
  }

  Tensor windows() const {
    WindowGrid grid = t_.grid;
    grid.size = counts_;
    for (int i = 0; i < t_.axes(); i++) {
      grid.stride[i] = 1;
      grid.before[i] = grid.reach(i) - 1;
      grid.after[i] = lengths_[i] - t_.input.size(2 + i);
    }
    const Shape c = t_.channels();
    const Shape lead = joined({t_.input.size(0), c[0], c[1], 1}, joined(lengths_, ones(t_.axes())));
    const Tensor all = reshape(windows_of(t_.input, grid, 0, at_), joined(lead, counts_), at_);
    if (has_full_phases()) return all;
    // What meets no tap is a zero, too: an infinity times one would be a NaN.
    const Tensor taps = Tensor::full(joined({1, 1, 1}, t_.grid.size), true, {}, at_);
    return where(by_phase(taps), all, 0).cast(all.dtype());  // of Bools, too
  }

  bool has_full_phases() const {
    for (int i = 0; i < t_.axes(); i++) {
      if (counts_[i] * t_.grid.stride[i] != t_.grid.size[i]) return false;
    }
    return true;
  }

  // (g, c, o, kernel ..) to (1, g, c, o, 1.., r.., taps..), zero where a phase has no tap.  What
  // the last element of a window meets comes first.
  Tensor by_phase(const Tensor& kernels) const {
    const Shape channels{kernels.size(0), kernels.size(1), kernels.size(2)};
    Shape amounts, cut = channels, order{0, 1, 2}, taps;
    for (int i = t_.axes(); i-- > 0;) {
      amounts.push_back(0);
      amounts.push_back(counts_[i] * t_.grid.stride[i] - t_.grid.size[i]);
    }
    for (int i = 0; i < t_.axes(); i++) {
      cut.push_back(counts_[i]);
      cut.push_back(t_.grid.stride[i]);
      order.push_back(4 + 2 * i);
      taps.push_back(3 + 2 * i);
    }
    const Tensor phases = reshape(pad(kernels, amounts, 0, at_), cut, at_);
    const Tensor ordered = permute(flip(phases, taps, at_), joined(order, taps), at_);
    const Shape lead = joined(joined({1}, channels), joined(ones(t_.axes()), t_.grid.stride));
    return reshape(ordered, joined(lead, counts_), at_);
  }

  // (n, g, o, q.., r..) to (n, g, o, out..).
  Tensor side_by_side(const Tensor& phases) const {
    Shape order{0, 1, 2}, whole{phases.size(0), phases.size(1), phases.size(2)};
    for (int i = 0; i < t_.axes(); i++) {
      order.push_back(3 + i);
      order.push_back(3 + t_.axes() + i);
      whole.push_back(lengths_[i] * t_.grid.stride[i]);
    }
    Tensor result = reshape(permute(phases, order, at_), whole, at_);
    for (int i = 0; i < t_.axes(); i++) {
      result = narrow(result, 3 + i, t_.grid.before[i], t_.length[i], at_);
    }
    return result;
  }

  const Transposed& t_;
  const Location at_;
  const Shape counts_;  // of taps
  Shape lengths_;       // of a phase
};

// What each input element gives to each place of its window, its column, in one matrix product, and
// then the sum of the columns where they overlap.
class Columns {
 public:
  // Where phases multiply so much more that the columns can be written down and summed: they reach
  // beyond the input by what is left of a window on either side, which is most of a small picture,
  // and have taps for a kernel that is whole strides long.  Numbers that are summed in a wider type
  // would be rounded on the way.
  static bool serves(const Transposed& t, const Shape& phases, const Shape& taps) {
    const DType dtype = promote(t.input.dtype(), t.weight.dtype());
    if (!is_float(dtype) || accumulator(dtype) != dtype) return false;
    double more = 1;  // products of the phases, to one of the columns
    for (int i = 0; i < t.axes(); i++) {
      more *= static_cast<double>(phases[i] * t.grid.stride[i] * taps[i]) /
              static_cast<double>(t.input.size(2 + i) * t.grid.size[i]);
    }
    return static_cast<double>(t.channels()[1]) * (more - 1) > products_of_column_element;
  }

  static Tensor sum(const Transposed& t, Location at) {
    // (n, g, c, 1, in.., 1..) * (1, g, c, o, 1.., k..) summed over c.
    const Shape c = t.channels(), in = part(t.input.shape(), 2);
    const Tensor left =
        reshape(t.input, joined(joined({t.input.size(0), c[0], c[1], 1}, in), ones(t.axes())), at);
    const Tensor right =
        reshape(t.weight, joined(joined({1, c[0], c[1], c[2]}, ones(t.axes())), t.grid.size), at);
    const Tensor columns = sum_of_products(left, right, {2}, at).contiguous(at);
    return summed_windows(columns, t.grid, t.length, at);
  }

 private:
  // Products that take as long as an element of a column is written, read and added.
  static constexpr double products_of_column_element = 64;
};

Tensor product_of(const Transposed& t, Location at) {
  if (!Phases::serves(t)) return sum_of_spread(t, at);
  const Phases phases(t, at);
  return Columns::serves(t, phases.lengths(), phases.taps()) ? Columns::sum(t, at) : phases.sum();
}

Tensor convolved_back(std::string_view name, int axes, const Tensor& x, const Tensor& weight,
                      const Tensor& bias, const ConvTransposeOptions& options, Location at) {
  const Call call(name, {&x, &weight, &bias}, at);
  call.device();
  call.require(x.ndim() == axes + 2 || x.ndim() == axes + 1,
               "the input has {} axes: batch (or none), channels, and {} spatial ones", axes + 2,
               axes);
  call.require(weight.ndim() == axes + 2, "the weight has {} axes: inputs, outputs, and its size",
               axes + 2);
  Transposed t{reshape(x, with_batch(x, axes), at),
               weight,
               WindowGrid(call, axes, part(weight.shape(), 2), options.stride, options.padding,
                          options.dilation),
               {},
               options.groups};
  const Shape in = t.input.shape(), w = weight.shape();
  call.require(t.groups > 0 && in[1] == w[0] && w[0] % t.groups == 0,
               "{} input channels in {} groups do not fit a weight of {} inputs", in[1], t.groups,
               w[0]);
  const Shape extra = options.output_padding.for_axes(call, axes, "output padding", 0);
  for (int i = 0; i < axes; i++) {
    call.require(extra[i] < std::max(t.grid.stride[i], t.grid.dilation[i]),
                 "output padding {} must be less than stride or dilation", extra[i]);
    t.length.push_back((in[2 + i] - 1) * t.grid.stride[i] + t.grid.reach(i) + extra[i] -
                       2 * t.grid.before[i]);
    call.require(t.length.back() > 0 && in[2 + i] > 0, "padding {} leaves nothing of axis {}",
                 t.grid.before[i], i);
  }
  const Tensor product = product_of(t, at);
  return finished(call, reshape(product, joined({in[0], w[1] * t.groups}, t.length), at), bias, x,
                  axes, at);
}

}  // namespace

// ---- convolutions -----------------------------------------------------------------------------

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options,
              Location at) {
  return convolved("conv1d", 1, x, weight, bias, options, at);
}

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options,
              Location at) {
  return convolved("conv2d", 2, x, weight, bias, options, at);
}

Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options,
              Location at) {
  return convolved("conv3d", 3, x, weight, bias, options, at);
}

Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTransposeOptions& options, Location at) {
  return convolved_back("conv_transpose1d", 1, x, weight, bias, options, at);
}

Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTransposeOptions& options, Location at) {
  return convolved_back("conv_transpose2d", 2, x, weight, bias, options, at);
}

Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTransposeOptions& options, Location at) {
  return convolved_back("conv_transpose3d", 3, x, weight, bias, options, at);
}

// ---- patches ----------------------------------------------------------------------------------

Tensor im2col(const Tensor& x, const Shape& kernel, const PatchOptions& options, Location at) {
  const Call call("im2col", {&x}, at);
  const int axes = kernel.size();
  call.require(axes > 0 && (x.ndim() == axes + 2 || x.ndim() == axes + 1),
               "a kernel of {} axes does not fit an input of {}", axes, x.ndim());
  const Tensor input = reshape(x, with_batch(x, axes), at);
  const WindowGrid grid(call, axes, kernel, options.stride, options.padding, options.dilation);
  const Tensor windows = windows_of(input, grid, 0, at);  // (n, c, out.., k..)
  Shape order{0, 1};
  for (int i = 0; i < axes; i++) order.push_back(2 + axes + i);
  for (int i = 0; i < axes; i++) order.push_back(2 + i);
  const Tensor columns = flatten(permute(windows, order, at), 2 + axes, -1, at);
  const Tensor result = flatten(columns, 1, 1 + axes, at);
  return x.ndim() == axes + 1 ? squeeze(result, 0, at) : result;
}

Tensor col2im(const Tensor& x, const Shape& size, const Shape& kernel, const PatchOptions& options,
              Location at) {
  const Call call("col2im", {&x}, at);
  const int axes = kernel.size();
  call.require(axes > 0 && size.size() == axes && (x.ndim() == 2 || x.ndim() == 3),
               "patches (n, c * kernel, count) or (c * kernel, count) of {} axes are summed", axes);
  const Tensor input = x.ndim() == 2 ? unsqueeze(x, 0, at) : x;
  const WindowGrid grid(call, axes, kernel, options.stride, options.padding, options.dilation);
  const Shape out = grid.counts(call, size, false);
  const std::int64_t channels = input.size(1) / kernel.numel();
  call.require(channels * kernel.numel() == input.size(1) && out.numel() == input.size(2),
               "the input must be (n, c * {}, {})", kernel.numel(), out.numel());
  const Tensor patches = reshape(input, joined(joined({input.size(0), channels}, kernel), out), at);
  Shape order{0, 1};
  for (int i = 0; i < axes; i++) order.push_back(2 + axes + i);
  for (int i = 0; i < axes; i++) order.push_back(2 + i);
  const Tensor result = summed_windows(permute(patches, order, at), grid, size, at);
  return x.ndim() == 2 ? squeeze(result, 0, at) : result;
}

// ---- channels and pixels ----------------------------------------------------------------------

Tensor pixel_shuffle(const Tensor& x, std::int64_t factor, Location at) {
  const Call call("pixel_shuffle", {&x}, at);
  call.require(x.ndim() >= 3 && factor > 0 && x.size(-3) % (factor * factor) == 0,
               "the channels, axis -3, must be a multiple of {}^2", factor);
  const std::int64_t c = x.size(-3) / (factor * factor), h = x.size(-2), w = x.size(-1);
  Shape batch = x.shape();
  for (int i = 0; i < 3; i++) batch.erase(batch.size() - 1);
  const Tensor cut = reshape(x, {batch.numel(), c, factor, factor, h, w}, at);
  const Tensor order = permute(cut, {0, 1, 4, 2, 5, 3}, at);
  return reshape(order, joined(batch, {c, h * factor, w * factor}), at);
}

Tensor pixel_unshuffle(const Tensor& x, std::int64_t factor, Location at) {
  const Call call("pixel_unshuffle", {&x}, at);
  call.require(x.ndim() >= 3 && factor > 0 && x.size(-2) % factor == 0 && x.size(-1) % factor == 0,
               "height and width must be multiples of {}", factor);
  const std::int64_t c = x.size(-3), h = x.size(-2) / factor, w = x.size(-1) / factor;
  Shape batch = x.shape();
  for (int i = 0; i < 3; i++) batch.erase(batch.size() - 1);
  const Tensor cut = reshape(x, {batch.numel(), c, h, factor, w, factor}, at);
  const Tensor order = permute(cut, {0, 1, 3, 5, 2, 4}, at);
  return reshape(order, joined(batch, {c * factor * factor, h, w}), at);
}

Tensor channel_shuffle(const Tensor& x, std::int64_t groups, Location at) {
  const Call call("channel_shuffle", {&x}, at);
  call.require(x.ndim() >= 3 && groups > 0 && x.size(1) % groups == 0,
               "{} groups do not divide the channels, axis 1", groups);
  const Tensor cut = unflatten(x, 1, {groups, x.size(1) / groups}, at);
  return flatten(transpose(cut, 1, 2, at), 1, 2, at);
}

}  // namespace croze
