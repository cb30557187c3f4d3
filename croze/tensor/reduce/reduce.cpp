// reduce.cpp -- sums, extremes and what is made of them.
#include "croze/tensor/reduce/reduce.h"

#include <cmath>
#include <limits>

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/record.h"

namespace croze {
namespace {

std::int64_t count_along(const Tensor& x, const Shape& axes) {
  const Shape shape = x.shape();
  std::int64_t count = 1;
  for (std::int64_t a : axes) count *= shape[a];
  return count;
}

Shape reduced_shape(const Tensor& x, const Shape& axes, bool keepdim) {
  Shape shape = x.shape();
  for (int i = axes.size() - 1; i >= 0; i--) {
    if (keepdim) {
      shape[axes[i]] = 1;
    } else {
      shape.erase(axes[i]);
    }
  }
  return shape;
}

// `axes` are positive and ascending.  Of no elements: `identity`.
Tensor reduced(const Tensor& x, Op op, const Shape& axes, bool keepdim, std::int64_t identity) {
  const std::int64_t count = count_along(x, axes);
  const Shape shape = reduced_shape(x, axes, keepdim);
  GraphLock lock;
  UOp node = x.node();
  if (count == 0) {
    node = filled_node(scalar_node(x.dtype(), identity), shape);
  } else {
    if (count > 1) node = tensor_graph().reduce_axes(op, node, axes);
    node = reshape_node(node, shape);
  }
  return wrap_like(x, node);
}

Tensor accumulated(const Tensor& x, Op op, const Shape& axes, bool keepdim, std::int64_t identity) {
  const Tensor wide = x.cast(accumulator(x.dtype()));
  return reduced(wide, op, axes, keepdim, identity).cast(sum_result(x.dtype()));
}

Tensor extreme(const Call& call, const Tensor& x, Op op, const Axes& axes, bool keepdim) {
  const Shape list = call.axes(axes, x.ndim());
  call.require(count_along(x, list) > 0, "no elements to choose from");
  return reduced(x, op, list, keepdim, 0);
}

}  // namespace

// ---- sums -------------------------------------------------------------------------------------

Tensor sum(const Tensor& x, const Axes& axes, bool keepdim, Location at) {
  const Call call("sum", {&x}, at);
  return accumulated(x, Op::Add, call.axes(axes, x.ndim()), keepdim, 0);
}

Tensor prod(const Tensor& x, const Axes& axes, bool keepdim, Location at) {
  const Call call("prod", {&x}, at);
  return accumulated(x, Op::Mul, call.axes(axes, x.ndim()), keepdim, 1);
}

Tensor mean(const Tensor& x, const Axes& axes, bool keepdim, Location at) {
  const Call call("mean", {&x}, at);
  const Shape list = call.axes(axes, x.ndim());
  return in_wide_float(x, [&](const Tensor& v) {
    return reduced(v, Op::Add, list, keepdim, 0) / static_cast<double>(count_along(x, list));
  });
}

// ---- extremes ---------------------------------------------------------------------------------

Tensor max(const Tensor& x, const Axes& axes, bool keepdim, Location at) {
  return extreme(Call("max", {&x}, at), x, Op::Max, axes, keepdim);
}

Tensor min(const Tensor& x, const Axes& axes, bool keepdim, Location at) {
  return extreme(Call("min", {&x}, at), x, Op::Min, axes, keepdim);
}

namespace {

// The least position at which x is its extreme, or NaN.
Tensor position_of_extreme(const Call& call, const Tensor& x, Op op,
                           std::optional<std::int64_t> axis, bool keepdim) {
  const Tensor v = axis ? x : flatten(x);
  const std::int64_t a = call.axis(axis.value_or(0), v.ndim());
  if (v.ndim() == 0) return Tensor::zeros({}, {.dtype = DType::Int64});
  const std::int64_t count = v.shape()[a];
  const Tensor best = extreme(call, v, op, a, true);
  const Tensor is_best = is_float(v.dtype()) ? (v == best) | isnan(v) : v == best;
  const DType narrow_type = count < INT32_MAX ? DType::Int32 : DType::Int64;
  GraphLock lock;
  const Tensor position = wrap(cast_node(position_node(v.shape(), a), narrow_type), -1);
  const Tensor candidates = where(is_best, position, count);
  const bool keep = keepdim && axis.has_value();
  const Tensor first = reduced(candidates, Op::Min, {a}, keep, 0).cast(DType::Int64);
  if (axis || !keepdim) return first;
  Shape ones;
  for (int i = 0; i < x.ndim(); i++) ones.push_back(1);
  return reshape(first, ones);
}

}  // namespace

Tensor argmax(const Tensor& x, std::optional<std::int64_t> axis, bool keepdim, Location at) {
  return position_of_extreme(Call("argmax", {&x}, at), x, Op::Max, axis, keepdim);
}

Tensor argmin(const Tensor& x, std::optional<std::int64_t> axis, bool keepdim, Location at) {
  return position_of_extreme(Call("argmin", {&x}, at), x, Op::Min, axis, keepdim);
}

namespace {

// Op::Max: whether any element is not zero; Op::Min: whether every one is.
Tensor truth_of(const Call& call, const Tensor& x, Op op, const Axes& axes, bool keepdim) {
  const Tensor truth = x.dtype() == DType::Bool ? x : x != 0;
  const Tensor result = reduced(truth, op, call.axes(axes, x.ndim()), keepdim, op == Op::Min);
  return x.dtype() == DType::UInt8 ? result.cast(DType::UInt8) : result;
}

}  // namespace

Tensor any(const Tensor& x, const Axes& axes, bool keepdim, Location at) {
  return truth_of(Call("any", {&x}, at), x, Op::Max, axes, keepdim);
}

Tensor all(const Tensor& x, const Axes& axes, bool keepdim, Location at) {
  return truth_of(Call("all", {&x}, at), x, Op::Min, axes, keepdim);
}

// ---- deviation and norms ----------------------------------------------------------------------

Tensor var(const Tensor& x, const Axes& axes, double correction, bool keepdim, Location at) {
  const Call call("var", {&x}, at);
  call.require(is_float(x.dtype()), "works on floats, not on {}", name_of(x.dtype()));
  const Shape list = call.axes(axes, x.ndim());
  const double count = static_cast<double>(count_along(x, list));
  return in_wide_float(x, [&](const Tensor& v) {
    const Tensor deviation = v - reduced(v, Op::Add, list, true, 0) / count;
    return reduced(square(deviation), Op::Add, list, keepdim, 0) / std::fmax(count - correction, 0);
  });
}

namespace {

// Gradient 0 where the value is 0.
Tensor root(const Tensor& x, double p) {
  const Tensor is_zero = x == 0;
  return where(is_zero, 0, pow(where(is_zero, 1, x), 1 / p));
}

}  // namespace

Tensor std_dev(const Tensor& x, const Axes& axes, double correction, bool keepdim, Location at) {
  const CallScope scope("std_dev", at);
  return root(var(x, axes, correction, keepdim, at), 2);
}

Tensor norm(const Tensor& x, double p, const Axes& axes, bool keepdim, Location at) {
  const Call call("norm", {&x}, at);
  const Shape list = call.axes(axes, x.ndim());
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return in_wide_float(x, [&](const Tensor& v) {
    const auto total = [&](const Tensor& t) { return reduced(t, Op::Add, list, keepdim, 0); };
    if (p == infinity) return extreme(call, abs(v), Op::Max, list, keepdim);
    if (p == -infinity) return extreme(call, abs(v), Op::Min, list, keepdim);
    if (p == 0) return total((v != 0).cast(v.dtype()));
    if (p == 1) return total(abs(v));
    if (p == 2) return root(total(square(v)), 2);
    const Tensor size = abs(v), is_zero = size == 0;
    if (p < 0) return pow(total(pow(size, p)), 1 / p);  // 0 if one element is
    return root(total(where(is_zero, 0, pow(where(is_zero, 1, size), p))), p);
  });
}

// ---- softmax ----------------------------------------------------------------------------------

// The functions below do not depend on the number they subtract for safety, so no gradient flows
// through it.
Tensor logsumexp(const Tensor& x, const Axes& axes, bool keepdim, Location at) {
  const Call call("logsumexp", {&x}, at);
  const Shape list = call.axes(axes, x.ndim());
  return in_wide_float(x, [&](const Tensor& v) {
    const Tensor top = extreme(call, v, Op::Max, list, true).detach();
    const Tensor shift = where(isfinite(top), top, 0);
    const Tensor result = log(reduced(exp(v - shift), Op::Add, list, true, 0)) + shift;
    return reshape(result, reduced_shape(x, list, keepdim));
  });
}

// One quotient for a row: the sum is between 1 and the count of terms, so that it is far from where
// products and quotients differ by more than a rounding.
Tensor softmax(const Tensor& x, std::int64_t axis, Location at) {
  const Call call("softmax", {&x}, at);
  const Shape list = call.axes(axis, x.ndim());
  if (x.numel() == 0) return as_float(x);
  return in_wide_float(x, [&](const Tensor& v) {
    const Tensor e = exp(v - extreme(call, v, Op::Max, list, true).detach());
    return e * reciprocal(reduced(e, Op::Add, list, true, 0));
  });
}

Tensor log_softmax(const Tensor& x, std::int64_t axis, Location at) {
  const Call call("log_softmax", {&x}, at);
  const Shape list = call.axes(axis, x.ndim());
  if (x.numel() == 0) return as_float(x);
  return in_wide_float(x, [&](const Tensor& v) {
    const Tensor shifted = v - extreme(call, v, Op::Max, list, true).detach();
    return shifted - log(reduced(exp(shifted), Op::Add, list, true, 0));
  });
}

// ---- counts, scales and covariances -----------------------------------------------------------

Tensor count_nonzero(const Tensor& x, const Axes& axes, bool keepdim, Location at) {
  const CallScope scope("count_nonzero", at);
  return sum(x.dtype() == DType::Bool ? x : x != 0, axes, keepdim, at);
}

Tensor nansum(const Tensor& x, const Axes& axes, bool keepdim, Location at) {
  const CallScope scope("nansum", at);
  return sum(is_float(x.dtype()) ? where(isnan(x), 0, x) : x, axes, keepdim, at);
}

Tensor nanmean(const Tensor& x, const Axes& axes, bool keepdim, Location at) {
  const CallScope scope("nanmean", at);
  return in_wide_float(x, [&](const Tensor& v) {
    const Tensor count = sum(!isnan(v), axes, keepdim, at).cast(v.dtype());
    return nansum(v, axes, keepdim, at) / count;
  });
}

Tensor renorm(const Tensor& x, double p, std::int64_t axis, double most, Location at) {
  const Call call("renorm", {&x}, at);
  call.require(x.ndim() >= 2, "slices of a tensor with two axes or more");
  Shape others;
  for (int i = 0; i < x.ndim(); i++) {
    if (i != call.axis(axis, x.ndim())) others.push_back(i);
  }
  const Tensor size = norm(x, p, others, true, at);
  // PyTorch's guard against a division by zero.
  return where(size > most, x * (most / (size + 1e-7)), x);
}

Tensor dist(const Tensor& a, const Tensor& b, double p, Location at) {
  const CallScope scope("dist", at);
  return norm(Operand(a, at) - b, p, {}, false, at);
}

Tensor cov(const Tensor& x, double correction, Location at) {
  const Call call("cov", {&x}, at);
  call.require(x.ndim() <= 2, "the rows of a matrix are variables");
  const Tensor rows = as_float(x.ndim() == 2 ? x : reshape(x, {1, -1}, at));
  const Tensor deviation = rows - mean(rows, 1, true, at);
  const double count = std::fmax(static_cast<double>(rows.size(1)) - correction, 0);
  const Tensor products = unsqueeze(deviation, 1, at) * deviation;
  const Tensor result = sum(products, -1, false, at) / count;
  return rows.size(0) == 1 ? reshape(result, {}, at) : result;
}

Tensor corrcoef(const Tensor& x, Location at) {
  const CallScope scope("corrcoef", at);
  const Tensor c = cov(x, 1, at);
  if (c.ndim() == 0) return c / c;
  const Tensor deviation = sqrt(diagonal(c, 0, 0, 1, at));
  return clamp(c / unsqueeze(deviation, 1, at) / deviation, -1, 1);
}

}  // namespace croze
