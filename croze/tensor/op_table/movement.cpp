// movement.cpp -- rows of the op table: functions that rearrange elements.
#include "tensor/movement.h"

#include <algorithm>

#include "tensor/op_table/bind.h"
#include "tensor/op_table/families.h"

namespace croze {
namespace {

using enum ResultType;

constexpr auto split_into = [](const Tensor& x, const Value& sizes, std::int64_t dim) {
  return sizes.get<Values>() ? split(x, read_shape(sizes), dim)
                             : split(x, read_integer(sizes), dim);
};
constexpr auto unfold_axis = [](const Tensor& x, std::int64_t dimension, std::int64_t size,
                                std::int64_t step) { return unfold(x, dimension, size, step); };
// From the last axis to the first, so that the numbers of the others stay; only those of size 1.
constexpr auto squeeze_axes = [](const Tensor& x, const std::optional<Shape>& dim) {
  if (!dim) return squeeze(x);
  std::vector<std::int64_t> axes;
  for (std::int64_t a : *dim) axes.push_back(a < 0 ? a + x.ndim() : a);
  std::sort(axes.rbegin(), axes.rend());
  Tensor result = x;
  for (std::int64_t a : axes) {
    if (x.ndim() > 0) result = squeeze(result, a);
  }
  return result;
};
// No axes are none here, and not all.
constexpr auto flip_axes = [](const Tensor& x, const Shape& dims) {
  return dims.empty() ? x : flip(x, dims);
};

constexpr auto cat_list = [](std::span<const Tensor> tensors, std::int64_t dim) {
  return cat(tensors, dim);
};
constexpr auto stack_list = [](std::span<const Tensor> tensors, std::int64_t dim) {
  return stack(tensors, dim);
};

constexpr OpEntry ops[] = {
    {"reshape", "input, shape", bind<reshape>, anything, Same, 2,
     "The same elements, row by row, in another shape.", "t(2,3), [3, -1] | t(), [1, 1]"},
    {"expand", "input, shape", bind<expand>, anything, Same, 2,
     "Axes of size 1 repeated; -1 keeps a size.", "t(2,1), [4, -1, 3] | t(), [2]"},
    {"permute", "input, dims", bind<permute>, anything, Same, 2, "Axes in another order.",
     "t(2,3,4), [2, 0, 1]"},
    {"transpose", "input, dim0, dim1", bind<transpose>, anything, Same, 2, "Two axes exchanged.",
     "t(2,3,4), 0, -1"},
    {"flip", "input, dims", bind<flip_axes>, anything, Same, 2, "Axes reversed.", "t(2,3), [0, 1]"},
    {"narrow", "input, dim, start, length", bind<narrow>, anything, Same, 2, "Part of an axis.",
     "t(2,5), 1, 1, 3"},
    {"cat", "tensors, dim=0", bind<cat_list>, anything, Promoted, 2, "Joined along an axis.",
     "[t(2,3), t(1,3)] | [t(2,3), t(2,0), t(2,1)], 1"},
    {"stack", "tensors, dim=0", bind<stack_list>, anything, Promoted, 2, "Joined along a new axis.",
     "[t(2,3), t(2,3)], 1"},
    {"split", "tensor, split_size_or_sections, dim=0", bind<split_into>, anything, Same, 2,
     "Parts of a size, or of several.", "t(5,2), 2 | t(2,5), [1, 4], 1"},
    {"chunk", "input, chunks, dim=0", bind<chunk>, anything, Same, 2, "Equal parts.",
     "t(5,2), 3 | t(2,4), 2, 1"},
    {"squeeze", "input, dim=none", bind<squeeze_axes>, anything, Same, 2, "Without axes of size 1.",
     "t(1,3,1) | t(1,3), 0 | t(1,3,1), [0, 2]"},
    {"unsqueeze", "input, dim", bind<unsqueeze>, anything, Same, 2, "With an axis of size 1.",
     "t(2,3), 1"},
    {"flatten", "input, start_dim=0, end_dim=-1", bind<flatten>, anything, Same, 2, "Axes merged.",
     "t(2,3,2) | t(2,3,2), 1 | t()"},
    {"repeat", "input, repeats", bind<repeat>, anything, Same, 2, "Repeated along axes.",
     "t(2,3), [2, 1, 2]"},
    {"unfold", "input, dimension, size, step", bind<unfold_axis>, anything, Same, 2,
     "Windows as a new last axis.", "t(2,7), 1, 3, 2"},
    {"triu", "input, diagonal=0", bind<triu>, anything, Same, 2, "0 below the diagonal.",
     "t(3,4) | t(2,3,3), 1"},
    {"tril", "input, diagonal=0", bind<tril>, anything, Same, 2, "0 above the diagonal.",
     "t(3,4) | t(2,3,3), -1"},
};

}  // namespace

std::span<const OpEntry> movement_ops() { return ops; }

}  // namespace croze
