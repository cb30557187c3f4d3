// factor.cpp -- orthogonal factors: QR by reflections, eigenvalues and singular values by
// rotations.
//
// Jacobi's method turns pairs of axes until nothing is left off the diagonal.  The pairs of a round
// are disjoint, so a whole round is one step, in parallel; n - 1 rounds of a round-robin tournament
// are a sweep that meets every pair once.  Convergence is quadratic, so some more sweeps than the
// logarithm of n are plenty.
//
// Derivatives are those of perturbation theory, applied to the change of the matrix against the
// constant factors found: the change is 0 in value.
#include <algorithm>
#include <bit>

#include "croze/tensor/elementwise/numeric.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/linalg/solve.h"
#include "croze/tensor/linalg/steps.h"
#include "croze/tensor/reduce/reduce.h"
#include "croze/tensor/reduce/sort.h"

namespace croze {
namespace {

int sweeps_for(std::int64_t n) {
  return 4 + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n)));
}

Tensor off_diagonal(const Tensor& x, Location at) {
  return where(row_numbers(x.size(-2), at) == column_numbers(x.size(-1), at), 0, x);
}

Tensor diagonal_of(const Tensor& x, Location at) { return diagonal(x, 0, -2, -1, at); }

// 1 / x, and 0 where x is 0.
Tensor reciprocal_or_zero(const Tensor& x) {
  const Tensor is_zero = x == 0;
  return where(is_zero, 0, 1 / where(is_zero, 1, x));
}

// ---- reflections ------------------------------------------------------------------------------

// Q and R as they come out, Q square.
QrFactors reflected(const Tensor& x, Location at) {
  const std::int64_t m = x.size(-2), n = x.size(-1);
  const Tensor rows = row_numbers(m, at);
  Shape square = x.shape();
  square[square.size() - 1] = m;
  Tensor r = x, q = expand(Tensor::eye(m, -1, {.dtype = x.dtype()}, at), square, at);
  for (std::int64_t i = 0; i < std::min(m, n); i++) {
    const Tensor k = step_number(i, x, at);
    const Tensor column = where(rows >= k, column_of(r, k, at), 0);
    const Tensor below = sum(where(rows > k, column * column, 0), -2, true, at);
    const Tensor head = row_of(column, k, at);
    const Tensor length = sqrt(below + head * head);
    const Tensor target = where(head < 0, length, -length);
    const Tensor v = where(rows == k, head - target, column).contiguous();
    // 2 / |v|^2, or 0 if there is nothing to reflect.
    const Tensor scale = where(below == 0, 0, 2 * reciprocal_or_zero(sum(v * v, -2, true, at)));
    const Tensor left = v * scale;
    r = (r - left * sum(v * r, -2, true, at)).contiguous();
    q = (q - sum(q * transposed(v, at), -1, true, at) * transposed(left, at)).contiguous();
  }
  return {q, triu(r, 0, at)};
}

}  // namespace

// With X = Q^T dA R^-1 and W = tril(X, -1) - tril(X, -1)^T: dQ = Q W + (I - Q Q^T) dA R^-1 and
// dR = (X - W) R.
QrFactors qr(const Tensor& x, bool complete, Location at) {
  const Call call("qr", {&x}, at);
  require_matrices(call, x);
  const DType dtype = x.dtype();
  const Tensor a = is_half(dtype) ? x.cast(DType::Float32) : x;
  const std::int64_t m = x.size(-2), n = x.size(-1), k = std::min(m, n);
  if (0 < m && m < n) {
    // Q is that of the first columns.
    const QrFactors first = qr(narrow(a, -1, 0, m, at), false, at);
    const Tensor rest = matmul(transposed(first.q, at), narrow(a, -1, m, n - m, at), at);
    return {first.q.cast(dtype), cat({first.r, rest}, -1, at).cast(dtype)};
  }
  const QrFactors whole = reflected(a.detach(), at);
  if (complete && m > n) return {whole.q.cast(dtype), whole.r.cast(dtype)};
  Tensor q = narrow(whole.q, -1, 0, k, at).contiguous();
  Tensor r = narrow(whole.r, -2, 0, k, at).contiguous();
  if (k > 0) {
    const Tensor moved = matmul(a - a.detach(), inverse(r, at).detach(), at);
    const Tensor change = matmul(transposed(q, at), moved, at);
    const Tensor low = tril(change, -1, at);
    const Tensor turn = low - transposed(low, at);
    const Tensor outside = moved - matmul(q, change, at);
    r = r + matmul(change - turn, r, at);
    q = q + matmul(q, turn, at) + outside;
  }
  return {q.cast(dtype), r.cast(dtype)};
}

