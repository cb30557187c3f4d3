// scan.cpp -- scans, all by one scheme.
//
// An axis is cut into blocks.  The totals of the blocks, a reduction, are scanned by the same
// function, and what stands before a block is combined with each of its elements.  In a block of
// 2^b elements the scan takes b stages (Sklansky 1960): in stage s the elements are in groups of
// 2^s, and each of the upper half of a group is combined with the last of the lower half, which is
// the total of that half by then.  So the work is linear, every step is parallel, and an element is
// the result of few operations on what it depends on, which keeps rounding errors small.
#include "croze/tensor/reduce/scan.h"

#include <bit>

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/elementwise/numeric.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze {
namespace {

// Elements of a block, a power of two.
constexpr std::int64_t block = 32;

// An associative operation: of two tensors, and of all elements along the last axis.
struct Combination {
  Tensor (*of_two)(const Tensor& a, const Tensor& b);
  Tensor (*of_last_axis)(const Tensor& x, Location at);
  Scalar identity;
  bool is_long = false;  // of_two takes a hundred instructions and not one
};

// Of the last axis, of as many elements as a power of two.  The stages are one kernel, which has
// all elements of a block in registers.  Where a combination is long, that would be thousands of
// lines without a loop, so each stage is a kernel of its own.
Tensor scanned_block(const Tensor& x, const Combination& f, Location at) {
  const int first = x.ndim() - 1;
  Shape shape = x.shape();
  shape.erase(first);
  for (std::int64_t size = x.shape().back(); size > 1; size /= 2) shape.push_back(2);
  Tensor v = reshape(x, shape, at);
  for (int axis = v.ndim() - 1; axis >= first; axis--) {
    Tensor last_below = narrow(v, axis, 0, 1, at);
    for (int a = axis + 1; a < v.ndim(); a++) last_below = narrow(last_below, a, 1, 1, at);
    Shape line;
    for (int a = 0; a < v.ndim(); a++) line.push_back(a == axis ? 2 : 1);
    const Tensor is_above = reshape(Tensor::arange(2, {.dtype = DType::Int32}, at), line, at) == 1;
    v = where(is_above, f.of_two(expand(last_below, shape, at), v), v);
    if (f.is_long && axis > first) v = v.contiguous(at);
  }
  return reshape(v, x.shape(), at);
}

// Along the last axis.
Tensor scanned(const Tensor& x, const Combination& f, Location at) {
  const std::int64_t size = x.shape().back();
  if (size <= block) {
    const auto whole = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(size)));
    return narrow(scanned_block(pad(x, {0, whole - size}, f.identity, at), f, at), -1, 0, size, at);
  }
  const std::int64_t blocks = (size + block - 1) / block;
  const Tensor cut =
      unflatten(pad(x, {0, blocks * block - size}, f.identity, at), -1, {blocks, block}, at);
  const Tensor through = scanned(f.of_last_axis(cut, at), f, at);
  const Tensor before = pad(narrow(through, -1, 0, blocks - 1, at), {1, 0}, f.identity, at);
  const Tensor result = f.of_two(unsqueeze(before, -1, at), scanned_block(cut, f, at));
  return narrow(flatten(result, -2, -1, at), -1, 0, size, at);
}

Tensor scan_axis(const Call& call, const Tensor& x, std::int64_t axis, const Combination& f,
                 Location at) {
  const std::int64_t a = call.axis(axis, x.ndim());
  if (x.ndim() == 0 || x.numel() == 0) return x;
  return transpose(scanned(transpose(x, a, -1, at), f, at), a, -1, at);
}

// Positions along an axis, of the shape of x.
Tensor positions_along(const Tensor& x, std::int64_t axis, Location at) {
  Shape line;
  for (int i = 0; i < x.ndim(); i++) line.push_back(i == axis ? x.shape()[i] : 1);
  return expand(reshape(Tensor::arange(x.shape()[axis], {}, at), line, at), x.shape(), at);
}

Combination greatest(Scalar identity) {
  return {[](const Tensor& a, const Tensor& b) { return maximum(a, b); },
          [](const Tensor& x, Location at) { return max(x, -1, false, at); }, identity};
}

Combination least(Scalar identity) {
  return {[](const Tensor& a, const Tensor& b) { return minimum(a, b); },
          [](const Tensor& x, Location at) { return min(x, -1, false, at); }, identity};
}

// The numbers that a maximum and a minimum start from.
Scalar lowest(DType t) { return is_float(t) ? Scalar(-infinity) : Scalar(min_value(t)); }
Scalar highest(DType t) { return is_float(t) ? Scalar(infinity) : Scalar(max_value(t)); }

