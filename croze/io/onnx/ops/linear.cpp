// linear.cpp -- products of matrices and sums of products in general.
#include <algorithm>
#include <string>

#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {
namespace {

Results mat_mul(const NodeCall& call) { return {matmul(call[0], call[1])}; }

// alpha * A * B + beta * C; computed in the dtype of A.
Results gemm(const NodeCall& call) {
  Tensor a = call[0], b = call[1];
  check(a.ndim() == 2 && b.ndim() == 2, "operands of shape {} and {}", to_text(a.shape()),
        to_text(b.shape()));
  if (call.flag("transA")) a = a.transpose();
  if (call.flag("transB")) b = b.transpose();
  const auto scaled = [](const Tensor& x, double factor) {
    return factor == 1 ? x : (x * factor).cast(x.dtype());
  };
  Tensor result = scaled(matmul(a, b), call.real("alpha", 1));
  if (call.has(2)) result = result + scaled(call[2], call.real("beta", 1));
  return {result};
}

// ---- Einsum -----------------------------------------------------------------------------------

// Axes are letters; the axes of "..." get the letters from '0' on, the last one '0'.
struct Terms {
  std::vector<std::string> inputs;
  std::string output;
};

// One operand's letters, with "..." written out.
std::string letters_of(std::string_view term, int rank) {
  std::string letters;
  const auto dots = term.find("...");
  const auto named = static_cast<int>(term.size()) - (dots == term.npos ? 0 : 3);
  check(named <= rank && rank - named < 10 && (dots != term.npos || named == rank),
        "\"{}\" does not name {} axes", term, rank);
  for (std::size_t i = 0; i < term.size(); i++) {
    if (i == dots) {
      for (int k = rank - named; k-- > 0;) letters += static_cast<char>('0' + k);
      i += 2;
      continue;
    }
    const char c = term[i];
    check((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), "\"{}\" is no list of axes", term);
    letters += c;
  }
  return letters;
}

// Letters that stand once, in order of the alphabet; those of "..." first.
std::string implied_output(const std::vector<std::string>& inputs) {
  std::string all, output;
  for (const std::string& letters : inputs) all += letters;
  for (char c = '9'; c >= '0'; c--) {
    if (all.find(c) != all.npos) output += c;
  }
  std::string sorted = all;
  std::ranges::sort(sorted);
  for (char c : sorted) {
    if (c > '9' && std::ranges::count(all, c) == 1) output += c;
  }
  return output;
}

Terms terms_of(std::string equation, const std::vector<Tensor>& operands) {
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  std::string_view left = std::string_view(equation).substr(0, arrow);
  Terms terms;
  for (std::size_t i = 0; i < operands.size(); i++) {
    const std::size_t comma = left.find(',');
    check((comma == left.npos) == (i + 1 == operands.size()), "\"{}\" is not about {} operands",
          equation, operands.size());
    terms.inputs.push_back(letters_of(left.substr(0, comma), operands[i].ndim()));
    left.remove_prefix(std::min(left.size(), comma == left.npos ? left.size() : comma + 1));
  }
  if (arrow == equation.npos) {
    terms.output = implied_output(terms.inputs);
    return terms;
  }
  const std::string_view right = std::string_view(equation).substr(arrow + 2);
  int dots = 0;
  for (const std::string& letters : terms.inputs) {
    for (char c : letters) dots = std::max(dots, c <= '9' ? c - '0' + 1 : 0);
  }
  const auto named = static_cast<int>(right.size());
  const bool has_dots = right.find("...") != right.npos;
  terms.output = letters_of(right, has_dots ? named - 3 + dots : named);
  return terms;
}

// x whose axes are `letters`, repeated ones reduced to their diagonal, as a tensor whose axes are
// `all`, of size 1 where x has none.
Tensor with_axes(Tensor x, std::string letters, const std::string& all) {
  for (std::size_t i = 0; i < letters.size();) {
    const std::size_t k = letters.find(letters[i], i + 1);
    if (k == letters.npos) {
      i++;
      continue;
    }
    const auto first = static_cast<std::int64_t>(i), second = static_cast<std::int64_t>(k);
    check(x.size(first) == x.size(second), "axis {} has size {} and {}", letters[i], x.size(first),
          x.size(second));
    x = diagonal(x, 0, first, second);  // whose axis comes last
    letters += letters[i];
    letters.erase(k, 1);
    letters.erase(i, 1);
  }
  Shape order, shape;
  for (char c : all) {
    const std::size_t place = letters.find(c);
    if (place != letters.npos) order.push_back(static_cast<std::int64_t>(place));
    shape.push_back(place == letters.npos ? 1 : x.size(static_cast<std::int64_t>(place)));
  }
  return x.permute(order).reshape(shape);
}

// Products of all operands over all axes, summed over those that the output lacks.
Results einsum_op(const NodeCall& call) {
  const std::vector<Tensor> operands = call.tensors();
  check(!operands.empty(), "no operands");
  const Terms terms = terms_of(std::string(call.text("equation", "")), operands);
  std::string all = terms.output;
  for (char c : terms.output) {
    check(std::ranges::count(terms.output, c) == 1, "axis {} stands twice in the output", c);
  }
  for (const std::string& letters : terms.inputs) {
    for (char c : letters) {
      if (all.find(c) == all.npos) all += c;
    }
  }
  const DType dtype = operands[0].dtype();
  const DType wide = is_float(dtype) ? accumulator(dtype) : dtype;
  Tensor product;
  for (std::size_t i = 0; i < operands.size(); i++) {
    const Tensor part = with_axes(operands[i], terms.inputs[i], all).cast(wide);
    product = product.defined() ? product * part : part;
  }
  Ints summed;
  for (std::size_t i = terms.output.size(); i < all.size(); i++) {
    summed.push_back(static_cast<std::int64_t>(i));
  }
  return {(summed.empty() ? product : sum(product, Axes(summed))).cast(dtype)};
}

// ---- determinant ------------------------------------------------------------------------------

// Gaussian elimination with the greatest pivot of each column, on all matrices at once.
Results determinant(const NodeCall& call) {
  const Tensor& x = call[0];
  check(x.ndim() >= 2 && x.size(-1) == x.size(-2), "matrices of shape {}", to_text(x.shape()));
  const std::int64_t n = x.size(-1);
  Shape batch = x.shape();
  batch.erase(batch.size() - 1);
  batch.erase(batch.size() - 1);
  Tensor m = x.reshape({batch.numel(), n, n});
  Tensor result = Tensor::ones({batch.numel()}, {.dtype = x.dtype()});
  for (std::int64_t k = 0; k < n; k++) {
    const std::int64_t size = n - k;
    // The pivot's row changes places with the first.
    const Tensor pivot = argmax(abs(m.narrow(2, 0, 1)), 1, true);  // (b, 1, 1)
    const Tensor row = gather(m, 1, pivot.expand({batch.numel(), 1, size}));
    const Tensor first = m.narrow(1, 0, 1);
    const Tensor is_pivot = Tensor::arange(size).reshape({1, size, 1}) == pivot;
    const Tensor rest = where(is_pivot, first, m).narrow(1, 1, size - 1);
    const Tensor value = row.narrow(2, 0, 1);
    const Tensor sign = where(pivot == 0, 1, -1).cast(x.dtype());
    result = result * (value * sign).reshape({batch.numel()});
    if (size == 1) break;
    const Tensor factor = where(value == 0, 0, rest.narrow(2, 0, 1) / value);
    m = (rest - factor * row).narrow(2, 1, size - 1).contiguous();
  }
  return {result.reshape(batch)};
}

// clang-format off
constexpr Operator table[] = {
  {"Det", 11, determinant},
  {"Einsum", 12, einsum_op},
  {"Gemm", 1, gemm},
  {"MatMul", 1, mat_mul},
};
// clang-format on

}  // namespace

std::span<const Operator> linear_operators() { return table; }

}  // namespace croze::onnx
