// linalg.h -- products of vectors and matrices.  Each is a multiplication of expanded views and a
// sum: nothing below recognises them by name.  Half types accumulate in Float32; dtypes are
// promoted and integers keep theirs.  What solves equations and takes matrices apart is in solve.h.
#pragma once

#include <string_view>

#include "croze/tensor/tensor.h"

namespace croze {

// ---- products ---------------------------------------------------------------------------------

// Matrix product over the last two axes; the others are broadcast.  A 1-D operand is a row on the
// left and a column on the right, and its axis vanishes.  Throws Error if the inner sizes differ.
Tensor matmul(const Tensor& a, const Tensor& b, Location at = Location::current());
// matmul of operands with exactly two axes; of a matrix and a vector; of two batches of matrices.
Tensor mm(const Tensor& a, const Tensor& b, Location at = Location::current());
Tensor mv(const Tensor& a, const Tensor& b, Location at = Location::current());
Tensor bmm(const Tensor& a, const Tensor& b, Location at = Location::current());
// beta * c + alpha * (a times b); beta 0 leaves c out, NaN and all.  addmm: of matrices; addmv: of
// a matrix and a vector; addr: of two vectors, their outer product; baddbmm and addbmm: of batches,
// which addbmm sums up.
Tensor addmm(const Tensor& c, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1,
             Location at = Location::current());
Tensor addmv(const Tensor& c, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1,
             Location at = Location::current());
Tensor addr(const Tensor& c, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1,
            Location at = Location::current());
Tensor baddbmm(const Tensor& c, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1,
               Location at = Location::current());
Tensor addbmm(const Tensor& c, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1,
              Location at = Location::current());
// Sum of products of two 1-D tensors; along an axis of two that broadcast.
Tensor dot(const Tensor& a, const Tensor& b, Location at = Location::current());
Tensor vecdot(const Tensor& a, const Tensor& b, std::int64_t axis = -1,
              Location at = Location::current());
// Sum of products over the last axis of both, all other axes of a, then of b, staying.
Tensor inner(const Tensor& a, const Tensor& b, Location at = Location::current());
// All products of the elements of two 1-D tensors.
Tensor outer(const Tensor& a, const Tensor& b, Location at = Location::current());
// The vector product along an axis of size 3.
Tensor cross(const Tensor& a, const Tensor& b, std::int64_t axis = -1,
             Location at = Location::current());
// Each element of a times all of b, as blocks.
Tensor kron(const Tensor& a, const Tensor& b, Location at = Location::current());
// Sum of products over these axes of a and of b; or over the last `count` of a and the first of b.
Tensor tensordot(const Tensor& a, const Tensor& b, const Shape& axes_a, const Shape& axes_b,
                 Location at = Location::current());
Tensor tensordot(const Tensor& a, const Tensor& b, std::int64_t count = 2,
                 Location at = Location::current());
// x (.., in) times the transpose of weight (out, in), plus bias (out): shape (.., out).
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              Location at = Location::current());
// a (.., i) W (out, i, j) b (.., j) plus bias (out): shape (.., out).
Tensor bilinear(const Tensor& a, const Tensor& b, const Tensor& weight, const Tensor& bias = {},
                Location at = Location::current());

// ---- by formula -------------------------------------------------------------------------------

// Einstein's sums: "ij,jk->ik".  A letter names an axis of an operand; one that repeats in an
// operand takes its diagonal; letters that the result does not name are summed over.  "..." stands
// for axes that are broadcast.  Without "->" the result has the letters that occur once, in
// alphabetic order.  Two operands at a time are contracted, from left to right.
Tensor einsum(std::string_view formula, std::span<const Tensor> operands,
              Location at = Location::current());
Tensor einsum(std::string_view formula, std::initializer_list<Tensor> operands,
              Location at = Location::current());
// Axes merged, cut and permuted by names: rearrange(x, "b (h d) n -> b h n d", {{"h", 8}}).
// Parentheses group axes that are one axis; 1 is an axis of size 1; "..." stands for axes that
// stay.
using NamedSizes = std::span<const std::pair<std::string_view, std::int64_t>>;
Tensor rearrange(const Tensor& x, std::string_view formula, NamedSizes sizes,
                 Location at = Location::current());
Tensor rearrange(const Tensor& x, std::string_view formula,
                 std::initializer_list<std::pair<std::string_view, std::int64_t>> sizes = {},
                 Location at = Location::current());

// ---- of one matrix ----------------------------------------------------------------------------

// Sum of the diagonal of the last two axes.
Tensor trace(const Tensor& x, Location at = Location::current());
// x times itself, n times; by the inverse for negative n.
Tensor matrix_power(const Tensor& x, std::int64_t n, Location at = Location::current());
// exp of a square matrix: its power series, of the matrix scaled down by a power of two that is
// undone by squaring.
Tensor matrix_exp(const Tensor& x, Location at = Location::current());
// The p-norm of vectors along axes (or of all elements); see norm.
Tensor vector_norm(const Tensor& x, double p = 2, const Axes& axes = {}, bool keepdim = false,
                   Location at = Location::current());
// Norms of matrices in the last two axes: Frobenius; nuclear, the sum of the singular values; 1 and
// -1, the extreme sums of magnitudes of columns, infinity and -infinity, of rows; 2 and -2, the
// extreme singular values.
enum class MatrixNorm { Frobenius, Nuclear, One, MinusOne, Two, MinusTwo, Infinity, MinusInfinity };
Tensor matrix_norm(const Tensor& x, MatrixNorm order = MatrixNorm::Frobenius, bool keepdim = false,
                   Location at = Location::current());

}  // namespace croze