// ---- rotations --------------------------------------------------------------------------------

namespace {

// The partner of each of n axes in each round of a tournament; an axis left over meets itself.
std::vector<Tensor> tournament(std::int64_t n, const Tensor& x, Location at) {
  const std::int64_t players = n + n % 2;
  std::vector<std::int64_t> seats;
  for (std::int64_t i = 0; i < players; i++) seats.push_back(i);
  std::vector<Tensor> rounds;
  for (std::int64_t round = 0; round + 1 < players; round++) {
    std::vector<std::int64_t> partner(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < players / 2; i++) {
      const std::int64_t a = seats[static_cast<std::size_t>(i)];
      const std::int64_t b = seats[static_cast<std::size_t>(players - 1 - i)];
      if (a < n) partner[static_cast<std::size_t>(a)] = b < n ? b : a;
      if (b < n) partner[static_cast<std::size_t>(b)] = a < n ? a : b;
    }
    rounds.push_back(Tensor::from_data(partner, {n}, beside(x), at));
    std::rotate(seats.begin() + 1, seats.end() - 1, seats.end());
  }
  return rounds;
}

// The cosine and sine that turn axis i against its partner, from the entries (i, i), (partner,
// partner) and (i, partner) of a symmetric matrix.  The sine of the partner is the opposite.
struct Turn {
  Tensor cosine, sine;

  Turn(const Tensor& own, const Tensor& other, const Tensor& mixed, const Tensor& partner,
       Location at) {
    const Tensor order = Tensor::arange(partner.numel(), {}, at);
    const Tensor ratio = (other - own) * 0.5 * reciprocal_or_zero(mixed);
    const Tensor first = order < partner;
    const Tensor positive = where(ratio == 0, first, ratio > 0);
    const Tensor size = 1 / (abs(ratio) + sqrt(1 + ratio * ratio));
    const Tensor none = (mixed == 0) | (order == partner);
    const Tensor tangent = where(none, 0, where(positive, size, -size));
    cosine = rsqrt(1 + tangent * tangent).contiguous();
    sine = (tangent * cosine).contiguous();
  }

  // Columns of x turned.
  Tensor columns(const Tensor& x, const Tensor& partner, Location at) const {
    return x * unsqueeze(cosine, -2, at) -
           index_select(x, -1, partner, at) * unsqueeze(sine, -2, at);
  }
};

// Eigenvalues and vectors in no order.
Eigen rotated(const Tensor& x, Location at) {
  const std::int64_t n = x.size(-1);
  Tensor a = x.contiguous(), v = expand(identity_like(x, at), x.shape(), at);
  const std::vector<Tensor> rounds = tournament(n, x, at);
  for (int sweep = 0; sweep < sweeps_for(n); sweep++) {
    for (const Tensor& partner : rounds) {
      const Tensor own = diagonal_of(a, at);
      const Tensor mixed = diagonal_of(index_select(a, -1, partner, at), at);
      const Turn turn(own, index_select(own, -1, partner, at), mixed, partner, at);
      const Tensor half = turn.columns(a, partner, at);
      a = transposed(turn.columns(transposed(half, at), partner, at), at).contiguous();
      v = turn.columns(v, partner, at).contiguous();
    }
  }
  return {diagonal_of(a, at), v};
}

// The columns of x in another order, one for each matrix of the batch.
Tensor columns_in_order(const Tensor& x, const Tensor& order, Location at) {
  return take_along_dim(x, unsqueeze(order, -2, at), -1, at).contiguous();
}

}  // namespace

