// indexing.h -- elements chosen by position: basic indices (views), integer tensors and masks.
//
// Everything here is a real indexed load or store: the work is proportional to the index, forward
// and backward.  Host numbers out of range throw Error.  So do elements of index tensors if
// CROZE_CHECK_INDICES=1; otherwise they give zero where they read and are skipped where they
// write.  Where two values are written to one place, the last in row order stays.
//
// A mask, a Bool tensor, chooses a number of elements that is known only when it is computed: the
// functions that say so compute it, which a captured step cannot.
#pragma once

#include "croze/tensor/tensor.h"

namespace croze {

// ---- indices as in x[...] ---------------------------------------------------------------------

// x[i, j, ...] with integers, Slices, None, Ellipsis, integer tensors and masks, as in PyTorch:
// integers drop their axis, tensors are broadcast together and their axes stand where the first
// tensor stood, or in front if a slice separates them.  Elements of index tensors count from the
// end when negative.  A mask stands for the positions at which it holds, and is computed.
Tensor index(const Tensor& x, std::span<const TensorIndex> indices,
             Location at = Location::current());
// x with the value, expanded to the indexed shape, at those places; or added there.
Tensor index_put(const Tensor& x, std::span<const TensorIndex> indices, const Operand& value,
                 bool accumulate = false);
Tensor index_put(const Tensor& x, std::initializer_list<TensorIndex> indices, const Operand& value,
                 bool accumulate = false);

// ---- along an axis ----------------------------------------------------------------------------

// x[.., index, ..]: one position per element of `index` along `axis`; other axes of `index` may be
// smaller than those of x.  Shape of index.
Tensor gather(const Tensor& x, std::int64_t axis, const Tensor& index,
              Location at = Location::current());
// The same with `index` broadcast against the other axes of x; without an axis, of both flattened.
Tensor take_along_dim(const Tensor& x, const Tensor& index, std::optional<std::int64_t> axis = {},
                      Location at = Location::current());
// The elements of the flattened x at these positions, which may be negative.  Shape of index.
Tensor take(const Tensor& x, const Tensor& index, Location at = Location::current());
// x with the values, flattened, at the flat positions; or added there.
Tensor put(const Tensor& x, const Tensor& index, const Tensor& source, bool accumulate = false,
           Location at = Location::current());

// The slices of x along `axis` at the positions of a 1-D index.
Tensor index_select(const Tensor& x, std::int64_t axis, const Tensor& index,
                    Location at = Location::current());
// x with these slices replaced by the slices of the source (a tensor, or one number), or with alpha
// times the source added, or reduced with them.
Tensor index_copy(const Tensor& x, std::int64_t axis, const Tensor& index, const Tensor& source,
                  Location at = Location::current());
Tensor index_fill(const Tensor& x, std::int64_t axis, const Tensor& index, const Operand& value);
Tensor index_add(const Tensor& x, std::int64_t axis, const Tensor& index, const Operand& source,
                 Scalar alpha = 1);
// How values that meet in one place are combined; with what x holds there if include_self.
enum class ScatterReduce { Sum, Prod, Mean, Amax, Amin };
Tensor index_reduce(const Tensor& x, std::int64_t axis, const Tensor& index, const Tensor& source,
                    ScatterReduce reduce, bool include_self = true,
                    Location at = Location::current());

// x with source[..] written to, added at, or reduced into position index[..] along `axis`.
// `source` is a tensor at least as large as `index`, or a number.  Dtype of x.
Tensor scatter(const Tensor& x, std::int64_t axis, const Tensor& index, const Operand& source);
Tensor scatter_add(const Tensor& x, std::int64_t axis, const Tensor& index, const Operand& source);
Tensor scatter_reduce(const Tensor& x, std::int64_t axis, const Tensor& index, const Tensor& source,
                      ScatterReduce reduce, bool include_self = true,
                      Location at = Location::current());

// ---- into views -------------------------------------------------------------------------------

// Position i of an axis, which vanishes.
Tensor select(const Tensor& x, std::int64_t axis, std::int64_t i,
              Location at = Location::current());
// x with `source` in place of select(x, axis, i), slice(x, axis, s), diagonal(x, offset, a, b).
Tensor select_scatter(const Tensor& x, const Tensor& source, std::int64_t axis, std::int64_t i,
                      Location at = Location::current());
Tensor slice_scatter(const Tensor& x, const Tensor& source, std::int64_t axis, const Slice& s,
                     Location at = Location::current());
Tensor diagonal_scatter(const Tensor& x, const Tensor& source, std::int64_t offset = 0,
                        std::int64_t a = 0, std::int64_t b = 1, Location at = Location::current());

// ---- masks ------------------------------------------------------------------------------------

// The positions of elements that are not zero, in row order: Int64, (count, x.ndim()).  Computes x.
Tensor nonzero(const Tensor& x, Location at = Location::current());
// The elements where the mask holds, both broadcast, in row order: (count).  Computes the mask.
Tensor masked_select(const Tensor& x, const Tensor& mask, Location at = Location::current());
// x with the elements of the source, in row order, where the mask holds; broadcast to x.
Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source,
                      Location at = Location::current());

// ---- tables -----------------------------------------------------------------------------------

// Rows of weight (n, d) for an index of any shape: shape (index.shape, d).  No gradient flows to
// row padding_index.
Tensor embedding(const Tensor& weight, const Tensor& index,
                 std::optional<std::int64_t> padding_index = {}, Location at = Location::current());
struct EmbeddingBagOptions {
  enum class Mode { Mean, Sum, Max };
  Mode mode = Mode::Mean;
  Tensor offsets = {};                             // for a 1-D index: where each bag begins
  Tensor per_sample_weights = {};                  // Sum: of the shape of the index
  std::optional<std::int64_t> padding_index = {};  // an entry that counts nothing
  bool include_last_offset = false;                // the last offset is the end
};
// Rows of the weight reduced in bags: each row of a 2-D index, or the parts of a 1-D one.  Shape
// (bags, d); an empty bag gives 0.
Tensor embedding_bag(const Tensor& weight, const Tensor& index,
                     const EmbeddingBagOptions& options = {}, Location at = Location::current());
// Int64, shape (index.shape, classes): 1 at the class.  Without `classes` it is one more than the
// greatest index, which is computed.
Tensor one_hot(const Tensor& index, std::int64_t classes = -1, Location at = Location::current());

}  // namespace croze
