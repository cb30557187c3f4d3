// creation.cpp -- rows of the op table: tensors made of numbers.
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/op_table/bind.h"
#include "croze/tensor/op_table/families.h"

namespace croze {
namespace {

using enum ResultType;

constexpr auto zeros = [](const Shape& size, std::optional<DType> dtype) {
  return Tensor::zeros(size, {.dtype = dtype});
};
constexpr auto ones = [](const Shape& size, std::optional<DType> dtype) {
  return Tensor::ones(size, {.dtype = dtype});
};
constexpr auto full = [](const Shape& size, Scalar fill_value, std::optional<DType> dtype) {
  return Tensor::full(size, fill_value, {.dtype = dtype});
};
constexpr auto zeros_like = [](const Tensor& x, std::optional<DType> dtype) {
  return Tensor::zeros_like(x, {.dtype = dtype});
};
constexpr auto ones_like = [](const Tensor& x, std::optional<DType> dtype) {
  return Tensor::ones_like(x, {.dtype = dtype});
};
constexpr auto full_like = [](const Tensor& x, Scalar fill_value, std::optional<DType> dtype) {
  return Tensor::full_like(x, fill_value, {.dtype = dtype});
};
constexpr auto filled = [](const Tensor& x, const Operand& value) {
  return expand(value.is_scalar() ? Tensor::scalar(value.scalar(), {.dtype = x.dtype()})
                                  : value.tensor().cast(x.dtype()),
                x.shape());
};
constexpr auto range = [](Scalar start, std::optional<Scalar> end, Scalar step,
                          std::optional<DType> dtype) {
  if (!end) return Tensor::arange(0, start, step, {.dtype = dtype});
  return Tensor::arange(start, *end, step, {.dtype = dtype});
};
constexpr auto steps_between = [](double start, double end, std::int64_t steps,
                                  std::optional<DType> dtype) {
  return Tensor::linspace(start, end, steps, {.dtype = dtype});
};
constexpr auto identity = [](std::int64_t n, std::int64_t m, std::optional<DType> dtype) {
  return Tensor::eye(n, m, {.dtype = dtype});
};
constexpr auto upper = [](std::int64_t row, std::int64_t col, std::int64_t offset,
                          std::optional<DType> dtype) {
  return triu_indices(row, col, offset).cast(dtype.value_or(DType::Int64));
};
constexpr auto lower = [](std::int64_t row, std::int64_t col, std::int64_t offset,
                          std::optional<DType> dtype) {
  return tril_indices(row, col, offset).cast(dtype.value_or(DType::Int64));
};

constexpr OpEntry ops[] = {
    {"zeros", "size, dtype=none", bind<zeros>, anything, Given, 0, "Float32 unless said.",
     "[2, 3] | [2], int8"},
    {"ones", "size, dtype=none", bind<ones>, anything, Given, 0, "Float32 unless said.",
     "[2, 3] | [2], int8"},
    {"full", "size, fill_value, dtype=none", bind<full>, anything, Given, 0,
     "Dtype of the kind of the number unless said.", "[2, 3], 1.5 | [2], 3"},
    {"zeros_like", "input, dtype=none", bind<zeros_like>, anything, Given, 0, "Dtype of input.",
     "t(2,3)"},
    {"ones_like", "input, dtype=none", bind<ones_like>, anything, Given, 0, "Dtype of input.",
     "t(2,3)"},
    {"full_like", "input, fill_value, dtype=none", bind<full_like>, anything, Given, 0,
     "Dtype of input.", "t(2,3), 1"},
    {"fill", "input, value", bind<filled>, anything, Same, 1, "Shape and dtype of input.",
     "t(2,3), 1 | t(2,3), t()"},
    {"arange", "start, end=none, step=1, dtype=none", bind<range>, anything, Given, 0,
     "start, start + step, ...; Int64 or Float32 unless said.", "5 | 1, 7, 2 | 0, 1, 0.25"},
    {"linspace", "start, end, steps, dtype=none", bind<steps_between>, floats, Given, 0,
     "Both ends are included; Float32 unless said.", "0, 1, 5 | 2, -2, 4, float64"},
    {"eye", "n, m=-1, dtype=none", bind<identity>, anything, Given, 0,
     "Ones on the diagonal; Float32 unless said.", "3 | 2, 4, int8"},
    {"triu_indices", "row, col, offset=0, dtype=none", bind<upper>, anything, Int64, 0,
     "Rows and columns of the upper triangle.", "3, 4 | 3, 3, 1"},
    {"tril_indices", "row, col, offset=0, dtype=none", bind<lower>, anything, Int64, 0,
     "Rows and columns of the lower triangle.", "3, 4 | 3, 3, -1"},
};

}  // namespace

std::span<const OpEntry> creation_ops() { return ops; }

}  // namespace croze
