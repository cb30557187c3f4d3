// reduction.cpp -- sums, extremes and their positions along axes.
#include <limits>

#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {
namespace {

// The axes became an input in opset 18, for sums in 13.  A result has the dtype of its operand.
template <typename F>
Results reduced(const NodeCall& call, F f, int by_input = 18) {
  const Tensor& x = call[0];
  const bool given = call.has_attribute("axes") ||
                     (call.version() >= by_input && call.has(1) && call[1].numel() > 0);
  if (!given && call.flag("noop_with_empty_axes")) return {x};
  const Ints axes = axes_of(call, by_input, x.ndim());
  if (axes.empty()) return {f(x, Axes(), true).cast(x.dtype())};  // of a scalar: each axis of none
  return {f(x, Axes(axes), call.flag("keepdims", true)).cast(x.dtype())};
}

// Of no elements: the least or greatest value.
Tensor extreme(const Tensor& x, const Axes& axes, bool keepdim, bool greatest) {
  if (x.numel() > 0) return greatest ? max(x, axes, keepdim) : min(x, axes, keepdim);
  const Shape shape = sum(x, axes, keepdim).shape();
  const DType dtype = x.dtype();
  if (dtype == DType::Bool) return Tensor::full(shape, !greatest, {.dtype = dtype});
  if (!is_float(dtype)) {
    return Tensor::full(shape, greatest ? min_value(dtype) : max_value(dtype), {.dtype = dtype});
  }
  const double infinity = std::numeric_limits<double>::infinity();
  return Tensor::full(shape, greatest ? -infinity : infinity, {.dtype = dtype});
}

Results reduce_max(const NodeCall& call) {
  return reduced(call, [](const Tensor& x, const Axes& axes, bool keepdim) {
    return extreme(x, axes, keepdim, true);
  });
}

Results reduce_min(const NodeCall& call) {
  return reduced(call, [](const Tensor& x, const Axes& axes, bool keepdim) {
    return extreme(x, axes, keepdim, false);
  });
}

Results reduce_sum(const NodeCall& call) {
  return reduced(
      call, [](const Tensor& x, const Axes& a, bool keep) { return sum(x, a, keep); }, 13);
}

Results reduce_mean(const NodeCall& call) {
  return reduced(call, [](const Tensor& x, const Axes& a, bool keep) { return mean(x, a, keep); });
}

Results reduce_prod(const NodeCall& call) {
  return reduced(call, [](const Tensor& x, const Axes& a, bool keep) { return prod(x, a, keep); });
}

Results reduce_l1(const NodeCall& call) {
  return reduced(call,
                 [](const Tensor& x, const Axes& a, bool keep) { return sum(abs(x), a, keep); });
}

Tensor sum_of_squares(const Tensor& x, const Axes& axes, bool keepdim) {
  return sum(square(x), axes, keepdim);
}

Results reduce_l2(const NodeCall& call) {
  return reduced(call, [](const Tensor& x, const Axes& axes, bool keep) {
    const Tensor wide = is_half(x.dtype()) || !is_float(x.dtype()) ? x.cast(DType::Float32) : x;
    return sqrt(sum_of_squares(wide, axes, keep));
  });
}

Results reduce_log_sum(const NodeCall& call) {
  return reduced(
      call, [](const Tensor& x, const Axes& axes, bool keep) { return log(sum(x, axes, keep)); });
}

Results reduce_log_sum_exp(const NodeCall& call) {
  return reduced(call, [](const Tensor& x, const Axes& axes, bool keep) {
    if (x.numel() == 0) return log(sum(exp(x), axes, keep));
    return logsumexp(x, axes, keep);
  });
}

Results reduce_sum_square(const NodeCall& call) { return reduced(call, sum_of_squares); }

// ---- positions --------------------------------------------------------------------------------

Results position(const NodeCall& call, bool greatest) {
  const Tensor& x = call[0];
  const std::int64_t axis = checked_axis(call.integer("axis", 0), x.ndim());
  const bool keepdims = call.flag("keepdims", true);
  const auto first = [&](const Tensor& t) {
    return greatest ? argmax(t, axis, keepdims) : argmin(t, axis, keepdims);
  };
  if (!call.flag("select_last_index")) return {first(x)};
  return {x.size(axis) - 1 - first(x.flip(axis))};
}

Results arg_max(const NodeCall& call) { return position(call, true); }
Results arg_min(const NodeCall& call) { return position(call, false); }

// ---- running sums -----------------------------------------------------------------------------

Results cum_sum(const NodeCall& call) {
  const DType dtype = call[0].dtype();
  const std::int64_t axis = checked_axis(call.integer(1), call[0].ndim());
  const bool reverse = call.flag("reverse");
  const Tensor x = reverse ? call[0].flip(axis) : call[0];
  Tensor sums = cumsum(x, axis).cast(dtype);
  if (call.flag("exclusive") && x.size(axis) > 0) {
    const Tensor before = sums.narrow(axis, 0, x.size(axis) - 1);
    sums = cat({Tensor::zeros_like(x.narrow(axis, 0, 1)), before}, axis);
  }
  return {reverse ? sums.flip(axis) : sums};
}

// clang-format off
constexpr Operator table[] = {
  {"ArgMax", 1, arg_max},
  {"ArgMin", 1, arg_min},
  {"CumSum", 11, cum_sum},
  {"ReduceL1", 1, reduce_l1},
  {"ReduceL2", 1, reduce_l2},
  {"ReduceLogSum", 1, reduce_log_sum},
  {"ReduceLogSumExp", 1, reduce_log_sum_exp},
  {"ReduceMax", 1, reduce_max},
  {"ReduceMean", 1, reduce_mean},
  {"ReduceMin", 1, reduce_min},
  {"ReduceProd", 1, reduce_prod},
  {"ReduceSum", 1, reduce_sum},
  {"ReduceSumSquare", 1, reduce_sum_square},
};
// clang-format on

}  // namespace

std::span<const Operator> reduction_operators() { return table; }

}  // namespace croze::onnx
