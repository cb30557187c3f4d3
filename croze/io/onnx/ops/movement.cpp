// movement.cpp -- operators that rearrange elements.
#include <algorithm>

#include "croze/base/checked.h"
#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {
namespace {

// ---- shapes -----------------------------------------------------------------------------------

// 0 keeps a size, -1 is what is left.
Results reshape_op(const NodeCall& call) {
  const Tensor& x = call[0];
  const Ints wanted = call.version() < 5 ? call.integers("shape") : call.integers(1);
  const bool keep_zeros = call.flag("allowzero");
  Shape shape;
  for (std::size_t i = 0; i < wanted.size(); i++) {
    const bool copied = wanted[i] == 0 && !keep_zeros;
    check(!copied || static_cast<int>(i) < x.ndim(), "size 0 of axis {} has nothing to copy", i);
    shape.push_back(copied ? x.size(static_cast<std::int64_t>(i)) : wanted[i]);
  }
  return {call.like(0, x.reshape(shape))};
}

Results flatten_op(const NodeCall& call) {
  const Tensor& x = call[0];
  const std::int64_t given = call.integer("axis", 1);
  const std::int64_t axis = given == x.ndim() ? given : checked_axis(given, x.ndim());
  std::int64_t rows = 1, columns = 1;
  for (int i = 0; i < x.ndim(); i++) (i < axis ? rows : columns) *= x.size(i);
  return {call.like(0, x.reshape({rows, columns}))};
}

// The axes became an input in opset 13.
Results squeeze_op(const NodeCall& call) {
  const Tensor& x = call[0];
  Ints axes = call.version() >= 13 && call.has(1) ? call.integers(1) : call.integers("axes");
  for (std::int64_t& axis : axes) {
    axis = checked_axis(axis, x.ndim());
    check(x.size(axis) == 1, "axis {} has size {}, not 1", axis, x.size(axis));
  }
  Shape shape;
  for (int i = 0; i < x.ndim(); i++) {
    const bool dropped = axes.empty() ? x.size(i) == 1 : std::ranges::find(axes, i) != axes.end();
    if (!dropped) shape.push_back(x.size(i));
  }
  return {call.like(0, x.reshape(shape))};
}

Results unsqueeze_op(const NodeCall& call) {
  const Tensor& x = call[0];
  Ints axes = call.version() >= 13 ? call.integers(1) : call.integers("axes");
  const auto rank = x.ndim() + static_cast<std::int64_t>(axes.size());
  for (std::int64_t& axis : axes) axis = checked_axis(axis, rank);
  std::ranges::sort(axes);
  check(std::ranges::adjacent_find(axes) == axes.end(), "an axis is named twice");
  Shape shape = x.shape();
  for (std::int64_t axis : axes) shape.insert(axis, 1);
  return {call.like(0, x.reshape(shape))};
}

Results transpose_op(const NodeCall& call) {
  const Tensor& x = call[0];
  Ints order = call.integers("perm");
  if (order.empty()) {
    for (int i = x.ndim(); i-- > 0;) order.push_back(i);
  }
  return {call.like(0, x.permute(Shape(order)))};
}

Results expand_op(const NodeCall& call) {
  const Tensor& x = call[0];
  Shape shape(call.integers(1));
  // A size of 1 keeps the axis, so the result may be wider than the shape asked for.
  for (int i = 1; i <= std::min(x.ndim(), shape.size()); i++) {
    std::int64_t& size = shape[shape.size() - i];
    if (size == 1) size = x.size(-i);
  }
  for (int i = shape.size() + 1; i <= x.ndim(); i++) shape.insert(0, x.size(-i));
  return {call.like(0, x.expand(shape))};
}

// Before opset 6 one axis was repeated.
Results tile(const NodeCall& call) {
  if (call.version() >= 6) return {call[0].repeat(Shape(call.integers(1)))};
  Shape times;
  for (int i = 0; i < call[0].ndim(); i++) {
    times.push_back(i == call.integer(2) ? call.integer(1) : 1);
  }
  return {call[0].repeat(times)};
}

// ---- joining and cutting ----------------------------------------------------------------------

Results concat(const NodeCall& call) {
  const std::vector<Tensor> parts = call.tensors();
  const std::int64_t missing = call.version() < 4 ? 1 : 0;
  const std::int64_t axis =
      call.version() < 4 ? call.integer("axis", missing) : call.required_integer("axis");
  return {call.like(0, cat(parts, axis))};
}

// Sizes of `parts` parts, all equal but the last.
Ints equal_sizes(std::int64_t size, std::int64_t parts) {
  check(parts > 0, "{} parts", parts);
  const std::int64_t each = (size + parts - 1) / parts;
  Ints sizes(static_cast<std::size_t>(parts), each);
  sizes.back() = size - each * (parts - 1);
  check(sizes.back() >= 0, "{} elements do not make {} parts", size, parts);
  return sizes;
}

Results split_op(const NodeCall& call) {
  const Tensor& x = call[0];
  const std::int64_t axis = checked_axis(call.integer("axis", 0), x.ndim());
  Ints sizes = call.version() >= 13 && call.has(1) ? call.integers(1) : call.integers("split");
  if (sizes.empty()) {
    const std::int64_t parts = call.num_outputs(), named = call.integer("num_outputs", parts);
    check(named == parts, "num_outputs is {}, but the node has {} outputs", named, parts);
    sizes = equal_sizes(x.size(axis), parts);
  }
  Results results;
  for (const Tensor& part : split(x, Shape(sizes), axis)) results.push_back(call.like(0, part));
  return results;
}

// Begin and end are clipped as in Python; `Slice` does that, but cannot say "before the first".
Tensor sliced(const Tensor& x, std::int64_t axis, std::int64_t begin, std::int64_t end,
              std::int64_t step) {
  const std::int64_t size = x.size(axis);
  check(step != 0, "a step of 0");
  const auto clipped = [&](std::int64_t place, std::int64_t low, std::int64_t high) {
    return std::clamp(place < 0 ? place + size : place, low, high);
  };
  Slice slice{.begin = clipped(begin, 0, step > 0 ? size : size - 1), .end = {}, .step = step};
  const std::int64_t stop = step > 0 ? clipped(end, 0, size) : clipped(end, -1, size - 1);
  if (stop >= 0) slice.end = stop;
  if (size == 0) return x;
  return x.slice(axis, slice);
}

Results slice_op(const NodeCall& call) {
  Tensor x = call[0];
  const bool by_input = call.version() >= 10;
  const Ints begins = by_input ? call.integers(1) : call.integers("starts");
  const Ints ends = by_input ? call.integers(2) : call.integers("ends");
  Ints axes = by_input && call.has(3) ? call.integers(3) : call.integers("axes");
  Ints steps = by_input && call.has(4) ? call.integers(4) : Ints(begins.size(), 1);
  if (axes.empty()) axes = all_axes(static_cast<int>(begins.size()));
  check(
      begins.size() == ends.size() && begins.size() == axes.size() && begins.size() == steps.size(),
      "{} begins, {} ends, {} axes and {} steps", begins.size(), ends.size(), axes.size(),
      steps.size());
  for (std::size_t i = 0; i < axes.size(); i++) {
    x = sliced(x, checked_axis(axes[i], x.ndim()), begins[i], ends[i], steps[i]);
  }
  return {call.like(0, x)};
}

// ---- padding ----------------------------------------------------------------------------------

// Positions along an axis of `size` elements that stand from -before to size + after.
Ints padded_positions(std::int64_t size, std::int64_t before, std::int64_t after,
                      std::string_view mode) {
  Ints positions;
  check(size > 0, "an empty axis cannot be padded in mode {}", mode);
  const std::int64_t period = 2 * (size - 1);
  for (std::int64_t p = -before; p < checked_add(size, after); p++) {
    if (mode == "edge") {
      positions.push_back(std::clamp<std::int64_t>(p, 0, size - 1));
    } else if (mode == "wrap") {
      positions.push_back(((p % size) + size) % size);
    } else {  // reflect
      const std::int64_t q = period == 0 ? 0 : ((p % period) + period) % period;
      positions.push_back(std::min(q, period - q));
    }
  }
  return positions;
}

Tensor pad_axes(Tensor x, const Ints& axes, const Ints& amounts, std::string_view mode,
                Scalar value) {
  check(amounts.size() == 2 * axes.size(), "{} amounts for {} axes", amounts.size(), axes.size());
  const auto before = [&](std::size_t i) { return amounts[i]; };
  const auto after = [&](std::size_t i) { return amounts[i + axes.size()]; };
  if (mode == "constant") {
    // {before, after} of the last axis first.
    Ints all(static_cast<std::size_t>(2 * x.ndim()), 0);
    for (std::size_t i = 0; i < axes.size(); i++) {
      const auto place = static_cast<std::size_t>(2 * (x.ndim() - 1 - axes[i]));
      all[place] = before(i);
      all[place + 1] = after(i);
    }
    return pad(x, Shape(all), value);
  }
  check(mode == "edge" || mode == "reflect" || mode == "wrap", "mode \"{}\"", mode);
  for (std::size_t i = 0; i < axes.size(); i++) {
    if (before(i) == 0 && after(i) == 0) continue;
    x = take_positions(x, axes[i], padded_positions(x.size(axes[i]), before(i), after(i), mode));
  }
  return x;
}

// Amounts and value became inputs in opset 11, the axes came in 18.
Results pad_op(const NodeCall& call) {
  const Tensor& x = call[0];
  const bool by_input = call.version() >= 11;
  const std::string_view old_name = call.version() == 1 ? "paddings" : "pads";
  const Ints amounts = by_input ? call.integers(1) : call.integers(old_name);
  Ints axes = by_input && call.has(3) ? call.integers(3) : Ints();
  if (axes.empty()) axes = all_axes(x.ndim());
  for (std::int64_t& axis : axes) axis = checked_axis(axis, x.ndim());
  Scalar value = call.real("value", 0);
  if (by_input && call.has(2)) {
    value = is_float(x.dtype()) ? Scalar(call.number(2)) : Scalar(call.integer(2));
  } else if (!is_float(x.dtype())) {
    value = static_cast<std::int64_t>(value.number());
  }
  return {call.like(0, pad_axes(x, axes, amounts, call.text("mode", "constant"), value))};
}

// Each axis cut or padded evenly to a size.
Results center_crop_pad(const NodeCall& call) {
  Tensor x = call[0];
  const Ints sizes = call.integers(1);
  Ints axes = call.integers("axes");
  if (axes.empty()) axes = all_axes(x.ndim());
  check(axes.size() == sizes.size(), "{} sizes for {} axes", sizes.size(), axes.size());
  for (std::size_t i = 0; i < axes.size(); i++) {
    const std::int64_t axis = checked_axis(axes[i], x.ndim());
    const std::int64_t more = sizes[i] - x.size(axis);
    if (more < 0) x = x.narrow(axis, -more / 2, sizes[i]);
    if (more > 0) x = pad_axes(x, {axis}, {more / 2, more - more / 2}, "constant", 0);
  }
  return {x};
}

// ---- blocks -----------------------------------------------------------------------------------

constexpr std::int64_t largest_block = std::int64_t{1} << 20;  // whose square is a number

Results depth_to_space(const NodeCall& call) {
  const Shape s = call[0].shape();
  const std::int64_t b = call.required_integer("blocksize");
  check(s.size() == 4 && b > 0 && b <= largest_block && s[1] % (b * b) == 0,
        "a shape of {} in blocks of {}", to_text(s), b);
  const std::int64_t depth = s[1] / (b * b);
  const bool column_first = call.text("mode", "DCR") == "CRD";
  const Tensor parts =
      column_first ? call[0].reshape({s[0], depth, b, b, s[2], s[3]}).permute({0, 1, 4, 2, 5, 3})
                   : call[0].reshape({s[0], b, b, depth, s[2], s[3]}).permute({0, 3, 4, 1, 5, 2});
  return {parts.reshape({s[0], depth, s[2] * b, s[3] * b})};
}

Results space_to_depth(const NodeCall& call) {
  const Shape s = call[0].shape();
  const std::int64_t b = call.required_integer("blocksize");
  check(s.size() == 4 && b > 0 && b <= largest_block && s[2] % b == 0 && s[3] % b == 0,
        "a shape of {} in blocks of {}", to_text(s), b);
  const Tensor parts = call[0].reshape({s[0], s[1], s[2] / b, b, s[3] / b, b});
  return {parts.permute({0, 3, 5, 1, 2, 4}).reshape({s[0], s[1] * b * b, s[2] / b, s[3] / b})};
}

// The first lengths[i] elements of row i backwards, the others as they are.
Results reverse_sequence(const NodeCall& call) {
  const Tensor& x = call[0];
  const std::int64_t time = call.integer("time_axis", 0), batch = call.integer("batch_axis", 1);
  check(time + batch == 1 && x.ndim() >= 2, "time axis {} and batch axis {}", time, batch);
  const Tensor positions = along_axis(Tensor::arange(x.size(time)), time, 2);
  const Tensor lengths = along_axis(call[1].cast(DType::Int64), batch, 2);
  Tensor index = where(positions < lengths, lengths - 1 - positions, positions);
  for (int i = 2; i < x.ndim(); i++) index = index.unsqueeze(-1);
  return {gather(x, time, index.expand(x.shape()))};
}

Results trilu(const NodeCall& call) {
  const std::int64_t diagonal = call.integer_or(1, 0);
  return {call.flag("upper", true) ? triu(call[0], diagonal) : tril(call[0], diagonal)};
}

// clang-format off
constexpr Operator table[] = {
  {"CenterCropPad", 18, center_crop_pad},
  {"Concat", 1, concat},
  {"DepthToSpace", 1, depth_to_space},
  {"Expand", 8, expand_op},
  {"Flatten", 1, flatten_op},
  {"Pad", 1, pad_op},
  {"Reshape", 1, reshape_op},
  {"ReverseSequence", 10, reverse_sequence},
  {"Slice", 1, slice_op},
  {"SpaceToDepth", 1, space_to_depth},
  {"Split", 2, split_op},
  {"Squeeze", 1, squeeze_op},
  {"Tile", 1, tile},
  {"Transpose", 1, transpose_op},
  {"Trilu", 14, trilu},
  {"Unsqueeze", 1, unsqueeze_op},
};
// clang-format on

}  // namespace

std::span<const Operator> movement_operators() { return table; }

}  // namespace croze::onnx
