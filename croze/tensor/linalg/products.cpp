// products.cpp -- the products that are made of matmul, and norms and powers of matrices.
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/linalg/solve.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze {

// ---- products ---------------------------------------------------------------------------------

namespace {

Tensor product_of(std::string_view name, const Tensor& a, int rank_a, const Tensor& b, int rank_b,
                  Location at) {
  const Call call(name, {&a, &b}, at);
  call.require(a.ndim() == rank_a && b.ndim() == rank_b, "works on tensors of {} and {} axes",
               rank_a, rank_b);
  return matmul(a, b, at);
}

// beta * c + alpha * product, c broadcast.
Tensor added(std::string_view name, const Tensor& c, const Tensor& product, double beta,
             double alpha, Location at) {
  const Call call(name, {&c, &product}, at);
  const Shape shapes[] = {c.shape(), product.shape()};
  call.require(call.broadcast(shapes) == product.shape(), "the addend does not expand to {}",
               product.shape());
  const bool logical = c.dtype() == DType::Bool && product.dtype() == DType::Bool;
  const auto times = [&](const Tensor& t, double factor) {
    if (factor == 1) return t;
    if (logical) return factor != 0 ? t : Tensor::zeros_like(t);
    if (is_float(t.dtype())) return t * factor;
    return t * static_cast<std::int64_t>(factor);
  };
  const Tensor scaled = times(product, alpha);
  return beta == 0 ? scaled.cast(promote(c.dtype(), scaled.dtype())) : times(c, beta) + scaled;
}

}  // namespace

Tensor mm(const Tensor& a, const Tensor& b, Location at) {
  return product_of("mm", a, 2, b, 2, at);
}

Tensor mv(const Tensor& a, const Tensor& b, Location at) {
  return product_of("mv", a, 2, b, 1, at);
}

Tensor bmm(const Tensor& a, const Tensor& b, Location at) {
  const Call call("bmm", {&a, &b}, at);
  call.require(a.ndim() == 3 && b.ndim() == 3 && a.size(0) == b.size(0),
               "works on two batches of as many matrices");
  return matmul(a, b, at);
}

Tensor addmm(const Tensor& c, const Tensor& a, const Tensor& b, double beta, double alpha,
             Location at) {
  return added("addmm", c, mm(a, b, at), beta, alpha, at);
}

Tensor addmv(const Tensor& c, const Tensor& a, const Tensor& b, double beta, double alpha,
             Location at) {
  return added("addmv", c, mv(a, b, at), beta, alpha, at);
}

Tensor addr(const Tensor& c, const Tensor& a, const Tensor& b, double beta, double alpha,
            Location at) {
  return added("addr", c, outer(a, b, at), beta, alpha, at);
}

Tensor baddbmm(const Tensor& c, const Tensor& a, const Tensor& b, double beta, double alpha,
               Location at) {
  return added("baddbmm", c, bmm(a, b, at), beta, alpha, at);
}

Tensor addbmm(const Tensor& c, const Tensor& a, const Tensor& b, double beta, double alpha,
              Location at) {
  const CallScope scope("addbmm", at);
  const Tensor products = bmm(a, b, at);
  return added("addbmm", c, sum(products, 0, false, at).cast(products.dtype()), beta, alpha, at);
}

Tensor vecdot(const Tensor& a, const Tensor& b, std::int64_t axis, Location at) {
  const CallScope scope("vecdot", at);
  const DType dtype = promote(a.dtype(), b.dtype());
  return sum(Operand(a, at) * b, axis, false, at).cast(dtype);
}

Tensor inner(const Tensor& a, const Tensor& b, Location at) {
  const CallScope scope("inner", at);
  if (a.ndim() == 0 || b.ndim() == 0) return a * b;
  return tensordot(a, b, {-1}, {-1}, at);
}

Tensor outer(const Tensor& a, const Tensor& b, Location at) {
  const Call call("outer", {&a, &b}, at);
  call.require(a.ndim() == 1 && b.ndim() == 1, "both operands have one axis");
  return unsqueeze(a, 1, at) * b;
}

Tensor cross(const Tensor& a, const Tensor& b, std::int64_t axis, Location at) {
  const Call call("cross", {&a, &b}, at);
  const Shape shapes[] = {a.shape(), b.shape()};
  const Shape shape = call.broadcast(shapes);
  call.require(!shape.empty() && shape[call.axis(axis, shape.size())] == 3,
               "axis {} must have three elements", axis);
  const std::int64_t d = call.axis(axis, shape.size());
  const Tensor x = expand(a, shape, at), y = expand(b, shape, at);
  return roll(x, {-1}, d, at) * roll(y, {1}, d, at) - roll(x, {1}, d, at) * roll(y, {-1}, d, at);
}

// (a1, 1, a2, 1, ..) * (1, b1, 1, b2, ..).
Tensor kron(const Tensor& a, const Tensor& b, Location at) {
  const CallScope scope("kron", at);
  const int rank = std::max(a.ndim(), b.ndim());
  Shape left, right, result;
  for (int i = 0; i < rank; i++) {
    const int p = i - (rank - a.ndim()), q = i - (rank - b.ndim());
    const std::int64_t m = p >= 0 ? a.shape()[p] : 1, n = q >= 0 ? b.shape()[q] : 1;
    left.push_back(m);
    left.push_back(1);
    right.push_back(1);
    right.push_back(n);
    result.push_back(m * n);
  }
  return reshape(reshape(a, left, at) * reshape(b, right, at), result, at);
}

Tensor tensordot(const Tensor& a, const Tensor& b, const Shape& axes_a, const Shape& axes_b,
                 Location at) {
  const Call call("tensordot", {&a, &b}, at);
  call.require(axes_a.size() == axes_b.size(), "{} axes of one and {} of the other", axes_a.size(),
               axes_b.size());
  Shape free_a, free_b, order_a, order_b, result;
  std::int64_t summed = 1;
  std::vector<bool> used_a(static_cast<std::size_t>(a.ndim())),
      used_b(static_cast<std::size_t>(b.ndim()));
  for (int i = 0; i < axes_a.size(); i++) {
    const std::int64_t p = call.axis(axes_a[i], a.ndim()), q = call.axis(axes_b[i], b.ndim());
    call.require(!used_a[static_cast<std::size_t>(p)] && !used_b[static_cast<std::size_t>(q)],
                 "an axis is summed over twice");
    call.require(a.shape()[p] == b.shape()[q], "axis {} of one and {} of the other differ", p, q);
    used_a[static_cast<std::size_t>(p)] = used_b[static_cast<std::size_t>(q)] = true;
    summed *= a.shape()[p];
  }
  std::int64_t rows = 1, columns = 1;
  for (int i = 0; i < a.ndim(); i++) {
    if (used_a[static_cast<std::size_t>(i)]) continue;
    order_a.push_back(i);
    result.push_back(a.shape()[i]);
    rows *= a.shape()[i];
  }
  for (std::int64_t axis : axes_a) order_a.push_back(call.axis(axis, a.ndim()));
  for (std::int64_t axis : axes_b) order_b.push_back(call.axis(axis, b.ndim()));
  for (int i = 0; i < b.ndim(); i++) {
    if (used_b[static_cast<std::size_t>(i)]) continue;
    order_b.push_back(i);
    result.push_back(b.shape()[i]);
    columns *= b.shape()[i];
  }
  const Tensor left = reshape(permute(a, order_a, at), {rows, summed}, at);
  const Tensor right = reshape(permute(b, order_b, at), {summed, columns}, at);
  return reshape(matmul(left, right, at), result, at);
}

Tensor tensordot(const Tensor& a, const Tensor& b, std::int64_t count, Location at) {
  const Call call("tensordot", {&a, &b}, at);
  call.require(0 <= count && count <= a.ndim() && count <= b.ndim(), "{} axes to sum over", count);
  Shape axes_a, axes_b;
  for (std::int64_t i = 0; i < count; i++) {
    axes_a.push_back(a.ndim() - count + i);
    axes_b.push_back(i);
  }
  return tensordot(a, b, axes_a, axes_b, at);
}

Tensor bilinear(const Tensor& a, const Tensor& b, const Tensor& weight, const Tensor& bias,
                Location at) {
  const Call call("bilinear", {&a, &b, &weight, &bias}, at);
  call.require(weight.ndim() == 3 && a.ndim() > 0 && b.ndim() > 0 && a.size(-1) == weight.size(1) &&
                   b.size(-1) == weight.size(2),
               "the weight is (outputs, width of a, width of b)");
  // (.., out, j) from a, then the sum of products with b.
  const Tensor mapped = tensordot(a, weight, {-1}, {1}, at);
  const Tensor result = sum(mapped * unsqueeze(b, -2, at), -1, false, at).cast(mapped.dtype());
  return bias.defined() ? result + bias : result;
}

// ---- of one matrix ----------------------------------------------------------------------------

namespace {

void require_square(const Call& call, const Tensor& x) {
  call.require(x.ndim() >= 2 && x.size(-1) == x.size(-2), "works on square matrices");
}

}  // namespace

Tensor trace(const Tensor& x, Location at) {
  const Call call("trace", {&x}, at);
  call.require(x.ndim() >= 2, "a matrix has two axes");
  return sum(diagonal(x, 0, -2, -1, at), -1, false, at);
}

Tensor matrix_power(const Tensor& x, std::int64_t n, Location at) {
  const Call call("matrix_power", {&x}, at);
  require_square(call, x);
  if (n == 0) return expand(Tensor::eye(x.size(-1), -1, {.dtype = x.dtype()}, at), x.shape(), at);
  Tensor square = n < 0 ? inverse(x, at) : x, result;
  for (std::uint64_t rest = static_cast<std::uint64_t>(n < 0 ? -n : n); rest > 0; rest >>= 1) {
    if (rest & 1) result = result.defined() ? matmul(result, square, at) : square;
    if (rest > 1) square = matmul(square, square, at);
  }
  return result;
}

// Fixed scaling by 2^-16 would lose digits, so each matrix is scaled by its own norm: squarings
// that it does not need are skipped.
Tensor matrix_exp(const Tensor& x, Location at) {
  const Call call("matrix_exp", {&x}, at);
  require_square(call, x);
  call.require(is_float(x.dtype()), "works on floats, not on {}", name_of(x.dtype()));
  if (x.numel() == 0) return x;
  constexpr int most_squarings = 16, terms = 18;
  return in_wide_float(x, [&](const Tensor& v) {
    const Tensor size = matrix_norm(v.detach(), MatrixNorm::One, true, at);
    const Tensor needed = clamp(ceil(log2(clamp(size, 1e-30))) + 1, 0, most_squarings);
    const Tensor small = v * exp2(-needed);
    const Tensor identity = Tensor::eye(v.size(-1), -1, {.dtype = v.dtype()}, at);
    // Horner: I + x (I + x/2 (I + x/3 (..))).
    Tensor result = identity + small * (1.0 / terms);
    for (int k = terms - 1; k >= 1; k--) {
      result = (identity + matmul(small, result, at) * (1.0 / k)).contiguous();
    }
    for (int i = 0; i < most_squarings; i++) {
      result = where(needed > i, matmul(result, result, at), result).contiguous();
    }
    return result;
  });
}

Tensor vector_norm(const Tensor& x, double p, const Axes& axes, bool keepdim, Location at) {
  const CallScope scope("vector_norm", at);
  return norm(x, p, axes, keepdim, at);
}

Tensor matrix_norm(const Tensor& x, MatrixNorm order, bool keepdim, Location at) {
  const Call call("matrix_norm", {&x}, at);
  call.require(x.ndim() >= 2, "a matrix has two axes");
  call.require(is_float(x.dtype()), "works on floats, not on {}", name_of(x.dtype()));
  const auto sums = [&](std::int64_t axis) { return sum(abs(x), axis, true, at); };
  const auto singular = [&] { return unsqueeze(svdvals(x, at), -1, at); };
  Tensor result;
  switch (order) {
    case MatrixNorm::Frobenius: return norm(x, 2, {-2, -1}, keepdim, at);
    case MatrixNorm::One: result = max(sums(-2), {-2, -1}, true, at); break;
    case MatrixNorm::MinusOne: result = min(sums(-2), {-2, -1}, true, at); break;
    case MatrixNorm::Infinity: result = max(sums(-1), {-2, -1}, true, at); break;
    case MatrixNorm::MinusInfinity: result = min(sums(-1), {-2, -1}, true, at); break;
    case MatrixNorm::Nuclear: result = sum(singular(), {-2, -1}, true, at); break;
    case MatrixNorm::Two: result = max(singular(), {-2, -1}, true, at); break;
    case MatrixNorm::MinusTwo: result = min(singular(), {-2, -1}, true, at); break;
  }
  return keepdim ? result : squeeze(squeeze(result, -1, at), -1, at);
}

}  // namespace croze
