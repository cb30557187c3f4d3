// solve.cpp -- linear equations by elimination.
//
// Derivatives do not go through the elimination.  Its result X, an inverse of A as a constant, is
// the start of Newton's iteration X (2 I - A X), which leaves the value as it is (and mends
// rounding errors) but has the derivatives of the inverse: each step doubles the order to which
// they are exact.  The others have corrections of the same kind.
#include "croze/tensor/linalg/solve.h"

#include <algorithm>
#include <cmath>

#include "croze/tensor/elementwise/numeric.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/linalg/steps.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze {
namespace {

// What Gauss and Jordan's elimination makes of (A | I): the inverse, and the pivots.
struct Eliminated {
  Tensor inverse, det, sign, log_size;
};

// For each row of m where it comes from when rows k and p (.., 1, 1) change places.
Tensor exchanged(const Tensor& rows, const Tensor& k, const Tensor& p) {
  return where(rows == k, p, where(rows == p, k, rows));
}

// The row at or below k whose element in column k is greatest: (.., 1, 1).
Tensor pivot_row(const Tensor& column, const Tensor& rows, const Tensor& k, Location at) {
  return argmax(where(rows >= k, abs(column), -1.0), -2, true, at);
}

Eliminated eliminated(const Tensor& a, Location at) {
  const std::int64_t n = a.size(-1);
  const Tensor rows = row_numbers(n, at);
  Tensor m = cat({a, expand(identity_like(a, at), a.shape(), at)}, -1, at).contiguous();
  Shape batch = a.shape();
  batch[batch.size() - 1] = batch[batch.size() - 2] = 1;
  Tensor det = Tensor::ones(batch, {.dtype = a.dtype()}, at), sign = det, log_size = det * 0.0;
  for (std::int64_t i = 0; i < n; i++) {
    const Tensor k = step_number(i, a, at);
    const Tensor p = pivot_row(column_of(m, k, at), rows, k, at).contiguous();
    const Tensor swapped = take_along_dim(m, exchanged(rows, k, p), -2, at);
    const Tensor top = take_along_dim(m, p, -2, at).contiguous();
    const Tensor pivot = column_of(top, k, at);
    const Tensor scaled = top / pivot;
    const Tensor flip = where(p == k, 1.0, -1.0);
    det = (det * pivot * flip).contiguous();
    sign = (sign * croze::sign(pivot) * flip).contiguous();
    log_size = (log_size + log(abs(pivot))).contiguous();
    m = where(rows == k, scaled, swapped - column_of(swapped, k, at) * scaled).contiguous();
  }
  const auto number = [&](const Tensor& t) { return squeeze(squeeze(t, -1, at), -1, at); };
  return {narrow(m, -1, n, n, at), number(det), number(sign), number(log_size)};
}

Tensor with_derivatives(Tensor x, const Tensor& a, Location at) {
  const Tensor twice = identity_like(a, at) * 2.0;
  for (int i = 0; i < 2; i++) x = matmul(x, twice - matmul(a, x, at), at).contiguous();
  return x;
}

// log det of a, as 0 with the derivatives: tr E - tr E^2 / 2 with E = X A - I.
Tensor log_det_change(const Tensor& a, const Tensor& inverse, Location at) {
  const Tensor e = matmul(inverse, a, at) - identity_like(a, at);
  const Tensor change = trace(e, at) - 0.5 * trace(matmul(e, e, at), at);
  return change - change.detach();
}

// Where the matrix is singular there is no inverse to take derivatives with: they are 0.
Tensor regular(const Tensor& inverse, const Tensor& det) {
  const Tensor ok = (det != 0) & isfinite(det);
  return where(unsqueeze(unsqueeze(ok, -1), -1), inverse, 0);
}

}  // namespace

// ---- equations --------------------------------------------------------------------------------

