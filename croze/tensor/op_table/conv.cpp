// conv.cpp -- rows of the op table: convolutions, pooling, patches, resampling.
#include "croze/tensor/network/conv.h"

#include "croze/tensor/network/pool.h"
#include "croze/tensor/network/resample.h"
#include "croze/tensor/op_table/bind.h"
#include "croze/tensor/op_table/families.h"
#include "croze/tensor/record.h"

namespace croze {

template <>
struct Reader<PerAxis> {
  static constexpr std::string_view name = "PerAxis";
  static PerAxis read(const Value& value) {
    const Values* list = value.get<Values>();
    if (list == nullptr) return read_integer(value);
    Shape each;  // None: as it is
    for (const Value& v : *list) each.push_back(v.get<std::monostate>() ? -1 : read_integer(v));
    return each;
  }
};
template <>
struct EnumNames<GridMode> {
  static constexpr std::array<std::string_view, 3> names = {"bilinear", "nearest", "bicubic"};
};
template <>
struct EnumNames<GridPadding> {
  static constexpr std::array<std::string_view, 3> names = {"zeros", "border", "reflection"};
};

namespace {

using enum ResultType;

// ---- convolutions -----------------------------------------------------------------------------

using Conv = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const ConvOptions&, Location);
using ConvTranspose = Tensor (*)(const Tensor&, const Tensor&, const Tensor&,
                                 const ConvTransposeOptions&, Location);

// `padding` may be 'same' or 'valid'.
template <Conv conv>
Tensor convolve(const Tensor& x, const Tensor& weight, const Tensor& bias, const PerAxis& stride,
                const Value& padding, const PerAxis& dilation, std::int64_t groups) {
  ConvOptions options{.stride = stride, .dilation = dilation, .groups = groups};
  if (const std::string* text = padding.get<std::string>()) {
    options.same = *text == "same";
  } else {
    options.padding = Reader<PerAxis>::read(padding);
  }
  return conv(x, weight, bias, options, Location::current());
}

template <ConvTranspose conv>
Tensor convolve_transposed(const Tensor& x, const Tensor& weight, const Tensor& bias,
                           const PerAxis& stride, const PerAxis& padding,
                           const PerAxis& output_padding, std::int64_t groups,
                           const PerAxis& dilation) {
  return conv(x, weight, bias,
              {.stride = stride,
               .padding = padding,
               .output_padding = output_padding,
               .dilation = dilation,
               .groups = groups},
              Location::current());
}

constexpr std::string_view conv_parameters =
    "input, weight, bias=none, stride=1, padding=0, dilation=1, groups=1";
constexpr std::string_view transpose_parameters =
    "input, weight, bias=none, stride=1, padding=0, output_padding=0, groups=1, dilation=1";

// ---- pooling ----------------------------------------------------------------------------------

using Pool = ValuesAndIndices (*)(const Tensor&, const PerAxis&, const PoolOptions&, Location);
using AdaptivePool = ValuesAndIndices (*)(const Tensor&, const PerAxis&, Location);
using Mean = Tensor (*)(const Tensor&, const PerAxis&, const PoolOptions&, Location);

std::vector<Tensor> chosen(const ValuesAndIndices& result, bool return_indices) {
  if (return_indices) return {result.values, result.indices};
  return {result.values};
}

template <Pool pool>
std::vector<Tensor> max_pool(const Tensor& x, const PerAxis& window, std::optional<PerAxis> stride,
                             const PerAxis& padding, const PerAxis& dilation, bool ceil_mode,
                             bool return_indices) {
  const PoolOptions options{
      .stride = stride, .padding = padding, .dilation = dilation, .ceil_mode = ceil_mode};
  return chosen(pool(x, window, options, Location::current()), return_indices);
}

template <AdaptivePool pool>
std::vector<Tensor> adaptive_max_pool(const Tensor& x, const PerAxis& size, bool return_indices) {
  return chosen(pool(x, size, Location::current()), return_indices);
}

// No number is as none.
std::optional<PerAxis> stride_of(const Value& value) {
  if (const Values* list = value.get<Values>(); list && list->empty()) return std::nullopt;
  return Reader<std::optional<PerAxis>>::read(value);
}

template <Mean pool>
Tensor mean_pool(const Tensor& x, const PerAxis& window, const Value& stride,
                 const PerAxis& padding, bool ceil_mode, bool count_include_pad,
                 std::optional<std::int64_t> divisor) {
  return pool(x, window,
              {.stride = stride_of(stride),
               .padding = padding,
               .ceil_mode = ceil_mode,
               .count_include_pad = count_include_pad,
               .divisor = divisor},
              Location::current());
}

// The size is that of the pooling that gave the indices if none is given.
template <int axes>
Tensor unpool(const Tensor& x, const Tensor& indices, const PerAxis& kernel, const Value& stride,
              const PerAxis& padding, const std::optional<Shape>& output_size) {
  const Call call("max_unpool", {&x, &indices}, Location::current());
  const Shape window = kernel.for_axes(call, axes, "window", 1);
  const Shape step = stride_of(stride).value_or(window).for_axes(call, axes, "stride", 1);
  const Shape border = padding.for_axes(call, axes, "padding", 0);
  Shape size;
  for (int i = 0; i < axes; i++) {
    size.push_back((x.size(i - axes) - 1) * step[i] - 2 * border[i] + window[i]);
    if (output_size) size[i] = (*output_size)[output_size->size() - axes + i];
  }
  return max_unpool(x, indices, size);
}

constexpr std::string_view unpool_parameters =
    "input, indices, kernel_size, stride=none, padding=0, output_size=none";
constexpr std::string_view max_parameters =
    "input, kernel_size, stride=none, padding=0, dilation=1, ceil_mode=false, return_indices=false";
constexpr std::string_view mean_parameters =
    "input, kernel_size, stride=none, padding=0, ceil_mode=false, count_include_pad=true, "
    "divisor_override=none";

// ---- images -----------------------------------------------------------------------------------

constexpr auto patches = [](const Tensor& x, const Shape& kernel_size, const PerAxis& dilation,
                            const PerAxis& padding, const PerAxis& stride) {
  const Shape kernel =
      kernel_size.size() == 1 ? Shape{kernel_size[0], kernel_size[0]} : kernel_size;
  return im2col(x, kernel, {.stride = stride, .padding = padding, .dilation = dilation});
};

InterpolateMode mode_named(std::string_view name) {
  if (name == "nearest") return InterpolateMode::Nearest;
  if (name == "nearest-exact") return InterpolateMode::NearestExact;
  if (name == "bicubic") return InterpolateMode::Bicubic;
  if (name == "area") return InterpolateMode::Area;
  check(name.ends_with("linear"), "there is no mode {}", name);
  return InterpolateMode::Linear;
}

constexpr auto resize = [](const Tensor& x, const std::optional<Shape>& size, const Value& scale,
                           std::string_view mode, std::optional<bool> align_corners,
                           std::optional<bool> recompute_scale, bool antialias) {
  InterpolateOptions options{.mode = mode_named(mode),
                             .align_corners = align_corners.value_or(false),
                             .antialias = antialias,
                             .recompute_scale = recompute_scale.value_or(false)};
  if (size) options.size = *size;
  while (size && options.size.size() < x.ndim() - 2) options.size.push_back((*size)[0]);
  if (!scale.get<std::monostate>()) options.scale = read_numbers(scale);
  return interpolate(x, options);
};

constexpr auto sample = [](const Tensor& x, const Tensor& grid, GridMode mode, GridPadding padding,
                           std::optional<bool> align_corners) {
  return grid_sample(
      x, grid, {.mode = mode, .padding = padding, .align_corners = align_corners.value_or(false)});
};

constexpr OpEntry ops[] = {
    {"nn.functional.conv1d", conv_parameters, bind<convolve<conv1d>>, anything, Promoted, 2,
     "Convolution over the last axis.", "t(2,2,5), t(3,2,2), t(3) | t(2,5), t(3,2,3), none, 2, 1"},
    {"nn.functional.conv2d", conv_parameters, bind<convolve<conv2d>>, anything, Promoted, 2,
     "Convolution over the last two axes.",
     "t(2,2,4,5), t(3,2,2,2), t(3) | t(1,4,5,5), t(4,2,3,3), none, 2, [1, 0], 1, 2 | "
     "t(1,1,4,4), t(1,1,3,3), none, 1, 'same'"},
    {"nn.functional.conv3d", conv_parameters, bind<convolve<conv3d>>, anything, Promoted, 2,
     "Convolution over the last three axes.", "t(1,2,3,3,3), t(2,2,2,2,2), t(2)"},
    {"nn.functional.conv_transpose1d", transpose_parameters,
     bind<convolve_transposed<conv_transpose1d>>, anything, Promoted, 2, "Transpose of conv1d.",
     "t(2,2,4), t(2,3,2), t(3) | t(1,2,4), t(2,1,3), none, 2, 1, 1, 2"},
    {"nn.functional.conv_transpose2d", transpose_parameters,
     bind<convolve_transposed<conv_transpose2d>>, anything, Promoted, 2, "Transpose of conv2d.",
     "t(1,2,3,3), t(2,2,2,2), t(2) | t(1,1,3,3), t(1,1,2,2), none, 2, 0, 1, 1, 2"},
    {"nn.functional.conv_transpose3d", transpose_parameters,
     bind<convolve_transposed<conv_transpose3d>>, anything, Promoted, 2, "Transpose of conv3d.",
     "t(1,1,2,2,2), t(1,1,2,2,2), t(1)"},

    {"nn.functional.max_pool1d", max_parameters, bind<max_pool<max_pool1d_with_indices>>, anything,
     Same, 2, "Greatest elements of windows.", "t(1,2,7), 2 | t(2,7), 3, 2, 1, 1, true"},
    {"nn.functional.max_pool2d", max_parameters, bind<max_pool<max_pool2d_with_indices>>, anything,
     Same, 2, "Greatest elements of windows.", "t(1,2,5,5), 2 | t(2,5,6), [3, 2], 1, 1"},
    {"nn.functional.max_pool3d", max_parameters, bind<max_pool<max_pool3d_with_indices>>, anything,
     Same, 2, "Greatest elements of windows.", "t(1,1,4,4,4), 2"},
    {"nn.functional.max_unpool1d", unpool_parameters, bind<unpool<1>>, anything, Same, 2,
     "Elements put where max_pool found them, zeros around.", "t(1,2,1), i(1,2,1)<2, 2"},
    {"nn.functional.max_unpool2d", unpool_parameters, bind<unpool<2>>, anything, Same, 2,
     "Elements put where max_pool found them, zeros around.",
     "t(2,1,1), i(2,1,1)<4, 2 | t(2,1,1), i(2,1,1)<6, 2, none, 0, [2, 3]"},
    {"nn.functional.max_unpool3d", unpool_parameters, bind<unpool<3>>, anything, Same, 2,
     "Elements put where max_pool found them, zeros around.", "t(2,1,1,1), i(2,1,1,1)<8, 2"},
    {"nn.functional.avg_pool1d", mean_parameters, bind<mean_pool<avg_pool1d>>, numbers, Same, 2,
     "Means of windows, of integers rounded towards 0.",
     "t(1,2,7), 2 | t(2,7), 3, 2, 1, true, false"},
    {"nn.functional.avg_pool2d", mean_parameters, bind<mean_pool<avg_pool2d>>, numbers, Same, 2,
     "Means of windows, of integers rounded towards 0.",
     "t(1,2,5,5), 2 | t(2,5,6), [3, 2], 1, 1, false, false"},
    {"nn.functional.avg_pool3d", mean_parameters, bind<mean_pool<avg_pool3d>>, numbers, Same, 2,
     "Means of windows, of integers rounded towards 0.", "t(1,1,4,4,4), 2"},
    {"nn.functional.adaptive_avg_pool1d", "input, output_size", bind<adaptive_avg_pool1d>, anything,
     Float, 2, "Means of as many windows.", "t(1,2,7), 3"},
    {"nn.functional.adaptive_avg_pool2d", "input, output_size", bind<adaptive_avg_pool2d>, anything,
     Float, 2, "Means of as many windows.", "t(1,2,5,4), [3, 2]"},
    {"nn.functional.adaptive_avg_pool3d", "input, output_size", bind<adaptive_avg_pool3d>, anything,
     Float, 2, "Means of as many windows.", "t(1,3,4,5), [2, 2, 3]"},
    {"nn.functional.adaptive_max_pool1d", "input, output_size, return_indices=false",
     bind<adaptive_max_pool<adaptive_max_pool1d_with_indices>>, anything, Same, 2,
     "Greatest elements of as many windows.", "t(1,2,7), 3"},
    {"nn.functional.adaptive_max_pool2d", "input, output_size, return_indices=false",
     bind<adaptive_max_pool<adaptive_max_pool2d_with_indices>>, anything, Same, 2,
     "Greatest elements of as many windows.", "t(1,2,5,4), [3, 2]"},
    {"nn.functional.adaptive_max_pool3d", "input, output_size, return_indices=false",
     bind<adaptive_max_pool<adaptive_max_pool3d_with_indices>>, anything, Same, 2,
     "Greatest elements of as many windows.", "t(1,3,4,5), [2, 2, 3]"},

    {"nn.functional.unfold", "input, kernel_size, dilation=1, padding=0, stride=1", bind<patches>,
     anything, Same, 2, "Patches as columns.", "t(1,2,4,5), [2, 3] | t(2,4,4), 2, 1, 1, 2"},
    {"nn.functional.pixel_shuffle", "input, upscale_factor", bind<pixel_shuffle>, anything, Same, 2,
     "Channels dealt out to pixels.", "t(1,4,2,3), 2"},
    {"nn.functional.pixel_unshuffle", "input, downscale_factor", bind<pixel_unshuffle>, anything,
     Same, 2, "Pixels collected in channels.", "t(1,1,4,6), 2"},
    {"nn.functional.channel_shuffle", "input, groups", bind<channel_shuffle>, anything, Same, 2,
     "Channels dealt out to groups.", "t(1,4,2,2), 2"},
    {"nn.functional.interpolate",
     "input, size=none, scale_factor=none, mode='nearest', align_corners=none, "
     "recompute_scale_factor=none, antialias=false",
     bind<resize>, floats, Same, 2, "Spatial axes of another size; 'nearest' of any dtype.",
     "t(1,1,3,4), [5, 3], none, 'bilinear' | t(1,2,4), 6 | t(1,1,4,4), [6, 6], none, 'bicubic', "
     "true | t(1,1,4,4), none, [1.5, 2.0], 'area'"},
    {"nn.functional.grid_sample",
     "input, grid, mode='bilinear', padding_mode='zeros', align_corners=none", bind<sample>, floats,
     Same, 2, "Elements at places in [-1, 1].",
     "t(1,2,3,4), t(1,2,2,2)@-0.9..0.9 | t(1,1,4,4), t(1,2,2,2)@-1.3..1.3, 'bicubic', 'border'"},
};

}  // namespace

std::span<const OpEntry> conv_ops() { return ops; }

}  // namespace croze
