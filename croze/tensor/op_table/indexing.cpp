// indexing.cpp -- rows of the op table: elements by position.
#include "croze/tensor/movement/indexing.h"

#include "croze/tensor/op_table/bind.h"
#include "croze/tensor/op_table/families.h"

namespace croze {

template <>
struct EnumNames<ScatterReduce> {
  static constexpr std::array<std::string_view, 5> names = {"sum", "prod", "mean", "amax", "amin"};
};
template <>
struct EnumNames<EmbeddingBagOptions::Mode> {
  static constexpr std::array<std::string_view, 3> names = {"mean", "sum", "max"};
};

namespace {

using enum ResultType;

constexpr auto put_indices = [](const Tensor& x, std::span<const TensorIndex> indices,
                                const Operand& values, bool accumulate) {
  return index_put(x, indices, values, accumulate);
};
constexpr auto embed = [](const Tensor& input, const Tensor& weight,
                          std::optional<std::int64_t> padding_idx) {
  return embedding(weight, input, padding_idx);
};
constexpr auto embed_bags = [](const Tensor& input, const Tensor& weight, const Tensor& offsets,
                               EmbeddingBagOptions::Mode mode, const Tensor& per_sample_weights,
                               bool include_last_offset, std::optional<std::int64_t> padding_idx) {
  return embedding_bag(weight, input,
                       {.mode = mode,
                        .offsets = offsets,
                        .per_sample_weights = per_sample_weights,
                        .padding_index = padding_idx,
                        .include_last_offset = include_last_offset});
};
constexpr auto part = [](const Tensor& x, std::int64_t dim, std::optional<std::int64_t> start,
                         std::optional<std::int64_t> end, std::int64_t step) {
  return x.slice(dim, {start, end, step});
};
constexpr auto put_part = [](const Tensor& x, const Tensor& src, std::int64_t dim,
                             std::optional<std::int64_t> start, std::optional<std::int64_t> end,
                             std::int64_t step) {
  return slice_scatter(x, src, dim, {start, end, step});
};

constexpr std::string_view slices = "t(3,4), 1, i(2)<2, t(3,2) | t(3), 0, i(2)<3, t(2)";

constexpr OpEntry ops[] = {
    {"__getitem__", "input, indices", bind<index>, anything, Same, 2,
     "input[indices]: numbers, slices, None, Ellipsis, tensors.",
     "t(3,4), i(2)<3 | t(3,4), [i(2)<3, i(2)<4] | t(3,4), [none, 1]"},
    {"index_put", "input, indices, values, accumulate=false", bind<put_indices>, anything, Same, 2,
     "input with values at the indices, or added there.",
     "t(3,4), [i(2)<3], t(2,4) | t(3,4), [i(2)<3, i(2)<4], t(2), true"},
    {"gather", "input, dim, index", bind<gather>, anything, Same, 2,
     "One element per position along the axis; out of range gives 0.",
     "t(3,4), 1, i(3,2)<4 | t(3,4), 0, i(2,4)<3"},
    {"take_along_dim", "input, indices, dim=none", bind<take_along_dim>, anything, Same, 2,
     "gather with broadcasting.", "t(3,4), i(1,2)<4, 1 | t(3,4), i(5)<12"},
    {"take", "input, index", bind<take>, anything, Same, 2, "Elements at flat positions.",
     "t(3,4), i(2,2)<12"},
    {"put", "input, index, source, accumulate=false", bind<put>, anything, Same, 2,
     "source at flat positions, or added there.",
     "t(3,4), i(2)<12, t(2) | t(3,4), i(3)<12, t(3), true"},
    {"index_select", "input, dim, index", bind<index_select>, anything, Same, 2,
     "Slices at the positions.", "t(3,4), 1, i(5)<4"},
    {"index_copy", "input, dim, index, source", bind<index_copy>, anything, Same, 2,
     "Slices replaced.", "t(3,4), 1, i(1)<4, t(3,1)"},
    {"index_fill", "input, dim, index, value", bind<index_fill>, anything, Same, 2,
     "Slices filled with a number.", "t(3,4), 1, i(2)<4, 1 | t(3,4), 0, i(2)<3, t()"},
    {"index_add", "input, dim, index, source, alpha=1", bind<index_add>, anything, Same, 2,
     "alpha * source added to slices.", slices},
    {"index_reduce", "input, dim, index, source, reduce, include_self=true", bind<index_reduce>,
     anything, Same, 0, "Slices reduced with source.",
     "t(3,4), 1, i(2)<2, t(3,2), 'prod' | t(3,4), 0, i(2)<3, t(2,4), 'amax', false"},
    {"scatter", "input, dim, index, src", bind<scatter>, anything, Same, 2,
     "src written at the positions; the last one wins.",
     "t(3,4), 1, i(3,1)<4, t(3,1) | t(3,4), 0, i(1,3)<3, 1"},
    {"scatter_add", "input, dim, index, src", bind<scatter_add>, anything, Same, 2,
     "src added at the positions.", "t(3,4), 1, i(3,2)<4, t(3,2)"},
    {"scatter_reduce", "input, dim, index, src, reduce, include_self=true", bind<scatter_reduce>,
     anything, Same, 1, "src reduced into the positions.",
     "t(3,4), 1, i(3,2)<4, t(3,2), 'sum' | t(3,4), 0, i(2,4)<3, t(2,4), 'amin', false"},
    {"select", "input, dim, index", bind<select>, anything, Same, 2, "One position of an axis.",
     "t(3,4), 1, -2"},
    {"slice", "input, dim=0, start=none, end=none, step=1", bind<part>, anything, Same, 2,
     "Part of an axis.", "t(5,3), 0, 1, -1, 2"},
    {"select_scatter", "input, src, dim, index", bind<select_scatter>, anything, Same, 2,
     "src in place of a position.", "t(3,4), t(3), 1, 2"},
    {"slice_scatter", "input, src, dim=0, start=none, end=none, step=1", bind<put_part>, anything,
     Same, 2, "src in place of a part of an axis.", "t(5,3), t(2,3), 0, 1, -1, 2"},
    {"diagonal_scatter", "input, src, offset=0, dim1=0, dim2=1", bind<diagonal_scatter>, anything,
     Same, 2, "src in place of a diagonal.", "t(3,4), t(3) | t(3,3), t(2), 1"},
    {"masked_select", "input, mask", bind<masked_select>, anything, Same, 2,
     "The elements where the mask holds.", "t(3,4), b(3,4) | t(3,4), b(4)"},
    {"masked_scatter", "input, mask, source", bind<masked_scatter>, anything, Same, 2,
     "The source, in order, where the mask holds.", "t(3,4), b(3,4), t(12)"},
    {"nonzero", "input", bind<nonzero>, anything, Int64, 0, "Positions that are not 0.", "t(3,4)"},
    {"argwhere", "input", bind<nonzero>, anything, Int64, 0, "Positions that are not 0.", "t(3,4)"},
    {"nn.functional.embedding", "input, weight, padding_idx=none", bind<embed>, anything, Same, 2,
     "Rows of weight at the positions.", "i(2,3)<4, t(4,2)"},
    {"nn.functional.embedding_bag",
     "input, weight, offsets=none, mode='mean', per_sample_weights=none, "
     "include_last_offset=false, padding_idx=none",
     bind<embed_bags>, anything, Given, 2, "Rows of weight reduced in bags.",
     "i(2,3)<4, t(4,2) | i(2,3)<4, t(4,2), mode='max'"},
    {"nn.functional.one_hot", "input, num_classes=-1", bind<one_hot>, integers, Int64, 0,
     "1 at the class.", "t(2,3)@0..3, 4 | t(3)@0..2"},
};

}  // namespace

std::span<const OpEntry> indexing_ops() { return ops; }

}  // namespace croze