Tensor inverse(const Tensor& x, Location at) {
  const Call call("inverse", {&x}, at);
  require_square_matrices(call, x);
  if (x.numel() == 0) return x;
  return in_wide_float(x, [&](const Tensor& a) {
    return with_derivatives(eliminated(a.detach(), at).inverse, a, at);
  });
}

Tensor solve(const Tensor& a, const Tensor& b, bool left, Location at) {
  const Call call("solve", {&a, &b}, at);
  call.device();
  require_square_matrices(call, a);
  const bool is_vector = b.ndim() == 1 || (b.ndim() == a.ndim() - 1 && [&] {
                           Shape batch = a.shape();
                           batch.erase(batch.size() - 1);
                           return b.shape() == batch;
                         }());
  if (is_vector) return squeeze(solve(a, unsqueeze(b, -1, at), left, at), -1, at);
  if (!left) return transposed(solve(transposed(a, at), transposed(b, at), true, at), at);
  call.require(b.ndim() >= 2 && b.size(-2) == a.size(-1), "the right side must have {} rows",
               a.size(-1));
  if (a.numel() == 0 || b.numel() == 0) return matmul(a, b, at);
  const DType dtype = promote(a.dtype(), float_of(b.dtype()));
  const DType wide = is_half(dtype) ? DType::Float32 : dtype;
  const Tensor m = a.cast(wide), right = b.cast(wide);
  const Tensor start = eliminated(m.detach(), at).inverse.contiguous();
  Tensor x = matmul(start, right, at);
  for (int i = 0; i < 2; i++) x = x + matmul(start, right - matmul(m, x, at), at);
  return x.cast(dtype);
}

Tensor solve_triangular(const Tensor& a, const Tensor& b, const TriangularOptions& options,
                        Location at) {
  const Call call("solve_triangular", {&a, &b}, at);
  require_square_matrices(call, a);
  Tensor triangle =
      options.upper ? triu(a, options.unit ? 1 : 0, at) : tril(a, options.unit ? -1 : 0, at);
  if (options.unit) triangle = triangle + identity_like(a, at);
  return solve(triangle, b, options.left, at);
}

namespace {

Tensor squared(const Tensor& l, bool upper, Location at) {
  return upper ? matmul(transposed(l, at), l, at) : matmul(l, transposed(l, at), at);
}

}  // namespace

Tensor cholesky_solve(const Tensor& b, const Tensor& l, bool upper, Location at) {
  const CallScope scope("cholesky_solve", at);
  const Tensor triangle = upper ? triu(l, 0, at) : tril(l, 0, at);
  return solve(squared(triangle, upper, at), b, true, at);
}

Tensor cholesky_inverse(const Tensor& l, bool upper, Location at) {
  const CallScope scope("cholesky_inverse", at);
  const Tensor triangle = upper ? triu(l, 0, at) : tril(l, 0, at);
  return inverse(squared(triangle, upper, at), at);
}

// ---- determinants -----------------------------------------------------------------------------

Tensor det(const Tensor& x, Location at) {
  const Call call("det", {&x}, at);
  require_square_matrices(call, x);
  if (x.numel() == 0) return Tensor::ones(batch_of(x), beside(x, x.dtype()), at);
  return in_wide_float(x, [&](const Tensor& a) {
    const Eliminated e = eliminated(a.detach(), at);
    return e.det * exp(log_det_change(a, regular(e.inverse, e.det), at));
  });
}

SignAndLogDet slogdet(const Tensor& x, Location at) {
  const Call call("slogdet", {&x}, at);
  require_square_matrices(call, x);
  const DType dtype = x.dtype();
  if (x.numel() == 0) {
    return {Tensor::ones(batch_of(x), beside(x, dtype), at),
            Tensor::zeros(batch_of(x), beside(x, dtype), at)};
  }
  const Tensor a = is_half(dtype) ? x.cast(DType::Float32) : x;
  const Eliminated e = eliminated(a.detach(), at);
  const Tensor change = log_det_change(a, regular(e.inverse, e.sign), at);
  return {e.sign.cast(dtype), (e.log_size + change).cast(dtype)};
}

