// solve.h -- linear equations, and matrices taken apart.
//
// All work on the last two axes, the others are batch, and on floats (half types compute in
// Float32).  A matrix of n rows takes n steps, each a few kernels over the whole batch that are the
// same for every step, so they compile once; Jacobi's method takes some log n sweeps of n steps.
// Derivatives of first order are exact for all, those of second order for inverse, solve, det,
// slogdet and cholesky.  Where PyTorch throws because a matrix is singular or not positive
// definite, the result is infinite or NaN, since values are not known when operations are recorded.
#pragma once

#include "croze/tensor/tensor.h"

namespace croze {

// ---- equations --------------------------------------------------------------------------------

Tensor inverse(const Tensor& x, Location at = Location::current());
// X with A X = B; B (.., n, k), or (.., n) where it has one axis less than A.  Unless `left`: X A =
// B.
Tensor solve(const Tensor& a, const Tensor& b, bool left = true, Location at = Location::current());
// The same for a triangle of A; its diagonal counts as ones if `unit`.
struct TriangularOptions {
  bool upper = true;
  bool left = true;
  bool unit = false;
};
Tensor solve_triangular(const Tensor& a, const Tensor& b, const TriangularOptions& options = {},
                        Location at = Location::current());
// X with L L^T X = B, and the inverse of L L^T; or of U^T U if `upper`.
Tensor cholesky_solve(const Tensor& b, const Tensor& l, bool upper = false,
                      Location at = Location::current());
Tensor cholesky_inverse(const Tensor& l, bool upper = false, Location at = Location::current());
// The determinant; its sign and the logarithm of its magnitude.
Tensor det(const Tensor& x, Location at = Location::current());
struct SignAndLogDet {
  Tensor sign, logabsdet;
};
SignAndLogDet slogdet(const Tensor& x, Location at = Location::current());
Tensor logdet(const Tensor& x, Location at = Location::current());

// ---- factors ----------------------------------------------------------------------------------

// x (.., m, n) = P L U by partial pivoting, with k = min(m, n): a permutation (m, m), a lower
// triangle (m, k) with ones on its diagonal, an upper one (k, n).
struct LuFactors {
  Tensor p, l, u;
};
LuFactors lu(const Tensor& x, Location at = Location::current());
// L with x = L L^T for symmetric positive definite x, or U with x = U^T U.
Tensor cholesky(const Tensor& x, bool upper = false, Location at = Location::current());
// x (.., m, n) = Q R by Householder's reflections: reduced Q (m, k), R (k, n) with k = min(m, n),
// or complete Q (m, m), R (m, n).  Differentiable unless complete and m > n.
struct QrFactors {
  Tensor q, r;
};
QrFactors qr(const Tensor& x, bool complete = false, Location at = Location::current());
// x = V diag(w) V^T of symmetric x, of which the lower triangle is read (or the upper one): w
// ascending.
struct Eigen {
  Tensor values, vectors;
};
Eigen eigh(const Tensor& x, bool upper = false, Location at = Location::current());
Tensor eigvalsh(const Tensor& x, bool upper = false, Location at = Location::current());
// x (.., m, n) = U diag(s) Vh with s descending: U (m, k), Vh (k, n), or square ones if `full`.
struct SingularValues {
  Tensor u, s, vh;
};
SingularValues svd(const Tensor& x, bool full = true, Location at = Location::current());
Tensor svdvals(const Tensor& x, Location at = Location::current());

// ---- by singular values -----------------------------------------------------------------------

// The inverse of Moore and Penrose: singular values below tolerance times the greatest count as 0
// (not said: max(m, n) times the precision of the dtype).
Tensor pinv(const Tensor& x, std::optional<double> tolerance = {},
            Location at = Location::current());
// The X of least norm that makes A X - B least.
Tensor lstsq(const Tensor& a, const Tensor& b, Location at = Location::current());
// How many singular values are above the tolerance; Int64.
Tensor matrix_rank(const Tensor& x, std::optional<double> tolerance = {},
                   Location at = Location::current());
// The greatest singular value over the least.
Tensor cond(const Tensor& x, Location at = Location::current());

}  // namespace croze
