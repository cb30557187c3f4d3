// indexing.cpp -- rows of the op table: elements by position.
#include "tensor/indexing.h"

#include "tensor/op_table/bind.h"
#include "tensor/op_table/families.h"

namespace croze {
namespace {

using enum ResultType;

constexpr auto embed = [](const Tensor& input, const Tensor& weight) {
  return embedding(weight, input);
};
constexpr auto scatter_source = [](const Tensor& x, std::int64_t dim, const Tensor& index,
                                   const Operand& src) { return scatter(x, dim, index, src); };

constexpr OpEntry ops[] = {
    {"gather", "input, dim, index", bind<gather>, anything, Same, 2,
     "One element per position along the axis; out of range gives 0.",
     "t(3,4), 1, i(3,2)<4 | t(3,4), 0, i(2,4)<3"},
    {"take_along_dim", "input, indices, dim", bind<take_along_dim>, anything, Same, 2,
     "gather with broadcasting.", "t(3,4), i(1,2)<4, 1"},
    {"index_select", "input, dim, index", bind<index_select>, anything, Same, 2,
     "Slices at the positions.", "t(3,4), 1, i(5)<4"},
    {"nn.functional.embedding", "input, weight", bind<embed>, anything, Same, 2,
     "Rows of weight at the positions.", "i(2,3)<4, t(4,2)"},
    {"scatter", "input, dim, index, src", bind<scatter_source>, anything, Same, 2,
     "src written at the positions; the last one wins.",
     "t(3,4), 1, i(3,2)<4, t(3,2) | t(3,4), 0, i(2,3)<3, 1"},
    {"scatter_add", "input, dim, index, src", bind<scatter_add>, anything, Same, 2,
     "src added at the positions.", "t(3,4), 1, i(3,2)<4, t(3,2)"},
};

}  // namespace

std::span<const OpEntry> indexing_ops() { return ops; }

}  // namespace croze
