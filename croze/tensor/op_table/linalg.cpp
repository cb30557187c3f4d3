// linalg.cpp -- rows of the op table: products and norms of matrices.
#include "croze/tensor/linalg/linalg.h"

#include <cmath>

#include "croze/tensor/movement/movement.h"
#include "croze/tensor/op_table/bind.h"
#include "croze/tensor/op_table/families.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze {

namespace {

using enum ResultType;

constexpr auto contracted = [](const Tensor& a, const Tensor& b, const Value& dims) {
  const Values* pair = dims.get<Values>();
  if (pair == nullptr) return tensordot(a, b, read_integer(dims));
  check(pair->size() == 2, "expected the axes of both operands");
  return tensordot(a, b, read_shape(pair->at(0)), read_shape(pair->at(1)));
};
constexpr auto einstein = [](std::span<const Tensor> operands, std::string_view formula) {
  return einsum(formula, operands);
};
constexpr auto product_of_all = [](std::span<const Tensor> tensors) {
  Tensor product = tensors[0];
  for (const Tensor& t : tensors.subspan(1)) product = matmul(product, t);
  return product;
};
constexpr auto norm_of_vectors = [](const Tensor& x, double ord, const Axes& dim, bool keepdim,
                                    std::optional<DType> dtype) {
  return vector_norm(dtype ? x.cast(*dtype) : x, ord, dim, keepdim);
};

MatrixNorm order_named(const Value& ord) {
  if (const std::string* name = ord.get<std::string>()) {
    check(*name == "fro" || *name == "nuc", "there is no norm {}", *name);
    return *name == "fro" ? MatrixNorm::Frobenius : MatrixNorm::Nuclear;
  }
  const double order = read_number(ord), size = std::abs(order);
  check(size == 1 || size == 2 || std::isinf(size), "there is no norm of order {}", order);
  if (size == 1) return order > 0 ? MatrixNorm::One : MatrixNorm::MinusOne;
  if (size == 2) return order > 0 ? MatrixNorm::Two : MatrixNorm::MinusTwo;
  return order > 0 ? MatrixNorm::Infinity : MatrixNorm::MinusInfinity;
}
constexpr auto norm_of_matrices = [](const Tensor& x, const Value& ord, const Shape& dim,
                                     bool keepdim, std::optional<DType> dtype) {
  const Tensor last = movedim(dtype ? x.cast(*dtype) : x, dim, {-2, -1});
  const Tensor result = matrix_norm(last, order_named(ord), keepdim);
  return keepdim ? movedim(result, {-2, -1}, dim) : result;
};

constexpr std::string_view summed = "t(2,4), t(2,3), t(3,4) | t(4), t(2,3), t(3,4), 0.5, 2";

constexpr OpEntry ops[] = {
    {"matmul", "input, other", bind<matmul>, anything, Promoted, 2,
     "Matrix product; other axes are broadcast.",
     "t(2,3), t(3,4) | t(3), t(3) | t(2,1,2,3), t(4,3,2) | t(3), t(3,2)"},
    {"mm", "input, mat2", bind<mm>, anything, Promoted, 2, "Product of two matrices.",
     "t(2,3), t(3,4)"},
    {"bmm", "input, mat2", bind<bmm>, anything, Promoted, 2, "Products of two lists of matrices.",
     "t(2,2,3), t(2,3,4)"},
    {"mv", "input, vec", bind<mv>, anything, Promoted, 2, "Matrix times vector.", "t(2,3), t(3)"},
    {"dot", "input, tensor", bind<dot>, anything, Promoted, 2, "Sum of products.", "t(3), t(3)"},
    {"vdot", "input, other", bind<dot>, anything, Promoted, 2, "dot.", "t(3), t(3)"},
    {"linalg.vecdot", "x, y, dim=-1", bind<vecdot>, anything, Promoted, 2,
     "Sums of products along an axis.", "t(2,3), t(2,3) | t(2,3), t(2,1), 0"},
    {"inner", "input, other", bind<inner>, anything, Promoted, 2,
     "Sums of products over the last axes.", "t(2,3), t(4,3)"},
    {"outer", "input, vec2", bind<outer>, anything, Promoted, 2, "All products.", "t(2), t(3)"},
    {"cross", "input, other, dim=-1", bind<cross>, numbers, Promoted, 2, "Vector product.",
     "t(2,3), t(2,3) | t(3,2), t(3,2), 0"},
    {"linalg.cross", "input, other, dim=-1", bind<cross>, numbers, Promoted, 2, "Vector product.",
     "t(2,3), t(2,3) | t(3,2), t(3,2), 0"},
    {"kron", "input, other", bind<kron>, anything, Promoted, 2,
     "Each element of input times all of other.", "t(2,2), t(3,2)"},
    {"tensordot", "a, b, dims=2", bind<contracted>, anything, Promoted, 2,
     "Sums of products over several axes.", "t(2,3,4), t(3,4,2) | t(2,3), t(3,2), [[0], [1]]"},
    {"einsum", "operands, equation", bind<einstein>, anything, Promoted, 2, "Einstein's sums.",
     "[t(2,3), t(3,4)], 'ij,jk->ki' | [t(3,3)], 'ii->i'"},
    {"linalg.multi_dot", "tensors", bind<product_of_all>, anything, Promoted, 2,
     "matmul of all, from left to right.", "[t(2,3), t(3,4), t(4,2)]"},
    {"addmm", "input, mat1, mat2, beta=1, alpha=1", bind<addmm>, anything, Given, 2,
     "beta * input + alpha * (mat1 times mat2).", summed},
    {"addmv", "input, mat, vec, beta=1, alpha=1", bind<addmv>, anything, Given, 2,
     "beta * input + alpha * (mat times vec).", "t(2), t(2,3), t(3) | t(2), t(2,3), t(3), 0.5, 2"},
    {"addr", "input, vec1, vec2, beta=1, alpha=1", bind<addr>, anything, Given, 2,
     "beta * input + alpha * outer(vec1, vec2).", "t(2,3), t(2), t(3)"},
    {"baddbmm", "input, batch1, batch2, beta=1, alpha=1", bind<baddbmm>, anything, Given, 2,
     "beta * input + alpha * bmm(batch1, batch2).", "t(2,2,4), t(2,2,3), t(2,3,4)"},
    {"addbmm", "input, batch1, batch2, beta=1, alpha=1", bind<addbmm>, anything, Given, 2,
     "beta * input + alpha * sum(bmm(batch1, batch2), 0).", "t(2,4), t(2,2,3), t(2,3,4)"},
    {"nn.functional.linear", "input, weight, bias=none", bind<linear>, anything, Promoted, 2,
     "input times the transpose of weight, plus bias.", "t(2,3), t(4,3), t(4) | t(3), t(4,3)"},
    {"nn.functional.bilinear", "input1, input2, weight, bias=none", bind<bilinear>, anything,
     Promoted, 2, "input1 times weight times input2, plus bias.", "t(2,3), t(2,4), t(2,3,4), t(2)"},

    {"trace", "input", bind<trace>, anything, Sum, 2, "Sum of the diagonal.", "t(3,4)"},
    {"linalg.matrix_power", "A, n", bind<matrix_power>, anything, Same, 2, "A times itself.",
     "t(3,3), 3 | t(2,2,2), 0"},
    {"matrix_exp", "input", bind<matrix_exp>, floats, Same, 2, "exp of a matrix.", "t(3,3)@-1..1"},
    {"linalg.matrix_norm", "A, ord='fro', dim=[-2, -1], keepdim=false, dtype=none",
     bind<norm_of_matrices>, floats, Same, 1, "Of order 'fro', 'nuc', 1, -1, 2, -2, inf or -inf.",
     "t(2,3) | t(3,3), 'nuc' | t(2,3,2), 1, [0, 1], true | t(2,3), -inf | t(3,2), 2"},
    {"linalg.vector_norm", "x, ord=2, dim=none, keepdim=false, dtype=none", bind<norm_of_vectors>,
     anything, Float, 2, "(sum |x|^ord)^(1/ord).", "t(2,3) | t(2,3), 3, 1 | t(2,3), inf, 0, true"},
};

}  // namespace

std::span<const OpEntry> linalg_ops() { return ops; }

}  // namespace croze
