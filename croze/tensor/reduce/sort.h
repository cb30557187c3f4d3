// sort.h -- order: sorting, selecting by rank, searching, counting.
//
// NaN counts as greater than every number, -0 as equal to 0.  Sorting is stable: equal elements
// keep their order, also when descending.  It takes O(n log n) work in log n kernels, all parallel;
// topk looks at all elements once and sorts few.  Indices are Int64; values carry gradients to
// where they stand.
#pragma once

#include "croze/tensor/tensor.h"

namespace croze {

struct ValuesAndIndices {
  Tensor values, indices;
};

// Along an axis.
ValuesAndIndices sort(const Tensor& x, std::int64_t axis = -1, bool descending = false,
                      Location at = Location::current());
Tensor argsort(const Tensor& x, std::int64_t axis = -1, bool descending = false,
               Location at = Location::current());
// Along axis 0.
Tensor msort(const Tensor& x, Location at = Location::current());
// The k greatest (or least) elements in order.
ValuesAndIndices topk(const Tensor& x, std::int64_t k, std::int64_t axis = -1, bool largest = true,
                      Location at = Location::current());
// The k-th least element, counted from 1.
ValuesAndIndices kthvalue(const Tensor& x, std::int64_t k, std::int64_t axis = -1,
                          bool keepdim = false, Location at = Location::current());
// The extreme along an axis and where it stands first (the first NaN if there is one).
ValuesAndIndices max_with_indices(const Tensor& x, std::int64_t axis, bool keepdim = false,
                                  Location at = Location::current());
ValuesAndIndices min_with_indices(const Tensor& x, std::int64_t axis, bool keepdim = false,
                                  Location at = Location::current());
// The middle element, the lower one of two; NaN if there is one.  Of all elements without an axis.
ValuesAndIndices median(const Tensor& x, std::int64_t axis, bool keepdim = false,
                        Location at = Location::current());
Tensor median(const Tensor& x, Location at = Location::current());
// The same of the elements that are not NaN; NaN if there are none.
ValuesAndIndices nanmedian(const Tensor& x, std::int64_t axis, bool keepdim = false,
                           Location at = Location::current());
Tensor nanmedian(const Tensor& x, Location at = Location::current());
// The element that occurs most often, the least of several, and the last place where it stands.
ValuesAndIndices mode(const Tensor& x, std::int64_t axis = -1, bool keepdim = false,
                      Location at = Location::current());

// The number below which the part q of the elements lies, along an axis or of all; between two
// elements it is interpolated.  q is a number or a 1-D tensor of the dtype of x, whose axis comes
// first in the result.  NaN if an element is; nanquantile leaves NaN out.
struct QuantileOptions {
  enum class Interpolation { Linear, Lower, Higher, Midpoint, Nearest };
  std::optional<std::int64_t> axis = {};
  bool keepdim = false;
  Interpolation interpolation = Interpolation::Linear;
};
Tensor quantile(const Tensor& x, const Operand& q, const QuantileOptions& options = {});
Tensor nanquantile(const Tensor& x, const Operand& q, const QuantileOptions& options = {});

// How many elements of an ascending sequence (.., n) are less than each value (right: not greater);
// the sequence is 1-D or has the leading axes of the values.
Tensor searchsorted(const Tensor& sequence, const Operand& values, bool right = false);
// The same with the sequence, 1-D, second.
Tensor bucketize(const Tensor& values, const Tensor& boundaries, bool right = false,
                 Location at = Location::current());
// Whether each element is one of the tested.
Tensor isin(const Tensor& elements, const Tensor& tested, bool invert = false,
            Location at = Location::current());

// The different elements.  Counting them computes x.
struct UniqueResult {
  Tensor values;   // ascending (unique) or in order of appearance (unique_consecutive)
  Tensor inverse;  // where each element of x stands in values
  Tensor counts;   // how often each occurs
};
// Of the flattened tensor, or of the slices along an axis, ordered like words.
UniqueResult unique(const Tensor& x, std::optional<std::int64_t> axis = {},
                    Location at = Location::current());
// Without repetitions of an element's, or slice's, neighbour.
UniqueResult unique_consecutive(const Tensor& x, std::optional<std::int64_t> axis = {},
                                Location at = Location::current());

// How often 0, 1, 2, ... occur in a 1-D tensor of integers, or their weights summed; at least
// `least` of them.  Computes x.
Tensor bincount(const Tensor& x, const Tensor& weights = {}, std::int64_t least = 0,
                Location at = Location::current());
// How many elements lie in each of so many equal parts of [low, high]; dtype of x.  If both are 0,
// they are the extremes of x, which are computed.
Tensor histc(const Tensor& x, std::int64_t bins = 100, double low = 0, double high = 0,
             Location at = Location::current());

}  // namespace croze