// dw = diag(V^T dA V), dV = V (F * V^T dA V) with F(i, j) = 1 / (w(j) - w(i)).
Eigen eigh(const Tensor& x, bool upper, Location at) {
  const Call call("eigh", {&x}, at);
  require_square_matrices(call, x);
  const DType dtype = x.dtype();
  if (x.numel() == 0) {
    Shape values = batch_of(x);
    values.push_back(x.size(-1));
    return {Tensor::zeros(values, beside(x, x.dtype()), at), x};
  }
  const Tensor a = is_half(dtype) ? x.cast(DType::Float32) : x;
  const Tensor half = upper ? triu(a, 0, at) : tril(a, 0, at);
  const Tensor symmetric = half + transposed(off_diagonal(half, at), at);
  const Eigen found = rotated(symmetric.detach(), at);
  const ValuesAndIndices sorted = sort(found.values, -1, false, at);
  const Tensor w = sorted.values.detach();
  const Tensor v = columns_in_order(found.vectors, sorted.indices, at);

  const Tensor mean = 0.5 * (a + transposed(a, at));
  const Tensor change = matmul(matmul(transposed(v, at), mean - mean.detach(), at), v, at);
  const Tensor gaps = unsqueeze(w, -2, at) - unsqueeze(w, -1, at);
  const Tensor turn = change * reciprocal_or_zero(gaps);
  return {(w + diagonal_of(change, at)).cast(dtype), (v + matmul(v, turn, at)).cast(dtype)};
}

Tensor eigvalsh(const Tensor& x, bool upper, Location at) {
  const CallScope scope("eigvalsh", at);
  return eigh(x, upper, at).values;
}

// ---- singular values --------------------------------------------------------------------------

namespace {

// U made orthonormal and square: its columns that are not 0 stay.
Tensor completed(const Tensor& u, Location at) {
  const QrFactors f = reflected(u, at);
  const Tensor signs = where(diagonal_of(f.r, at) < 0, -1.0, 1.0);
  const std::int64_t rest = f.q.size(-1) - signs.size(-1);
  return f.q * unsqueeze(pad(signs, {0, rest}, 1, at), -2, at);
}

// x (.., m, n) with m >= n, its columns turned until they are orthogonal: U square, s descending,
// V.
SingularValues turned(const Tensor& x, Location at) {
  const std::int64_t n = x.size(-1);
  Shape square = x.shape();
  square[square.size() - 2] = n;
  Tensor a = x.contiguous(), v = expand(identity_like(x, at), square, at);
  const std::vector<Tensor> rounds = tournament(n, x, at);
  for (int sweep = 0; sweep < sweeps_for(n); sweep++) {
    for (const Tensor& partner : rounds) {
      const Tensor own = sum(a * a, -2, false, at).contiguous();
      const Tensor mixed = sum(a * index_select(a, -1, partner, at), -2, false, at).contiguous();
      const Turn turn(own, index_select(own, -1, partner, at), mixed, partner, at);
      a = turn.columns(a, partner, at).contiguous();
      v = turn.columns(v, partner, at).contiguous();
    }
  }
  const Tensor lengths = sqrt(sum(a * a, -2, false, at));
  const ValuesAndIndices sorted = sort(lengths, -1, true, at);
  const Tensor s = sorted.values;
  const double precision = x.dtype() == DType::Float64 ? 1e-15 : 1e-7;
  const Tensor is_zero = s <= max(s, -1, true, at) * precision;
  const Tensor scale = where(is_zero, 0, reciprocal_or_zero(s));
  const Tensor u = columns_in_order(a, sorted.indices, at) * unsqueeze(scale, -2, at);
  return {completed(u.contiguous(), at).contiguous(), s.contiguous(),
          columns_in_order(v, sorted.indices, at)};
}

// With P = U^T dA V and F(i, j) = 1 / (s(j)^2 - s(i)^2): ds = diag(P),
// dU = U (F * (P S + S P^T)) + (I - U U^T) dA V S^-1, and dV likewise.
SingularValues with_derivatives(const SingularValues& f, const Tensor& a, Location at) {
  const Tensor change = a - a.detach(), s = f.s;
  const Tensor p = matmul(matmul(transposed(f.u, at), change, at), f.vh, at);
  const Tensor row = unsqueeze(s, -2, at), column = unsqueeze(s, -1, at);
  const Tensor inverse_gaps = reciprocal_or_zero(row * row - column * column);
  const Tensor pt = transposed(p, at);
  const Tensor turn_u = (p * row + column * pt) * inverse_gaps;
  const Tensor turn_v = (pt * row + column * p) * inverse_gaps;
  const Tensor inverse_s = reciprocal_or_zero(row);
  const Tensor moved_u = matmul(change, f.vh, at) * inverse_s;
  const Tensor outside_u = moved_u - matmul(f.u, matmul(transposed(f.u, at), moved_u, at), at);
  const Tensor moved_v = matmul(transposed(change, at), f.u, at) * inverse_s;
  const Tensor outside_v = moved_v - matmul(f.vh, matmul(transposed(f.vh, at), moved_v, at), at);
  return {f.u + matmul(f.u, turn_u, at) + outside_u, s + diagonal_of(p, at),
          f.vh + matmul(f.vh, turn_v, at) + outside_v};
}

// Of a matrix without elements.
SingularValues no_singular_values(const Tensor& x, bool full, Location at) {
  const std::int64_t m = x.size(-2), n = x.size(-1), k = std::min(m, n);
  const auto of_shape = [&](std::initializer_list<std::int64_t> last) {
    Shape shape = batch_of(x);
    for (std::int64_t size : last) shape.push_back(size);
    return shape;
  };
  const auto identity = [&](std::int64_t rows, std::int64_t columns) {
    return expand(Tensor::eye(rows, columns, beside(x, x.dtype()), at), of_shape({rows, columns}),
                  at);
  };
  return {identity(m, full ? m : k), Tensor::zeros(of_shape({k}), beside(x, x.dtype()), at),
          identity(full ? n : k, n)};
}

}  // namespace

