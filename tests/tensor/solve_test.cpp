// Products by formula, equations and factors, checked by what defines them.
#include <cmath>

#include "support/check.h"

namespace croze {
namespace {

using namespace test;
using Numbers = std::vector<double>;

const TensorOptions wide{.dtype = DType::Float64};

Tensor matrix(std::int64_t m, std::int64_t n, std::uint32_t seed = 1) {
  return random_tensor({m, n}, -1, 1, wide, seed);
}

Tensor positive(std::int64_t n) {
  const Tensor a = matrix(n, n);
  return (matmul(a, a.transpose()) + Tensor::eye(n, -1, wide)).realize();
}

void expect_same(const Tensor& a, const Tensor& b, double tolerance = 1e-10) {
  ASSERT_EQ(a.shape(), b.shape());
  expect_numbers(a, b.to_vector<double>(), tolerance);
}

// The gradient of loss(x) against central differences, along two directions.
template <typename F>
void expect_gradient(const Tensor& x, F loss, double tolerance = 1e-6) {
  const Tensor gradient = loss(x).gradient({x})[0].realize();
  for (std::uint32_t seed : {101, 102}) {
    const Tensor direction = random_tensor(x.shape(), -1, 1, wide, seed);
    const double h = 1e-5;
    const auto at = [&](double step) {
      return loss((x + direction * step).realize()).template item<double>();
    };
    expect_numbers((gradient * direction).sum(), {(at(h) - at(-h)) / (2 * h)}, tolerance);
  }
}

// A number that depends on every element of x.
Tensor mixed(const Tensor& x) { return (x * random_tensor(x.shape(), -1, 1, wide, 77)).sum(); }

TEST(Products, Definitions) {
  const Tensor a = Tensor::from_data({1, 2, 3}, {3}), b = Tensor::from_data({4, 5, 6}, {3});
  expect_numbers(outer(a, b), {4, 5, 6, 8, 10, 12, 12, 15, 18});
  expect_numbers(cross(a, b), {-3, 6, -3});
  expect_numbers(vecdot(a, b), {32});
  expect_numbers(inner(a, b), {32});
  expect_numbers(kron(Tensor::from_data({1, 2}, {2}), a), {1, 2, 3, 2, 4, 6});
  expect_numbers(kron(Tensor::from_data({1, 2, 3, 4}, {2, 2}), Tensor::from_data({1, 1}, {1, 2})),
                 {1, 1, 2, 2, 3, 3, 4, 4});
  const Tensor m = matrix(2, 3), n = matrix(3, 4, 2), c = matrix(2, 4, 3);
  expect_same(addmm(c, m, n, 2, 3), (c * 2 + matmul(m, n) * 3));
  expect_same(tensordot(m, n, {1}, {0}), matmul(m, n));
  expect_same(tensordot(m, n, 1), matmul(m, n));
  expect_numbers(trace(Tensor::from_data({1, 2, 3, 4}, {2, 2})), {5});
  expect_same(matrix_power(positive(3), 5),
              matmul(matmul(matmul(matmul(positive(3), positive(3)), positive(3)), positive(3)),
                     positive(3)),
              1e-9);
  expect_numbers(matrix_norm(Tensor::from_data({1., -2., 3., 4.}, {2, 2}), MatrixNorm::One), {6});
  expect_numbers(matrix_norm(Tensor::from_data({1., -2., 3., 4.}, {2, 2}), MatrixNorm::Infinity),
                 {7});
  error_of([&] { mm(a, b); });
}

TEST(Products, Formulas) {
  const Tensor a = matrix(2, 3), b = matrix(3, 4, 2), s = matrix(3, 3, 3);
  expect_same(einsum("ij,jk->ik", {a, b}), matmul(a, b));
  expect_same(einsum("ij,jk", {a, b}), matmul(a, b));
  expect_same(einsum("ii", {s}), trace(s));
  expect_same(einsum("ii->i", {s}), diagonal(s));
  expect_same(einsum("ij->ji", {a}), a.transpose());
  expect_same(einsum("ij->", {a}), a.sum());
  expect_same(einsum("ij,jk,kl->il", {a, s, b}), matmul(matmul(a, s), b));
  const Tensor batch = random_tensor({5, 2, 3}, -1, 1, wide);
  expect_same(einsum("...ij,jk->...ik", {batch, b}), matmul(batch, b));
  expect_same(einsum("bij,bij->b", {batch, batch}), (batch * batch).sum({1, 2}));
  expect_same(einsum("i,j->ij", {s[0], s[1]}), outer(s[0], s[1]));
  error_of([&] { einsum("ij,jk->ik", {a, a}); });
  error_of([&] { einsum("ij->ik", {a}); });
  const Tensor x = Tensor::arange(24).reshape({2, 12});
  EXPECT_EQ(rearrange(x, "b (h w) -> w b h", {{"h", 3}}).shape(), (Shape{4, 2, 3}));
  expect_numbers(rearrange(x, "b (h w) -> w b h", {{"h", 3}})[1], {1, 5, 9, 13, 17, 21});
  EXPECT_EQ(rearrange(x, "... n -> n (...) 1").shape(), (Shape{12, 2, 1}));
}

TEST(Solve, Equations) {
  const Tensor a = matrix(6, 6), b = matrix(6, 2, 2);
  expect_same(matmul(a, inverse(a)), Tensor::eye(6, -1, wide));
  expect_same(matmul(a, solve(a, b)), b);
  expect_same(matmul(a, solve(a, b.select(1, 0))), b.select(1, 0));
  expect_same(matmul(solve(a, b.transpose(), false), a), b.transpose());
  const Tensor batch = stack({a, matrix(6, 6, 9)});
  expect_same(matmul(batch, inverse(batch)), Tensor::eye(6, -1, wide).expand({2, 6, 6}));
  // A zero in the corner needs pivoting.
  const Tensor swap = Tensor::from_data({0., 1., 1., 0.}, {2, 2});
  expect_numbers(inverse(swap), {0, 1, 1, 0});
  expect_numbers(det(swap), {-1});
  expect_same(matmul(triu(a), solve_triangular(a, b)), b);
  const Tensor l = cholesky(positive(4));
  expect_same(cholesky_inverse(l), inverse(positive(4)), 1e-9);
  expect_gradient(
      a, [](const Tensor& x) { return mixed(inverse(x)); }, 1e-4);
  expect_gradient(
      a, [&](const Tensor& x) { return mixed(solve(x, b)); }, 1e-4);
}

TEST(Solve, Determinants) {
  const Tensor m = Tensor::from_data({2., 1., 1., 3., 2., 5., 1., 0., 4.}, {3, 3});
  expect_numbers(det(m), {2 * 8 - 1 * (12 - 5) + 1 * (0 - 2)}, 1e-12);
  const SignAndLogDet s = slogdet(-m);
  expect_numbers(s.sign, {-1});
  expect_numbers(s.logabsdet, {std::log(7)}, 1e-12);
  expect_numbers(det(Tensor::from_data({1., 2., 2., 4.}, {2, 2})), {0});
  expect_gradient(m, [](const Tensor& x) { return det(x); });
  expect_gradient(m, [](const Tensor& x) { return slogdet(x).logabsdet; });
}

TEST(Solve, SecondDerivativesOfTheInverse) {
  const Tensor x = Tensor::from_data({2.}, {1, 1});
  const Tensor first = inverse(x).sum().gradient({x})[0];
  expect_numbers(first, {-0.25}, 1e-12);
  expect_numbers(first.sum().gradient({x})[0], {0.25}, 1e-12);
  const Tensor c = cholesky(x).sum().gradient({x})[0];
  expect_numbers(c, {0.5 / std::sqrt(2)}, 1e-12);
  expect_numbers(c.sum().gradient({x})[0], {-0.25 / std::pow(2, 1.5)}, 1e-12);
}

TEST(Factor, Triangles) {
  const Tensor a = positive(5);
  const Tensor l = cholesky(a);
  expect_same(matmul(l, l.transpose()), a);
  expect_same(tril(l), l);
  expect_same(cholesky(a, true), l.transpose());
  // Only symmetric changes keep the matrix in the domain.
  expect_gradient(matrix(4, 4), [](const Tensor& x) {
    return mixed(cholesky(matmul(x, x.transpose()) + Tensor::eye(4, -1, wide)));
  });
  const Tensor m = matrix(5, 5, 4);
  const LuFactors f = lu(m);
  expect_same(matmul(matmul(f.p, f.l), f.u), m);
}

TEST(Factor, Orthogonal) {
  for (const auto& [m, n] : {std::pair{5, 3}, {3, 5}, {4, 4}}) {
    const Tensor a = matrix(m, n);
    const QrFactors f = qr(a), whole = qr(a, true);
    expect_same(matmul(f.q, f.r), a);
    const std::int64_t k = std::min(m, n);
    expect_same(matmul(f.q.transpose(), f.q), Tensor::eye(k, -1, wide));
    expect_same(matmul(whole.q, whole.r), a);
    EXPECT_EQ(whole.q.shape(), (Shape{m, m}));
    expect_same(triu(f.r), f.r);
  }
  expect_gradient(
      matrix(4, 3), [](const Tensor& x) { return mixed(qr(x).q) + mixed(qr(x).r); }, 1e-5);
}

TEST(Factor, Eigenvalues) {
  const Tensor a = positive(7);
  const Eigen e = eigh(a);
  expect_same(matmul(a, e.vectors), e.vectors * e.values, 1e-9);
  expect_same(matmul(e.vectors.transpose(), e.vectors), Tensor::eye(7, -1, wide), 1e-9);
  expect_numbers(e.values - sort(e.values).values, Numbers(7, 0), 0);
  expect_numbers(eigvalsh(Tensor::from_data({2., 9., 1., 2.}, {2, 2})), {1, 3}, 1e-12);
  expect_gradient(matrix(4, 4),
                  [](const Tensor& x) { return mixed(eigvalsh(matmul(x, x.transpose()))); });
  // Squares of the vectors: the signs are free.
  expect_gradient(
      matrix(4, 4),
      [](const Tensor& x) { return mixed(eigh(matmul(x, x.transpose())).vectors.square()); }, 1e-5);
}

TEST(Factor, SingularValues) {
  for (const auto& [m, n] : {std::pair{5, 3}, {3, 5}, {4, 4}}) {
    const Tensor a = matrix(m, n);
    const SingularValues f = svd(a, false);
    expect_same(matmul(f.u * f.s, f.vh), a);
    const std::int64_t k = std::min(m, n);
    expect_same(matmul(f.u.transpose(), f.u), Tensor::eye(k, -1, wide));
    expect_same(matmul(f.vh, f.vh.transpose()), Tensor::eye(k, -1, wide));
    const SingularValues full = svd(a);
    expect_same(matmul(full.u.transpose(), full.u), Tensor::eye(m, -1, wide));
    expect_same(matmul(full.vh, full.vh.transpose()), Tensor::eye(n, -1, wide));
    expect_same(matmul(matmul(a, pinv(a)), a), a);
  }
  // Of rank one.
  const Tensor r = outer(Tensor::from_data({1., 2., 3.}, {3}), Tensor::from_data({1., -1.}, {2}));
  const SingularValues f = svd(r);
  expect_numbers(f.s, {std::sqrt(28), 0}, 1e-10);
  expect_same(matmul(f.u.transpose(), f.u), Tensor::eye(3, -1, wide));
  expect_numbers(matrix_rank(r), {1});
  expect_gradient(matrix(4, 3), [](const Tensor& x) { return mixed(svdvals(x)); });
  expect_gradient(
      matrix(4, 3),
      [](const Tensor& x) {
        const SingularValues g = svd(x, false);
        return mixed(g.u.square()) + mixed(g.vh.square());
      },
      1e-5);
}

TEST(Factor, Exponential) {
  const Tensor spin = Tensor::from_data({0., -2., 2., 0.}, {2, 2});
  expect_numbers(matrix_exp(spin), {std::cos(2), -std::sin(2), std::sin(2), std::cos(2)}, 1e-12);
  const Tensor diagonal = diag(Tensor::from_data({5., -3.}, {2}));
  expect_numbers(matrix_exp(diagonal), {std::exp(5), 0, 0, std::exp(-3)}, 1e-12);
}

}  // namespace
}  // namespace croze