Tensor logdet(const Tensor& x, Location at) {
  const CallScope scope("logdet", at);
  const SignAndLogDet parts = slogdet(x, at);
  const Tensor zero = parts.sign == 0;
  return where(zero, -infinity, where(parts.sign < 0, not_a_number, parts.logabsdet));
}

// ---- triangles --------------------------------------------------------------------------------

LuFactors lu(const Tensor& x, Location at) {
  const Call call("lu", {&x}, at);
  require_matrices(call, x);
  const std::int64_t height = x.size(-2), width = x.size(-1), steps = std::min(height, width);
  const Tensor rows = row_numbers(height, at), columns = column_numbers(width, at);
  Shape line = x.shape();
  line[line.size() - 1] = 1;
  Tensor m = x, order = expand(rows, line, at);
  for (std::int64_t i = 0; i < steps; i++) {
    const Tensor k = step_number(i, x, at);
    const Tensor p = pivot_row(column_of(m, k, at).detach(), rows, k, at).contiguous();
    const Tensor from = exchanged(rows, k, p);
    const Tensor swapped = take_along_dim(m, from, -2, at);
    const Tensor top = take_along_dim(m, p, -2, at);
    const Tensor factor = column_of(swapped, k, at) / column_of(top, k, at);
    const Tensor below = where(columns == k, factor, swapped - factor * top);
    m = where((rows > k) & (columns >= k), below, swapped).contiguous();
    order = take_along_dim(order, from, -2, at).contiguous();
  }
  const Tensor p = (rows == transposed(order, at)).cast(x.dtype());
  const Tensor ones = Tensor::eye(height, steps, {.dtype = x.dtype()}, at);
  return {p, tril(narrow(m, -1, 0, steps, at), -1, at) + ones,
          triu(narrow(m, -2, 0, steps, at), 0, at)};
}

namespace {

// The lower triangle, half of the diagonal.
Tensor lower_half(const Tensor& x, Location at) {
  return tril(x, 0, at) - 0.5 * tril(triu(x, 0, at), 0, at);
}

Tensor cholesky_value(const Tensor& a, Location at) {
  const std::int64_t n = a.size(-1);
  const Tensor rows = row_numbers(n, at), columns = column_numbers(n, at);
  Tensor m = a;
  for (std::int64_t i = 0; i < n; i++) {
    const Tensor k = step_number(i, a, at);
    const Tensor column = column_of(m, k, at);
    const Tensor factor = (column / sqrt(row_of(column, k, at))).contiguous();
    const Tensor rest = m - factor * transposed(factor, at);
    m = where((columns == k) & (rows >= k), factor, where((rows > k) & (columns > k), rest, m))
            .contiguous();
  }
  return tril(m, 0, at);
}

}  // namespace

// With E = L^-1 A L^-T - I and half(E) = F, the factor of I + E is I + F - half(F F^T) up to third
// order.
Tensor cholesky(const Tensor& x, bool upper, Location at) {
  const Call call("cholesky", {&x}, at);
  require_square_matrices(call, x);
  if (x.numel() == 0) return x;
  const Tensor result = in_wide_float(x, [&](const Tensor& a) {
    const Tensor lower = upper ? transposed(a, at) : a;
    const Tensor value = cholesky_value(lower.detach(), at).contiguous();
    const Tensor inverse = eliminated(value, at).inverse.contiguous();
    const Tensor symmetric = 0.5 * (a + transposed(a, at));
    const Tensor e = matmul(matmul(inverse, symmetric, at), transposed(inverse, at), at);
    const Tensor change = e - e.detach();
    const Tensor f = lower_half(change, at);
    const Tensor g = f - lower_half(matmul(f, transposed(f, at), at), at);
    return value + matmul(value, g, at);
  });
  return upper ? transposed(result, at) : result;
}

}  // namespace croze