SingularValues svd(const Tensor& x, bool full, Location at) {
  const Call call("svd", {&x}, at);
  require_matrices(call, x);
  if (x.numel() == 0) return no_singular_values(x, full, at);
  if (x.size(-2) < x.size(-1)) {
    const SingularValues t = svd(transposed(x, at), full, at);
    return {transposed(t.vh, at), t.s, transposed(t.u, at)};
  }
  const DType dtype = x.dtype();
  const Tensor a = is_half(dtype) ? x.cast(DType::Float32) : x;
  const std::int64_t n = x.size(-1), rest = x.size(-2) - n;
  // The third member holds V until the end.
  SingularValues f = turned(a.detach(), at);
  const Tensor square = f.u;
  f.u = narrow(square, -1, 0, n, at).contiguous();
  f = with_derivatives(f, a, at);
  if (full && rest > 0) f.u = cat({f.u, narrow(square, -1, n, rest, at)}, -1, at);
  return {f.u.cast(dtype), f.s.cast(dtype), transposed(f.vh, at).cast(dtype)};
}

Tensor svdvals(const Tensor& x, Location at) {
  const CallScope scope("svdvals", at);
  return svd(x, false, at).s;
}

namespace {

// Which singular values count.
Tensor counts(const Tensor& x, const Tensor& s, std::optional<double> tolerance, Location at) {
  const double precision = x.dtype() == DType::Float64 ? 0x1p-52 : 0x1p-23;
  const double most = static_cast<double>(std::max(x.size(-1), x.size(-2)));
  return s > max(s, -1, true, at) * tolerance.value_or(most * precision);
}

}  // namespace

Tensor pinv(const Tensor& x, std::optional<double> tolerance, Location at) {
  const CallScope scope("pinv", at);
  const SingularValues f = svd(x, false, at);
  const Tensor ok = counts(x, f.s.detach(), tolerance, at);
  const Tensor inverse = where(ok, 1 / where(ok, f.s, 1), 0);
  return matmul(transposed(f.vh, at) * unsqueeze(inverse, -2, at), transposed(f.u, at), at);
}

Tensor lstsq(const Tensor& a, const Tensor& b, Location at) {
  const CallScope scope("lstsq", at);
  return matmul(pinv(a, {}, at), b, at);
}

Tensor matrix_rank(const Tensor& x, std::optional<double> tolerance, Location at) {
  const CallScope scope("matrix_rank", at);
  if (x.numel() == 0) return Tensor::zeros(batch_of(x), beside(x, DType::Int64), at);
  return sum(counts(x, svdvals(x, at), tolerance, at), -1, false, at);
}

Tensor cond(const Tensor& x, Location at) {
  const CallScope scope("cond", at);
  const Tensor s = svdvals(x, at);
  return max(s, -1, false, at) / min(s, -1, false, at);
}

}  // namespace croze
