// movement.cpp -- rows of the op table: functions that rearrange elements.
#include "croze/tensor/movement/movement.h"

#include <algorithm>

#include "croze/tensor/op_table/bind.h"
#include "croze/tensor/op_table/families.h"

namespace croze {

template <>
struct EnumNames<MeshIndexing> {
  static constexpr std::array<std::string_view, 2> names = {"ij", "xy"};
};

namespace {

using enum ResultType;

constexpr auto itself = [](const Tensor& x) { return x; };
constexpr auto split_into = [](const Tensor& x, const Value& sizes, std::int64_t dim) {
  return sizes.get<Values>() ? split(x, read_shape(sizes), dim)
                             : split(x, read_integer(sizes), dim);
};
constexpr auto split_at = [](const Tensor& x, const Value& places, std::int64_t dim) {
  if (places.get<Values>()) return tensor_split(x, read_shape(places), dim);
  if (const Tensor* numbers = places.get<Tensor>()) {
    if (numbers->ndim() == 0) return tensor_split(x, numbers->item<std::int64_t>(), dim);
    return tensor_split(x, Shape(numbers->to_vector<std::int64_t>()), dim);
  }
  return tensor_split(x, read_integer(places), dim);
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
constexpr auto roll_axes = [](const Tensor& x, const Shape& shifts, const Axes& dims) {
  return roll(x, shifts, dims);
};
constexpr auto turn = [](const Tensor& x, std::int64_t k, const Shape& dims) {
  check(dims.size() == 2, "a plane has two axes, not {}", dims.size());
  return rot90(x, k, dims[0], dims[1]);
};
constexpr auto interleave = [](const Tensor& x, const Value& repeats,
                               std::optional<std::int64_t> dim) {
  if (const Tensor* times = repeats.get<Tensor>()) return repeat_interleave(x, *times, dim);
  return repeat_interleave(x, read_integer(repeats), dim);
};
constexpr auto cat_list = [](std::span<const Tensor> tensors, std::int64_t dim) {
  return cat(tensors, dim);
};
constexpr auto stack_list = [](std::span<const Tensor> tensors, std::int64_t dim) {
  return stack(tensors, dim);
};
constexpr auto pad_mode = [](const Tensor& x, const Shape& amounts, PadMode mode,
                             std::optional<Scalar> value) {
  return pad(x, amounts, mode, value.value_or(Scalar(0)));
};
constexpr auto pad_constant = [](const Tensor& x, const Shape& amounts, Scalar value) {
  return pad(x, amounts, value);
};
constexpr auto transposed = [](const Tensor& x) { return transpose(x, -2, -1); };
constexpr auto transposed_matrix = [](const Tensor& x) {
  return x.ndim() < 2 ? x : transpose(x, 0, 1);
};
constexpr auto left_to_right = [](const Tensor& x) { return flip(x, 1); };
constexpr auto upside_down = [](const Tensor& x) { return flip(x, 0); };
constexpr auto like = [](const Tensor& x, const Tensor& other) {
  return reshape(x, other.shape());
};
constexpr auto expanded_like = [](const Tensor& x, const Tensor& other) {
  return expand(x, other.shape());
};

constexpr OpEntry ops[] = {
    {"reshape", "input, shape", bind<reshape>, anything, Same, 2,
     "The same elements, row by row, in another shape.", "t(2,3), [3, -1] | t(), [1, 1]"},
    {"view", "input, shape", bind<reshape>, anything, Same, 2, "reshape.", "t(2,3), [3, -1]"},
    {"reshape_as", "input, other", bind<like>, anything, Same, 2, "reshape to the shape of other.",
     "t(2,3), t(3,2)"},
    {"view_as", "input, other", bind<like>, anything, Same, 2, "reshape to the shape of other.",
     "t(2,3), t(3,2)"},
    {"ravel", "input", bind<[](const Tensor& x) { return flatten(x); }>, anything, Same, 2,
     "All axes merged.", "t(2,3) | t()"},
    {"flatten", "input, start_dim=0, end_dim=-1", bind<flatten>, anything, Same, 2, "Axes merged.",
     "t(2,3,2) | t(2,3,2), 1 | t()"},
    {"unflatten", "input, dim, sizes", bind<unflatten>, anything, Same, 2,
     "An axis cut in several.", "t(2,6), 1, [3, -1]"},
    {"squeeze", "input, dim=none", bind<squeeze_axes>, anything, Same, 2, "Without axes of size 1.",
     "t(1,3,1) | t(1,3), 0 | t(1,3,1), [0, 2]"},
    {"unsqueeze", "input, dim", bind<unsqueeze>, anything, Same, 2, "With an axis of size 1.",
     "t(2,3), 1"},
    {"atleast_1d", "input", bind<atleast_1d>, anything, Same, 2, "With at least one axis.",
     "t() | t(2)"},
    {"atleast_2d", "input", bind<atleast_2d>, anything, Same, 2, "With at least two axes.",
     "t() | t(2)"},
    {"atleast_3d", "input", bind<atleast_3d>, anything, Same, 2, "With at least three axes.",
     "t() | t(2) | t(2,3)"},
    {"clone", "input", bind<itself>, anything, Same, 2, "input.", "t(2,3)"},
    {"contiguous", "input", bind<[](const Tensor& x) { return x.contiguous(); }>, anything, Same, 2,
     "input, tabulated in memory.", "t(2,3)"},

    {"permute", "input, dims", bind<permute>, anything, Same, 2, "Axes in another order.",
     "t(2,3,4), [2, 0, 1]"},
    {"transpose", "input, dim0, dim1", bind<transpose>, anything, Same, 2, "Two axes exchanged.",
     "t(2,3,4), 0, -1"},
    {"t", "input", bind<transposed_matrix>, anything, Same, 2, "A matrix transposed.", "t(2,3)"},
    {"T", "input", bind<transposed_matrix>, anything, Same, 2, "A matrix transposed.", "t(2,3)"},
    {"mT", "input", bind<transposed>, anything, Same, 2, "The last two axes exchanged.",
     "t(2,3,4)"},
    {"movedim", "input, source, destination", bind<movedim>, anything, Same, 2,
     "Axes put at other places.", "t(2,3,4), 0, 2 | t(2,3,4), [0, 1], [1, 2]"},
    {"flip", "input, dims", bind<flip_axes>, anything, Same, 2, "Axes reversed.", "t(2,3), [0, 1]"},
    {"fliplr", "input", bind<left_to_right>, anything, Same, 2, "Axis 1 reversed.", "t(2,3)"},
    {"flipud", "input", bind<upside_down>, anything, Same, 2, "Axis 0 reversed.", "t(2,3)"},
    {"roll", "input, shifts, dims=none", bind<roll_axes>, anything, Same, 2,
     "Moved along axes, in again at the other end.", "t(2,3), [1, 2], [0, 1] | t(2,3), 4"},
    {"rot90", "input, k=1, dims=none",
     bind<[](const Tensor& x, std::int64_t k, const std::optional<Shape>& dims) {
       return turn(x, k, dims.value_or(Shape{0, 1}));
     }>,
     anything, Same, 2, "Turned by k right angles.", "t(2,3) | t(2,3,2), 3, [1, 2]"},

    {"expand", "input, shape", bind<expand>, anything, Same, 2,
     "Axes of size 1 repeated; -1 keeps a size.", "t(2,1), [4, -1, 3] | t(), [2]"},
    {"expand_as", "input, other", bind<expanded_like>, anything, Same, 2,
     "expand to the shape of other.", "t(2,1), t(2,3)"},
    {"broadcast_to", "input, shape", bind<expand>, anything, Same, 2, "expand.", "t(2,1), [2, 3]"},
    {"broadcast_tensors", "tensors", bind<broadcast_tensors>, anything, Same, 2,
     "All expanded to one shape.", "[t(2,1), t(3)]"},
    {"repeat", "input, repeats", bind<repeat>, anything, Same, 2, "Repeated along axes.",
     "t(2,3), [2, 1, 2]"},
    {"tile", "input, dims", bind<tile>, anything, Same, 2, "repeat, for the last axes.",
     "t(2,3), 2"},
    {"repeat_interleave", "input, repeats, dim=none", bind<interleave>, anything, Same, 2,
     "Each element repeated.", "t(2,3), 2 | t(2,3), 3, 1"},
    {"meshgrid", "tensors, indexing='ij'", bind<meshgrid>, anything, Same, 2,
     "Lines expanded to a grid.", "[t(2), t(3)] | [t(2), t(3)], 'xy'"},
    {"cartesian_prod", "tensors", bind<cartesian_prod>, anything, Same, 2,
     "All combinations, one per row.", "[t(2), t(3)]"},

    {"cat", "tensors, dim=0", bind<cat_list>, anything, Promoted, 2, "Joined along an axis.",
     "[t(2,3), t(1,3)] | [t(2,3), t(2,0), t(2,1)], 1"},
    {"stack", "tensors, dim=0", bind<stack_list>, anything, Promoted, 2, "Joined along a new axis.",
     "[t(2,3), t(2,3)], 1"},
    {"hstack", "tensors", bind<hstack>, anything, Promoted, 2, "Joined along axis 1.",
     "[t(2,3), t(2,1)] | [t(2), t(1)]"},
    {"vstack", "tensors", bind<vstack>, anything, Promoted, 2, "Joined along axis 0.",
     "[t(2,3), t(3)]"},
    {"dstack", "tensors", bind<dstack>, anything, Promoted, 2, "Joined along axis 2.",
     "[t(2,3), t(2,3)]"},
    {"column_stack", "tensors", bind<column_stack>, anything, Promoted, 2, "Joined as columns.",
     "[t(2), t(2,3)]"},
    {"block_diag", "tensors", bind<block_diag>, anything, Promoted, 2,
     "Matrices along the diagonal of one.", "[t(2,3), t(2), t()]"},
    {"split", "tensor, split_size_or_sections, dim=0", bind<split_into>, anything, Same, 2,
     "Parts of a size, or of several.", "t(5,2), 2 | t(2,5), [1, 4], 1"},
    {"split_with_sizes", "tensor, split_sizes, dim=0", bind<split_into>, anything, Same, 2,
     "Parts of several sizes.", "t(2,5), [1, 4], 1"},
    {"tensor_split", "input, indices_or_sections, dim=0", bind<split_at>, anything, Same, 2,
     "So many parts, or those between positions.", "t(5,2), 2 | t(2,5), [1, 4], 1"},
    {"chunk", "input, chunks, dim=0", bind<chunk>, anything, Same, 2, "Equal parts.",
     "t(5,2), 3 | t(2,4), 2, 1"},
    {"unbind", "input, dim=0", bind<unbind>, anything, Same, 2, "The slices along an axis.",
     "t(2,3) | t(2,3), 1"},
    {"narrow", "input, dim, start, length", bind<narrow>, anything, Same, 2, "Part of an axis.",
     "t(2,5), 1, 1, 3"},
    {"unfold", "input, dimension, size, step", bind<unfold_axis>, anything, Same, 2,
     "Windows as a new last axis.", "t(2,7), 1, 3, 2"},

    {"diagonal", "input, offset=0, dim1=0, dim2=1", bind<diagonal>, anything, Same, 2,
     "A diagonal as the last axis.", "t(3,4) | t(2,3,3), 1, 1, 2"},
    {"linalg.diagonal", "A, offset=0, dim1=-2, dim2=-1", bind<diagonal>, anything, Same, 2,
     "A diagonal of the last axes.", "t(2,3,3) | t(2,3,3), 1"},
    {"diag_embed", "input, offset=0, dim1=-2, dim2=-1", bind<diag_embed>, anything, Same, 2,
     "The last axis on a diagonal.", "t(3) | t(2,3), 1, 0, 2"},
    {"diag", "input, diagonal=0", bind<diag>, anything, Same, 2,
     "Diagonal of a matrix, or the matrix of a diagonal.", "t(3,4), 1 | t(3), -1"},
    {"diagflat", "input, offset=0", bind<diagflat>, anything, Same, 2,
     "The matrix of a flattened diagonal.", "t(2,2), 1"},
    {"triu", "input, diagonal=0", bind<triu>, anything, Same, 2, "0 below the diagonal.",
     "t(3,4) | t(2,3,3), 1"},
    {"tril", "input, diagonal=0", bind<tril>, anything, Same, 2, "0 above the diagonal.",
     "t(3,4) | t(2,3,3), -1"},

    {"nn.functional.pad", "input, pad, mode='constant', value=none", bind<pad_mode>, anything, Same,
     2, "Elements added around; 'reflect', 'replicate' and 'circular' continue input.",
     "t(2,3), [1, 2], 'constant', 0.5 | t(1,2,4), [2, 1], 'reflect' | t(1,2,4), [2, 1], "
     "'replicate' "
     "| t(1,2,4), [2, 1], 'circular'"},
    {"constant_pad_nd", "input, pad, value=0", bind<pad_constant>, anything, Same, 2,
     "Elements added around.", "t(2,3), [1, 2] | t(2,3), [0, 1, -1, 2], 1"},
};

}  // namespace

std::span<const OpEntry> movement_ops() { return ops; }

}  // namespace croze