ValuesAndIndices running_extreme(std::string_view name, const Tensor& x, std::int64_t axis,
                                 bool is_max, Location at) {
  const Call call(name, {&x}, at);
  const std::int64_t a = call.axis(axis, x.ndim());
  if (x.ndim() == 0 || x.numel() == 0) {
    return {x, Tensor::zeros(x.shape(), {.dtype = DType::Int64}, at)};
  }
  const Combination f = is_max ? greatest(lowest(x.dtype())) : least(highest(x.dtype()));
  // The value is read where it stands, so that its gradient goes there.
  const Tensor best = scan_axis(call, x.detach(), a, f, at);
  const Tensor hit = is_float(x.dtype()) ? (x == best) | isnan(x) : x == best;
  const Tensor index =
      scan_axis(call, where(hit, positions_along(x, a, at), 0), a, greatest(0), at);
  return {gather(x, a, index, at), index};
}

}  // namespace

Tensor cumsum(const Tensor& x, std::int64_t axis, Location at) {
  const CallScope scope("cumsum", at);
  const Combination f{[](const Tensor& a, const Tensor& b) { return a + b; },
                      [](const Tensor& v, Location l) { return sum(v, -1, false, l); }, 0};
  const Tensor wide = x.cast(accumulator(x.dtype()));
  return scan_axis(Call("cumsum", {&x}, at), wide, axis, f, at).cast(sum_result(x.dtype()));
}

Tensor cumprod(const Tensor& x, std::int64_t axis, Location at) {
  const CallScope scope("cumprod", at);
  const Combination f{[](const Tensor& a, const Tensor& b) { return a * b; },
                      [](const Tensor& v, Location l) { return prod(v, -1, false, l); }, 1};
  const Tensor wide = x.cast(accumulator(x.dtype()));
  return scan_axis(Call("cumprod", {&x}, at), wide, axis, f, at).cast(sum_result(x.dtype()));
}

Tensor logcumsumexp(const Tensor& x, std::int64_t axis, Location at) {
  const CallScope scope("logcumsumexp", at);
  const Combination f{[](const Tensor& a, const Tensor& b) { return logaddexp(a, b); },
                      [](const Tensor& v, Location l) { return logsumexp(v, -1, false, l); },
                      -infinity,
                      /*is_long=*/true};
  const Call call("logcumsumexp", {&x}, at);
  return in_wide_float(x, [&](const Tensor& v) { return scan_axis(call, v, axis, f, at); });
}

ValuesAndIndices cummax(const Tensor& x, std::int64_t axis, Location at) {
  return running_extreme("cummax", x, axis, true, at);
}

ValuesAndIndices cummin(const Tensor& x, std::int64_t axis, Location at) {
  return running_extreme("cummin", x, axis, false, at);
}

// ---- differences and areas --------------------------------------------------------------------

Tensor diff(const Tensor& x, std::int64_t n, std::int64_t axis, Location at) {
  const Call call("diff", {&x}, at);
  call.require(x.ndim() > 0, "a number has no differences");
  call.require(n >= 0, "differences taken {} times", n);
  Tensor result = x;
  for (std::int64_t i = 0; i < n && result.size(axis) > 0; i++) {
    const std::int64_t count = result.size(axis) - 1;
    const Tensor upper = narrow(result, axis, 1, count, at);
    const Tensor lower = narrow(result, axis, 0, count, at);
    result = x.dtype() == DType::Bool ? upper ^ lower : upper - lower;
  }
  return result;
}

namespace {

// The areas between neighbouring points.
Tensor areas(const Tensor& y, const Operand& width, std::int64_t axis, Location at) {
  const std::int64_t count = std::max<std::int64_t>(y.size(axis, at) - 1, 0);
  const Tensor sum = narrow(y, axis, std::min<std::int64_t>(1, y.size(axis)), count, at) +
                     narrow(y, axis, 0, count, at);
  return as_float(sum) * width * 0.5;
}

}  // namespace

Tensor trapezoid(const Tensor& y, double dx, std::int64_t axis, Location at) {
  const CallScope scope("trapezoid", at);
  return sum(areas(y, Operand(dx, at), axis, at), axis, false, at);
}

Tensor trapezoid(const Tensor& y, const Tensor& x, std::int64_t axis, Location at) {
  const CallScope scope("trapezoid", at);
  Tensor width = diff(x, 1, x.ndim() == 1 ? 0 : axis, at);
  if (x.ndim() == 1 && y.ndim() > 1) {
    const std::int64_t a = Call("trapezoid", {&y, &x}, at).axis(axis, y.ndim());
    Shape line{width.numel()};
    for (std::int64_t i = a + 1; i < y.ndim(); i++) line.push_back(1);
    width = reshape(width, line, at);
  }
  return sum(areas(y, Operand(width, at), axis, at), axis, false, at);
}

Tensor cumulative_trapezoid(const Tensor& y, double dx, std::int64_t axis, Location at) {
  const CallScope scope("cumulative_trapezoid", at);
  return cumsum(areas(y, Operand(dx, at), axis, at), axis, at);
}

}  // namespace croze
