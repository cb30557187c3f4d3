// solve.cpp -- rows of the op table: linear equations, and matrices taken apart.
#include "croze/tensor/linalg/solve.h"

#include "croze/tensor/op_table/bind.h"
#include "croze/tensor/op_table/families.h"

namespace croze {
namespace {

using enum ResultType;

constexpr auto solve_triangle = [](const Tensor& a, const Tensor& b, bool upper, bool left,
                                   bool unitriangular) {
  return solve_triangular(a, b, {.upper = upper, .left = left, .unit = unitriangular});
};
constexpr auto factors_lu = [](const Tensor& x, bool pivot) {
  check(pivot, "linalg.lu: there is no elimination without pivots");
  return lu(x);
};
constexpr auto factors_qr = [](const Tensor& x, std::string_view mode) {
  return qr(x, mode == "complete");
};
constexpr auto eigen = [](const Tensor& x, std::string_view uplo) { return eigh(x, uplo == "U"); };
constexpr auto eigenvalues = [](const Tensor& x, std::string_view uplo) {
  return eigvalsh(x, uplo == "U");
};

constexpr std::string_view square = "t(3,3) | t(2,2,2)";

constexpr OpEntry ops[] = {
    {"linalg.inv", "A", bind<inverse>, floats, Same, 2, "Inverse.", square},
    {"linalg.solve", "A, B, left=true", bind<solve>, floats, Same, 2, "X with A X = B.",
     "t(3,3), t(3,2) | t(2,2), t(2) | t(2,2), t(3,2), false"},
    {"linalg.solve_triangular", "A, B, upper, left=true, unitriangular=false", bind<solve_triangle>,
     floats, Same, 1, "X with A X = B for a triangle A.",
     "t(3,3)@1..2, t(3,2), true | t(2,2)@1..2, t(3,2), false, false, true"},
    {"cholesky_solve", "B, L, upper=false", bind<cholesky_solve>, floats, Same, 1,
     "X with L L^T X = B.", "t(3,2), t(3,3)@1..2"},
    {"cholesky_inverse", "L, upper=false", bind<cholesky_inverse>, floats, Same, 1,
     "Inverse of L L^T.", "t(3,3)@1..2"},
    {"linalg.det", "A", bind<det>, floats, Same, 2, "Determinant.", square},
    {"linalg.slogdet", "A", bind<slogdet>, floats, Same, 2,
     "Sign and logarithm of the determinant.", square},
    {"logdet", "input", bind<logdet>, floats, Same, 2, "Logarithm of the determinant.",
     "t(1,1)@1..2"},
    {"linalg.cholesky", "A, upper=false", bind<cholesky>, floats, Same, 2,
     "L with A = L L^T, or U with A = U^T U.", "t(1,1)@1..2 | t(2,1,1)@1..2, true"},
    {"linalg.pinv", "A, rtol=none", bind<pinv>, floats, Same, 1,
     "Inverse by singular values, those below rtol times the greatest being 0.",
     "t(3,3) | t(2,3) | t(3,2), 0.01"},
    {"linalg.matrix_rank", "A, rtol=none", bind<matrix_rank>, floats, Int64, 0,
     "How many singular values are above rtol times the greatest.", "t(3,3) | t(2,3), 0.01"},
    {"linalg.cond", "A", bind<cond>, floats, Same, 1, "Greatest singular value over the least.",
     "t(3,3) | t(2,3)"},
    {"linalg.lu", "A, pivot=true", bind<factors_lu>, floats, Same, 1, "P, L, U with A = P L U.",
     "t(3,3) | t(2,2,3) | t(3,2)"},
    {"linalg.qr", "A, mode='reduced'", bind<factors_qr>, floats, Same, 1, "Q, R with A = Q R.",
     "t(3,3) | t(4,2)"},
    {"linalg.eigvalsh", "A, UPLO='L'", bind<eigenvalues>, floats, Same, 1,
     "Eigenvalues of a symmetric matrix, ascending.", square},
    {"linalg.svdvals", "A", bind<svdvals>, floats, Same, 1, "Singular values, descending.",
     "t(3,3) | t(2,3)"},
    {"linalg.eigh", "A, UPLO='L'", bind<eigen>, floats, Same, 1,
     "Eigenvalues and eigenvectors of a symmetric matrix.", square},
    {"linalg.svd", "A, full_matrices=true", bind<svd>, floats, Same, 0, "U, S, Vh with A = U S Vh.",
     "t(3,3) | t(2,3)"},
};

}  // namespace

std::span<const OpEntry> solve_ops() { return ops; }

}  // namespace croze
